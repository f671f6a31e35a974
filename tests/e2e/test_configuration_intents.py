"""Configuration has one writer: whoever wants a change says so, and the service writes it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uuid_utils import uuid7

from contracts.errors import Refusal
from contracts.platform.configuration import ConfigurationIntent
from domain.platform.configuration_intents import applied, check
from stores.platform.projection.projector import Projector
from tests.fixtures.stack import Stack


def intent(payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A wish about the caller's own preferences."""
    return {
        "intent_id": str(uuid7()),
        "target": "user_preference",
        "payload": payload,
        "requested_by": "wrapper",
        "correlation_id": "a-wrapper",
        "created_at": datetime.now(UTC).isoformat(),
        **fields,
    }


@pytest.mark.anyio
@pytest.mark.acceptance("9.19-1", "R11.2-37")
@pytest.mark.acceptance("0.11C-14")
async def test_an_intent_becomes_configuration_a_file_and_a_line_once(stack: Stack) -> None:
    learner = stack.learner()
    wish = intent({"language": "de", "units": {"length": "m"}})
    first = await learner.ok("POST", "/api/config/intents", wish)
    assert first == await learner.ok("POST", "/api/config/intents", wish)
    assert first["configuration"]["revision"] == 1

    second = await learner.ok("POST", "/api/config/intents", intent({"language": None, "theme": "dark"}))
    assert second["configuration"]["fields"] == {"units": {"length": "m"}, "theme": "dark"}
    same = await learner.ok("POST", "/api/config/intents", intent({"theme": "dark"}))
    assert (same["changed"], same["configuration"]["revision"]) == (False, 2)

    root = stack.settings.memory_root
    Projector(stack.database, root, stack.settings.workspace).catch_up()
    (file,) = (root / "system/skills/config/user_preference").iterdir()
    assert json.loads(file.read_text())["fields"] == second["configuration"]["fields"]
    lines = (root / "system/skills/config/intents.jsonl").read_text().splitlines()
    assert [json.loads(line)["changed"] for line in lines] == [True, True, False]

    other = stack.learner("bob")
    mine = await other.ok("GET", "/api/config?target=user_preference")
    assert mine["configurations"] == []
    (kept,) = (await learner.ok("GET", "/api/config?target=user_preference"))["configurations"]
    assert kept == same["configuration"]


@pytest.mark.anyio
async def test_a_skill_is_configured_by_those_who_may_see_it(stack: Stack) -> None:
    learner = stack.learner()
    await learner.teach(allow_private_install=True)
    ability_id = (await learner.propose_act("install", {"install_lane": "experimental_private"}))[
        "ability_id"
    ]
    wish = intent({"currency": "EUR"}, target="skill_config", capability_id=ability_id)
    answer = await learner.ok("POST", "/api/config/intents", wish)
    assert answer["configuration"]["capability_id"] == ability_id
    status, error = await stack.learner("bob").refused(
        "POST", "/api/config/intents", {**wish, "intent_id": str(uuid7())}
    )
    assert (status, error["code"]) == (404, "ABILITY_NOT_FOUND")


@pytest.mark.anyio
async def test_an_id_stands_for_one_intent(stack: Stack) -> None:
    learner = stack.learner()
    wish = intent({"language": "de"})
    await learner.ok("POST", "/api/config/intents", wish)
    status, error = await learner.refused(
        "POST", "/api/config/intents", {**wish, "payload": {"language": "fr"}}
    )
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


def wished(payload: dict[str, Any], **fields: Any) -> ConfigurationIntent:
    """The same as a contract."""
    return ConfigurationIntent.model_validate(intent(payload, **fields))


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"api_key": "sk-proj-abcdefghijklmnop1234567890"}, "payload.api_key"),
        ({"mail": {"password": "hunter22hunter"}}, "payload.mail.password"),
        ({"list": ["ok", "AKIAABCDEFGHIJKLMNOP"]}, "payload.list"),
        ({"../../etc": 1}, "payload"),
        ({"big": "x" * 40_000}, "payload"),
        ({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}, "payload.a.b.c.d.e.f.g.h.i"),
    ],
)
def test_secrets_and_what_is_out_of_bounds_are_refused_by_name(payload: dict[str, Any], field: str) -> None:
    with pytest.raises(Refusal) as refused:
        check(wished(payload))
    assert refused.value.extra["fields"] == [field]


def test_a_skills_configuration_names_the_skill_and_nothing_else_does() -> None:
    for target, capability_id in [("skill_config", None), ("user_preference", "learned.x")]:
        with pytest.raises(Refusal):
            check(wished({"a": 1}, target=target, capability_id=capability_id))
    check(wished({"a": 1}, target="support_pack_binding", capability_id="learned.x"))


FIELDS = st.dictionaries(st.sampled_from("abcd"), st.none() | st.integers(0, 3), min_size=1)


@given(before=FIELDS, payload=FIELDS)
def test_carrying_out_an_intent_twice_is_carrying_it_out_once(
    before: dict[str, Any], payload: dict[str, Any]
) -> None:
    after = applied(before, payload)
    assert applied(after, payload) == after
    assert None not in after.values()

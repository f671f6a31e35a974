"""Practice where a language model is configured: it suggests, the rules decide, and trouble is no failure."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from config.settings import Settings
from gateways.practice.practice import PracticeGateway
from stores.platform.database import Database
from stores.practice.practice import PracticeStore
from tests.fixtures.learner import Learner
from tests.fixtures.model_server import ModelServer, Reply, completion
from tests.fixtures.model_stack import KEY, MODEL, with_model
from tests.fixtures.practised import practice_of
from tests.fixtures.practising import SALES, begin, ended, practice
from tests.fixtures.stack import Stack
from worker.composition import WorkerParts, compose

pytestmark = pytest.mark.anyio

BY_AMOUNT = "sort -t, -k2 -nr sales.csv > top.csv"
"""What the search does not find: it calls a bare program without options."""

PRACTISED: dict[str, Any] = {"allowed_commands": ["sort"]}
EASY: dict[str, Any] = {
    "allowed_commands": ["sort"],
    "success_conditions": [{"kind": "file_contains", "path": "top.csv", "text": "east,5\nnorth,3\nsouth,9"}],
}


def plans(*suggested: tuple[str, ...]) -> Reply:
    """An answer with these plans."""
    return completion(json.dumps({"plans": [{"commands": list(commands)} for commands in suggested]}))


async def practised(learner: Learner, **fields: Any) -> dict[str, Any]:
    """A practice from its beginning to its end."""
    await begin(learner)
    await practice(learner, **{**PRACTISED, **fields})
    return await ended(learner)


async def history_of(stack: Stack, learner: Learner) -> str:
    """The practice as Temporal has kept it."""
    handle = stack.client.get_workflow_handle(f"practice/{learner.session_id}")
    return (await handle.fetch_history()).to_json()


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-4")
async def test_a_model_finds_the_way_that_the_search_does_not_and_it_becomes_an_ability(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(plans((BY_AMOUNT,)))
    alice = taught.learner()
    run = await practised(alice)
    assert (run["state"], run["model"]) == ("reached", MODEL), run
    (attempt,) = run["attempts"]
    assert attempt["idea"]["proposed_by"] == f"model:{MODEL}"
    assert [step["source"] for step in attempt["idea"]["steps"]] == ["model"]
    assert all(seen["met"] for seen in attempt["conditions"])

    (asked,) = model_server.asked
    assert asked.json["response_format"]["json_schema"]["name"] == "practice_plans"
    assert asked.data["start_files"] == [{"name": "sales.csv", "bytes": len(SALES["content"])}]
    assert "north,3\\nsouth" not in asked.body, "no content of a start file is sent"

    model_server.replies(completion("no thanks"))
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    assert await alice.state() == "installed_private"


async def test_the_model_is_told_what_went_wrong_and_mends_it(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(plans(("sort -t, --by=amount sales.csv > top.csv",)), plans((BY_AMOUNT,)))
    run = await practised(taught.learner())
    assert run["state"] == "reached", run
    assert [attempt["reached"] for attempt in run["attempts"]] == [False, True]
    first, second = (asked.data["tried"] for asked in model_server.asked)
    assert first == []
    assert "unrecognized option" in second[0]["outcome"]


MISBEHAVIOURS: dict[str, tuple[Reply, str]] = {
    "slow": (Reply(hold=True), "no complete answer within 2 s"),
    "drops": (Reply(body=b"{", cut=True), "the connection failed"),
    "no key": (Reply(401, b"who are you"), "HTTP 401: the key is wrong or missing"),
    "huge": (Reply(body=b"x" * 600_000), "larger than 512 KiB"),
    "no object": (completion("I would sort it"), "holds no JSON object"),
    "no plan": (plans(), "plans does not fit: too short"),
    "too many": (plans(*[("sort",)] * 4), "plans does not fit: too long"),
    "no command": (plans(()), "plans/0/commands does not fit: too short"),
    "not allowed": (plans(("python3 -c 'print(1)' > top.csv",)), "not on the list of allowed commands"),
    "steals": (plans(("sort /etc/passwd > top.csv",)), "outside the practice folder"),
    "cheats": (plans(("sort <<< 'east,5' > top.csv",)), "writes down the result"),
}


async def test_whatever_a_model_does_practice_goes_on_by_the_rules_and_says_why(
    tmp_path: Path, temporal_address: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRITER_KEY", KEY)
    async with with_model(tmp_path, temporal_address, model_server.url, model_timeout="2s") as stack:
        for number, (name, (reply, why)) in enumerate(MISBEHAVIOURS.items()):
            model_server.replies(reply)
            learner = stack.learner(f"user-{number}")
            run = await practised(learner, **EASY)
            assert run["state"] == "reached", (name, run)
            (attempt,) = run["attempts"]
            assert attempt["idea"]["proposed_by"] == "deterministic", name
            assert why in attempt["idea"]["proposer_note"], (name, attempt["idea"])
            history = await history_of(stack, learner)
            assert KEY not in history, name
            assert "passwd" not in history, name


async def test_below_the_confidence_asked_for_a_person_is_asked_about_a_models_plan_too(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(plans((BY_AMOUNT,)))
    run = await practised(taught.learner(), confirm_below=0.95)
    assert (run["state"], run["attempts"]) == ("asks", [])
    assert BY_AMOUNT in run["question"]


async def test_cancelling_does_not_wait_for_the_model(taught: Stack, model_server: ModelServer) -> None:
    model_server.replies(Reply(hold=True))
    alice = taught.learner()
    await begin(alice)
    await practice(alice, **PRACTISED)
    assert await anyio.to_thread.run_sync(model_server.arrived.wait, 30)
    await alice.act("cancel")
    run = await ended(alice)
    model_server.released.set()
    assert (run["state"], run["attempts"]) == ("cancelled", [])


async def test_nobody_is_asked_for_an_attempt_that_is_not_allowed(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(plans(("sort sales.csv > top.csv",)))
    run = await practised(taught.learner(), budget={"max_attempts": 1})
    assert (run["state"], len(run["attempts"])) == ("budget_used", 1)
    assert len(model_server.asked) == 1


async def test_a_practice_whose_time_runs_out_while_a_model_thinks_tries_nothing_more(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(Reply(hold=True))
    alice = taught.learner()
    await begin(alice)
    run, request = practice_of(alice.user, alice.session_id, lasts=timedelta(seconds=8))
    database = Database(taught.settings.database_url)
    gateway = PracticeGateway(taught.client, taught.settings.task_queue, PracticeStore(database))
    await gateway.start(run.changed(model=MODEL), request)
    database.close()
    over = await ended(alice)
    model_server.released.set()
    assert (over["state"], over["note"]) == ("budget_used", "The time allowed is used up.")
    assert over["attempts"] == []
    assert len(model_server.asked) == 1


def without_thinking(settings: Settings) -> WorkerParts:
    """A worker of an earlier version."""
    parts = compose(settings)
    kept = tuple(one for one in parts.activities if one.__name__ != "think_of_plans")
    return replace(parts, activities=kept)


def without_a_model(settings: Settings) -> WorkerParts:
    """A worker whose settings name no model."""
    return compose(settings.model_copy(update={"model_base_url": None, "model_name": None}))


@pytest.mark.parametrize(
    ("worker", "why"),
    [
        (without_thinking, f"Asking {MODEL} did not end."),
        (without_a_model, "This worker's settings name no model."),
        (compose, "the environment variable WRITER_KEY holds no key"),
    ],
    ids=["earlier version", "no model", "no key"],
)
async def test_a_worker_that_cannot_ask_a_model_practises_without_it(
    tmp_path: Path,
    temporal_address: str,
    model_server: ModelServer,
    worker: Callable[[Settings], WorkerParts],
    why: str,
) -> None:
    async with with_model(tmp_path, temporal_address, model_server.url, worker) as stack:
        run = await practised(stack.learner(), **EASY)
    assert run["state"] == "reached", run
    assert why in run["attempts"][0]["idea"]["proposer_note"]
    assert model_server.asked == []


async def test_without_a_model_nothing_is_asked(stack: Stack) -> None:
    alice = stack.learner()
    run = await practised(alice, **EASY)
    assert run["state"] == "reached", run
    assert run["model"] is None
    assert "think_of_plans" not in await history_of(stack, alice)

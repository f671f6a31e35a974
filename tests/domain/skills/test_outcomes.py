"""Outcomes of runs: from a handler's answer or failure to one shape (AM-26, AM-27, AI-22…AI-24, X-13, X-14, X-38)."""

import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SKILL_ERRORS
from contracts.skills.invocation import InvocationStatus, ObservedEffectState, SkillOutcome
from contracts.skills.manifest import SkillManifest
from domain.skills.outcomes import FALLBACK_WORDS, answer_problem, outcome_of
from tests.domain.skills.manifests import acting, manifest

SUCCESS, PARTIAL, FAILURE = InvocationStatus.SUCCESS, InvocationStatus.PARTIAL, InvocationStatus.FAILURE

SCORED = manifest(
    output_schema={
        "type": "object",
        "properties": {
            "score": {"type": "number", "maximum": 1},
            "note": {"type": "string", "maxLength": 5},
            "more": {"type": "integer"},
        },
        "required": ["score"],
    },
    effects=({"name": "scored", "shown_by": "score"}, {"name": "told"}),
)


@dataclass(frozen=True)
class Failed:
    code: str
    message: str = "It went wrong."
    retryable: bool | None = None


def came_of(answer: Any, skill: SkillManifest, effect: ToolEffect, *, acted: bool) -> SkillOutcome:
    """The outcome of an answer; one without its shape is a failure of the run."""
    problem = answer_problem(answer)
    if problem is not None:
        return outcome_of(skill, effect, None, Failed("OUTPUT_INVALID", problem), acted=acted)
    return outcome_of(skill, effect, answer, None, acted=acted)


def of(answer: object, skill: SkillManifest = SCORED) -> SkillOutcome:
    return came_of(answer, skill, skill.effect, acted=True)


def failed(failure: Failed, skill: SkillManifest = SCORED, *, acted: bool = True) -> SkillOutcome:
    return outcome_of(skill, skill.effect, None, failure, acted=acted)


def states(outcome: SkillOutcome) -> dict[str, str]:
    return {one.name: one.state.value for one in outcome.observables.effects}


@pytest.mark.acceptance("AM-26")
@pytest.mark.acceptance("X-13")
def test_success_carries_the_documents_own_fields() -> None:
    """X-13."""
    outcome = of({"success": True, "result": {"score": 0.5}, "message": "Done."})
    assert (outcome.status, outcome.outputs, outcome.message, outcome.error) == (
        SUCCESS,
        {"score": 0.5},
        "Done.",
        None,
    )
    assert states(outcome) == {"scored": "satisfied", "told": "satisfied"}


@pytest.mark.parametrize(
    ("result", "outputs"),
    [(None, None), ({}, {}), ({"a": [1]}, {"a": [1]}), ([1, 2], {"result": [1, 2]}), ("x", {"result": "x"})],
)
def test_whatever_a_result_is_it_is_kept(result: object, outputs: object) -> None:
    assert of({"success": True, "result": result}, manifest()).outputs == outputs


@pytest.mark.acceptance("AM-26", "CH-02", "AI-23")
@pytest.mark.parametrize(
    "answer",
    [
        None,
        "done",
        [True],
        {},
        {"result": {"score": 1}},
        {"success": "true", "result": {"score": 1}},
        {"success": 1, "result": {"score": 1}},
        {"success": None, "result": {"score": 1}},
        {"success": True, "result": {"score": 1}, "message": 7},
        {"success": True},
        {"success": True, "result": {"score": 2}},
        {"success": True, "result": {"score": "1"}},
        {"success": True, "result": [1]},
        {"success": True, "result": {"score": math.nan}},
        {"success": True, "result": {"score": 1, "free": {"deep": math.inf}}},
        {"success": True, "result": {"score": 1, "free": "\ud800"}},
        {"success": True, "result": {"score": 1}, "message": "\ud800"},
        {"success": True, "result": {"score": 1}, "observables": {"metrics": {"items": math.nan}}},
    ],
)
def test_an_answer_that_breaks_its_shape_or_schema_is_a_failure_with_a_code(answer: object) -> None:
    """Required output lost."""
    outcome = of(answer)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.code, outcome.error.http_status) == (FAILURE, "OUTPUT_INVALID", 502)
    assert outcome.outputs is None
    assert outcome.message == FALLBACK_WORDS
    assert states(outcome) == {"scored": "failed", "told": "failed"}


@pytest.mark.acceptance("AI-23")
def test_an_output_that_may_be_left_out_is_left_out_with_a_warning() -> None:
    """Optional lost."""
    outcome = of({"success": True, "result": {"score": 1, "note": "too long", "more": "x"}})
    assert (outcome.status, outcome.outputs) == (PARTIAL, {"score": 1})
    assert sorted(outcome.warnings) == [
        "more was left out: is not of type integer",
        "note was left out: has more than 5 characters",
    ]
    assert states(outcome) == {"scored": "satisfied", "told": "partial"}


@pytest.mark.acceptance("AI-22")
def test_a_handler_may_say_that_it_did_a_part() -> None:
    """X-38: a message that is kept and not delivered."""
    answer = {
        "success": True,
        "status": "partial",
        "result": {"logged": True, "delivered": False},
        "warnings": ["DELIVERY_FAILED", 7],
        "message": "I've noted your message.",
    }
    outcome = of(answer, acting(effects=({"name": "delivered", "shown_by": "delivered"}, {"name": "logged"})))
    assert (outcome.status, outcome.outputs) == (PARTIAL, {"logged": True, "delivered": False})
    assert outcome.warnings == ("DELIVERY_FAILED",)
    assert states(outcome) == {"delivered": "failed", "logged": "partial"}


@pytest.mark.acceptance("AI-23")
def test_observables_are_kept_as_far_as_they_are_of_their_kind() -> None:
    told = {
        "events": [{"kind": "seen"}, "noise"],
        "metrics": {"items": 3, "share": 0.5, "bad": "x", "flag": True},
        "hints": [{"subject": "anna"}],
    }
    seen = of({"success": True, "result": {"score": 1}, "observables": told}).observables
    assert (seen.events, seen.hints) == (({"kind": "seen"},), ({"subject": "anna"},))
    assert seen.metrics == {"items": 3.0, "share": 0.5}


@pytest.mark.acceptance("AM-35", "AM-38", "AM-42")
@pytest.mark.parametrize(
    ("error", "code", "status", "message"),
    [
        ("Missing title", "HANDLER_FAILED", 500, "Missing title"),
        (None, "HANDLER_FAILED", 500, "Which title?"),
        (
            {"code": "INSUFFICIENT_BALANCE", "message": "3 are there."},
            "INSUFFICIENT_BALANCE",
            402,
            "3 are there.",
        ),
        ({"code": "AGENT_NOT_FOUND"}, "AGENT_NOT_FOUND", 404, "It failed."),
        ({"message": "odd"}, "HANDLER_FAILED", 500, "odd"),
    ],
)
def test_a_handler_that_says_no_is_heard(error: object, code: str, status: int, message: str) -> None:
    """X-13: its words are told, its outputs stay."""
    outcome = of(
        {"success": False, "error": error, "message": "Which title?", "result": {"current_version": 4}}
    )
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.http_status, outcome.error.message) == (code, status, message)
    assert (outcome.status, outcome.message, outcome.outputs) == (
        FAILURE,
        "Which title?",
        {"current_version": 4},
    )


@pytest.mark.acceptance("AM-27")
@pytest.mark.parametrize("code", sorted(SKILL_ERRORS))
def test_a_failed_run_has_the_status_and_recovery_of_its_code(code: str) -> None:
    """O-2: fallback words for the caller; every code of the documents."""
    outcome = failed(Failed(code))
    rule = SKILL_ERRORS[code]
    assert outcome.error is not None
    assert (outcome.error.http_status, outcome.error.recovery, outcome.error.retryable) == (
        rule.http_status,
        rule.recovery,
        rule.retryable,
    )
    assert (outcome.status, outcome.message, outcome.outputs) == (FAILURE, FALLBACK_WORDS, None)


def test_a_run_may_know_better_whether_it_can_be_repeated() -> None:
    outcome = failed(Failed("HANDLER_FAILED", retryable=True))
    assert outcome.error is not None
    assert outcome.error.retryable


@pytest.mark.acceptance("OC-07")
@pytest.mark.parametrize(
    ("acted", "repeatable", "status"),
    [
        (True, False, InvocationStatus.OUTCOME_UNKNOWN),
        (False, False, FAILURE),
        (True, True, FAILURE),
    ],
)
@pytest.mark.acceptance("X-14")
def test_an_effect_that_may_have_happened_is_left_to_a_person(
    acted: bool, repeatable: bool, status: InvocationStatus
) -> None:
    """X-14."""
    outcome = failed(Failed("TIMEOUT"), acting(repeatable=repeatable), acted=acted)
    assert outcome.status is status
    assert outcome.error is not None
    assert outcome.error.code == ("TIMEOUT" if status is FAILURE else "OUTCOME_UNKNOWN")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
answers = st.fixed_dictionaries(
    {},
    optional={
        name: json_values | st.sampled_from([True, "partial"])
        for name in ("success", "result", "message", "error", "status", "warnings", "observables")
    },
)


@pytest.mark.acceptance("AM-26", "AM-28")
@given(answers | json_values, st.sampled_from(ToolEffect), st.booleans())
def test_whatever_a_handler_answers_comes_to_an_outcome_that_can_be_kept(
    answer: Any, effect: ToolEffect, acted: bool
) -> None:
    outcome = came_of(answer, SCORED, effect, acted=acted)
    assert SkillOutcome.model_validate_json(outcome.model_dump_json()) == outcome
    assert (outcome.error is None) == (outcome.status in (SUCCESS, PARTIAL))
    if outcome.status is FAILURE:
        assert {one.state for one in outcome.observables.effects} == {ObservedEffectState.FAILED}


@pytest.mark.parametrize(
    ("said", "status"), [(True, SUCCESS), (False, PARTIAL), (None, SUCCESS), ("no", SUCCESS)]
)
@pytest.mark.acceptance("X-38")
def test_a_message_that_was_not_delivered_is_partial_whatever_its_handler_calls_it(
    said: object, status: InvocationStatus
) -> None:
    """X-38: Amber's handlers answer success with ``delivered: false``."""
    skill = acting(effect=ToolEffect.SEND)
    outcome = of({"success": True, "result": {"logged": True, "delivered": said}}, skill)
    assert outcome.status is status
    assert bool(outcome.warnings) is (status is PARTIAL)
    assert (
        of({"success": True, "result": {"delivered": False}}, acting(effect=ToolEffect.UPDATE)).status
        is SUCCESS
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"success": True, "result": {"delivered": False}, "message": "Noted."},
        {"success": False, "result": {"error": "x"}, "error": {"code": "VOICE_TIMEOUT", "message": "x"}},
    ],
)
def test_what_a_service_does_not_know_is_not_known_whatever_the_handler_made_of_it(
    answer: dict[str, Any],
) -> None:
    """X-14: the handler's words and code stay; a skill whose far side knows its key goes on as it was."""
    sends = acting(effect=ToolEffect.SEND)
    outcome = outcome_of(sends, sends.effect, answer, None, acted=True, unsure=True)
    assert outcome.status is InvocationStatus.OUTCOME_UNKNOWN
    assert outcome.outputs == answer["result"]
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == (
        "OUTCOME_UNKNOWN" if answer["success"] else "VOICE_TIMEOUT",
        False,
    )
    keyed = acting(effect=ToolEffect.SEND, repeatable=True)
    assert outcome_of(keyed, keyed.effect, answer, None, acted=True, unsure=True).status is not outcome.status

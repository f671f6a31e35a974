"""From a handler's raw answer, or its failure, to the one outcome of an invocation (AM-26, AM-27, AI-22…AI-24, X-13).

A handler answers ``{success, result?, message?, error?}``, and may add ``status``, ``warnings`` and ``observables``.
``error`` is a text, or ``{code, message}`` with a code of the skill's error table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from contracts.base import clipped
from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SkillError
from contracts.skills.invocation import (
    EffectOutcome,
    InvocationStatus,
    Observables,
    ObservedEffectState,
    SkillOutcome,
)
from contracts.skills.manifest import SkillManifest
from domain.platform.json_schema import misfits
from domain.platform.strict_json import as_object, json_problem
from domain.skills.retrying import outcome_is_unknown, rule_of

FALLBACK_WORDS = "I could not do that; it is noted for follow-up."
"""What a caller hears of a failure for which the handler has no words (AM-27)."""

NOT_DELIVERED = "DELIVERY_FAILED: it is kept, and was not delivered."
"""The warning of a message that a handler says it has noted and not delivered (X-38)."""

MOST_WARNINGS, MOST_EVENTS = 20, 100


class Failed(Protocol):
    """Why a run gave no answer, as the runtime of skills says it."""

    @property
    def code(self) -> str:
        """A code of the skill's error table."""
        ...

    @property
    def message(self) -> str:
        """Words without anything private."""
        ...

    @property
    def retryable(self) -> bool | None:
        """Whether the same call may succeed later; none where the code's own rule holds."""
        ...


_TEXTS = ("message", "error")
_FIELDS = frozenset({"success", "result", "status", "warnings", "observables", *_TEXTS})


def answer_problem(answer: object) -> str | None:
    """Why what a handler answered has not the shape that it must have (AM-26); none where it has."""
    given = as_object(answer)
    if given is None:
        return "the handler answered no object with success, result and message"
    if not isinstance(given.get("success"), bool):
        return "the handler's answer has no boolean success"
    for field in _TEXTS:
        names_a_code = field == "error" and as_object(given.get(field)) is not None
        if not (names_a_code or isinstance(given.get(field), str | None)):
            return f"the handler's {field} is no text"
    if unknown := sorted(set(given) - _FIELDS):
        return f"the handler's answer has a field that is not known: {unknown[0][:80]}"
    problem = json_problem(given)
    return f"the handler's answer {problem}" if problem is not None else None


def outcome_of(
    manifest: SkillManifest,
    effect: ToolEffect,
    answer: Mapping[str, Any] | None,
    failure: Failed | None,
    *,
    acted: bool,
    unsure: bool = False,
) -> SkillOutcome:
    """The outcome of one run: of its answer, which has its shape (``answer_problem``), or of its failure.

    ``acted`` is whether anything that may have had an effect was begun. ``unsure`` is whether a service does not know
    if that effect has happened: whatever the handler made of it, the outcome is not known then (X-14).
    """
    outcome = _of_run(manifest, effect, answer, failure, acted=acted)
    return _left_open(manifest, outcome) if unsure and not _may_be_repeated(manifest, effect) else outcome


def _may_be_repeated(manifest: SkillManifest, effect: ToolEffect) -> bool:
    return effect is ToolEffect.READ or manifest.repeatable


def _left_open(manifest: SkillManifest, outcome: SkillOutcome) -> SkillOutcome:
    """An outcome that nobody knows, with what the handler said; its own code stays where it has one."""
    error = outcome.error or error_of(
        manifest, "OUTCOME_UNKNOWN", "The far side did not say whether it took it; it may have happened."
    )
    return outcome.changed(status=InvocationStatus.OUTCOME_UNKNOWN, error=error.changed(retryable=False))


def _of_run(
    manifest: SkillManifest,
    effect: ToolEffect,
    answer: Mapping[str, Any] | None,
    failure: Failed | None,
    *,
    acted: bool,
) -> SkillOutcome:
    if failure is not None or answer is None:
        return _failed(manifest, effect, failure or _NO_ANSWER, acted=acted)
    given, message = answer, answer.get("message")
    words = clipped(message, 1_000) if message is not None else None
    outputs = _outputs(given.get("result"))
    warnings = _texts(given.get("warnings"))
    if not given["success"]:
        return _refused(manifest, given, outputs, words, warnings)
    outputs, lost, problem = _fitted(manifest, outputs)
    if problem is not None:
        return _invalid(manifest, problem)
    undelivered = effect is ToolEffect.SEND and (outputs or {}).get("delivered") is False
    if undelivered and not warnings:
        warnings = (NOT_DELIVERED,)
    partial = bool(lost) or undelivered or given.get("status") == InvocationStatus.PARTIAL.value
    status = InvocationStatus.PARTIAL if partial else InvocationStatus.SUCCESS
    return SkillOutcome(
        status=status,
        outputs=outputs,
        message=words,
        warnings=(*warnings, *lost)[:MOST_WARNINGS],
        observables=_observables(manifest, given, status, outputs),
    )


@dataclass(frozen=True)
class _NoAnswer:
    code: str = "HANDLER_FAILED"
    message: str = "The handler gave no answer."
    retryable: bool | None = None


_NO_ANSWER = _NoAnswer()


def _failed(manifest: SkillManifest, effect: ToolEffect, failure: Failed, *, acted: bool) -> SkillOutcome:
    if outcome_is_unknown(manifest, effect, failure.code, acted=acted):
        words = f"{failure.message} It may have happened all the same."
        error = error_of(manifest, "OUTCOME_UNKNOWN", words)
        return SkillOutcome(status=InvocationStatus.OUTCOME_UNKNOWN, message=FALLBACK_WORDS, error=error)
    error = error_of(manifest, failure.code, failure.message, failure.retryable)
    return _failure(manifest, error, None, None, ())


def _refused(
    manifest: SkillManifest,
    given: Mapping[str, Any],
    outputs: dict[str, Any] | None,
    words: str | None,
    warnings: tuple[str, ...],
) -> SkillOutcome:
    """A handler that says by itself that it did not do it."""
    said = given.get("error")
    named = as_object(said)
    if named is not None:
        code, message = str(named.get("code") or "HANDLER_FAILED"), str(named.get("message") or "It failed.")
    else:
        code, message = "HANDLER_FAILED", str(said) if said else words or "The handler says that it failed."
    return _failure(manifest, error_of(manifest, code, message), outputs, words, warnings)


def _failure(
    manifest: SkillManifest,
    error: SkillError,
    outputs: dict[str, Any] | None,
    words: str | None,
    warnings: tuple[str, ...],
) -> SkillOutcome:
    status = InvocationStatus.FAILURE
    return SkillOutcome(
        status=status,
        outputs=outputs,
        message=words or FALLBACK_WORDS,
        error=error,
        warnings=warnings,
        observables=Observables(effects=_effects(manifest, status, outputs)),
    )


def _invalid(manifest: SkillManifest, problem: str) -> SkillOutcome:
    return _failure(manifest, error_of(manifest, "OUTPUT_INVALID", problem), None, None, ())


def error_of(manifest: SkillManifest, code: str, message: str, retryable: bool | None = None) -> SkillError:
    """An error of this skill, with the status and the recovery that its table says."""
    rule = rule_of(manifest, code)
    return SkillError(
        code=clipped(code, 80),
        message=clipped(message, 500),
        http_status=rule.http_status,
        retryable=rule.retryable if retryable is None else retryable,
        recovery=rule.recovery,
    )


def _fitted(
    manifest: SkillManifest, outputs: dict[str, Any] | None
) -> tuple[dict[str, Any] | None, tuple[str, ...], str | None]:
    """The outputs as they fit their schema, what was lost of them, and why they do not fit at all.

    A field that is required and wrong loses the answer; one that may be left out is left out (AI-23).
    """
    if not manifest.output_schema:
        return outputs, (), None
    kept, lost = dict(outputs or {}), list[str]()
    required = set(cast("list[str]", manifest.output_schema.get("required") or ()))
    for _ in range(MOST_WARNINGS):
        found = misfits(kept, manifest.output_schema, 1, known_good=True)
        if not found:
            return kept, tuple(lost), None
        name = found[0].path.split(".")[0].split("[")[0]
        if not name or name in required or name not in kept:
            return (
                None,
                (),
                f"The handler's `result` does not fit its schema: {found[0].path or 'result'}: {found[0].problem}",
            )
        del kept[name]
        lost.append(clipped(f"{name} was left out: {found[0].problem}", 240))
    return None, (), "The handler's `result` does not fit its schema."


def _observables(
    manifest: SkillManifest,
    given: Mapping[str, Any],
    status: InvocationStatus,
    outputs: dict[str, Any] | None,
) -> Observables:
    told = as_object(given.get("observables")) or {}
    metrics = as_object(told.get("metrics")) or {}
    return Observables(
        events=_objects(told.get("events")),
        metrics={name: float(value) for name, value in metrics.items() if _is_number(value)},
        hints=_objects(told.get("hints")),
        effects=_effects(manifest, status, outputs),
    )


def _effects(
    manifest: SkillManifest, status: InvocationStatus, outputs: dict[str, Any] | None
) -> tuple[EffectOutcome, ...]:
    """What became of each declared effect (AI-24)."""

    def state(shown_by: str | None) -> ObservedEffectState:
        if status is InvocationStatus.FAILURE:
            return ObservedEffectState.FAILED
        if shown_by is not None:
            shown = bool((outputs or {}).get(shown_by))
            return ObservedEffectState.SATISFIED if shown else ObservedEffectState.FAILED
        partial = status is InvocationStatus.PARTIAL
        return ObservedEffectState.PARTIAL if partial else ObservedEffectState.SATISFIED

    return tuple(EffectOutcome(name=one.name, state=state(one.shown_by)) for one in manifest.effects)


def _outputs(result: object) -> dict[str, Any] | None:
    if result is None:
        return None
    named = as_object(result)
    return named if named is not None else {"result": result}


def _objects(value: object) -> tuple[dict[str, Any], ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(one for item in items if (one := as_object(item)) is not None)[:MOST_EVENTS]


def _texts(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(clipped(item, 240) for item in items if isinstance(item, str))[:MOST_WARNINGS]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

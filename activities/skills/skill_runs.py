"""Runs the handler of a skill in the sandbox, with the services that its manifest names."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

import structlog
from temporalio import activity

from activities.skills.learned_scripts import LearnedScriptRuns
from activities.skills.services.offered import Asker
from activities.skills.services.skill_services import SkillServices
from clients.platform.secret_fingerprints import Fingerprints, OwnSecrets, SecretMask
from contracts.skills.invocation import SkillOutcome
from contracts.skills.invocation_work import InvocationRecord
from domain.learning.redaction.redaction import redact
from domain.skills.outcomes import outcome_of
from domain.skills.selection import tool_of
from skills.runtime.runner import Operator, RanSkill, SkillFailure, SkillRun, run_skill
from stores.skills.attempts import AttemptPlan, AttemptResult
from stores.skills.catalog import SkillCatalog

log = structlog.get_logger(__name__)


class SkillRuns:
    """One run after another, each in a sandbox of its own. Safe to share between activities."""

    def __init__(
        self,
        catalog: SkillCatalog,
        services: SkillServices,
        operator: Operator,
        learned: LearnedScriptRuns,
        own_secrets: OwnSecrets = Fingerprints,
    ) -> None:
        """``learned`` runs the scripts of abilities.

        ``own_secrets`` gives those that this installation keeps: no answer and no log may hold one.
        """
        self._catalog = catalog
        self._services = services
        self._operator = operator
        self._own_secrets = own_secrets
        self._learned = learned

    async def handle(self, plan: AttemptPlan, attempt: int) -> AttemptResult:
        """One attempt: what the handler answered, as an outcome."""
        if plan.record.order.learned is not None:
            return await self._learned.handle(plan, self._without_secrets)
        ran = await self._run(plan, attempt, "handle")
        if ran is None:
            failure = SkillFailure(
                "SKILL_NOT_FOUND", "The folder was changed or removed since the invocation was let in."
            )
            return AttemptResult(_outcome(plan.record, None, failure, acted=False), acted=False)
        retry_after = ran.failure.retry_after_ms if ran.failure is not None else None
        return AttemptResult(
            outcome=_outcome(plan.record, ran.answer, ran.failure, acted=ran.acted, unsure=ran.unsure),
            acted=ran.acted,
            isolation=ran.isolation,
            retry_after_ms=retry_after,
            due_at=ran.due_at,
        )

    async def check(self, plan: AttemptPlan) -> SkillOutcome | None:
        """What the handler's own check refuses, if it does."""
        ran = await self._run(plan, 0, "check")
        if ran is None or (ran.failure is None and ran.answer is None):
            return None
        if ran.failure is None and ran.answer is not None and ran.answer.get("success") is True:
            # A check that lets pass has no outputs: those of its schema come with the run.
            return None
        outcome = _outcome(plan.record, ran.answer, ran.failure, acted=False)
        return outcome if outcome.error is not None else None

    async def _run(
        self, plan: AttemptPlan, attempt: int, entry: Literal["handle", "check"]
    ) -> RanSkill | None:
        record = plan.record
        folder = await asyncio.to_thread(self._catalog.folder_of, record.order)
        if folder is None:
            return None
        params: dict[str, Any] = json.loads(plan.params)
        began = record.attempts[-1].started_at if record.attempts else datetime.now(UTC)
        asker = Asker(record.order, record.manifest, attempt, began)
        run = SkillRun(
            manifest=record.manifest,
            tool=tool_of(record.manifest, record.order.tool_id),
            folder=folder,
            digest=record.order.digest,
            params=params,
            invocation_id=record.invocation_id,
            idempotency_key=asker.key,
            call=record.order.context.call if record.order.context is not None else None,
            operator=self._operator,
            entry=entry,
            timeout_ms=record.manifest.timeout_ms,
            reads=self._services.reads,
        )
        ran = await run_skill(run, self._services.of(asker), activity.heartbeat)
        ran = await asyncio.to_thread(self._masked, ran)
        _log(record, ran)
        return ran

    def _masked(self, ran: RanSkill) -> RanSkill:
        """What came of the run with every secret masked that is known now: one may have come meanwhile."""
        mask = SecretMask(self._own_secrets())
        answer, failure = _masked_end(mask, ran.answer, ran.failure)
        return replace(ran, answer=answer, failure=failure, log=mask.text(ran.log))

    def _without_secrets(
        self, answer: dict[str, Any] | None, failure: SkillFailure | None
    ) -> tuple[dict[str, Any] | None, SkillFailure | None]:
        return _masked_end(SecretMask(self._own_secrets()), answer, failure)


def _masked_end(
    mask: SecretMask, answer: dict[str, Any] | None, failure: SkillFailure | None
) -> tuple[dict[str, Any] | None, SkillFailure | None]:
    if failure is not None:
        message, details = mask.text(failure.message), mask.masked(failure.details)
        failure = replace(failure, message=message, details=details)
    return mask.masked(answer), failure


def _outcome(
    record: InvocationRecord,
    answer: dict[str, Any] | None,
    failure: SkillFailure | None,
    *,
    acted: bool,
    unsure: bool = False,
) -> SkillOutcome:
    return outcome_of(record.manifest, record.order.effect, answer, failure, acted=acted, unsure=unsure)


def _log(record: InvocationRecord, ran: RanSkill) -> None:
    """What a handler wrote, for whoever runs this installation; secrets are masked."""
    if ran.log or ran.failure is not None:
        log.info(
            "a skill's handler",
            skill=record.order.function_name,
            invocation_id=record.invocation_id,
            duration_ms=ran.duration_ms,
            error_code=ran.failure.code if ran.failure is not None else None,
            output=redact(ran.log[-4_000:]).text if ran.log else None,
        )

"""Gateway to the workflows of invocations: the gate, the start, confirmation, cancellation."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import anyio
import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation
from uuid_utils import uuid7

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolEffect
from contracts.memory.memory import WorldFact
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from contracts.skills.errors import SkillError
from contracts.skills.invocation import (
    OPEN_INVOCATION_STATUSES,
    CancelInvocationRequest,
    ConfirmInvocationRequest,
    InvocationView,
    InvokeSkillRequest,
)
from contracts.skills.invocation_work import (
    Confirmed,
    ConfirmOrder,
    GiveUpCause,
    GiveUpOrder,
    InvocationEnd,
    InvocationOrder,
    InvocationStart,
)
from contracts.skills.manifest import BrokerService, SkillManifest
from contracts.workflow_ids import skill_invocation_id
from domain.skills.arguments import InputRefused, clean_input
from domain.skills.filling import PreconditionUnmet, filled, has_references, unmet
from domain.skills.normalising import facts_of
from domain.skills.policy import effect_of
from domain.skills.selection import tools_for
from gateways.platform.updates import (
    ANSWER_WITHIN,
    Answer,
    Message,
    Recall,
    StartOptions,
    Update,
    id_of_key,
    start_options,
    start_or_join,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from gateways.skills.choosing import Chosen, SkillChoice
from stores.learning.trials import TrialStore
from stores.memory.memories import Memories
from stores.platform.answers import Answers
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database
from stores.skills.admission import Admitted, NoPlace, SkillAdmission
from stores.skills.attempts import unconfirmable
from stores.skills.invocation_reads import InvocationReads
from workflows.skills.skill_invocation_workflow import KIND, LOOK, SkillInvocationWorkflow
from workflows.skills.skill_messages import InvocationWait

_INVOCATIONS = UUID("0d2c5a44-5b0e-4f1c-9a0b-2f4d7c6b9e10")
"""The UUID namespace of invocations that were requested with an idempotency key."""

_LOOKS_FOR_A_PLACE_SECONDS, _LONGEST_BETWEEN_LOOKS_SECONDS = 0.1, 1.0


@dataclass(frozen=True)
class _WithoutPlace:
    """A call over the number of those at once: how it is asked again, and its refusal if it may wait no longer."""

    admit: Callable[[], Admitted]
    refusal: Refusal


def invocation_start_options(order: InvocationOrder, task_queue: str) -> StartOptions:
    """The options of the start of an invocation's workflow; one that runs is joined."""
    return start_options(
        skill_invocation_id(order.invocation_id),
        task_queue,
        kind=KIND,
        owner=order.owner_user_id,
        summary=f"{order.function_name} {order.version} for {order.owner_user_id}"[:200],
        memo={"correlation_id": order.correlation_id},
    )


def invocation_start(order: InvocationOrder, console_url: str | None) -> InvocationStart:
    """The input of an invocation's workflow."""
    return InvocationStart(
        invocation_id=order.invocation_id,
        owner_user_id=order.owner_user_id,
        skill=order.skill,
        version=order.version,
        console_url=console_url,
    )


class SkillInvocationGateway:
    """Asks for invocations, confirms those that wait, gives them up."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        database: Database,
        admission: SkillAdmission,
        *,
        environment: str,
        services: frozenset[BrokerService],
        console_url: str | None = None,
        answer_within: timedelta = ANSWER_WITHIN,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._answers = Answers(database)
        self._admission = admission
        self._choice = SkillChoice(database)
        self._reads = InvocationReads(database)
        self._memories = Memories(database)
        self._trials = TrialStore(database)
        self._environment = environment
        self._services = services
        self._console_url = console_url
        self._answer_within = answer_within

    def choose(self, name: str, version: str | None) -> Chosen:
        """The skill that answers to a name; as ``SkillChoice.skill``."""
        return self._choice.skill(name, version)

    async def invoke(
        self,
        skill: Chosen | str,
        request: InvokeSkillRequest,
        caller: Principal,
        key: CommitKey,
        correlation_id: str,
        *,
        wait: timedelta | None = None,
    ) -> InvocationView:
        """Asks for one invocation, and waits at most ``wait`` for its end. The same key finds the same one.

        ``skill`` is what was chosen, or a name that is looked up in the version that the request asks for. Of several
        tools the first that may run in this environment is taken (AI-17).

        Raises:
            Refusal: the documented refusals of the gate (O-7); ``TEMPORAL_UNAVAILABLE``.
        """
        enter = partial(self._enter, skill, request, caller, key, correlation_id)
        admitted = await anyio.to_thread.run_sync(enter)
        if isinstance(admitted, _WithoutPlace):
            admitted = await self._placed(admitted)
        if admitted.answered is not None:
            return admitted.answered
        record = admitted.kept.record
        if record.status in OPEN_INVOCATION_STATUSES:
            await self._run(record.order, wait, asks=record.order.asks and record.manifest.has_check)
        return await anyio.to_thread.run_sync(self._reads.view, record.invocation_id, caller.user_id)

    async def confirm(
        self, invocation_id: str, asked: ConfirmInvocationRequest, caller: Principal, key: CommitKey
    ) -> InvocationView:
        """Confirms or refuses an invocation that waits. The first answer wins.

        Raises:
            Refusal: ``SKILL_INVOCATION_NOT_FOUND``, ``CONFLICT``, ``TEMPORAL_UNAVAILABLE``.
        """
        record = await anyio.to_thread.run_sync(self._reads.owned, invocation_id, caller.user_id)

        def refuse_unless_waiting() -> None:
            refusal = unconfirmable(record, datetime.now(UTC))
            if refusal is not None:
                raise refusal

        order = ConfirmOrder(
            invocation_id=invocation_id,
            commit_key=key,
            approve=asked.approve,
            by=caller.user_id,
            reason=asked.reason,
        )
        recall = Recall(key, self._recall, tell=self._make_known)
        taken = await self._send(
            record.order, SkillInvocationWorkflow.confirm, order, key, recall, refuse_unless_waiting
        )
        return taken.view

    async def cancel(
        self, invocation_id: str, asked: CancelInvocationRequest, caller: Principal, key: CommitKey
    ) -> InvocationView:
        """Gives an invocation up. One that runs may have had its effect; one that has ended stays as it is.

        Raises:
            Refusal: ``SKILL_INVOCATION_NOT_FOUND``, ``TEMPORAL_UNAVAILABLE``.
        """
        record = await anyio.to_thread.run_sync(self._reads.owned, invocation_id, caller.user_id)
        if record.status in OPEN_INVOCATION_STATUSES:
            order = GiveUpOrder(
                invocation_id=invocation_id,
                cause=GiveUpCause.CANCELLED,
                by=caller.user_id,
                reason=asked.reason,
            )
            await self._send(record.order, SkillInvocationWorkflow.cancel, order, key)
        return await anyio.to_thread.run_sync(self._reads.view, invocation_id, caller.user_id)

    def _enter(
        self,
        skill: Chosen | str,
        request: InvokeSkillRequest,
        caller: Principal,
        key: CommitKey,
        correlation_id: str,
    ) -> Admitted | _WithoutPlace:
        """Checks the input, and has the gate decide, in one go: an answer that is kept is found by this alone.

        Raises:
            Refusal: as ``invoke``.
        """
        chosen = (
            self._choice.named(skill, request.version, caller.user_id) if isinstance(skill, str) else skill
        )
        manifest, params = chosen.manifest, request.input
        effect, asks = effect_of(manifest, params)
        _require_scope(caller, effect)
        refusal = None
        try:
            # A reference can only be checked as what it stands for.
            given = filled(params, self._known(caller.user_id)) if has_references(params) else params
            params = clean_input(given, manifest)
            effect, asks = effect_of(manifest, params)
            _require_scope(caller, effect)
            self._require_preconditions(manifest, caller.user_id)
        except PreconditionUnmet as missing:
            refusal = missing.refusal()
        except InputRefused as refused:
            refusal = as_refusal(refused.error)
        refusal = refusal or self._without_folder(chosen, params, caller.user_id)
        content = canonical_json(params).encode()
        order = self._order(chosen, request, caller, key, correlation_id, content, params, effect)
        if refusal is not None:
            self._admission.refused(order, refusal, datetime.now(UTC))
            raise refusal
        confirmed = request.confirmed and caller.may(Scope.APPROVE)

        def admit() -> Admitted:
            now = datetime.now(UTC)
            return self._admission.admit(order, manifest, content, now, asks=asks, confirmed=confirmed)

        try:
            return admit()
        except NoPlace as none:
            return _WithoutPlace(admit, none.refusal)

    def _without_folder(self, chosen: Chosen, params: Mapping[str, Any], owner: str) -> Refusal | None:
        """Whether the folder is missing that a learned script is to work on; one that is there is kept for a day."""
        if chosen.learned is None or "folder" not in params:
            return None
        try:
            self._trials.hold_folder(owner, params["folder"], datetime.now(UTC))
        except Refusal as missing:
            return missing
        return None

    def _require_preconditions(self, manifest: SkillManifest, owner: str) -> None:
        """Whether what the skill needs is there: a tool that may run here, a service, a fact (AI-07).

        Raises:
            PreconditionUnmet: one of them is not.
        """
        if not tools_for(manifest, self._environment):
            raise PreconditionUnmet("allowed_env", f"no tool of it may run in {self._environment}")
        missing = unmet(manifest, self._services, self._known(owner))
        if missing is not None:
            raise missing

    def _known(self, owner: str) -> Callable[[str, str], tuple[WorldFact, ...]]:
        now = datetime.now(UTC)
        return lambda subject, predicate: self._memories.facts(owner, subject, predicate, now)

    def _order(
        self,
        chosen: Chosen,
        request: InvokeSkillRequest,
        caller: Principal,
        key: CommitKey,
        correlation_id: str,
        content: bytes,
        params: Mapping[str, Any],
        effect: ToolEffect,
    ) -> InvocationOrder:
        manifest, record = chosen.manifest, chosen.record
        keyed_id = id_of_key(_INVOCATIONS, key, between=" ")
        assert record.digest is not None, "what is ready has a digest"
        tool_id = next((tool.tool_id for tool in tools_for(manifest, self._environment)), None)
        return InvocationOrder(
            invocation_id=keyed_id or str(uuid7()),
            correlation_id=correlation_id,
            owner_user_id=caller.user_id,
            token_id=caller.token_id,
            skill=manifest.name,
            function_name=manifest.function_name,
            version=manifest.version,
            root=record.root,
            digest=record.digest,
            input_digest=digest_of(content),
            context=request.context,
            effect=effect,
            tool_id=tool_id,
            facts=facts_of(manifest, effect, request.context, tool_id),
            confirmation_prompt=manifest.confirmation_prompt,
            cache_key=_cache_key(manifest, params),
            request_digest=key.request_digest if keyed_id is not None else None,
            dry_run=request.dry_run,
            learned=chosen.learned,
            unapproved_path=None if chosen.is_approved else record.path,
            warnings=chosen.warnings,
            created_at=datetime.now(UTC),
        )

    async def _placed(self, waiting: _WithoutPlace) -> Admitted:
        """Waits for a place for a call over the number of those at once, and lets it in (O-12).

        Raises:
            Refusal: as ``SkillAdmission.admit``.
        """
        give_up_at = time.monotonic() + self._admission.budget.waits_seconds
        # Each look takes the store's only writer: who has waited for long looks more seldom.
        pause = _LOOKS_FOR_A_PLACE_SECONDS
        while time.monotonic() < give_up_at:
            await anyio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_BETWEEN_LOOKS_SECONDS)
            try:
                return await anyio.to_thread.run_sync(waiting.admit)
            except NoPlace as none:
                waiting = _WithoutPlace(waiting.admit, none.refusal)
        raise waiting.refusal

    async def _run(self, order: InvocationOrder, wait: timedelta | None, *, asks: bool) -> None:
        """Starts the workflow, and waits for its end where the caller does, or until its check has let it ask."""
        within = max(wait or timedelta(), self._answer_within if asks else timedelta())
        if not within:
            start = invocation_start(order, self._console_url)
            options = invocation_start_options(order, self._task_queue)
            with suppress(Refusal):
                # It is on record, and started by the worker's recovery when Temporal is back.
                await start_or_join(self._client, SkillInvocationWorkflow.run, start, options)
            return

        async def attempt() -> object:
            return await update_with_start(
                self._client,
                self._start(order),
                SkillInvocationWorkflow.wait,
                InvocationWait(invocation_id=order.invocation_id),
                within=within,
            )

        with suppress(Refusal):
            await update_or_recall(
                attempt,  # pyright: ignore[reportArgumentType]
                workflow_id=skill_invocation_id(order.invocation_id),
                conflict="The invocation is changing too fast; read it.",
            )

    async def _send(
        self,
        order: InvocationOrder,
        update: Update[Message, Answer],
        message: Message,
        key: CommitKey,
        recall: Recall[Answer] | None = None,
        check: Callable[[], None] | None = None,
    ) -> Answer:
        async def attempt() -> Answer:
            return await update_with_start(
                self._client,
                self._start(order),
                update,
                message,
                update_id=update_id_of(key),
                within=self._answer_within,
            )

        return await update_or_recall(
            attempt,
            workflow_id=skill_invocation_id(order.invocation_id),
            conflict="The invocation is changing too fast; repeat the command.",
            recall=recall,
            check=check,
        )

    def _start(self, order: InvocationOrder) -> WithStartWorkflowOperation[Any, InvocationEnd]:
        return WithStartWorkflowOperation(
            SkillInvocationWorkflow.run,
            invocation_start(order, self._console_url),
            **invocation_start_options(order, self._task_queue),
        )

    def _recall(self, key: CommitKey) -> Confirmed | None:
        kept = self._answers.recall(key)
        return Confirmed.model_validate_json(kept) if kept is not None else None

    async def _make_known(self, taken: Confirmed) -> None:
        """Has the workflow look at the store, unless the invocation has gone on since the answer."""
        record = await anyio.to_thread.run_sync(self._reads.find, taken.standing.invocation_id)
        if record is None or record.status not in OPEN_INVOCATION_STATUSES or record.attempts:
            return
        await run_invocation(self._client, self._task_queue, record.order, self._console_url)


async def run_invocation(
    client: Client, task_queue: str, order: InvocationOrder, console_url: str | None
) -> None:
    """Starts the workflow of an invocation that the store has; one that runs stays, and looks at the store.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``.
    """
    options = invocation_start_options(order, task_queue)
    start = invocation_start(order, console_url)
    await start_or_join(client, SkillInvocationWorkflow.run, start, options, signal=LOOK)


def _require_scope(caller: Principal, effect: ToolEffect) -> None:
    if effect is not ToolEffect.READ:
        caller.require(Scope.CALL)


def as_refusal(error: SkillError) -> Refusal:
    """A refusal of the gate in the envelope of the API."""
    return Refusal(
        ErrorCode(error.code),
        error.message,
        recovery=error.recovery,
        fields=[field.model_dump() for field in error.fields],
    )


def _cache_key(manifest: SkillManifest, params: Mapping[str, Any]) -> str | None:
    """What a kept answer is found under: the skill, its version, and the fields that it depends on."""
    if not manifest.cache_ttl_ms:
        return None
    fields = (
        params if manifest.cache_keys is None else {name: params.get(name) for name in manifest.cache_keys}
    )
    return digest_of(json.dumps([manifest.name, manifest.version, canonical_json(dict(fields))]))

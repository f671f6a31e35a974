"""The service ``publisher``: publishes approved content once, or keeps it in the outbox (CH-33…CH-38, X-22)."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import structlog
from pydantic import StringConstraints

from activities.skills.services.offered import Asker, Method
from clients.skills.publisher import HttpPublisher, PublisherFailed
from contracts.base import Contract, UtcTime, rfc3339
from contracts.skills.content import ContentPackage
from contracts.skills.errors import AWAITING_TIME
from contracts.skills.publishing import (
    MAX_SCHEDULE_DAYS,
    ApprovalRecord,
    Platform,
    PublicationRecord,
    PublicationState,
)
from skills.runtime.broker import BrokerRefused
from stores.platform.canonical import document_bytes
from stores.platform.projection.atomic_files import FileTree
from stores.skills.services.approvals import ApprovalRefused, Approvals
from stores.skills.services.publications import FINAL, Publications

log = structlog.get_logger(__name__)

WAIT_SECONDS, LOOK_EVERY_SECONDS = 10.0, 0.1
"""How long another invocation's publication is waited for, and how often it is looked at."""


class PublishRequest(Contract):
    """Asks for a publication."""

    content: ContentPackage
    approval_token: Annotated[str, StringConstraints(max_length=4_000)]
    platform: Platform
    schedule_time: UtcTime | None = None


class PublisherService:
    """Publishes by HTTP where a publisher is configured; else it writes the outbox, and calls nothing published."""

    def __init__(
        self,
        approvals: Approvals,
        publications: Publications,
        publisher: HttpPublisher | None,
        outbox: FileTree,
        *,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._approvals = approvals
        self._publications = publications
        self._publisher = publisher
        self._outbox = outbox
        self._wait = wait_seconds
        self.methods: Mapping[str, Method] = {"publish": Method(PublishRequest, self._publish)}

    async def _publish(self, asker: Asker, asked: PublishRequest) -> dict[str, Any]:
        """``{"published", "platform", "post", "path", "duplicate", "warnings"}``; the invocation waits for its time.

        Raises:
            BrokerRefused: what the token, the time or the publisher refuses; ``AWAITING_TIME`` before its time.
        """
        due_at = _due_at(asker, asked.schedule_time)
        try:
            approval = await asyncio.to_thread(
                self._approvals.verify,
                asked.approval_token,
                asker.owner,
                asked.content,
                asked.platform,
                # A token is judged when the call is accepted, and not again at a later attempt.
                asker.order.created_at,
            )
            record = await self._reserved(asker, asked, approval, due_at)
        except ApprovalRefused as refused:
            raise BrokerRefused(refused.code, str(refused), retryable=False) from None
        if record.state in FINAL:
            return _answer(record, (), duplicate=record.invocation_id != asker.key)
        if due_at is not None:
            told = f"It is published at {rfc3339(due_at)}."
            raise BrokerRefused(AWAITING_TIME, told, due_at=due_at, never_left=True)
        if self._publisher is None:
            return await self._to_outbox(asker, asked, record)
        return await self._send(asker, asked, approval, record, self._publisher)

    async def _reserved(
        self, asker: Asker, asked: PublishRequest, approval: ApprovalRecord, due_at: datetime | None
    ) -> PublicationRecord:
        """The publication as this invocation's, or as it was ended by another's."""
        until = asyncio.get_running_loop().time() + self._wait
        while True:
            record = await asyncio.to_thread(
                self._publications.reserve,
                approval,
                asked.content,
                asked.platform,
                asker.key,
                asker.order.correlation_id,
                datetime.now(UTC),
                due_at,
            )
            if record.state in FINAL or record.invocation_id == asker.key:
                return record
            if record.due_at is not None and record.state is PublicationState.SCHEDULED:
                raise BrokerRefused("DUPLICATE_CONTENT", _is_kept(record, record.due_at), retryable=False)
            if asyncio.get_running_loop().time() > until:
                raise BrokerRefused("PUBLISH_FAILED", "Another call is publishing it; ask again.")
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    async def _send(
        self,
        asker: Asker,
        asked: PublishRequest,
        approval: ApprovalRecord,
        record: PublicationRecord,
        publisher: HttpPublisher,
    ) -> dict[str, Any]:
        content = asked.content.model_dump(mode="json", exclude_none=True)
        warnings = list[str]()
        # Only another platform of the same approval stands in for one that is not available.
        order = list(dict.fromkeys((record.platform, asked.platform, *approval.platforms)))
        for platform in order:
            if platform != record.platform:
                record = await asyncio.to_thread(
                    self._publications.moved, record, platform, datetime.now(UTC)
                )
            try:
                post = await publisher.publish(content, platform, f"{approval.jti}:{platform}")
            except PublisherFailed as failed:
                warnings.append(f"{failed.code}: {platform}: {failed}"[:240])
                log.warning("content was not published", code=failed.code, platform=platform)
                if failed.code == "PLATFORM_ERROR" and platform != order[-1]:
                    continue
                await self._settle(asker, record.changed(state=PublicationState.FAILED))
                raise BrokerRefused(
                    failed.code, " ".join(warnings)[:500], retryable=failed.retryable
                ) from None
            done = record.changed(state=PublicationState.PUBLISHED, post=post)
            await self._settle(asker, done)
            return _answer(done, warnings, duplicate=False)
        raise BrokerRefused("PLATFORM_ERROR", " ".join(warnings)[:500])

    async def _to_outbox(
        self, asker: Asker, asked: PublishRequest, record: PublicationRecord
    ) -> dict[str, Any]:
        name = f"publications/{record.content_id}-{record.platform}-{record.jti}.json"
        held = {
            "note": "Not published: no publisher is configured.",
            "platform": record.platform,
            "reviewer_id": record.reviewer_id,
            "kept_at": rfc3339(datetime.now(UTC)),
            "content": asked.content.model_dump(mode="json", exclude_none=True),
        }
        await asyncio.to_thread(self._write, name, document_bytes(held))
        path = str(self._outbox.root / name)
        done = record.changed(state=PublicationState.OUTBOX, path=path[:500])
        await self._settle(asker, done)
        return _answer(done, (), duplicate=False)

    def _write(self, name: str, content: bytes) -> None:
        self._outbox.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._outbox.replace(name, [content])
        self._outbox.settle()

    async def _settle(self, asker: Asker, record: PublicationRecord) -> None:
        await asyncio.to_thread(
            self._publications.settle, record, asker.order.correlation_id, datetime.now(UTC)
        )


def _due_at(asker: Asker, schedule_time: datetime | None) -> datetime | None:
    """The time that is waited for; none where it has come, or none was named.

    Raises:
        BrokerRefused: ``INVALID_INPUT`` where it lay in the past when the call was accepted, or lies too far ahead.
    """
    if schedule_time is None:
        return None
    accepted = asker.order.created_at
    if schedule_time <= accepted:
        raise BrokerRefused(
            "INVALID_INPUT", "schedule_time: it lies in the past; leave it out to publish at once."
        )
    if schedule_time > accepted + timedelta(days=MAX_SCHEDULE_DAYS):
        raise BrokerRefused(
            "INVALID_INPUT", f"schedule_time: it lies more than {MAX_SCHEDULE_DAYS} days ahead."
        )
    return schedule_time if asker.at < schedule_time else None


def _is_kept(record: PublicationRecord, due_at: datetime) -> str:
    return (
        f"It is published at {rfc3339(due_at)} by the invocation {record.invocation_id}; "
        f"to change that: apprentice skills cancel {record.invocation_id}"
    )


def _answer(
    record: PublicationRecord, warnings: tuple[str, ...] | list[str], *, duplicate: bool
) -> dict[str, Any]:
    return {
        "published": record.state is PublicationState.PUBLISHED,
        "platform": record.platform,
        "post": record.post or {},
        "path": record.path,
        "duplicate": duplicate,
        "warnings": list(warnings),
    }

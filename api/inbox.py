"""The one inbox: tool calls, invocations, questions and drafts that wait for the caller, and what was sent to them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter

from api.platform.dependencies import AnyOf, PageDep, Reader, ServicesDep
from api.services import Services
from contracts.base import clipped
from contracts.errors import Refusal
from contracts.inbox.items import SentItem, SentKind
from contracts.learning.proposal import ProposalState
from contracts.mcp.dispatch import AskFirstStatus, MCPAskFirstDispatchRecord
from contracts.platform.inbox import MOST_TEXT, InboxItem, InboxKind, InboxResponse
from contracts.skills.invocation import InvocationView
from contracts.skills.learned import SkillLane
from stores.platform.database import PageRequest

router = APIRouter(prefix="/api/inbox", tags=["inbox"])

_MOST_DRAFTS = 100
_MOST_SENT = 500
"""How many messages, check-ins and questions of skills are listed: the newest."""

_TITLES = {
    SentKind.MESSAGE: "A message of {skill}",
    SentKind.CHECK_IN: "A check-in",
    SentKind.QUESTION: "{skill} asks",
    SentKind.ESCALATION: "{skill} needs you",
    SentKind.APPROVED_CONTENT: "This content is approved for publishing",
}

Source = Callable[[Services, str, datetime], Iterator[InboxItem]]
"""What there is of one kind for a user, by now."""


def _approvals(services: Services, user_id: str, now: datetime) -> Iterator[InboxItem]:
    for one in services.mcp.dispatches.pending(user_id, now).dispatches:
        if one.status is AskFirstStatus.PENDING:
            yield InboxItem(
                item_id=one.dispatch_id,
                kind=InboxKind.APPROVAL,
                title=f"May {one.tool_name} be called?",
                text=_with_asker(one),
                about=one.tool_name,
                expires_at=one.expires_at,
                created_at=one.created_at,
                next_action=f"apprentice mcp show {one.dispatch_id}, which says what will be sent and how to answer",
            )


def _with_asker(one: MCPAskFirstDispatchRecord) -> str:
    asker = f"\nAsked by {one.asked_by.words}." if one.asked_by is not None else ""
    return clipped(one.request_summary + asker, MOST_TEXT)


def _confirmations(services: Services, user_id: str, now: datetime) -> Iterator[InboxItem]:
    for one, given in services.skills.invocations.waiting(user_id, now):
        answers = (f"apprentice skills {word} {one.invocation_id}" for word in ("confirm", "refuse"))
        yield InboxItem(
            item_id=one.invocation_id,
            kind=InboxKind.CONFIRMATION,
            title=f"May {one.skill} be run?",
            text=_asked(services, user_id, one, given),
            arguments=given,
            about=one.skill,
            expires_at=one.expires_at,
            created_at=one.created_at,
            next_action=", or ".join(answers),
        )


def _asked(services: Services, user_id: str, one: InvocationView, given: Mapping[str, Any] | None) -> str:
    """What a person is asked; of a learned script with its text, as it would be run."""
    prompt = one.confirmation_prompt or ""
    if one.lane is not SkillLane.LEARNED_SCRIPT:
        return prompt
    with suppress(Refusal):
        offered = services.skills.learned_scripts.offered(one.skill, user_id)
        text = offered.scripts.get((given or {}).get("script", "")) if offered is not None else None
        if text is not None:
            return clipped(f"{prompt}\n\n{text}", MOST_TEXT)
    # It has been changed, or taken out of use: a confirmation would be refused.
    return prompt


def _questions(services: Services, user_id: str, now: datetime) -> Iterator[InboxItem]:
    del now
    page = PageRequest(page_size=_MOST_DRAFTS)
    found = services.proposals.proposals(user_id, page, ProposalState.AWAITING_QUESTIONS)
    for proposal in found.proposals:
        for one in services.proposals.detail(proposal.proposal_id).questions:
            if not one.answered:
                yield InboxItem(
                    item_id=one.question_id,
                    kind=InboxKind.QUESTION,
                    title=f"A question about {proposal.title}",
                    text=one.question_text,
                    about=proposal.proposal_id,
                    created_at=proposal.updated_at,
                    next_action="apprentice learn answer",
                )


def _reviews(services: Services, user_id: str, now: datetime) -> Iterator[InboxItem]:
    del now
    page = PageRequest(page_size=_MOST_DRAFTS)
    found = services.proposals.proposals(user_id, page, ProposalState.READY_FOR_REVIEW)
    for proposal in found.proposals:
        unproved = services.proposals.detail(proposal.proposal_id).unproved
        yield InboxItem(
            item_id=proposal.proposal_id,
            kind=InboxKind.REVIEW,
            title=f"{proposal.title} waits for your review",
            text="\n".join(f"{one.step}: {one.reason}" for one in unproved)[:MOST_TEXT],
            about=proposal.proposal_id,
            unproved=len(unproved),
            created_at=proposal.updated_at,
            next_action="apprentice learn show, then apprentice learn approve",
        )


def _sent(services: Services, user_id: str, now: datetime) -> Iterator[InboxItem]:
    """Messages and check-ins that arrived, questions of skills that wait for an answer, approvals that still count."""
    page = PageRequest(page_size=_MOST_SENT)
    for one in services.skills.inbox.page(user_id, page, waiting=True).documents:
        ends = one.kind in (SentKind.QUESTION, SentKind.APPROVED_CONTENT)
        if one.kind is SentKind.APPROVED_CONTENT and one.expires_at is not None and one.expires_at <= now:
            continue
        yield InboxItem(
            item_id=one.item_id,
            kind=InboxKind(one.kind.value),
            title=_TITLES[one.kind].format(skill=one.skill_id),
            text=one.text,
            arguments={"options": list(one.options)} if one.options else None,
            about=one.about or one.skill_id,
            expires_at=one.expires_at if ends else None,
            created_at=one.created_at,
            next_action=_next_of(one),
        )


def _next_of(item: SentItem) -> str | None:
    if item.kind is SentKind.QUESTION:
        return f"apprentice memories answer {item.item_id} ANSWER"
    if item.kind is SentKind.APPROVED_CONTENT:
        return f"apprentice skills content revoke {item.item_id}"
    return f"apprentice skills result {item.invocation_id}" if item.kind is SentKind.ESCALATION else None


SOURCES: tuple[Source, ...] = (_approvals, _confirmations, _questions, _reviews, _sent)


@router.get("", operation_id="inbox_list")
def inbox(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    kind: AnyOf[InboxKind] = None,
) -> InboxResponse:
    """What waits for the caller or was sent to them, newest first."""
    now = datetime.now(UTC)
    items = [one for source in SOURCES for one in source(services, caller.user_id, now)]
    wanted = [one for one in items if not kind or one.kind in kind]
    wanted.sort(key=lambda one: (one.created_at, one.item_id), reverse=True)
    shown = wanted[page.offset : page.offset + page.page_size]
    return InboxResponse(items=tuple(shown), **page.counts(len(wanted)))

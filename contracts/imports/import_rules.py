"""Which command a skill import takes in which state, and what follows from its work (DOC3 §0C.20, lines 3486-3513).

Workflow and store ask the same rules.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_record import FAILED, RETRIES, TERMINAL, TRANSITIONS, RetryKind, TransitionActor
from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_work import ImportCommand, ImportOrder, SkillImport
from contracts.imports.scanning import ScanOverride
from contracts.learning.validation import acceptance_objection, unproved_digest
from contracts.platform.identity import Scope


class Move(NamedTuple):
    """Where a command is taken, where it leads, and who decides it."""

    taken_in: frozenset[S]
    to: S
    actor: TransitionActor


MOVES: Mapping[ImportCommand, Move] = {
    ImportCommand.STAGE: Move(frozenset({S.SCAN_COMPLETE}), S.STAGING, TransitionActor.USER),
    ImportCommand.APPROVE: Move(frozenset({S.READY_FOR_REVIEW}), S.APPROVED, TransitionActor.REVIEWER),
    ImportCommand.REJECT: Move(frozenset({S.READY_FOR_REVIEW}), S.REJECTED, TransitionActor.REVIEWER),
    ImportCommand.INSTALL: Move(frozenset({S.READY_FOR_REVIEW}), S.INSTALL_QUEUED, TransitionActor.REVIEWER),
    ImportCommand.DISCARD: Move(
        frozenset({S.SCAN_COMPLETE, S.STAGING, S.READY_FOR_REVIEW}), S.DISCARDED, TransitionActor.USER
    ),
}
"""The commands that move an import; a scan opens one, and a retry moves by its kind."""

WORKING: Mapping[S, RetryKind] = {to: kind for kind, (_, to) in RETRIES.items()}
"""The states in which work is under way, and which."""

DONE: Mapping[RetryKind, tuple[S, S]] = {
    RetryKind.SCAN: (S.SCAN_COMPLETE, S.SCAN_FAILED),
    RetryKind.STAGE: (S.READY_FOR_REVIEW, S.STAGE_FAILED),
    RetryKind.INSTALL: (S.INSTALLED_PRIVATE, S.INSTALL_FAILED),
}
"""Where work leads that ends well, and that fails."""


def is_legal(before: S, after: S) -> bool:
    """Whether the transition is one of the document's graph."""
    return after in TRANSITIONS.get(before, frozenset())


def sets_aside(state: S, command: ImportCommand) -> bool:
    """Whether a command takes an import out of its owner's sight and leaves it in its state."""
    return command is ImportCommand.DISCARD and state in FAILED


def move_of(order: ImportOrder) -> Move:
    """The move of a command on an import that exists."""
    if order.command is ImportCommand.RETRY:
        assert order.retry_kind is not None, "the request names the kind of a retry"
        failed, again = RETRIES[order.retry_kind]
        return Move(frozenset({failed}), again, TransitionActor.USER)
    return MOVES[order.command]


def allowed_commands(state: S) -> tuple[str, ...]:
    """The commands that an import takes in a state, a retry by its kind."""
    found = [command.value for command, move in MOVES.items() if state in move.taken_in]
    found += [f"retry {kind.value}" for kind, (failed, _) in RETRIES.items() if failed is state]
    return (*found, *(one.value for one in ImportCommand if sets_aside(state, one)))


def objection(present: SkillImport, order: ImportOrder, now: datetime) -> Refusal | None:
    """Why an import does not take a command now; None where it does."""
    if sets_aside(present.state, order.command):
        return None
    move = move_of(order)
    if present.state not in move.taken_in:
        return _not_in_this_state(present, order)
    needs_upload = order.command is ImportCommand.STAGE or order.retry_kind is RetryKind.STAGE
    if needs_upload and present.upload_expires_at <= now:
        return upload_expired()
    if order.command is ImportCommand.STAGE:
        return _unfit(present, order)
    if order.command in (ImportCommand.APPROVE, ImportCommand.INSTALL):
        held = held_up(present, order)
        if held is not None:
            return held
    if order.command is ImportCommand.INSTALL:
        return _unaccepted(present, order)
    if order.command is ImportCommand.APPROVE and present.missing_cases is not None:
        return Refusal(
            ErrorCode.VALIDATION_REQUIRED,
            f"It has too few trigger cases to be approved: {present.missing_cases} Add them, or take the file out so"
            " that cases are made from its description, and upload it again.",
        )
    return None


def held_up(present: SkillImport, order: ImportOrder) -> Refusal | None:
    """Why a command has to be given with a reason to go on in spite of what the scan found; None where it need not."""
    held, asked = present.held, order.override
    if held is None or present.override is not None:
        return None
    if asked is None:
        return Refusal(
            ErrorCode.SKILL_IMPORT_OVERRIDE_REQUIRED,
            f"The scan found {', '.join(held.codes)}. Read the report; to go on in spite of it, give an "
            f"override_reason with a token that has the scope {held.needs.value}. The reason is recorded.",
            override_scope=held.needs.value,
            codes=list(held.codes),
        )
    if not suffices(asked.scope, held.needs):
        return Refusal(
            ErrorCode.FORBIDDEN,
            f"To go on in spite of {', '.join(held.codes)} needs the scope {held.needs.value}; the report says why.",
            required_scope=held.needs.value,
            codes=list(held.codes),
        )
    return None


def suffices(scope: Scope, needed: Scope) -> bool:
    """Whether somebody with ``scope`` may go on where ``needed`` is asked for; ``admin`` may all that others may."""
    return scope in (needed, Scope.ADMIN)


def overridden(present: SkillImport, order: ImportOrder, at: datetime) -> SkillImport:
    """The import with what ``order`` goes on in spite of on record; unchanged where nothing held it up.

    A command that ``objection`` refuses must not come here.
    """
    held, asked = present.held, order.override
    if held is None or asked is None or present.override is not None:
        return present
    if order.command is ImportCommand.STAGE and held.needs is not Scope.ADMIN:
        return present
    return present.changed(
        override=ScanOverride(
            by_user_id=order.owner_user_id,
            token_id=asked.token_id,
            scope=held.needs,
            reason=asked.reason,
            codes=held.codes,
            at=at,
        )
    )


def _unaccepted(present: SkillImport, order: ImportOrder) -> Refusal | None:
    """The refusal of an install of what nothing here can prove, unless a person has read the list and accepts it."""
    why = acceptance_objection(
        present.unproved,
        accepted=order.accept_unproved,
        digest=order.unproved_digest,
        command="import install",
    )
    if why is None:
        return None
    return Refusal(
        ErrorCode.UNPROVED_NOT_ACCEPTED,
        why,
        unproved=[step.model_dump(mode="json") for step in present.unproved],
        unproved_digest=unproved_digest(present.unproved),
    )


def upload_expired() -> Refusal:
    """The refusal of work on an upload whose time is over, or that was deleted."""
    return Refusal(
        ErrorCode.SKILL_IMPORT_UPLOAD_EXPIRED,
        "The upload has expired or was deleted; upload the bundle again: POST /api/skills/import/uploads.",
    )


_AT_WORK = "wait until its work is done"
_OVER: Mapping[S, str] = {
    **dict.fromkeys(TERMINAL, "it is over; upload the bundle anew"),
    S.APPROVED: (
        "approving it has ended it and installed nothing. To install the bundle, scan its upload again "
        "(POST /api/skills/import/scan; after 24 hours upload it anew), stage it, and install instead of approving"
    ),
    S.INSTALLED_PRIVATE: "it is installed; a newer archive of the skill is an import of its own",
}
"""What is said of the states in which an import takes nothing."""


def _not_in_this_state(present: SkillImport, order: ImportOrder) -> Refusal:
    asked = order.command.value
    if order.retry_kind is not None and order.command is ImportCommand.RETRY:
        asked = f"retry {order.retry_kind.value}"
    allowed = allowed_commands(present.state)
    otherwise = "" if allowed else f"; {_OVER.get(present.state, _AT_WORK)}"
    return Refusal(
        ErrorCode.INVALID_SKILL_IMPORT_TRANSITION,
        f"An import that is {present.state.value} does not take {asked}{otherwise}.",
        current_state=present.state.value,
        allowed=list(allowed),
    )


def _unfit(present: SkillImport, order: ImportOrder) -> Refusal | None:
    if present.record.requires_adapter:
        return Refusal(
            ErrorCode.SKILL_IMPORT_NEEDS_ADAPTER,
            "The bundle needs an adapter before it can be staged; its report says for what.",
        )
    if present.compatible:
        return None
    held = present.held
    if held is None or held.needs is not Scope.ADMIN or not held.only_obstacle:
        return Refusal(
            ErrorCode.SKILL_IMPORT_INCOMPATIBLE,
            "The scan found errors in the bundle; mend what its report names and upload it again.",
        )
    if order.override is None:
        return Refusal(
            ErrorCode.SKILL_IMPORT_INCOMPATIBLE,
            f"The scan found what must not be installed ({', '.join(held.codes)}); mend what its report names and "
            "upload it again. An administrator may stage it for review all the same, with an override_reason.",
            override_scope=held.needs.value,
            codes=list(held.codes),
        )
    return held_up(present, order)

"""Identifiers in paths. One that is not an id of ours simply names nothing."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind


def parse_uuid(value: str, code: ErrorCode, what: str) -> str:
    """``value`` as a canonical UUID; anything else is refused with ``code`` as something that is not there."""
    try:
        return str(UUID(value))
    except ValueError:
        raise Refusal(code, f"There is no {what} with that id.") from None


def _session_id(session_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(session_id, ErrorCode.LEARN_SESSION_NOT_FOUND, "session")


def _proposal_id(proposal_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(proposal_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")


def _saga_id(saga_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(saga_id, ErrorCode.SAGA_NOT_FOUND, "install saga")


def _event_id(event_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(event_id, ErrorCode.OBSERVATION_NOT_FOUND, "observation")


def _ability_id(ability_id: Annotated[str, Path(max_length=160)]) -> str:
    if not ability_id.isprintable():
        raise Refusal(ErrorCode.ABILITY_NOT_FOUND, "There is no ability with that id.")
    return ability_id


def _category_id(category_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(category_id, ErrorCode.NOT_FOUND, "category")


def _adapter_kind(adapter_kind: Annotated[str, Path(max_length=80)]) -> ObservationAdapterKind:
    try:
        return ObservationAdapterKind(adapter_kind)
    except ValueError:
        raise Refusal(
            ErrorCode.NOT_FOUND, "There is no such kind of adapter; GET /api/learn/adapters lists them."
        ) from None


def _dispatch_id(dispatch_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(dispatch_id, ErrorCode.NOT_FOUND, "dispatch")


SessionId = Annotated[str, Depends(_session_id)]
ProposalId = Annotated[str, Depends(_proposal_id)]
SagaId = Annotated[str, Depends(_saga_id)]
EventId = Annotated[str, Depends(_event_id)]
AbilityId = Annotated[str, Depends(_ability_id)]
CategoryId = Annotated[str, Depends(_category_id)]
AdapterKind = Annotated[ObservationAdapterKind, Depends(_adapter_kind)]
DispatchId = Annotated[str, Depends(_dispatch_id)]

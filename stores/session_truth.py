"""The files that say what a session is doing, kept in step with its decisions (DOC3 §0C.7-§0C.9)."""

import json

from sqlalchemy import Connection, select

from contracts.learning.aggregate import SessionCommit
from contracts.learning.observation import ObservationAdapterKind, RedactionMode
from domain.learning.runtime_truth import observation_scope, runtime_snapshot
from stores import tables
from stores.ability_rows import entry_of
from stores.blobs import get_blob
from stores.canonical import document_bytes
from stores.documents import put_document
from stores.session_entries import RECEIPTS

CURRENT = "system/learning/runtime/current.json"
SCOPE = "system/learning/runtime/observation_scope_current.json"
LATEST_RECEIPTS = 10


def project_truth(connection: Connection, commit: SessionCommit) -> None:
    """Rewrites the runtime snapshot and the observation scope, and the interpretation if there is a new one."""
    aggregate = commit.aggregate
    session = aggregate.session
    counters = connection.execute(
        select(tables.observation_counters).where(
            tables.observation_counters.c.session_id == session.learn_session_id
        )
    ).one_or_none()
    adapters = observed_adapters(counters.adapters if counters is not None else None)
    snapshot = runtime_snapshot(
        session,
        proposal=aggregate.proposal,
        observed_data_classes=adapters,
        latest_receipt_ids=latest_receipt_ids(connection, session.learn_session_id),
        ability_entry=entry_of(connection, session.ability_id) if session.ability_id else None,
        now=session.updated_at,
    )
    put_document(connection, "memory", CURRENT, document_bytes(snapshot))
    scope = observation_scope(
        session,
        dropped_off_target=counters.off_target if counters is not None else 0,
        adapters=adapters,
        data_classes=adapters,
        started_at=aggregate.state_since,
    )
    put_document(connection, "memory", SCOPE, document_bytes(scope))
    if commit.staged is not None and session.interpretation_id is not None:
        interpretation = json.loads(get_blob(connection, commit.staged.interpretation_blob))
        path = f"system/learning/interpretations/{session.interpretation_id}.json"
        put_document(connection, "memory", path, document_bytes(interpretation))


def observed_adapters(kinds: str | None) -> dict[ObservationAdapterKind, RedactionMode]:
    """The adapters that have reported (a JSON list), each masking texts before they are kept."""
    names: list[str] = json.loads(kinds) if kinds else []
    return {ObservationAdapterKind(name): RedactionMode.MASK_TEXT for name in names}


def latest_receipt_ids(connection: Connection, session_id: str) -> tuple[str, ...]:
    """The newest receipts of a session, newest first."""
    rows = connection.execute(
        select(tables.journal.c.document)
        .where(tables.journal.c.session_id == session_id, tables.journal.c.stream == RECEIPTS)
        .order_by(tables.journal.c.seq.desc())
        .limit(LATEST_RECEIPTS)
    )
    return tuple(json.loads(row.document)["receipt_id"] for row in rows)

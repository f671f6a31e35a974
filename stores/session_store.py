"""Sessions and everything that is decided about them: one transaction a decision."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import (
    CommandReceipt,
    CommitKey,
    CommitResult,
    LearnSessionAggregate,
    SessionCommit,
)
from contracts.learning.state_machine import AT_REST
from domain.learning.tool_receipts import watches_the_agent
from stores import tables
from stores.canonical import canonical_json
from stores.commit_keys import kept_under
from stores.database import Database
from stores.journal import append
from stores.proposal_rounds import keep_round
from stores.run_copies import copy_runs
from stores.session_entries import entries_of
from stores.session_truth import project_truth

TABLE = tables.learn_sessions


class SessionStore:
    """The durable side of LearnSessionWorkflow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def commit(self, commit: SessionCommit) -> CommitResult:
        """Writes one decision, once, however often it is tried.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED`` (same key, other request), ``CONFLICT`` (the decision was
                based on an older state), ``LEARN_SESSION_ALREADY_ACTIVE`` (the owner's slot is taken).
        """
        try:
            with self._database.write() as connection:
                earlier = _earlier(connection, commit.commit_key)
                if earlier is not None:
                    present = _present(connection, commit.aggregate.session.learn_session_id)
                    return CommitResult(receipt=earlier, replayed=True, present=present)
                _write_session(connection, commit)
                if commit.expected_change == 0 and commit.aggregate.source_runs:
                    copy_runs(connection, commit.aggregate)
                _write_parts(connection, commit)
                append(connection, entries_of(commit))
                project_truth(connection, commit)
                _remember(connection, commit)
        except IntegrityError as error:
            raise self._slot_taken(commit.aggregate.session.owner_user_id) or error from error
        return CommitResult(receipt=commit.receipt)

    def recall(self, key: CommitKey) -> tuple[CommandReceipt, str | None] | None:
        """What was answered under this key before, with the response body if one was kept.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            receipt = _earlier(connection, key)
            if receipt is None:
                return None
            response = connection.scalar(_commit_row(key, tables.commits.c.response))
        return receipt, response

    def keep_response(self, key: CommitKey, response: str) -> str:
        """Keeps the body first answered under this key; returns the one that counts."""
        commits = tables.commits
        with self._database.write() as connection:
            connection.execute(
                update(commits)
                .where(
                    commits.c.owner == key.owner_user_id,
                    commits.c.key == key.key,
                    commits.c.response.is_(None),
                )
                .values(response=response)
            )
            kept = connection.scalar(_commit_row(key, commits.c.response))
        return kept or response

    def owned(self, session_id: str, owner: str) -> LearnSessionAggregate:
        """The session as last committed.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND``, also where it is somebody else's.
        """
        with self._database.read() as connection:
            row = connection.execute(
                select(TABLE.c.aggregate, TABLE.c.owner).where(TABLE.c.session_id == session_id)
            ).one_or_none()
        if row is None or row.owner != owner:
            raise Refusal(
                ErrorCode.LEARN_SESSION_NOT_FOUND,
                f"There is no session {session_id} of yours; list them with GET /api/learn/sessions.",
            )
        return LearnSessionAggregate.model_validate_json(row.aggregate)

    def active_session_id(self, owner: str) -> str | None:
        """The session that holds the owner's slot."""
        with self._database.read() as connection:
            return connection.scalar(
                select(TABLE.c.session_id).where(TABLE.c.owner == owner, TABLE.c.holds_slot)
            )

    def watching_the_agent(self, owner: str) -> str | None:
        """The owner's session that is shown what their agents do now, if there is one."""
        with self._database.read() as connection:
            body = connection.scalar(
                select(TABLE.c.aggregate).where(TABLE.c.owner == owner, TABLE.c.holds_slot)
            )
        session = LearnSessionAggregate.model_validate_json(body).session if body is not None else None
        return session.learn_session_id if session is not None and watches_the_agent(session) else None

    def _slot_taken(self, owner: str) -> Refusal | None:
        active = self.active_session_id(owner)
        if active is None:
            return None
        return Refusal(
            ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
            f"Session {active} is still active; cancel or complete it before starting another.",
            active_session_id=active,
        )


def _present(connection: Connection, session_id: str) -> LearnSessionAggregate | None:
    body = connection.scalar(select(TABLE.c.aggregate).where(TABLE.c.session_id == session_id))
    return LearnSessionAggregate.model_validate_json(body) if body else None


def _commit_row(key: CommitKey, *columns: Any) -> Any:
    commits = tables.commits
    return select(*columns).where(commits.c.owner == key.owner_user_id, commits.c.key == key.key)


def _earlier(connection: Connection, key: CommitKey) -> CommandReceipt | None:
    receipt = kept_under(connection, key, tables.commits.c.receipt)
    return None if receipt is None else CommandReceipt.model_validate_json(receipt)


def _write_session(connection: Connection, commit: SessionCommit) -> None:
    aggregate = commit.aggregate
    session = aggregate.session
    at_rest = session.state in AT_REST
    now = rfc3339(session.updated_at)
    values: dict[str, object] = {
        "state": session.state.value,
        "change": aggregate.change,
        "holds_slot": not at_rest,
        "at_rest_at": rfc3339(aggregate.state_since) if at_rest else None,
        "updated_at": now,
        # A decision brings an archived session back to the lists; its clocks start anew.
        "archived_at": None,
        "aggregate": canonical_json(aggregate),
    }
    if commit.expected_change == 0:
        connection.execute(
            insert(TABLE).values(
                session_id=session.learn_session_id,
                owner=session.owner_user_id,
                created_at=rfc3339(session.created_at),
                **values,
            )
        )
        return
    done = connection.execute(
        update(TABLE)
        .where(
            TABLE.c.session_id == session.learn_session_id,
            TABLE.c.change == commit.expected_change,
        )
        .values(**values)
    )
    if done.rowcount != 1:
        raise Refusal(
            ErrorCode.CONFLICT, "The session has changed meanwhile; read it again and repeat the command."
        )


def _write_parts(connection: Connection, commit: SessionCommit) -> None:
    aggregate = commit.aggregate
    session_id = aggregate.session.learn_session_id
    if commit.boundary is not None:
        connection.execute(
            insert(tables.boundaries).values(
                boundary_id=commit.boundary.boundary_id,
                session_id=session_id,
                body=canonical_json(commit.boundary),
            )
        )
    _write_proposal(connection, commit)
    for question in aggregate.questions:
        _put(
            connection,
            tables.questions,
            {"question_id": question.question_id},
            {"proposal_id": question.proposal_id, "body": canonical_json(question)},
        )
    for answer in commit.answers:
        connection.execute(
            update(tables.questions)
            .where(tables.questions.c.question_id == answer.question_id)
            .values(answer=canonical_json(answer))
        )
    for run in (aggregate.validation, commit.finished_run):
        if run is not None:
            _put(
                connection,
                tables.validation_runs,
                {"run_id": run.validation_run_id},
                {
                    "proposal_id": run.proposal_id,
                    "content_hash": run.content_hash,
                    "body": canonical_json(run),
                },
            )


def _write_proposal(connection: Connection, commit: SessionCommit) -> None:
    proposal = commit.aggregate.proposal
    if proposal is None:
        return
    values: dict[str, object] = {
        "session_id": commit.aggregate.session.learn_session_id,
        "owner": proposal.owner_user_id,
        "state": proposal.proposal_state.value,
        "content_hash": proposal.content_hash,
        "created_at": rfc3339(proposal.created_at),
        "updated_at": rfc3339(proposal.updated_at),
        "body": canonical_json(proposal),
    }
    if commit.staged is not None:
        values["staged"] = canonical_json(commit.staged)
        keep_round(connection, proposal, commit.staged)
    _put(connection, tables.proposals, {"proposal_id": proposal.proposal_id}, values)


def _put(connection: Connection, table: Table, key: dict[str, str], values: dict[str, Any]) -> None:
    """Updates the row of this key, or inserts it."""
    matches: Sequence[Any] = [table.c[name] == value for name, value in key.items()]
    if connection.execute(update(table).where(*matches).values(**values)).rowcount == 0:
        connection.execute(insert(table).values(**key, **values))


def _remember(connection: Connection, commit: SessionCommit) -> None:
    written_at: datetime = commit.aggregate.session.updated_at
    connection.execute(
        insert(tables.commits).values(
            owner=commit.commit_key.owner_user_id,
            key=commit.commit_key.key,
            request_digest=commit.commit_key.request_digest,
            receipt=canonical_json(commit.receipt),
            created_at=rfc3339(written_at),
        )
    )

"""Store of learning sessions: commits of their workflow (one transaction each), receipts by idempotency key."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import (
    CommandReceipt,
    CommitResult,
    LearnSessionAggregate,
    SessionCommit,
)
from contracts.platform.commands import CommitKey
from domain.learning.interpretation.meaningful import watches_the_agent
from stores.learning.learning_tables import BOUNDARIES, PROPOSALS, QUESTIONS, SESSIONS, VALIDATION_RUNS
from stores.learning.proposals import keep_round
from stores.learning.recent_runs import copy_runs
from stores.learning.session_entries import entries_of, project_truth
from stores.platform import tables
from stores.platform.answers import kept_under
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import append

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
                    present = SESSIONS.find(connection, commit.aggregate.session.learn_session_id)
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
            Refusal: ``LEARN_SESSION_NOT_FOUND``, also for another owner's.
        """
        with self._database.read() as connection:
            return SESSIONS.owned(connection, session_id, owner)

    def active_session_id(self, owner: str) -> str | None:
        """The session that holds the owner's slot."""
        with self._database.read() as connection:
            return connection.scalar(
                select(TABLE.c.session_id).where(TABLE.c.owner == owner, TABLE.c.holds_slot)
            )

    def watching_the_agent(self, owner: str) -> str | None:
        """The owner's session that is shown what their agents do now, if there is one."""
        with self._database.read() as connection:
            found = SESSIONS.first(connection, TABLE.c.owner == owner, TABLE.c.holds_slot)
        if found is None or not watches_the_agent(found.session):
            return None
        return found.session.learn_session_id

    def _slot_taken(self, owner: str) -> Refusal | None:
        active = self.active_session_id(owner)
        if active is None:
            return None
        return Refusal(
            ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
            f"Session {active} is still active; cancel or complete it before starting another.",
            active_session_id=active,
        )


def _commit_row(key: CommitKey, *columns: Any) -> Any:
    commits = tables.commits
    return select(*columns).where(commits.c.owner == key.owner_user_id, commits.c.key == key.key)


def _earlier(connection: Connection, key: CommitKey) -> CommandReceipt | None:
    receipt = kept_under(connection, key, tables.commits.c.receipt)
    return None if receipt is None else CommandReceipt.model_validate_json(receipt)


def _write_session(connection: Connection, commit: SessionCommit) -> None:
    if commit.expected_change == 0:
        SESSIONS.add(connection, commit.aggregate)
    elif not SESSIONS.replace(connection, commit.aggregate, TABLE.c.change == commit.expected_change):
        raise Refusal(
            ErrorCode.CONFLICT, "The session has changed meanwhile; read it again and repeat the command."
        )


def _write_parts(connection: Connection, commit: SessionCommit) -> None:
    aggregate = commit.aggregate
    if commit.boundary is not None:
        BOUNDARIES.add(connection, commit.boundary)
    _write_proposal(connection, commit)
    for question in aggregate.questions:
        QUESTIONS.put(connection, question)
    for answer in commit.answers:
        connection.execute(
            update(tables.questions)
            .where(tables.questions.c.question_id == answer.question_id)
            .values(answer=canonical_json(answer))
        )
    for run in (aggregate.validation, commit.finished_run):
        if run is not None:
            VALIDATION_RUNS.put(connection, run)


def _write_proposal(connection: Connection, commit: SessionCommit) -> None:
    proposal = commit.aggregate.proposal
    if proposal is None:
        return
    columns = {"session_id": commit.aggregate.session.learn_session_id}
    if commit.staged is not None:
        columns["staged"] = canonical_json(commit.staged)
        keep_round(connection, proposal, commit.staged)
    if not PROPOSALS.replace(connection, proposal, **columns):
        PROPOSALS.add(connection, proposal, **columns)


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

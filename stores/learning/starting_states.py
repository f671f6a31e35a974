"""Starting states of demonstrations: what a folder held before the first command, and the contents that are kept.

A state is a row, each kept content a blob that belongs to its session alone: the blob begins with the session's id, so
that it is never the blob of anything else and can go with the session. States follow the observations of their session
in everything: who may send them, retention, deletion (DOC3 §0C.16D).
"""

import os
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, func, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind
from contracts.learning.session import LearnSessionState
from contracts.learning.starting_state import (
    MAX_STATES,
    EntryKind,
    StartingEntry,
    StartingState,
    StartingStateListResponse,
    StartingStateReceived,
)
from domain.learning.interpretation.meaningful import lets_in
from domain.learning.starting_state import UNUSED, CleanState, is_safe_path, link_stays_inside
from stores.learning.learning_tables import SESSIONS
from stores.learning.observation_ingest import OBSERVING, not_found, refuse_unless
from stores.platform.blobs import BlobNotFoundError, get_blob, put_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database, PageRequest, batches
from stores.platform.document_table import document_page
from stores.platform.tables import blobs, learn_sessions, starting_contents, starting_states

_NOT_OBSERVING = "A starting state is taken only while a session is armed or capturing."


class StartingStates:
    """The starting states of all sessions. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, clean: CleanState) -> StartingStateReceived:
        """Keeps a state whose paths were checked and whose secrets are left out; once, whatever is sent again.

        It takes the place of those that it ``replaces``, whichever of them arrives first.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND``; ``INVALID_LEARN_STATE_TRANSITION`` unless the session is armed or
                capturing; ``FORBIDDEN`` where it does not observe a terminal; ``VALIDATION_FAILED`` when another
                session has a state of this id; ``PAYLOAD_TOO_LARGE`` when the session has all that it may have.
        """
        state = clean.state
        with self._database.write() as connection:
            known = _find(connection, state.state_id)
            _lock(connection, state.learn_session_id)
            _refuse_unobserved(connection, state.learn_session_id)
            if known is not None and known.learn_session_id != state.learn_session_id:
                raise Refusal(ErrorCode.VALIDATION_FAILED, "Another session has a starting state of this id.")
            others = () if known is not None else _of_session(connection, state.learn_session_id)
            if known is None and not any(state.state_id in other.replaces for other in others):
                for replaced in {other.state_id for other in others}.intersection(state.replaces):
                    _remove(connection, replaced)
                _refuse_more(connection, state.learn_session_id)
                _add(connection, state, clean.contents)
        return received(known or state)

    def refuse_unobserved(self, session_id: str) -> None:
        """Raises what ``keep`` would because of the session, before anything was read."""
        with self._database.read() as connection:
            _refuse_unobserved(connection, session_id)

    def of_session(self, session_id: str) -> tuple[StartingState, ...]:
        """The session's states, oldest first."""
        with self._database.read() as connection:
            return _of_session(connection, session_id)

    def of_draft(self, session_id: str | None, state_id: str | None) -> StartingState | None:
        """The state that a draft of the session begins from, as long as it is kept; None for a draft without one.

        The state may be of another session, whose lesson the draft improves: one of the same owner alone.
        """
        of_draft, of_state = learn_sessions.alias(), learn_sessions.alias()
        query = (
            select(starting_states.c.body)
            .join(of_state, of_state.c.session_id == starting_states.c.session_id)
            .join(of_draft, of_draft.c.owner == of_state.c.owner)
            .where(starting_states.c.state_id == state_id, of_draft.c.session_id == session_id)
        )
        with self._database.read() as connection:
            body = connection.scalar(query) if session_id and state_id else None
        return None if body is None else StartingState.model_validate_json(body)

    def has_any(self, session_id: str) -> bool:
        """Whether a starting state of the session is kept."""
        with self._database.read() as connection:
            return bool(connection.scalar(select(exists().where(starting_states.c.session_id == session_id))))

    def page(self, session_id: str, wanted: PageRequest) -> StartingStateListResponse:
        """One page of the session's states without their contents, oldest first."""
        query = _bodies(session_id)
        with self._database.read() as connection:
            found = document_page(connection, query, wanted, StartingState)
        return StartingStateListResponse(starting_states=found.documents, **found.counts)

    def content(self, digest: str) -> bytes:
        """The content that some state keeps under this SHA-256.

        Raises:
            BlobNotFoundError: no state keeps it.
            BlobDamagedError: it is not what was kept.
        """
        with self._database.read() as connection:
            return _content(connection, digest)

    def materialise(
        self, state: StartingState, folder: Path, contents: Mapping[str, bytes] | None = None
    ) -> None:
        """Writes folders, kept files with mode and time of change, and links that stay inside, to an empty folder.

        ``contents``, by digest, are those that are not kept yet.

        Raises:
            ValueError: the folder is not empty, or a path of the state is not safe.
            BlobNotFoundError: a content was purged meanwhile.
        """
        if any(folder.iterdir()):
            raise ValueError(f"the folder {folder} is not empty")
        if not all(is_safe_path(entry.path) for entry in state.entries):
            raise ValueError("a path of the starting state does not stay in its folder")
        folders = [entry for entry in state.entries if entry.kind is EntryKind.FOLDER]
        for entry in folders:
            (folder / entry.path).mkdir(parents=True, exist_ok=True)
        with self._database.read() as connection:
            for entry in state.entries:
                if entry.kind is EntryKind.FILE and entry.kept and entry.sha256 is not None:
                    known = (contents or {}).get(entry.sha256)
                    content = _content(connection, entry.sha256) if known is None else known
                    _write_file(folder / entry.path, entry, content)
        for entry in state.entries:
            target = entry.link_target
            if entry.kind is EntryKind.LINK and target and link_stays_inside(entry.path, target):
                (folder / entry.path).parent.mkdir(parents=True, exist_ok=True)
                (folder / entry.path).symlink_to(target)
        # The deepest first: what is written in a folder changes its time.
        for entry in sorted(folders, key=lambda one: one.path.count("/"), reverse=True):
            (folder / entry.path).chmod((entry.mode & 0o777) | 0o700)
            _set_time(folder / entry.path, entry)

    def prune(self, state_id: str, keep: Collection[str]) -> None:
        """Drops the contents of all paths but ``keep``; nothing happens when there is no such state.

        The list of what was there stays.
        """
        wanted = frozenset(keep)
        with self._database.write() as connection:
            state = _find(connection, state_id)
            if state is None:
                return
            _lock(connection, state.learn_session_id)
            state = _find(connection, state_id)
            if state is None:
                return
            pruned = state.changed(
                entries=tuple(
                    entry.changed(kept=False, left_out=UNUSED)
                    if entry.kept and entry.path not in wanted
                    else entry
                    for entry in state.entries
                )
            )
            still = {entry.sha256 for entry in pruned.entries if entry.kept}
            dropped = {entry.sha256 for entry in state.entries if entry.kept and entry.sha256} - still
            connection.execute(
                update(starting_states)
                .where(starting_states.c.state_id == state_id)
                .values(body=canonical_json(pruned))
            )
            _drop_contents(connection, state_id, sorted(filter(None, dropped)))

    def keep_extended(self, base_id: str, state: StartingState, contents: Mapping[str, bytes]) -> None:
        """Keeps a further state of the session, with ``contents`` beside those that the state ``base_id`` keeps; once.

        Raises:
            Refusal: ``PAYLOAD_TOO_LARGE`` when the session has as many states as it may, ``NOT_FOUND`` when the base
                is gone.
        """
        with self._database.write() as connection:
            _lock(connection, state.learn_session_id)
            if _find(connection, state.state_id) is not None:
                return
            base = _find(connection, base_id)
            if base is None:
                raise Refusal(ErrorCode.NOT_FOUND, "The starting state of the lesson is no longer kept.")
            _refuse_more(connection, state.learn_session_id)
            digests = {entry.sha256 for entry in state.entries if entry.kept and entry.sha256}
            _add(
                connection,
                state,
                {
                    one: contents[one] if one in contents else _content(connection, one)
                    for one in sorted(digests)
                },
            )

    def remove(self, session_id: str, state_id: str) -> None:
        """Removes one state with its contents.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.write() as connection:
            _lock(connection, session_id)
            state = _find(connection, state_id)
            if state is None or state.learn_session_id != session_id:
                raise Refusal(ErrorCode.NOT_FOUND, "The session has no starting state of this id.")
            _remove(connection, state_id)


def purge_states(connection: Connection, session_id: str) -> int:
    """Deletes a session's states and their contents in the caller's transaction; how many states went."""
    _lock(connection, session_id)
    ids = connection.scalars(
        select(starting_states.c.state_id).where(starting_states.c.session_id == session_id)
    ).all()
    for state_id in ids:
        _remove(connection, state_id)
    return len(ids)


def copy_state(
    connection: Connection, source_id: str, session_id: str, begun_at: datetime, new_id: str
) -> bool:
    """Copies to another session what a run began with: the newest state of before, else the oldest; if there is one."""
    found = _of_session(connection, source_id)
    before = [state for state in found if state.taken_at <= begun_at]
    chosen = before[-1] if before else next(iter(found), None)
    if chosen is None:
        return False
    digests = {entry.sha256 for entry in chosen.entries if entry.kept and entry.sha256}
    contents = {digest: _content(connection, digest) for digest in sorted(digests)}
    _add(connection, chosen.changed(state_id=new_id, learn_session_id=session_id), contents)
    return True


def received(state: StartingState) -> StartingStateReceived:
    """What became of a state: counts of what is kept and what is not."""
    kept = {entry.sha256: entry.size_bytes for entry in state.entries if entry.kept}
    files = [entry for entry in state.entries if entry.kind is EntryKind.FILE]
    kept_files = sum(entry.kept for entry in files)
    return StartingStateReceived(
        state_id=state.state_id,
        entries=len(state.entries),
        kept_files=kept_files,
        kept_bytes=sum(kept.values()),
        left_out=len(files) - kept_files,
    )


def _bodies(session_id: str) -> Select[Any]:
    return (
        select(starting_states.c.body)
        .where(starting_states.c.session_id == session_id)
        .order_by(starting_states.c.taken_at, starting_states.c.state_id)
    )


def _of_session(connection: Connection, session_id: str) -> tuple[StartingState, ...]:
    bodies = connection.execute(_bodies(session_id)).scalars()
    return tuple(StartingState.model_validate_json(body) for body in bodies)


def _find(connection: Connection, state_id: str) -> StartingState | None:
    body = connection.scalar(select(starting_states.c.body).where(starting_states.c.state_id == state_id))
    return None if body is None else StartingState.model_validate_json(body)


def _lock(connection: Connection, session_id: str) -> None:
    """Serialises what changes the states of one session, the end of its observation among it."""
    connection.scalar(
        select(learn_sessions.c.session_id).where(learn_sessions.c.session_id == session_id).with_for_update()
    )


def _refuse_unobserved(connection: Connection, session_id: str) -> None:
    row = connection.execute(
        select(learn_sessions.c.state, learn_sessions.c.aggregate).where(
            learn_sessions.c.session_id == session_id
        )
    ).one_or_none()
    if row is None:
        raise not_found()
    refuse_unless(OBSERVING, LearnSessionState(row.state), _NOT_OBSERVING)
    session = SESSIONS.parse(row.aggregate).session
    if not lets_in(
        ObservationAdapterKind.TERMINAL_COMMAND, session.observation_mode, session.target_app_whitelist
    ):
        raise Refusal(
            ErrorCode.FORBIDDEN,
            "This session does not observe a terminal: what stood in its folder is not kept either.",
        )


def _refuse_more(connection: Connection, session_id: str) -> None:
    count = connection.scalar(
        select(func.count()).select_from(starting_states).where(starting_states.c.session_id == session_id)
    )
    if (count or 0) >= MAX_STATES:
        raise Refusal(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The session has {MAX_STATES} starting states already; remove one first.",
        )


def _add(connection: Connection, state: StartingState, contents: Mapping[str, bytes]) -> None:
    now = datetime.now(UTC)
    connection.execute(
        insert(starting_states).values(
            state_id=state.state_id,
            session_id=state.learn_session_id,
            taken_at=rfc3339(state.taken_at),
            body=canonical_json(state),
        )
    )
    mark = _mark(state.learn_session_id)
    rows = [
        {"state_id": state.state_id, "sha256": digest, "blob": put_blob(connection, mark + content, now)}
        for digest, content in contents.items()
    ]
    if rows:
        connection.execute(insert(starting_contents), rows)


def _mark(session_id: str) -> bytes:
    return f"{session_id}\n".encode()


def _content(connection: Connection, digest: str) -> bytes:
    row = connection.execute(
        select(starting_contents.c.blob, starting_states.c.session_id)
        .join(starting_states, starting_states.c.state_id == starting_contents.c.state_id)
        .where(starting_contents.c.sha256 == digest)
        .limit(1)
    ).one_or_none()
    if row is None:
        raise BlobNotFoundError(digest)
    return get_blob(connection, row.blob).removeprefix(_mark(row.session_id))


def _remove(connection: Connection, state_id: str) -> None:
    held = connection.scalars(
        select(starting_contents.c.sha256).where(starting_contents.c.state_id == state_id)
    ).all()
    _drop_contents(connection, state_id, held)
    connection.execute(delete(starting_states).where(starting_states.c.state_id == state_id))


def _drop_contents(connection: Connection, state_id: str, digests: Sequence[str]) -> None:
    """Removes contents from a state, and their blobs where no other state of the session has them."""
    for some in batches(digests):
        of_state = (starting_contents.c.state_id == state_id, starting_contents.c.sha256.in_(some))
        dropped = connection.scalars(select(starting_contents.c.blob).where(*of_state)).all()
        connection.execute(delete(starting_contents).where(*of_state))
        unused = ~exists().where(starting_contents.c.blob == blobs.c.digest)
        connection.execute(delete(blobs).where(blobs.c.digest.in_(dropped), unused))


def _write_file(path: Path, entry: StartingEntry, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
    # Without the bits that give another user's rights.
    path.chmod(entry.mode & 0o777)
    _set_time(path, entry)


def _set_time(path: Path, entry: StartingEntry) -> None:
    at = int(entry.modified_at.timestamp() * 1_000_000) * 1_000
    os.utime(path, ns=(at, at))

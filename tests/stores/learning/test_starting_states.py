"""Starting states: kept once, given back as they were, and gone with the observations of their session."""

import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.session import LearnSessionState, ObservationMode
from contracts.learning.starting_state import MAX_STATES, EntryKind, StartingEntry
from domain.learning.starting_state import UNUSED, CleanState, extended_state
from stores.learning.observations import ObservationLog
from stores.learning.starting_states import StartingStates, copy_state, received
from stores.maintenance.compaction_sweeps import BLOBS_KEPT, RemoveBlobs
from stores.platform import tables
from stores.platform.blobs import BlobNotFoundError, put_blob
from stores.platform.database import Database
from tests.fixtures.past import NOW, add_session, days
from tests.fixtures.starting import TAKEN, state_of

S = LearnSessionState
FILES = {"data": None, "data/sales.csv": b"a,b\n1,2\n", "copy.csv": b"a,b\n1,2\n", "notes.txt": b"hello\n"}


@pytest.fixture
def states(store: Database) -> StartingStates:
    """Over either database, migrated."""
    return StartingStates(store)


def session_in(database: Database, state: S = S.CAPTURING, **fields: Any) -> str:
    rested = days(1) if state in (S.CANCELLED, S.REJECTED) else None
    fields = {"observation_mode": ObservationMode.OUTSIDE_AGENT, **fields}
    return add_session(database, rested, state=state, **fields)


def blob_count(database: Database) -> int:
    with database.read() as connection:
        return connection.scalar(select(func.count()).select_from(tables.blobs)) or 0


def refusal_of(states: StartingStates, clean: CleanState) -> ErrorCode:
    with pytest.raises(Refusal) as caught:
        states.keep(clean)
    return caught.value.code


def test_a_state_is_given_back_with_its_contents(states: StartingStates, store: Database) -> None:
    session_id = session_in(store)
    later = state_of(session_id, {"x": b"later"}, taken_at=TAKEN + timedelta(minutes=1))
    first = state_of(session_id, FILES)
    states.keep(later)
    answer = states.keep(first)
    assert (answer.entries, answer.kept_files, answer.kept_bytes, answer.left_out) == (4, 3, 14, 0)
    assert states.of_session(session_id) == (first.state, later.state)
    assert [states.content(digest) for digest in first.contents] == [*first.contents.values()]
    assert blob_count(store) == 3


def test_a_state_sent_again_changes_nothing(states: StartingStates, store: Database) -> None:
    session_id = session_in(store)
    clean = state_of(session_id, FILES)
    assert states.keep(clean) == states.keep(clean)
    other = state_of(session_id, {"other": b"x"}, state_id=clean.state.state_id)
    assert states.keep(other) == received(clean.state)
    assert states.of_session(session_id) == (clean.state,)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_a_state_with_a_further_folder_takes_the_place_of_those_before_it(
    states: StartingStates, store: Database, order: tuple[int, ...]
) -> None:
    session_id = session_in(store)
    first = state_of(session_id, {"a": b"a"})
    second = state_of(session_id, {"x/a": b"a", "y/b": b"b"}, replaces=(first.state.state_id,))
    replaces = (first.state.state_id, second.state.state_id)
    third = state_of(session_id, {"x/a": b"a", "y/b": b"b", "z/c": b"c"}, replaces=replaces)
    for number in order:
        states.keep((first, second, third)[number])
    assert states.of_session(session_id) == (third.state,)
    assert blob_count(store) == 3


@pytest.mark.parametrize("state", [S.PAUSED, S.STOPPED, S.REVIEWING, S.CANCELLED])
def test_a_session_that_does_not_observe_takes_none(
    states: StartingStates, store: Database, state: S
) -> None:
    clean = state_of(session_in(store, state), FILES)
    assert refusal_of(states, clean) is ErrorCode.INVALID_LEARN_STATE_TRANSITION
    assert blob_count(store) == 0


def test_what_may_not_be_watched_is_not_kept_either(states: StartingStates, store: Database) -> None:
    unwatched = session_in(store, observation_mode=ObservationMode.NONE)
    assert refusal_of(states, state_of(unwatched, FILES)) is ErrorCode.FORBIDDEN
    elsewhere = session_in(store, target_app_whitelist=("https://shop.example",))
    assert refusal_of(states, state_of(elsewhere, FILES)) is ErrorCode.FORBIDDEN
    assert refusal_of(states, state_of(str(uuid7()), FILES)) is ErrorCode.LEARN_SESSION_NOT_FOUND


def test_a_session_has_a_bounded_number_and_no_id_of_another_session(
    states: StartingStates, store: Database
) -> None:
    session_id = session_in(store)
    for _ in range(MAX_STATES):
        states.keep(state_of(session_id, {}))
    assert refusal_of(states, state_of(session_id, {})) is ErrorCode.PAYLOAD_TOO_LARGE
    taken = states.of_session(session_id)[0].state_id
    other = state_of(session_in(store), {}, state_id=taken)
    assert refusal_of(states, other) is ErrorCode.VALIDATION_FAILED


def test_a_state_is_materialised_with_modes_times_and_inner_links(
    states: StartingStates, store: Database, tmp_path: Path
) -> None:
    session_id = session_in(store)
    clean = state_of(session_id, {**FILES, "run.sh": b"#!/bin/sh\n", "huge": b"not kept"})
    links = {
        "inside": "data/sales.csv",
        "data/up": "../notes.txt",
        "out": "../outside",
        "absolute": "/etc/passwd",
        "data/far": "../../etc",
        "round": "data/../../x",
    }
    entries = tuple(
        entry.changed(mode=0o4750)
        if entry.path == "run.sh"
        else entry.changed(kept=False)
        if entry.path == "huge"
        else entry
        for entry in clean.state.entries
    ) + tuple(
        StartingEntry(path=path, kind=EntryKind.LINK, link_target=target, modified_at=TAKEN)
        for path, target in links.items()
    )
    state = clean.state.changed(entries=entries)
    states.keep(CleanState(state, clean.contents))
    folder = tmp_path / "there"
    folder.mkdir()
    states.materialise(state, folder)
    made = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert made == {*FILES, "run.sh", "inside", "data/up"}
    assert (folder / "inside").read_bytes() == b"a,b\n1,2\n"
    assert (folder / "data/up").read_text() == "hello\n"
    assert stat.S_IMODE((folder / "run.sh").stat().st_mode) == 0o750
    assert (folder / "data").stat().st_mtime == (folder / "notes.txt").stat().st_mtime == TAKEN.timestamp()
    with pytest.raises(ValueError, match="not empty"):
        states.materialise(state, folder)


@pytest.mark.parametrize("path", ["../x", "/x", "a/../x", "a//x", "./x", "a/" * 13 + "x"])
def test_a_path_that_leaves_the_folder_is_never_written(
    states: StartingStates, store: Database, tmp_path: Path, path: str
) -> None:
    clean = state_of(session_in(store), {path: b"x"})
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="does not stay"):
        states.materialise(clean.state, tmp_path / "there")


def test_pruning_keeps_the_list_and_the_contents_of_the_paths_that_are_used(
    states: StartingStates, store: Database
) -> None:
    session_id = session_in(store)
    clean = state_of(session_id, FILES)
    second = state_of(session_id, {"notes.txt": b"hello\n"})
    states.keep(clean)
    states.keep(second)
    states.prune(clean.state.state_id, {"copy.csv"})
    states.prune(str(uuid7()), ())
    pruned = states.of_session(session_id)[0]
    assert [(e.path, e.kept, e.left_out) for e in pruned.entries if e.kind is EntryKind.FILE] == [
        ("data/sales.csv", False, UNUSED),
        ("copy.csv", True, None),
        ("notes.txt", False, UNUSED),
    ]
    assert blob_count(store) == 2
    states.prune(second.state.state_id, ())
    states.prune(clean.state.state_id, ())
    assert blob_count(store) == 0
    assert len(states.of_session(session_id)) == 2


def test_a_state_is_removed_with_its_contents_alone(states: StartingStates, store: Database) -> None:
    session_id, other = session_in(store), session_in(store)
    mine, his = state_of(session_id, FILES), state_of(other, FILES)
    states.keep(mine)
    states.keep(his)
    with store.write() as connection:
        put_blob(connection, b"hello\n", NOW)
    with pytest.raises(Refusal) as caught:
        states.remove(other, mine.state.state_id)
    assert caught.value.code is ErrorCode.NOT_FOUND
    states.remove(session_id, mine.state.state_id)
    assert states.of_session(session_id) == ()
    assert states.of_session(other) == (his.state,)
    assert blob_count(store) == 3
    states.remove(other, his.state.state_id)
    with pytest.raises(BlobNotFoundError):
        states.content(next(iter(his.contents)))
    assert blob_count(store) == 1


def test_states_go_with_the_observations_of_their_session(states: StartingStates, store: Database) -> None:
    session_id = session_in(store)
    states.keep(state_of(session_id, FILES))
    states.keep(state_of(session_id, {"notes.txt": b"hello\n"}))
    log = ObservationLog(store)
    with store.write() as connection:
        assert log.purge(connection, session_id) == 2
    log.close()
    assert states.of_session(session_id) == ()
    assert blob_count(store) == 0


def test_the_nightly_compaction_leaves_kept_contents(states: StartingStates, store: Database) -> None:
    clean = state_of(session_in(store), FILES)
    states.keep(clean)
    old = rfc3339(NOW - BLOBS_KEPT - days(1))
    with store.write() as connection:
        connection.execute(tables.blobs.update().values(created_at=old))
        assert RemoveBlobs().due(connection, NOW, "", 10) == []
        connection.execute(tables.starting_contents.delete())
        assert len(RemoveBlobs().due(connection, NOW, "", 10)) == 2


def test_a_draft_may_begin_from_a_state_of_another_session_of_its_owner_alone(
    states: StartingStates, store: Database
) -> None:
    taught, improving = session_in(store, owner="alice"), session_in(store, S.CANCELLED, owner="alice")
    stranger = session_in(store, owner="bob")
    clean = state_of(taught, FILES)
    state_id = clean.state.state_id
    states.keep(clean)

    assert states.of_draft(taught, state_id) == states.of_draft(improving, state_id) == clean.state
    assert states.of_draft(stranger, state_id) is None
    assert states.of_draft(str(uuid7()), state_id) is None
    assert states.of_draft(None, state_id) is states.of_draft(improving, None) is None
    states.remove(taught, state_id)
    assert states.of_draft(improving, state_id) is None


def test_a_copied_run_brings_what_it_began_with(states: StartingStates, store: Database) -> None:
    source, target = session_in(store), session_in(store)
    early = state_of(source, {"early": b"1"})
    late = state_of(source, {"late": b"2"}, taken_at=TAKEN + timedelta(hours=1))
    states.keep(early)
    states.keep(late)
    with store.write() as connection:
        assert copy_state(connection, source, target, TAKEN + timedelta(minutes=5), str(uuid7()))
        assert not copy_state(connection, str(uuid7()), target, TAKEN, str(uuid7()))
    (copied,) = states.of_session(target)
    assert copied.entries == early.state.entries
    states.remove(source, early.state.state_id)
    assert states.content(next(iter(early.contents))) == b"1"


def test_an_extended_state_is_kept_once_with_the_contents_of_its_base(
    states: StartingStates, store: Database, tmp_path: Path
) -> None:
    session_id = session_in(store)
    base = state_of(session_id, {"a.txt": b"a"})
    states.keep(base)
    extended, contents = extended_state(base.state, {"in.txt": (b"b", 0o644)})
    (work := tmp_path / "work").mkdir()
    states.materialise(extended, work, contents)
    assert {path.name: path.read_bytes() for path in work.iterdir()} == {"a.txt": b"a", "in.txt": b"b"}
    for _ in range(2):
        states.keep_extended(base.state.state_id, extended, contents)
    assert states.of_session(session_id) == (extended, base.state)
    states.remove(session_id, base.state.state_id)
    assert {states.content(one.sha256) for one in extended.entries if one.sha256} == {b"a", b"b"}


def test_an_extended_state_is_refused_where_there_is_no_room_or_no_base(
    states: StartingStates, store: Database
) -> None:
    session_id = session_in(store)
    for _ in range(MAX_STATES):
        states.keep(state_of(session_id, {}))
    base = states.of_session(session_id)[0]
    extended, contents = extended_state(base, {"in.txt": (b"b", 0o644)})
    for base_id, code in ((base.state_id, ErrorCode.PAYLOAD_TOO_LARGE), (str(uuid7()), ErrorCode.NOT_FOUND)):
        with pytest.raises(Refusal) as refused:
            states.keep_extended(base_id, extended, contents)
        assert refused.value.code is code

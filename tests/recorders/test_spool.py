import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.learning.observation import ObservedActionEvent
from recorders.spool import Spool, SpoolError, SpoolFull

NewEvent = Callable[..., ObservedActionEvent]


def labels_of(spool: Spool, limit: int = 100) -> list[str]:
    """Reads and confirms all that waits."""
    labels: list[str] = []
    while (batch := spool.next_batch(limit)) is not None:
        labels += [e.action_label for e in batch.events]
        spool.confirm(batch)
    return labels


def abandoned(folder: Path, session: str, lines: bytes) -> Path:
    """A file as a killed run leaves it."""
    path = folder / f"{session}.0190163d-8694-739b-aea5-966c26f8ad91.jsonl"
    path.write_bytes(lines)
    return path


def line(event: ObservedActionEvent) -> bytes:
    return event.model_dump_json(exclude_none=True).encode() + b"\n"


def test_events_come_out_in_the_order_they_went_in(
    tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    spool = Spool(tmp_path / "spool", session_id)
    for number in range(7):
        spool.append([new_event(f"make {number}")])
    assert spool.pending() == 7
    assert labels_of(spool, limit=3) == [f"make {number}" for number in range(7)]
    assert spool.pending() == 0
    spool.close()


def test_an_unconfirmed_batch_is_handed_out_again(
    tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    spool = Spool(tmp_path / "spool", session_id)
    spool.append([new_event("make a"), new_event("make b")])
    first, second = spool.next_batch(10), spool.next_batch(10)
    assert first is not None
    assert second is not None
    assert first.events == second.events
    spool.close()


def test_folder_and_files_are_private(tmp_path: Path, session_id: str, new_event: NewEvent) -> None:
    folder = tmp_path / "spool"
    folder.mkdir(mode=0o777)
    spool = Spool(folder, session_id)
    spool.append([new_event("make a")])
    batch = spool.next_batch(1)
    assert batch is not None
    spool.confirm(batch)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    spool.close()


def test_a_later_run_delivers_what_an_earlier_one_left_first(
    tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    folder = tmp_path / "spool"
    earlier = Spool(folder, session_id)
    earlier.append([new_event("make a"), new_event("make b")])
    batch = earlier.next_batch(1)
    assert batch is not None
    earlier.confirm(batch)
    earlier.close()

    later = Spool(folder, session_id)
    later.append([new_event("make c")])
    assert labels_of(later) == ["make b", "make c"]
    later.close()
    assert list(folder.iterdir()) == []


def test_the_file_of_a_living_run_is_left_alone(tmp_path: Path, session_id: str, new_event: NewEvent) -> None:
    living = Spool(tmp_path / "spool", session_id)
    living.append([new_event("make a")])
    other = Spool(tmp_path / "spool", session_id)
    assert other.next_batch(10) is None
    other.close()
    assert labels_of(living) == ["make a"]
    living.close()


def test_a_torn_tail_is_no_event(tmp_path: Path, session_id: str, new_event: NewEvent) -> None:
    whole, torn = line(new_event("make a")), line(new_event("make b"))[:-30]
    spool = Spool(tmp_path, session_id)
    spool.close()
    abandoned(tmp_path, session_id, whole + torn)
    spool = Spool(tmp_path, session_id)
    assert spool.pending() == 1
    assert labels_of(spool) == ["make a"]
    spool.close()


def test_an_unreadable_line_is_counted_and_passed_over(
    tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    abandoned(tmp_path, session_id, line(new_event("make a")) + b"\0\0\0\n" + line(new_event("make b")))
    spool = Spool(tmp_path, session_id)
    batch = spool.next_batch(10)
    assert batch is not None
    assert [e.action_label for e in batch.events] == ["make a", "make b"]
    assert batch.unreadable == 1
    spool.close()


def test_a_skipped_session_waits_while_others_are_delivered(
    tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    other = "0190163d-8694-739b-aea5-966c26f8ad99"
    path = abandoned(tmp_path, other, line(new_event("make a", other)))
    spool = Spool(tmp_path, session_id)
    spool.append([new_event("make b")])
    batch = spool.next_batch(10, skip_sessions=frozenset({other}))
    assert batch is not None
    assert [e.action_label for e in batch.events] == ["make b"]
    spool.close()
    assert path.exists()


def test_a_secret_never_reaches_the_disk(tmp_path: Path, session_id: str, new_event: NewEvent) -> None:
    spool = Spool(tmp_path / "spool", session_id)
    spool.append([new_event("export TOKEN=hunter2")])
    kept = b"".join(path.read_bytes() for path in (tmp_path / "spool").iterdir())
    assert b"export TOKEN=" in kept
    assert b"hunter2" not in kept
    spool.close()


def test_a_full_spool_refuses_and_keeps_what_it_has(
    tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    spool = Spool(tmp_path / "spool", session_id, max_bytes=1000)
    spool.append([new_event("make a")])
    with pytest.raises(SpoolFull, match="limit is 1000"):
        spool.append([new_event("make " + "b" * 200), new_event("make " + "c" * 200)])
    assert labels_of(spool) == ["make a"]
    spool.close()


def test_a_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path, session_id: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SpoolError, match="file/spool"):
        Spool(tmp_path / "file" / "spool", session_id)


def test_descriptors_are_given_back(tmp_path: Path, session_id: str, new_event: NewEvent) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    spool = Spool(tmp_path / "spool", session_id)
    spool.append([new_event("make a")])
    spool.close()
    assert len(list(Path("/dev/fd").iterdir())) == before


STEPS = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 4)),
    st.tuples(st.just("deliver"), st.integers(1, 3)),
    st.tuples(st.just("take without confirming"), st.integers(1, 3)),
    st.tuples(st.just("new run"), st.just(0)),
)


@given(st.lists(STEPS, max_size=20))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_event_is_delivered_once_and_in_order_whatever_happens(
    session_id: str, new_event: NewEvent, steps: list[tuple[str, int]]
) -> None:
    appended: list[str] = []
    delivered: list[str] = []
    with TemporaryDirectory() as folder:
        spool = Spool(Path(folder), session_id)
        for step, number in steps:
            if step == "append":
                labels = [f"make {len(appended) + i}" for i in range(number)]
                spool.append([new_event(label) for label in labels])
                appended += labels
            elif step == "new run":
                spool.close()
                spool = Spool(Path(folder), session_id)
            elif (batch := spool.next_batch(number)) is not None and step == "deliver":
                spool.confirm(batch)
                delivered += [e.action_label for e in batch.events]
            assert spool.pending() == len(appended) - len(delivered)
        delivered += labels_of(spool)
        spool.close()
    assert delivered == appended

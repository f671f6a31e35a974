"""The backward slice of a demonstration: what contributes to the final state, and chains that come to nothing."""

from collections.abc import Collection
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.evidence import CommandUse
from domain.learning.interpretation.slicing import contributing, removers, transients, undone

PATHS = st.sets(st.sampled_from(["a", "b", "c", "d/e", "d/f", ".git", ".venv"]), max_size=3)


def use(
    number: int,
    read: Collection[str] = (),
    written: Collection[str] = (),
    removed: Collection[str] = (),
) -> CommandUse:
    return CommandUse(
        event_id=str(UUID(int=number)),
        succeeded=True,
        read=tuple(sorted(read)),
        written=tuple(sorted(written)),
        removed=tuple(sorted(removed)),
    )


def numbers(ids: Collection[str]) -> list[int]:
    return sorted(UUID(one).int for one in ids)


USES = st.lists(st.tuples(PATHS, PATHS, PATHS), max_size=7).map(
    lambda found: [use(n, read, written, removed) for n, (read, written, removed) in enumerate(found)]
)


def test_what_is_read_later_is_kept_and_what_is_overwritten_unread_is_not() -> None:
    uses = [use(0, (), ["a"]), use(1, (), ["a"]), use(2, ["a"], ["b"]), use(3, ["b"])]
    found = contributing(["one", "two", "three", "cat b"], uses, ["b"])
    assert numbers(found.kept) == [1, 2]
    assert "replaced or removed before anything used it" in found.left_out[0].reason


def test_a_function_is_kept_where_a_kept_command_calls_it() -> None:
    uses = [use(0), use(1), use(2, ["in"], ["out"])]
    found = contributing(["total() { wc -l; }", "other() { :; }", "total < in > out"], uses, ["out"])
    assert numbers(found.kept) == [0, 2]


@given(USES, PATHS)
def test_every_command_is_kept_or_left_out_once(uses: list[CommandUse], changed: set[str]) -> None:
    found = contributing(["run"] * len(uses), uses, changed)
    assert sorted((*found.kept, *(one.event_id for one in found.left_out))) == [one.event_id for one in uses]


@given(USES, PATHS)
def test_the_kept_are_closed_under_what_they_read(uses: list[CommandUse], changed: set[str]) -> None:
    kept = set(contributing(["run"] * len(uses), uses, changed).kept)
    for place, one in enumerate(uses):
        for path in one.read if one.event_id in kept else ():
            writers = [before for before in uses[:place] if path in {*before.written, *before.removed}]
            assert not writers or writers[-1].event_id in kept


@given(USES, PATHS, PATHS)
def test_the_more_has_changed_the_more_is_kept(
    uses: list[CommandUse], one: set[str], other: set[str]
) -> None:
    commands = ["run"] * len(uses)
    fewer, more = contributing(commands, uses, one), contributing(commands, uses, one | other)
    assert set(fewer.kept) <= set(more.kept)


@given(USES)
def test_where_nothing_has_changed_nothing_is_kept(uses: list[CommandUse]) -> None:
    assert contributing(["run"] * len(uses), uses, ()).kept == ()


def test_the_command_that_cleans_up_after_a_kept_one_is_found() -> None:
    uses = [use(0, (), ["tmp", "out"]), use(1, (), (), ["tmp"]), use(2, (), (), ["other"])]
    assert numbers(removers(uses, [uses[0].event_id], ["out"])) == [1]


def test_a_chain_is_what_made_a_file_and_what_removed_it() -> None:
    uses = [use(0, (), ["t/a"]), use(1, (), ["t/b"]), use(2, (), (), ["t/a", "t/b"]), use(3, (), ["out"])]
    assert [numbers(chain) for chain in transients(uses, ["out"])] == [[0, 1, 2], [1, 2]]
    assert transients(uses, ["out", "t/a", "t/b"]) == ()


def test_what_was_removed_and_made_again_is_a_chain_up_to_its_removal() -> None:
    uses = [use(0, ["a"], ["a.gz"]), use(1, (), (), ["a.gz"]), use(2, ["a"], ["a.gz"], ["a"])]
    assert [numbers(chain) for chain in transients(uses, ["a"])] == [[0, 1]]


def test_what_may_have_been_changed_back_are_the_writers_of_what_ends_as_it_began() -> None:
    uses = [
        use(0, ["a"], ["a", "sedX1"], ["sedX1"]),
        use(1, ["b"], ["b"]),
        use(2, [], ["a", "c"]),
        use(3, ["a"], ["a", "sedX2"], ["sedX2"]),
        use(4, ["b"], ["b"]),
        use(5, ["a"], ["out"]),
    ]
    assert [numbers(group) for group in undone(uses, ["b", "c", "out"])] == [[0, 2, 3], [1, 4], [2, 3]]


@given(USES, PATHS)
def test_a_chain_ends_with_a_removal_of_what_another_of_it_wrote(
    uses: list[CommandUse], taken: set[str]
) -> None:
    by_id = {one.event_id: one for one in uses}
    for chain in transients(uses, taken):
        *makers, last = (by_id[one] for one in chain)
        assert makers
        assert all(set(one.written) & set(last.removed) - taken for one in makers)

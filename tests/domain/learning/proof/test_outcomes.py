"""Ends of replays: when two are alike, and what differs between equal runs."""

from hypothesis import given
from hypothesis import strategies as st

from domain.learning.proof.outcomes import changed_paths, differences, same_outcome
from tests.domain.learning.proof.folders import Folder

TEXTS = st.dictionaries(
    st.sampled_from(["a.txt", "b/c.txt", "log 12.txt", ".git/index"]), st.text(max_size=3)
)


@given(TEXTS)
def test_an_end_is_like_itself(texts: dict[str, str]) -> None:
    assert same_outcome(Folder(texts), Folder(texts))


@given(TEXTS, TEXTS)
def test_likeness_does_not_depend_on_the_order(one: dict[str, str], other: dict[str, str]) -> None:
    assert same_outcome(Folder(one), Folder(other)) == same_outcome(Folder(other), Folder(one))


@given(TEXTS, TEXTS)
def test_two_ends_are_alike_but_for_their_own_differences(one: dict[str, str], other: dict[str, str]) -> None:
    first, second = Folder(one), Folder(other)
    only_texts = {p for p in one if not p.startswith(".git")} == {
        p for p in other if not p.startswith(".git")
    }
    assert same_outcome(first, second, differences(first, second)) or not only_texts


def test_a_time_in_a_text_is_compared_by_the_file_alone() -> None:
    volatile = differences(Folder({"log": "at 10:01"}), Folder({"log": "at 10:02"}))
    assert same_outcome(Folder({"log": "at 10:01"}), Folder({"log": "at 10:07"}), volatile)
    assert not same_outcome(Folder({"log": "at 10:01"}), Folder(), volatile)


def test_a_time_in_a_name_is_masked() -> None:
    volatile = differences(Folder({"backup-1001.tar": "x"}), Folder({"backup-1002.tar": "x"}))
    assert same_outcome(Folder({"backup-1001.tar": "x"}), Folder({"backup-1009.tar": "x"}), volatile)
    assert not same_outcome(Folder({"backup-1001.tar": "x"}), Folder({"other-1.tar": "x"}), volatile)


def test_permissions_members_and_state_count() -> None:
    plain = Folder({"a": "x"})
    assert not same_outcome(plain, Folder({"a": "x"}, modes={"a": 0o755}))
    assert not same_outcome(Folder(archives={"a.zip": ["b"]}), Folder(archives={"a.zip": ["c"]}))
    assert not same_outcome(plain, Folder({"a": "x"}, state={"git: tag v1": "annotated"}))


def test_generated_folders_count_as_one_change_and_are_not_compared() -> None:
    after = Folder({"tools/pyvenv.cfg": "", "tools/lib/a.py": "x", "tools/a.txt": "x", "out.txt": "x"})
    assert changed_paths(Folder(), after) == {"tools", "tools/a.txt", "out.txt"}
    assert changed_paths(after, Folder()) == {"tools", "tools/a.txt", "out.txt"}
    assert same_outcome(Folder({"tools/a.txt": "x", "out.txt": "x"}), after)


def test_changed_state_names_its_subject() -> None:
    assert changed_paths(Folder(), Folder(state={"link: target": "a", "git: tag v1": "annotated"})) == {
        "link",
        "git",
    }

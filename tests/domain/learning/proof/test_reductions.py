"""Reduced forms of command lines: what is left out, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.commands.shell_grammar import split_commands
from domain.learning.proof.reductions import MOST_FOR_ONE_COMMAND, reductions


def reduced(command: str) -> dict[str, str]:
    return {one.words: one.command for one in reductions(command)}


def test_each_stage_of_a_pipeline_is_left_out_and_its_redirection_kept() -> None:
    found = reduced("grep ERROR log | sort | uniq -c | sort -nr > top.txt")
    assert found["“sort -nr”"] == "grep ERROR log | sort | uniq -c | cat > top.txt"
    assert found["“sort”"] == "grep ERROR log | cat | uniq -c | sort -nr > top.txt"
    assert found["“grep ERROR log”"] == "cat log | sort | uniq -c | sort -nr > top.txt"


def test_a_sort_of_a_file_hands_the_file_on() -> None:
    found = reduced("sort -k 2 -nr in.txt > out.txt")
    assert found["“sort -k 2 -nr in.txt”"] == "cat in.txt > out.txt"
    assert found["the option “-k 2” of sort"] == "sort  -nr in.txt > out.txt"
    assert found["the option -r of sort"] == "sort -k 2 -n in.txt > out.txt"


def test_a_sort_into_a_file_writes_it_still() -> None:
    assert reduced("sort -o out in")["“sort -o out in”"] == "cat in > out"
    assert reduced("sort -o in in")["“sort -o in in”"] == ":"


def test_each_expression_of_sed_is_left_out() -> None:
    found = reduced("""for f in *.txt; do sed -e 's|a;b|c|' -e "s/d/$x/" "$f" > out/"$f"; done""")
    assert found["the option “-e 's|a;b|c|'” of sed"] == (
        """for f in *.txt; do sed  -e "s/d/$x/" "$f" > out/"$f"; done"""
    )


def test_each_part_of_a_list_is_left_out() -> None:
    found = reduced("mkdir -p x && mv a b x; rm c")
    assert found["“mv a b x”"] == "mkdir -p x && rm c"
    assert found["“rm c”"] == "mkdir -p x && mv a b x"


def test_a_variable_before_a_program_stays() -> None:
    assert reduced("LC_ALL=C sort a > b")["“sort a”"] == "LC_ALL=C cat a > b"


@pytest.mark.parametrize("runs", ["sh -c", "timeout 5 bash -lc", "env LC_ALL=C sh -c"])
def test_the_script_of_a_shell_is_reduced_like_a_line_of_its_own(runs: str) -> None:
    for mark in ("'", '"'):
        found = reduced(f"{runs} {mark}grep ERROR log | sort -nr > top.txt{mark}")
        assert found["“sort -nr”"] == f"{runs} {mark}grep ERROR log | cat > top.txt{mark}"
        assert found["the option -r of sort"] == f"{runs} {mark}grep ERROR log | sort -n > top.txt{mark}"


def test_a_script_that_find_runs_for_each_file_is_reduced() -> None:
    found = reduced("find . -name '*.txt' -exec sh -c 'sort -u \"$1\" > \"$1.out\"' _ {} \\;")
    assert found["the option “-u” of sort"] == (
        "find . -name '*.txt' -exec sh -c 'sort  \"$1\" > \"$1.out\"' _ {} \\;"
    )


@pytest.mark.parametrize("command", ['sh -c "sort $x"', "sh -c sort", "sh -c 'sort'\\''a'", "bash sort -r"])
def test_a_script_that_is_not_quoted_as_it_is_stays_whole(command: str) -> None:
    assert reduced(command) == {}


@pytest.mark.parametrize(
    "command",
    [
        "cat > file <<END\nsort | uniq\nEND",
        "echo $(sort a | head -n 1)",
        "echo `sort a`",
        "case $x in a) sort;; esac | sort",
        "sort 'open",
        "",
        "name=value",
        "echo 'a | sort -n; rm b'",
        "sed -i 's/a/b/' file && true || true",
    ],
)
def test_what_cannot_be_taken_apart_safely_has_no_reduced_stage(command: str) -> None:
    assert not any(" cat" in one.command for one in reductions(command))


def test_quoted_text_is_never_changed() -> None:
    assert reductions("echo 'x | sort -r'") == ()


def test_a_program_that_edits_in_place_is_not_replaced() -> None:
    assert set(reduced("sed -i 's/a/b/' file")) == {"the option “-i” of sed"}


WORDS = st.sampled_from(
    ["sort", "-nr", "|", ";", "&&", "'a|b'", '"$x"', ">", "out", "head", "-n", "5", "(", ")", "x=1"]
)


@given(st.lists(WORDS, max_size=10).map(" ".join))
def test_every_reduced_form_is_another_readable_command(command: str) -> None:
    found = reductions(command)
    assert len(found) <= MOST_FOR_ONE_COMMAND
    for one in found:
        assert one.command != command
        assert split_commands(one.command)

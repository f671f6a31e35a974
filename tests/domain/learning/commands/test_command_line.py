import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.commands.command_line import (
    hosts_in,
    is_unreadable,
    named_paths,
    names_outside_path,
    parts_of,
    programs_in,
    scripts_run,
    sources_in,
)
from domain.learning.commands.operations import SORT, is_preparation, operation_of


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        ("sort a.csv | head -n 3 > top.txt", "sort"),
        ("grep x a.txt | sort -u > b.txt", "sort"),
        ("cat a.txt b.txt > c.txt", "combine"),
        ("cat a.txt | cut -f1 > c.txt", "trim"),
        ("cat > x.txt <<EOF\nhi > there\nEOF", "write"),
        ("tar czf a.tgz a", "archive"),
        ("tar -xzf a.tgz", "unpack"),
        ("gzip -d a.gz", "unpack"),
        ("sha256sum a > a.sha256", "checksum"),
        ("sha256sum -c a.sha256", "verify"),
        ("sudo make all && echo done", "build"),
        ("git commit -m 'x; y'", "commit"),
        ("mkdir -p a && cd a", "prepare"),
        ("frobnicate", "run"),
        ("echo 'open quote", "run"),
    ],
)
def test_a_command_is_known_by_its_most_telling_part(command: str, operation: str) -> None:
    assert operation_of(command).key == operation


def test_only_preparation_is_preparation() -> None:
    assert is_preparation("mkdir a && cd a")
    assert not is_preparation("mkdir a && sort b > a/c")


def test_named_files_are_relative_to_the_demonstration() -> None:
    command = (
        "sort -o ./out.txt ../in.csv https://example.com/x.csv /etc/hosts ../../up.txt 5.5 > deep/er.txt"
    )
    assert named_paths(command, "sub") == ("sub/out.txt", "in.csv", "sub/deep/er.txt")


def test_sources_are_the_operands_of_the_last_part() -> None:
    assert sources_in("tar czf a.tgz src/ notes.md", ".") == ("a.tgz", "src", "notes.md")
    assert sources_in("sha256sum a.tgz > b", "d") == ("d/a.tgz",)
    assert sources_in("ls", ".") == ()


def test_places_outside_and_hosts_are_seen() -> None:
    assert names_outside_path("cp ~/a b")
    assert names_outside_path("cat a > /etc/x")
    assert not names_outside_path("make > /dev/null")
    assert hosts_in("curl https://ada:pw@Example.com:8080/a http://b.example") == ("example.com", "b.example")


def test_a_shell_whose_script_can_be_seen_is_no_part_beside_the_parts_of_it() -> None:
    for line in ("sh -c 'sort b.csv | head'", "env A=1 timeout 5 bash -lc 'sort b.csv | head'"):
        assert programs_in(f"{line} > top.csv") == ("sort", "head")
        assert named_paths(f"{line} > top.csv", ".") == ("b.csv", "top.csv")
        assert operation_of(f"{line} > top.csv") is SORT
    assert named_paths("sh -c 'sort \"$1\"' sh b.csv", ".") == ("b.csv",)
    assert scripts_run("sh -c 'sort b.csv > top.csv'", ".") == ()
    assert scripts_run("sh -c 'python3 rank.py'", ".") == ("rank.py",)
    assert programs_in('bash -c "$SCRIPT"') == ("bash",)


def test_of_a_line_that_no_shell_could_read_nothing_is_known() -> None:
    assert is_unreadable("cp 'a b /etc")
    assert programs_in("cp 'a b /etc") == named_paths("cp 'a b /etc", ".") == ()
    assert names_outside_path("cp 'a b"), "it may"
    assert parts_of("") == ()
    assert not is_unreadable("")


@given(st.text(max_size=120))
def test_any_text_can_be_read(command: str) -> None:
    assert operation_of(command).verb
    assert all(not p.startswith(("/", "..")) for p in named_paths(command, "."))

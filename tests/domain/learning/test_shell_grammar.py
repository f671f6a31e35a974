import pytest

from domain.learning.shell_calls import calls_in
from domain.learning.shell_grammar import defined_functions, split_commands
from domain.learning.shell_words import Redirection, UnreadableCommand


def words(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in split_commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -l | grep 'a b' && FOO=1 sort; date & pwd", ["ls -l", "grep a b", "FOO=1 sort", "date", "pwd"]),
        ("echo a\\ b\\\n c # d; e", ["echo a b c"]),
        ('echo "a;b|$x"', ["echo a;b|$x"]),
        ("for f in a b; do mv $f x; done", ["mv $f x"]),
        ("while read l; do echo $l; done < in", ["read l", "echo $l", ""]),
        ("if [ -f a ]; then rm a; elif b; then c; else d; fi", ["[ -f a ]", "rm a", "b", "c", "d"]),
        ("case $1 in a|b) x;; (c) y;; *) z;; esac; w", ["x", "y", "z", "w"]),
        ("x=$(case a in a) ls;; esac); w", ["ls", "x=$(case a in a) ls;; esac)", "w"]),
        ("echo $((1 + 2)); (( i++ )); e", ["echo $((1 + 2))", "e"]),
        ("echo $(a $(b))", ["b", "a $(b)", "echo $(a $(b))"]),
        ("cat <<-END && next\n\tbody; rm x\n\tEND\nlast", ["cat", "next", "last"]),
        ("function f { a; }; g() (b); c", ["a", "b", "c"]),
    ],
)
def test_a_text_is_split_into_all_the_commands_it_would_run(text: str, expected: list[str]) -> None:
    assert [" ".join(command) for command in words(text)] == expected


def test_redirections_are_kept_apart_from_the_words() -> None:
    (command,) = split_commands("sort < in 2>> log > out 2>&1")

    assert command.words == ("sort",)
    assert command.redirections == (
        Redirection("<", "in"),
        Redirection(">>", "log"),
        Redirection(">", "out"),
        Redirection(">&", "1"),
    )
    assert [r.writes for r in command.redirections] == [False, True, True, False]


def test_what_a_here_document_gives_is_known_to_its_reader() -> None:
    (command,) = split_commands("bash <<'END'\nrm $x\nEND\n")

    assert command.here_text == "rm $x\n"


def test_functions_are_known_by_both_spellings_and_not_as_commands() -> None:
    text = "f() { a; }; function g { b; }; f; g"

    assert defined_functions(text) == {"f", "g"}
    assert words(text) == [("a",), ("b",)]


@pytest.mark.parametrize(
    "text", ["echo 'a", 'echo "a', "echo `a", "echo $(a", "echo ${a", "diff <(a", "$(" * 50]
)
def test_what_is_left_open_cannot_be_read(text: str) -> None:
    with pytest.raises(UnreadableCommand):
        split_commands(text)


def test_wrappers_are_looked_through() -> None:
    calls = calls_in("sudo -u me env -i A=1 nice -n 5 timeout -k 1 10 tar cf a.tar b")

    assert [call.program for call in calls] == ["sudo", "env", "nice", "timeout", "tar"]
    assert calls[-1].arguments == ("cf", "a.tar", "b")
    assert calls[-1].is_privileged


def test_arguments_that_come_from_data_are_marked() -> None:
    assert [(c.program, c.is_given_more) for c in calls_in("ls | xargs -n 1 rm; find . -exec wc {} +")] == [
        ("ls", False),
        ("xargs", False),
        ("rm", True),
        ("find", False),
        ("wc", True),
    ]


@pytest.mark.parametrize(
    "command", ["cat a | sh", "bash <<< $x", 'bash -c "$x"', "eval $x", "bash -s < a | sh"]
)
def test_a_shell_that_is_fed_from_elsewhere_runs_unseen_text(command: str) -> None:
    assert any(call.runs_unseen_text for call in calls_in(command))


def test_flags_are_found_alone_in_bundles_and_by_their_long_names() -> None:
    for command in ("rm -r a", "rm -fr a", "rm --recursive a"):
        assert calls_in(command)[0].has_flag("r", "--recursive")
    assert not calls_in("rm -f ar")[0].has_flag("r", "--recursive")

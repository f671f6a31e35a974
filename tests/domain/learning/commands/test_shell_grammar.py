import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.commands.command_line import calls_in
from domain.learning.commands.command_safety import destructive_reason, external_send_reason
from domain.learning.commands.shell_grammar import (
    ControlWords,
    Redirection,
    UnreadableCommand,
    control_words,
    defined_functions,
    split_commands,
)
from tests.domain.learning.commands.command_lines import LINES, Line


def words(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in split_commands(text)]


def read(text: str) -> Line:
    """What the parser and the rules of safety make of a line."""
    risk = ("D" if destructive_reason(text) else "") + ("S" if external_send_reason(text) else "")
    try:
        calls = calls_in(text)
    except UnreadableCommand:
        return Line(text, None, risk=risk)
    redirections = tuple(f"{r.operator} {r.target}" for call in calls for r in call.redirections)
    return Line(text, tuple(call.program for call in calls if call.program), redirections, risk)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "for f in *.csv 'a b'; do select x in yes no; do break; done; done",
            {"items": ("*.csv", "a b", "yes", "no")},
        ),
        ("case $1 in (start|stop) ls;; *.txt) ;; esac", {"patterns": ("start", "stop", "*.txt")}),
        ("for ((i=0; i<3; i++)); do ((n += i)); done", {"calculations": ("i=0; i<3; i++", "n += i")}),
        ("f() { ls \"$1\"; }; f a; g b; x=$(f 'c d')", {"function_calls": (("f", "a"), ("f", "c d"))}),
        ("x=$(for f in a; do ls; done)", {"items": ("a",)}),
        ("echo $((1 + 2)); (cd a)", {}),
    ],
)
def test_words_of_loops_branches_calculations_and_own_functions_are_control_words(
    text: str, expected: dict[str, tuple[str, ...]]
) -> None:
    assert control_words(text) == ControlWords(**expected)


def test_every_line_of_the_table_is_read_as_bash_reads_it() -> None:
    assert [(read(line.text), line) for line in LINES if read(line.text) != line] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo $'a\\'b\\x41\\101\\u00e9\\n' $\"x\" a$$", ("echo", "a'bAA\u00e9\n", "x", "a$$")),
        ("printf '%s' 'a b' \"c $x\" \\$d", ("printf", "%s", "a b", "c $x", "$d")),
        ("cp a{,.bak} *.[ch] !(x|y) ${z:-'}'}", ("cp", "a{,.bak}", "*.[ch]", "!(x|y)", "${z:-'}'}")),
        ("a=(1 2) b[1 + 1]=3 ls", ("a=(1 2)", "b[1 + 1]=3", "ls")),
        ("[[ -f a && $x =~ ^(b|c)$ ]]", ("[[", "-f", "a", "&&", "$x", "=~", "^(b|c)$", "]]")),
        ('echo a\\\nb "c\\\nd"', ("echo", "ab", "cd")),
    ],
)
def test_the_words_are_those_that_bash_would_expand(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == [expected]


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


def test_a_here_document_belongs_to_its_own_command_and_to_those_in_its_body() -> None:
    first, second = split_commands("cat <<A; sort <<B\n1\nA\n2\nB\n")
    assert (first.here_text, second.here_text) == ("1\n", "2\n")

    (inner,) = split_commands("{ bash; } <<A\nrm x\nA\n")
    assert inner.here_text == "rm x\n"


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


def work(text: str) -> int:
    """How many functions of Python are called to read ``text``."""
    calls = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        split_commands(text)
    except UnreadableCommand:
        pass
    finally:
        sys.setprofile(None)
    return calls


PIECES = st.sampled_from(
    [
        "$(",
        "$((",
        "((",
        "`",
        "a=(",
        "a[",
        '"${',
        "${",
        "[[",
        "(",
        "coproc",
        "f()",
        "!(",
        "$[",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
        "esac",
        ";;",
        "{",
        "}",
        ")",
        "))",
        "]",
        "]]",
        "'",
        '"',
        "$'",
        '$"',
        "\\",
        ";",
        "|",
        "&",
        "&&",
        "||",
        "<",
        ">",
        "<<",
        "<<E",
        "E",
        "<<<",
        "<(",
        ">(",
        "2>&1",
        "#",
        "!",
        "time",
        "function",
        "select",
        "a",
        "x=1",
        "=~",
    ]
)
LOOSE_TEXT = st.lists(st.one_of(PIECES, st.sampled_from([" ", "\n", "\t"]), st.text(max_size=3)), max_size=60)


@given(LOOSE_TEXT.map("".join))
def test_any_text_is_read_or_refused_with_work_that_grows_with_its_length(text: str) -> None:
    assert work(text) <= 60 * (len(text) + 10)


@pytest.mark.parametrize(
    "piece",
    [
        "$(",
        "((",
        "$((",
        "`",
        "a=(",
        "a=([b]=$((",
        '"${',
        "[[(",
        "coproc@",
        "f()",
        "!(",
        "x[",
        "$[",
        "!@",
        "time@",
        "{@",
        "if@a;then@",
        "case@x@in@x)@",
        ">(a)@",
        "x=$(a)@",
        "`a`@",
        "cat@<<E/",
        "<<E@",
        "a;b;/",
        "a|",
        "a&&",
        "((a)b",
        "$((a)b)",
        "(",
        "((a)@",
        "a@=~@(",
        "'",
        '"',
        "\\",
        '"`',
    ],
)
def test_repetition_and_nesting_cost_no_more_than_length(piece: str) -> None:
    text = piece.replace("@", " ").replace("/", "\n") * 500

    assert work(text) <= 60 * (len(text) + 10)

"""Demonstrations are compared without loss: what they share and their values give each of them again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import ObservedActionEvent
from domain.learning.comparison.comparison import (
    ComparedText,
    Comparison,
    Slot,
    TextRole,
    compare,
    compare_texts,
    tokens_of,
)
from domain.learning.comparison.parameters import parameters_of
from tests.domain.conftest import Teaching

TEACHING = Teaching()
FORMS = (
    "sort {0}.csv > out/{0}-{1}.txt",
    "curl -s https://example.org/{0}?day={1} -o {0}.json",
    "mkdir -p reports/{0}/{1}",
    "grep -c '{0}' notes.txt",
    "printf '%s\\n' \"{0} {1}\" >> log.txt",
    "convert --customer={0} {1}",
)
PIECE = st.text(alphabet="abcq-_./ 0123456789'\\n", max_size=12)
VALUE = st.from_regex(r"[a-z][a-z0-9]{0,6}|20[0-9]{2}-0[1-9]-1[0-9]|[0-9]{1,4}", fullmatch=True)
COMMANDS = st.lists(st.sampled_from(FORMS), min_size=1, max_size=6)


def shown(*commands: str, start: int = 0) -> tuple[ObservedActionEvent, ...]:
    return tuple(TEACHING.command(start + n, command) for n, command in enumerate(commands))


def text_in(text: ComparedText, demonstration: int) -> str:
    """The text as one demonstration has it."""
    return "".join(
        part if isinstance(part, str) else _filled(part, part.variable.values[demonstration])
        for part in text.parts
    )


def _filled(slot: Slot, value: str) -> str:
    return f"{slot.before}{value}{slot.after}" if value else ""


def commands_of(comparison: Comparison, demonstration: int) -> list[str]:
    return [
        text_in(text, demonstration)
        for action in comparison.actions
        for text in action.texts
        if text.role is TextRole.COMMAND
    ]


@given(st.text())
def test_the_tokens_of_a_text_are_the_text(text: str) -> None:
    assert "".join(tokens_of(text)) == text


@given(st.lists(st.one_of(PIECE, st.text(max_size=20)), min_size=2, max_size=4))
def test_each_text_comes_back_from_its_values_whatever_the_texts_are(texts: list[str]) -> None:
    compared = compare_texts(TextRole.COMMAND, texts)

    assert [text_in(compared, n) for n in range(len(texts))] == texts


@given(COMMANDS, VALUE, VALUE)
def test_a_demonstration_compared_with_itself_has_no_parameter(
    forms: list[str], first: str, second: str
) -> None:
    events = shown(*(form.format(first, second) for form in forms))
    comparison = compare([events, events])

    assert comparison.share == 1
    assert comparison.variables == ()
    assert parameters_of(comparison) == ()


@given(COMMANDS, st.lists(st.tuples(VALUE, VALUE), min_size=2, max_size=4))
def test_substituting_the_values_gives_each_demonstration_again(
    forms: list[str], inputs: list[tuple[str, str]]
) -> None:
    demonstrations = [shown(*(form.format(*values) for form in forms)) for values in inputs]
    comparison = compare(demonstrations)

    for number, events in enumerate(demonstrations):
        said = commands_of(comparison, number)
        done = [e.terminal.command for e in events if e.terminal]
        assert said == [done[action.positions[number]] for action in comparison.actions]


@given(COMMANDS, st.lists(VALUE, min_size=2, max_size=4, unique=True))
def test_the_examples_of_the_parameters_are_the_values_of_the_demonstrations(
    forms: list[str], values: list[str]
) -> None:
    demonstrations = [shown(*(form.format(value, "fixed") for form in forms)) for value in values]
    comparison = compare(demonstrations)
    examples = [p.examples for p in parameters_of(comparison)]

    assert examples == [variable.values for variable in comparison.variables]
    assert len({p.name for p in parameters_of(comparison)}) == len(examples)


def test_a_value_that_changes_together_in_several_places_is_one_parameter() -> None:
    comparison = compare(
        [
            shown("sort in/q3.csv > out/q3.txt", "tar czf q3.tgz out/q3.txt"),
            shown("sort in/q4.csv > out/q4.txt", "tar czf q4.tgz out/q4.txt"),
        ]
    )
    (parameter,) = parameters_of(comparison)

    assert (parameter.name, parameter.examples) == ("quarter", ("q3", "q4"))
    assert "the same in 4 places" in parameter.description


def test_words_that_always_stand_together_are_one_parameter() -> None:
    first = shown("invoice --to 'Anna Smith' > anna.txt", "log 'Anna Smith'")
    second = shown("invoice --to 'Bob Jones' > bob.txt", "log 'Bob Jones'")
    examples = {p.name: p.examples for p in parameters_of(compare([first, second]))}

    assert examples["to"] == ("Anna Smith", "Bob Jones")


def test_an_option_that_one_demonstration_left_out_is_an_optional_choice() -> None:
    comparison = compare([shown("sort -r notes.txt > s.txt"), shown("sort notes.txt > s.txt")])
    (parameter,) = parameters_of(comparison)

    assert (parameter.type, parameter.examples, parameter.required) == ("choice", ("-r", ""), False)


@pytest.mark.parametrize(
    ("first", "second", "name", "kind"),
    [
        ("report --day 2026-01-05", "report --day 2026-02-05", "day", "date"),
        ("cp log-2026-01-05.txt x", "cp log-2026-02-05.txt x", "date", "date"),
        ("head -n 5 a.txt", "head -n 12 a.txt", "number", "number"),
        ("cat customers/anna.csv", "cat customers/bob.csv", "customer", "text"),
        ("cat 2024.csv", "cat 2025.csv", "year", "number"),
        ("CITY=Bonn make map", "CITY=Ulm make map", "city", "text"),
        ("ping --quiet=yes a", "ping --quiet=no a", "quiet", "choice"),
        ("curl https://example.org/a", "curl https://example.net/a", "host", "text"),
    ],
)
def test_a_parameter_is_named_and_typed_by_its_values_and_its_place(
    first: str, second: str, name: str, kind: str
) -> None:
    (parameter,) = parameters_of(compare([shown(first), shown(second)]))

    assert (parameter.name, parameter.type) == (name, kind)


def test_content_typed_in_differs_as_a_whole() -> None:
    first = shown("printf 'north,3\\nsouth,9\\n' > a.csv")
    second = shown("printf 'east,4\\nwest,1\\n' > a.csv")
    (parameter,) = parameters_of(compare([first, second]))

    assert (parameter.name, parameter.type) == ("content", "text")
    assert parameter.examples == ("north,3\\nsouth,9", "east,4\\nwest,1")


def test_a_step_that_only_one_demonstration_has_does_not_shift_the_others() -> None:
    first = shown("cat a.txt", "sort a.txt > b.txt", "wc -l b.txt")
    second = shown("cat a.txt", "ls", "sort a.txt > b.txt", "wc -l b.txt")
    comparison = compare([first, second])

    assert [action.positions for action in comparison.actions] == [(0, 0), (1, 2), (2, 3)]
    assert comparison.compatible


def test_different_tasks_are_not_compatible() -> None:
    comparison = compare([shown("cat a", "sort a > b"), shown("pandoc x.md", "curl https://example.org")])

    assert not comparison.compatible


def test_a_comparison_needs_two_demonstrations() -> None:
    with pytest.raises(ValueError, match="at least two"):
        compare([shown("ls")])

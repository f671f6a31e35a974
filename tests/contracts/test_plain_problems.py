"""A value that does not fit is told in plain words: where it stands, what is wrong, what to do."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from contracts.plain_problems import field_problems, in_a_sentence, plain_problem, problem_sentence
from contracts.practice.practice import PracticePath, StartPracticeRequest
from tests.fixtures.foreign_words import KINDS, pydantics_words


def refused(kind: Any, value: object) -> ValidationError:
    with pytest.raises(ValidationError) as found:
        TypeAdapter(kind).validate_python(value)
    return found.value


def problem_of(kind: Any, value: object) -> str:
    return field_problems(refused(kind, value), whole="it")[0].problem


class Cat(BaseModel):
    """One of two kinds, by its tag."""

    kind: Literal["cat"]
    name: str


class Dog(BaseModel):
    """The other of two kinds."""

    kind: Literal["dog"]
    legs: int


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["type"])
def test_every_kind_of_problem_has_plain_words(kind: dict[str, Any]) -> None:
    message = kind["example_message_python"]
    said = plain_problem(kind["type"], message, kind.get("example_context") or {})
    if kind["type"] not in ("value_error", "assertion_error"):
        assert said
        assert said != message
    assert pydantics_words(said) == []


@pytest.mark.parametrize(
    ("of", "value", "said"),
    [
        (str, 1, "has to be text"),
        (int, "x", "has to be a whole number"),
        (bool, "perhaps", "has to be true or false"),
        (list[str], "x", "has to be a list: […]"),
        (dict[str, int], [], "has to be an object of names and values: {…}"),
        (Literal["a", "b", "it's"], "c", 'has to be one of: a, b or "it\'s"'),
        (Literal[1], 2, "has to be 1"),
        (Annotated[int, Field(ge=64)], 1, "has to be 64 or more"),
        (Annotated[str, StringConstraints(min_length=1)], "", "is empty; say something"),
        (Annotated[str, StringConstraints(max_length=3)], "four", "has more than 3 characters; shorten it"),
        (
            Annotated[str, StringConstraints(pattern="^(created|gone)$")],
            "x",
            "has to be one of: created, gone",
        ),
        (dict[Literal["a", "b"], int], {"c": 1}, "has a name that has to be one of: a or b"),
        (Pet, {"kind": "cow"}, "needs a known kind, one of: cat, dog"),
        (Pet, {"name": "Tom"}, "needs kind, which says what kind it is; add it"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(of: Any, value: object, said: str) -> None:
    assert problem_of(of, value) == said


def test_a_list_that_may_not_be_empty_asks_for_one() -> None:
    given = {"goal": "Sort it", "success_conditions": [], "allowed_commands": ["sort"]}
    assert problem_of(StartPracticeRequest, given) == "name at least one"


def test_a_text_of_another_form_shows_the_form() -> None:
    assert problem_of(PracticePath, "../up") == "has to be a path below the folder, such as out/list.csv"
    other = Annotated[str, StringConstraints(pattern="^a+$")]
    assert problem_of(other, "b") == "is not of the form that is asked for (^a+$)"


def test_what_is_missing_and_what_is_not_known_is_said_with_what_to_do() -> None:
    problems = field_problems(refused(StartPracticeRequest, {"other": 1}), whole="it")
    assert ("goal", "is missing; add it") in problems
    assert ("other", "is not known here; leave it out") in problems
    assert in_a_sentence(problems).endswith(f"({len(problems) - 1} more)")


def test_a_path_has_the_names_that_were_sent_and_not_the_choice_of_a_union() -> None:
    given = {"pets": [{"kind": "dog", "legs": "many"}, {"kind": "cat"}]}
    error = refused(dict[str, list[Pet]], given)
    places = [one.path for one in field_problems(error, whole="it", given=given)]
    assert places == ["pets.0.legs", "pets.1.name"]


def test_json_that_cannot_be_read_is_said_to_be_with_its_place() -> None:
    with pytest.raises(ValidationError) as found:
        TypeAdapter(int).validate_json("{,")
    assert problem_sentence(found.value, whole="FILE").startswith(
        "FILE: cannot be read as JSON (line 1, column 2)"
    )


def test_a_long_list_of_what_there_is_is_told_whole() -> None:
    of = Literal[
        "constitutional", "cases", "statutes", "regulations", "treatises", "exhibits", "rules", "orders"
    ]
    assert all(one in problem_of(of, "x") for one in ("constitutional", "orders"))
    server = Literal[tuple(f"a_rather_long_name_{n}" for n in range(12))]  # pyright: ignore
    assert "a_rather_long_name_11" in problem_of(server, "x")


def test_a_value_is_never_repeated() -> None:
    for of, value in ((Pet, {"kind": "hidden"}), (int, "hidden"), (Literal["a"], "hidden"), (Cat, "hidden")):
        assert "hidden" not in str(field_problems(refused(of, value), whole="it"))

"""A value that is refused before anything is sent is told in plain words."""

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from cli.platform.plain_problems import plain_problem
from contracts.practice.practice import PracticePath, StartPracticeRequest


def problem_of(kind: type[BaseModel] | TypeAdapter[str], value: object) -> str:
    check = kind.validate_python if isinstance(kind, TypeAdapter) else kind.model_validate
    with pytest.raises(ValidationError) as refused:
        check(value)
    one = refused.value.errors()[0]
    return plain_problem(one["type"], one["msg"], one.get("ctx", {}))


def test_a_list_that_may_not_be_empty_asks_for_one() -> None:
    given = {"goal": "Sort it", "success_conditions": [], "allowed_commands": ["sort"]}
    assert problem_of(StartPracticeRequest, given) == "name at least one"


def test_a_text_of_another_form_shows_the_form() -> None:
    path: TypeAdapter[str] = TypeAdapter(PracticePath)
    assert problem_of(path, "../up").startswith("is not of the form that is asked for (")


def test_what_is_missing_is_said_to_be() -> None:
    assert problem_of(StartPracticeRequest, {}) == "is missing"

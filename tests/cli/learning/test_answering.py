"""Answers to questions, from options and from suggestions."""

from uuid import UUID

import pytest
from rich.console import Console

from cli.learning.proposal_commands import collect_answers
from cli.platform.invocation import Invocation, NothingToDo
from clients.apprentice.api import ApprenticeApi
from contracts.learning.requests import SubmittedAnswer
from contracts.learning.responses import QuestionView

FIRST, SECOND = str(UUID(int=1)), str(UUID(int=2))
QUESTIONS = (
    QuestionView(question_id=FIRST, question_text="What for?", answered=False, suggestion="To sort"),
    QuestionView(question_id=SECOND, question_text="When not?", answered=False),
)


@pytest.fixture
def call(closed_api: ApprenticeApi) -> Invocation:
    return Invocation(closed_api, json=True, out=Console())


@pytest.fixture
def closed_api():
    with ApprenticeApi("http://127.0.0.1:9", None) as api:
        yield api


def answers(call: Invocation, *given: str, accept: bool = False) -> tuple[SubmittedAnswer, ...]:
    return collect_answers(call, QUESTIONS, given, accept_suggestions=accept, seen_in={})


def test_a_question_is_named_by_its_number_or_its_id(call: Invocation) -> None:
    got = answers(call, "2=never at night", f"{FIRST}=to pack")
    assert {(one.question_id, one.answer_text) for one in got} == {
        (SECOND, "never at night"),
        (FIRST, "to pack"),
    }


def test_an_answer_may_itself_contain_an_equals_sign(call: Invocation) -> None:
    assert answers(call, "1=a=b")[0].answer_text == "a=b"


def test_suggestions_fill_what_options_left_open_where_there_is_one(call: Invocation) -> None:
    assert answers(call, accept=True) == (SubmittedAnswer(question_id=FIRST, answer_text="To sort"),)
    assert answers(call, "1=mine", accept=True)[0].answer_text == "mine"


@pytest.mark.parametrize("given", ["3=x", "no-such=x", "just text", "1= "])
def test_what_is_no_answer_to_an_open_question_is_refused(call: Invocation, given: str) -> None:
    with pytest.raises(NothingToDo):
        answers(call, given)


def test_without_any_answer_nothing_is_sent(call: Invocation) -> None:
    with pytest.raises(NothingToDo, match="--accept-suggestions"):
        answers(call)

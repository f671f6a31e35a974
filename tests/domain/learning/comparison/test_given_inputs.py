"""An answer about a file that a lesson made up is taken at its word; one that is not understood is named."""

from datetime import UTC, datetime

import pytest
import uuid_utils

from contracts.learning.evidence import CommandUse, LessonEvidence
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.comparison.given_inputs import given_inputs, input_note, says_there
from domain.learning.comparison.made_up import MadeUpInput

NOW = datetime(2026, 5, 1, tzinfo=UTC)

THERE = (
    "Yes",
    "y",
    "Yes, it is there already",
    "It exists",
    "It's an input",
    "No, it is an input",
    "No it's an input",
    "it is not made, it is there",
    "It's an input; nothing creates it",
    "there is no need to make it, it's there",
    "use the existing one",
    "It is provided by the customer",
    "It will be in the folder",
    "it's available beforehand",
    "No, the work doesn't make it. It comes from the accounting department",
    "already there",
    "There already.",
    "The file is delivered every Monday",
    "we receive it by mail",
    "It won't be made by the work",
    "don't create it if it exists",
    "I'll put it there myself",
    "Use mine instead of making one",
    "it is created by another program",
    "the customer makes it",
    "Not made; given",
    "That is my own list, never write it",
    "nobody makes it, it's present from the start",
    "it’s there, so it needn’t be written",
    "the first",
    "it is",
    "It was only made up for the lesson",
    "I made it for the demonstration; the real one will be there",
    "There's a new one each month",
    "Yes - it's downloaded before the work begins",
)
MADE = (
    "No",
    "n",
    "nope",
    "It is made by the work",
    "no, it is not there",
    "yes, the work makes it",
    "The work creates it",
    "it does not exist yet",
    "It isn't there, make it",
    "Made by the work, as it was shown",
    "as suggested",
    "as shown",
    "It has to be written each time",
    "It's generated",
    "no, it must be created first",
    "It won't be there",
    "It is not an input but a result of the work",
    "there is no such file before, write it",
    "it is part of the work",
    "by the work",
    "the work",
    "No, the task produces it anew",
    "There isn't one yet, so it has to be made",
    "it's missing, create it",
    "The script writes it",
    "that file never exists beforehand",
    "not there",
    "It can't be there: the work makes it",
    "always made from scratch",
    "the latter",
    "it isn't",
    "no such file will exist",
    "Nothing is there, it is built by the work",
)
NEITHER = (
    "hm",
    "I don't know",
    "maybe",
    "harvest.txt",
    "",
    "sometimes there, sometimes made",
    "ok",
    "I made it",
)


@pytest.mark.parametrize("answer", THERE)
def test_what_is_said_to_be_there_is_there(answer: str) -> None:
    assert says_there(answer) is True


@pytest.mark.parametrize("answer", MADE)
def test_what_is_said_to_be_made_is_made(answer: str) -> None:
    assert says_there(answer) is False


@pytest.mark.parametrize("answer", NEITHER)
def test_what_says_neither_or_both_is_not_guessed_at(answer: str) -> None:
    assert says_there(answer) is None


EVENT = str(uuid_utils.uuid7())


def answered(text: str) -> list[tuple[LearningQuestion, LearningAnswer]]:
    made = MadeUpInput("in.txt", (EVENT,))
    question = LearningQuestion(
        question_id=str(uuid_utils.uuid7()),
        proposal_id=str(uuid_utils.uuid7()),
        field=QuestionField.INPUT,
        prompt=made.prompt,
        about=made.about,
        required=False,
        suggestion=made.suggestion,
        evidence_event_ids=made.event_ids,
        created_at=NOW,
    )
    said = LearningAnswer(
        question_id=question.question_id, proposal_id=question.proposal_id, answer=text or " ", created_at=NOW
    )
    return [(question, said)]


def evidence(*events: str, why: str = "") -> LessonEvidence:
    return LessonEvidence(
        state_id=str(uuid_utils.uuid7()),
        reproduced=True,
        uses=tuple(CommandUse(event_id=one, succeeded=True) for one in events),
        inputs_note=why,
        made_at=NOW,
    )


def test_only_what_is_said_to_be_there_is_taken_out() -> None:
    assert given_inputs(answered("It is an input")) == {EVENT}
    assert given_inputs(answered("It is made")) == given_inputs(answered("hm")) == set()


def test_an_answer_that_is_followed_needs_no_note() -> None:
    assert input_note(answered("It is there"), evidence()) == ""
    assert input_note(answered("It is made"), evidence(EVENT)) == ""


def test_an_answer_that_is_not_understood_is_named() -> None:
    note = input_note(answered("hm"), evidence(EVENT))
    assert note.startswith("“hm” does not say whether in.txt is there already. So the work makes it")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (evidence(EVENT, why="the sandbox is full."), "(the sandbox is full)"),
        (evidence(EVENT, why="x" * 240), f"({'x' * 89}…)"),
        (evidence(EVENT), "(its replay did not end)"),
        (None, "(its replay did not end)"),
    ],
)
def test_an_answer_that_is_not_followed_is_named_with_why(found: LessonEvidence | None, why: str) -> None:
    note = input_note(answered("It is there"), found)
    assert note.startswith(f"in.txt could not be taken as there already {why}. So the work makes it")
    assert len(note) <= _longest_note()


def _longest_note() -> int:
    return next(
        one.max_length
        for one in SkillBundleProposal.model_fields["drafter_note"].metadata
        if hasattr(one, "max_length")
    )

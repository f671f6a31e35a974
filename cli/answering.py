"""Answers to a proposal's questions: from options, from suggestions, or from the person at a terminal."""

import sys
from collections.abc import Mapping, Sequence

import typer
from rich.text import Text

from cli.invocation import Invocation, NothingToDo
from cli.learn_views import question_view
from contracts.learning.requests import SubmittedAnswer
from contracts.learning.responses import QuestionView

LONGEST_ANSWER = 2000


def collect_answers(
    call: Invocation,
    questions: Sequence[QuestionView],
    given: Sequence[str],
    *,
    accept_suggestions: bool,
    seen_in: Mapping[str, str],
) -> tuple[SubmittedAnswer, ...]:
    """Answer ``questions``, which are open. ``given`` are ``QUESTION=text``, the question by id or number.

    ``seen_in`` says in words what each piece of evidence was. At a terminal, what the options leave open is
    asked, the suggestion being the default; anywhere else it stays open.

    Raises:
        NothingToDo: an option names no open question, or there is nothing to send.
    """
    answers = _from_options(questions, given)
    for number, question in enumerate(questions, 1):
        if question.question_id in answers:
            continue
        if accept_suggestions:
            if question.suggestion:
                answers[question.question_id] = question.suggestion
        elif not call.json and sys.stdin.isatty():
            answers[question.question_id] = _ask(call, number, question, seen_in)
    if not answers:
        raise NothingToDo(
            "no answer was given. Say --answer QUESTION=TEXT (the question by its number or id), "
            "or --accept-suggestions."
        )
    return tuple(SubmittedAnswer(question_id=key, answer_text=text) for key, text in answers.items())


def _from_options(questions: Sequence[QuestionView], given: Sequence[str]) -> dict[str, str]:
    names = {str(number): question.question_id for number, question in enumerate(questions, 1)}
    names |= {question.question_id: question.question_id for question in questions}
    answers: dict[str, str] = {}
    for text in given:
        name, found, answer = text.partition("=")
        if not found or not answer.strip():
            raise NothingToDo(f"{text!r} is no answer: write QUESTION=TEXT")
        if name not in names:
            raise NothingToDo(f"{name!r} is no open question; `apprentice learn questions` lists them")
        answers[names[name]] = answer[:LONGEST_ANSWER]
    return answers


def _ask(call: Invocation, number: int, question: QuestionView, seen_in: Mapping[str, str]) -> str:
    call.show(question_view(number, question))
    for event_id in question.evidence_event_ids[:3]:
        if event_id in seen_in:
            call.show(Text(f"     seen in: {seen_in[event_id]}", style="dim"))
    if question.suggestion:
        typed: str = typer.prompt(
            "     answer (Enter takes the suggestion)", default=question.suggestion, show_default=False
        )
    else:
        typed = typer.prompt("     answer")
    return typed[:LONGEST_ANSWER]

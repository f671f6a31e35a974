"""Holds the product to the lessons: teaches each in a recorded terminal, then judges what became of it.

Lessons are taught concurrently, one person each, on one running application. When the last is installed, every
request is looked up among all of them, and every ability is tried on its lesson's other folder.
"""

import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio

from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack
from tests.lessons.first.folders import write
from tests.lessons.lesson import Lesson
from tests.lessons.trials import try_on_other_folder
from tests.lessons.verdicts import (
    Aspect,
    FitAnswer,
    Outcome,
    Verdict,
    failed,
    judge_absent,
    judge_facts,
    judge_finds,
    judge_near_misses,
    judge_parameters,
)

AT_ONCE = 4
"""Lessons under way at a time: more of them only wait for the processors."""

DRAFTED_WITHIN_SECONDS = 120
VALIDATED_WITHIN_SECONDS = 120


@dataclass
class Taught:
    """One lesson on its way: its person, and what is known of it so far."""

    lesson: Lesson
    learner: Learner
    folder: Path
    files: dict[str, str] = field(default_factory=dict[str, str])
    ability_id: str = ""
    problem: str = "not taught"
    unproved: str = ""
    """Which steps were approved without a rehearsal, though a sandbox can carry them out, and why."""
    shown: dict[str, str] = field(default_factory=dict[str, str])
    """The demonstrated value of each parameter by its name."""
    fits: list[FitAnswer] = field(default_factory=list[FitAnswer])
    trial: Verdict = field(default_factory=lambda: failed("not installed"))
    timings: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def timed(self, name: str) -> Generator[None]:
        """Notes how long the block took, in seconds."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - begun


async def run_lessons(stack: Stack, lessons: Sequence[Lesson], folder: Path) -> list[Outcome]:
    """Teaches the lessons on ``stack`` with their files under ``folder``; one outcome each, in their order."""
    taught = [Taught(one, stack.learner(_user(one)), folder / one.name) for one in lessons]
    turns = anyio.CapacityLimiter(AT_ONCE)
    async with served(stack) as api:
        async with anyio.create_task_group() as group:
            for one in taught:
                group.start_soon(_in_turn, turns, _teach, one, api)
        await _look_up(taught)
        async with anyio.create_task_group() as group:
            for one in taught:
                group.start_soon(_in_turn, turns, _try, one, api)
    return [_outcome(one) for one in taught]


def _user(lesson: Lesson) -> str:
    return lesson.name.replace("_", "-")


async def _in_turn(
    turns: anyio.CapacityLimiter, step: Callable[[Taught, str], Awaitable[None]], one: Taught, api: str
) -> None:
    async with turns:
        await step(one, api)


async def _teach(one: Taught, api: str) -> None:
    """From a new session to an installed ability, or to the reason why it is none."""
    try:
        one.folder.mkdir(parents=True)
        desk = one.folder / "desk"
        desk.mkdir()
        one.lesson.prepare(desk)
        await _demonstrate(one, api, desk)
        with one.timed("propose"):
            await _propose(one)
        with one.timed("validate"):
            await _validate(one)
        with one.timed("install"):
            await _approve(one)
    except Exception as error:
        # One lesson's failure is its verdict, and no reason to stop the others.
        one.problem = str(error) if isinstance(error, AssertionError) else repr(error)


async def _demonstrate(one: Taught, api: str, desk: Path) -> None:
    learner = one.learner
    await learner.create(target_app_whitelist=["terminal"])
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": one.lesson.goal})
    with one.timed("record"):
        await record(learner, api, desk, one.lesson.typed)
    await learner.act("stop")


async def _propose(one: Taught) -> None:
    """Drafts the proposal, with every question answered as it is suggested."""
    learner = one.learner
    drafted = await _patiently(learner, "generate-proposal", {"ask_before_build": True})
    learner.proposal_id = drafted["proposal_id"]
    if await learner.state() == "awaiting_questions":
        detail = await _detail(learner)
        answers = [
            {
                "question_id": question["question_id"],
                "answer_text": question["suggestion"] or one.lesson.goal,
            }
            for question in detail["questions"]
            if not question["answered"]
        ]
        await _patiently(learner, "answer-questions", {"answers": answers})
        await learner.settled("awaiting_questions")
    found = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/files")
    one.files = {file["path"]: file["content"] for file in found["files"]}
    for path, content in one.files.items():
        write(one.folder / "draft" / path, content)


async def _validate(one: Taught) -> None:
    learner = one.learner
    await learner.propose_act("validate", {})
    state = await learner.settled("testing_proposal", at_most=VALIDATED_WITHIN_SECONDS)
    runs = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/validation-runs")
    assert state == "ready_for_review", f"validation: {_failed_steps(runs['steps'])}"
    one.unproved = _unproved_steps(one.lesson, runs["steps"])


async def _approve(one: Taught) -> None:
    learner = one.learner
    await learner.propose_act("approve", {"accept_unproved": True})
    state = await learner.settled("ready_for_review")
    assert state == "approved", f"after the approval the session is {state}"
    detail = await _detail(learner)
    one.ability_id = detail["proposal"]["ability_id"]
    one.problem = ""
    ability = await learner.ok("GET", f"/api/abilities/{one.ability_id}")
    one.shown = {parameter["name"]: parameter["shown"] for parameter in ability["parameters"]}


async def _look_up(taught: Sequence[Taught]) -> None:
    """Asks for every request of every lesson what fits, with all of them installed."""
    for one in taught:
        if not one.ability_id:
            continue
        for request in (*one.lesson.finds, *one.lesson.near_misses):
            found = await one.learner.ok("POST", "/api/abilities/lookup", {"user_query": request})
            one.fits.append(await _fit_answer(one, request, found["fitting"]))


async def _fit_answer(one: Taught, request: str, fitting: Sequence[Mapping[str, Any]]) -> FitAnswer:
    """Which place the ability has among those that fit, best first, and why it fits or not."""
    names = [each["ability_id"] for each in fitting]
    place = names.index(one.ability_id) + 1 if one.ability_id in names else None
    asked = {"user_query": request, "ability_id": one.ability_id}
    why = await one.learner.ok("POST", "/api/abilities/explain-match", asked)
    return FitAnswer(
        request, fitting[place - 1]["fit"] if place else "no", place, ", ".join(why["fit_reasons"])
    )


async def _try(one: Taught, _api: str) -> None:
    """Runs the ability on the other folder and checks what came of it."""
    if not one.ability_id:
        return
    try:
        with one.timed("try"):
            one.trial = await try_on_other_folder(
                one.lesson, one.learner, one.ability_id, one.shown, one.folder
            )
    except Exception as error:
        one.trial = failed(repr(error))


async def _patiently(learner: Learner, action: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A command on the session that is sent again with its key, as the answer asks, while no worker has answered."""
    path, key = f"/api/learn/sessions/{learner.session_id}/{action}", str(uuid4())
    deadline = anyio.current_time() + DRAFTED_WITHIN_SECONDS
    while True:
        answer = await learner.call("POST", path, body, idempotency_key=key)
        if answer.status_code != 503 or anyio.current_time() > deadline:
            break
    assert answer.is_success, f"{action}: {answer.status_code} {answer.text}"
    found: dict[str, Any] = answer.json()
    return found


async def _detail(learner: Learner) -> Mapping[str, Any]:
    return await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")


def _failed_steps(steps: Sequence[Mapping[str, Any]]) -> str:
    """What a validation run did not pass, in its own words."""
    return "; ".join(
        f"{step['test_case_id']} {step['label']} ({step['details'] or 'no details'})"
        for step in steps
        if step["result"] == "failed"
    )


def _unproved_steps(lesson: Lesson, steps: Sequence[Mapping[str, Any]]) -> str:
    """What was not rehearsed beside the commands of which the lesson says that no sandbox can carry them out."""
    unproved: list[str] = []
    for step in steps:
        if step["test_case_id"].startswith("rehearsal/unrehearsed"):
            command = step["label"].removeprefix("not rehearsed: ")
            if command.split()[0] not in lesson.unproved:
                unproved.append(f"`{command}` ({step['details'] or 'no details'})")
    return "; ".join(unproved)


def _outcome(one: Taught) -> Outcome:
    lesson = one.lesson
    finds = [answer for answer in one.fits if answer.request in lesson.finds]
    near = [answer for answer in one.fits if answer.request in lesson.near_misses]
    no_ability = failed("not installed")
    verdicts = {
        Aspect.INSTALLED: _installed(one),
        Aspect.FACTS: judge_facts(lesson, one.files, one.shown),
        Aspect.ABSENT: judge_absent(lesson, one.files["SKILL.md"]) if one.files else no_ability,
        Aspect.PARAMETERS: judge_parameters(lesson, one.shown.values()) if one.ability_id else no_ability,
        Aspect.FINDS: judge_finds(finds) if finds else no_ability,
        Aspect.NEAR_MISSES: judge_near_misses(near) if near else no_ability,
        Aspect.TRIAL: one.trial,
    }
    return Outcome(lesson, verdicts, tuple(one.fits), sum(one.timings.values()), one.timings)


def _installed(one: Taught) -> Verdict:
    if one.problem:
        return failed(one.problem)
    return failed(f"approved without proof of {one.unproved}") if one.unproved else Verdict(True)

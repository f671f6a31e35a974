"""Nothing of a method is lost: each literal of a retained command is in a fact, a script or the example."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.learning.evidence import LessonEvidence
from contracts.learning.proposal import SkillDraft
from domain.learning.commands.typed_lines import with_typed_lines
from domain.learning.comparison.parameter_places import ParameterPlaces
from domain.learning.comparison.parameters import parameterised
from domain.learning.comparison.single_demonstration import shown_parameters
from domain.learning.drafting.drafting import draft_skill
from domain.learning.interpretation.interpretation import marked_goal
from domain.learning.interpretation.steps import all_events
from domain.learning.method.literals import literals_of
from domain.learning.method.program_forms import known_programs
from tests.domain.conftest import Teaching
from tests.domain.learning.method.argument_words import ARGUMENTS
from tests.lessons.catalogue import LESSONS
from tests.lessons.lesson import Lesson


def line_of(entry: str) -> str:
    """An entry of a lesson as the recorder keeps it: what is typed at a prompt in a here-document."""
    first, _, typed = entry.partition("\n")
    return with_typed_lines(first, typed.split("\n")) or entry


def plain(text: str) -> str:
    """The text without what quoting adds."""
    return re.sub(r"[\\\s'\"]", "", text)


def text_of(draft: SkillDraft) -> str:
    """SKILL.md, the scripts and the example."""
    return plain("".join(file.content for file in draft.files if not file.path.endswith(".json")))


def shown(teach: Any, lesson: Lesson) -> Any:
    """The events and marks of the lesson."""
    lines = [line_of(entry) for entry in lesson.typed]
    events = [teach.command(at, line, f"~made{at}.txt") for at, line in enumerate(lines)]
    return events, [teach.mark("mark_goal", 0, lesson.goal)]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_literal_of_a_retained_command_is_in_the_bundle(teach: Any, lesson: Lesson) -> None:
    events, marks = shown(teach, lesson)
    learned = teach.learn(events, marks)
    retained = [e.terminal for e in all_events(learned.steps) if e.terminal]
    parameters = shown_parameters(
        marked_goal(marks), [(t.command, t.working_folder) for t in retained], (), ()
    )
    evidence = LessonEvidence(
        state_id=teach.id(7),
        reproduced=True,
        kept=tuple(e.event_id for e in all_events(learned.steps)),
        made_at=teach.now,
    )
    interpretation = parameterised(learned.interpretation, parameters, {})
    draft = draft_skill(interpretation, learned.steps, teach.session(), evidence=evidence)
    bundle = text_of(draft)
    places = ParameterPlaces([t.command for t in retained], parameters)
    assert retained
    lost = [
        literal
        for terminal in retained
        for literal in literals_of(places.formal(terminal.command))
        if plain(literal) not in bundle
    ]
    assert lost == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_literal_is_in_the_bundle_of_a_lesson_that_was_not_replayed(teach: Any, lesson: Lesson) -> None:
    learned = teach.learn(*shown(teach, lesson))
    retained = [e.terminal for e in all_events(learned.steps) if e.terminal]
    assert retained
    bundle = text_of(learned.draft)
    lost = [one for t in retained for one in literals_of(t.command) if plain(one) not in bundle]
    assert lost == []


@given(program=st.sampled_from([*known_programs(), "frobnicate", "xargs -n1 grep"]), words=ARGUMENTS)
@settings(max_examples=60)
def test_each_literal_of_any_command_is_in_the_bundle_without_a_replay(program: str, words: str) -> None:
    teach = Teaching()
    command = f"{program} {words}"
    bundle = text_of(teach.learn([teach.command(1, command, "~made.txt")]).draft)
    assert [one for one in literals_of(command) if plain(one) not in bundle] == []

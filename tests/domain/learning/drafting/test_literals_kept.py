"""Nothing of a method is lost: each literal of a retained command is in a fact, a script or the example."""

import re
from typing import Any

import pytest

from contracts.learning.evidence import LessonEvidence
from domain.learning.commands.typed_lines import with_typed_lines
from domain.learning.comparison.parameter_places import ParameterPlaces
from domain.learning.comparison.parameters import parameterised
from domain.learning.comparison.single_demonstration import shown_parameters
from domain.learning.drafting.drafting import draft_skill
from domain.learning.interpretation.interpretation import marked_goal
from domain.learning.interpretation.steps import all_events
from domain.learning.method.literals import literals_of
from tests.lessons.catalogue import LESSONS
from tests.lessons.lesson import Lesson


def line_of(entry: str) -> str:
    """An entry of a lesson as the recorder keeps it: what is typed at a prompt in a here-document."""
    first, _, typed = entry.partition("\n")
    return with_typed_lines(first, typed.split("\n")) or entry


def plain(text: str) -> str:
    """The text without what quoting adds."""
    return re.sub(r"[\\\s'\"]", "", text)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_literal_of_a_retained_command_is_in_the_bundle(teach: Any, lesson: Lesson) -> None:
    lines = [line_of(entry) for entry in lesson.typed]
    events = [teach.command(at, line, f"~made{at}.txt") for at, line in enumerate(lines)]
    marks = [teach.mark("mark_goal", 0, lesson.goal)]
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
    bundle = plain("".join(file.content for file in draft.files if not file.path.endswith(".json")))
    places = ParameterPlaces([t.command for t in retained], parameters)
    assert retained
    lost = [
        literal
        for terminal in retained
        for literal in literals_of(places.formal(terminal.command))
        if plain(literal) not in bundle
    ]
    assert lost == []

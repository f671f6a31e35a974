from typing import Any

import pytest

from contracts.learning.interpretation import OptionalStep, ProjectScope
from contracts.learning.proposal import RehearsedDemonstration
from domain.learning.drafting.bundle import content_hash


def test_the_same_demonstration_read_twice_has_the_same_hash(teach: Any) -> None:
    first = teach.learn(teach.reports())
    second = teach.learn(teach.reports(), interpretation_id=teach.id(77), proposal_id=teach.id(78))
    assert first.interpretation != second.interpretation
    assert content_hash(first.draft, first.interpretation) == content_hash(
        second.draft, second.interpretation
    )


def test_ids_and_times_of_events_do_not_count(teach: Any) -> None:
    first = teach.learn([teach.command(1, "sort a > b", "+b"), teach.command(2, "sort b > c", "+c")])
    second = teach.learn([teach.command(5, "sort a > b", "+b"), teach.command(9, "sort b > c", "+c")])
    assert first.draft != second.draft
    assert content_hash(first.draft, first.interpretation) == content_hash(
        second.draft, second.interpretation
    )


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("draft", "title", "Other"),
        ("draft", "slug", "other"),
        ("draft", "description", "Other"),
        ("draft", "trigger_phrases", ("other",)),
        ("draft", "negative_triggers", ("other",)),
        ("draft", "rehearsal", ()),
        ("draft", "further_demonstrations", (RehearsedDemonstration(number=2, commands=()),)),
        ("draft", "capability_id", "other"),
        ("draft", "dependencies", ("other",)),
        ("draft", "files", ()),
        ("interpretation", "goal_summary", "Other"),
        ("interpretation", "use_conditions", ("Other",)),
        ("interpretation", "non_use_conditions", ("Other",)),
        ("interpretation", "project_scope", ProjectScope.UNCLEAR),
        ("interpretation", "preferred_control_surfaces", ("raw_ui",)),
        ("interpretation", "success_conditions", ("Other",)),
        ("interpretation", "checkpoints", ()),
        ("interpretation", "observed_effects", ()),
        ("interpretation", "optional_steps", (OptionalStep(label="Pack", demonstrations=(2,), of=2),)),
    ],
)
def test_any_change_of_content_changes_the_hash(teach: Any, part: str, name: str, value: object) -> None:
    learned = teach.learn(teach.reports())
    parts = {"draft": learned.draft, "interpretation": learned.interpretation}
    before = content_hash(**parts)
    parts[part] = parts[part].changed(**{name: value})
    assert content_hash(**parts) != before


def test_one_changed_byte_of_a_file_or_command_changes_the_hash(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    before = content_hash(learned.draft, learned.interpretation)
    files = (learned.draft.files[0].changed(content="x"), *learned.draft.files[1:])
    rehearsal = (learned.draft.rehearsal[0].changed(command="x"), *learned.draft.rehearsal[1:])
    for change in ({"files": files}, {"rehearsal": rehearsal}, {"rehearsal": learned.draft.rehearsal[::-1]}):
        assert content_hash(learned.draft.changed(**change), learned.interpretation) != before


def test_the_order_of_files_does_not_count(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    turned = learned.draft.changed(files=learned.draft.files[::-1])
    assert content_hash(turned, learned.interpretation) == content_hash(learned.draft, learned.interpretation)

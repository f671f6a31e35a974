from typing import Any

import pytest

from contracts.learning.interpretation import ParameterType, SkillParameter
from domain.learning.comparison.parameters import ParameterWording
from domain.learning.drafting.triggers import negative_triggers, trigger_cases, trigger_phrases


def meaning(teach: Any, **changes: object) -> Any:
    return teach.learn(teach.reports()).interpretation.changed(**changes)


def test_phrases_are_terse_and_start_with_the_title(teach: Any) -> None:
    phrases = trigger_phrases(meaning(teach), ["sort", "archive", "checksum"], ["reports.tgz"])
    assert phrases[:4] == (
        "sort, archive and checksum reports", "make reports.tgz", "archive reports", "checksum reports",
    )  # fmt: skip
    assert len(phrases) == len(set(phrases)) <= 8


def test_the_mark_of_a_shortened_title_is_in_no_phrase_no_request_and_no_name(teach: Any) -> None:
    goal = "Make release 1.4.0: set the version, give the change log its heading and date, commit and tag it"
    learned = teach.learn(teach.reports(), [teach.mark("mark_goal", 0, goal)])
    assert learned.interpretation.title == "Make release 1.4.0: set the version…"
    assert learned.interpretation.goal_summary == goal
    assert learned.draft.slug == "make-release-1-4-0-set-the-version"
    assert learned.draft.trigger_phrases[0] == "make release 1.4.0: set the version"
    requests = [case["input"] for case in learned.json("tests/triggers.json")]
    assert not [one for one in (*learned.draft.trigger_phrases, *requests) if "…" in one]


def test_a_title_that_is_no_request_is_made_one(teach: Any) -> None:
    phrases = trigger_phrases(meaning(teach, title="Weekly pack", goal_summary="Weekly pack"), [])
    assert phrases == ("weekly pack", "run weekly pack", "do weekly pack", "start weekly pack")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("Do not use it for payroll", ("payroll",)),
        ("When someone only wants to preview it", ("preview it",)),
        ("Never when the user asks to restore backups.", ("restore backups",)),
        ("For sort", ()),
        ("Not for reports", ()),
        ("It is late at night and nobody who could approve the results of this is around any more", ()),
    ],
)
def test_a_negative_trigger_is_what_a_person_would_say(
    teach: Any, condition: str, expected: tuple[str, ...]
) -> None:
    read = meaning(teach, non_use_conditions=(condition,))
    phrases = trigger_phrases(read, ["sort"])
    assert negative_triggers(read, phrases) == expected


def test_no_negative_trigger_occurs_in_a_wanted_phrase(teach: Any) -> None:
    read = meaning(teach, title="Explain how reports differ", goal_summary="Explain how reports differ")
    phrases = trigger_phrases(read, [])
    negatives = negative_triggers(read, phrases)
    assert "explain how" not in negatives
    assert "just show me" in negatives


def test_an_example_that_a_negative_trigger_shuts_out_is_no_positive_case() -> None:
    cases = trigger_cases("Pack photos", ["pack photos", "pack reports"], ["photos"])
    assert [c.input for c in cases if c.kind == "positive"] == ["Pack reports"]


def test_near_misses_are_whole_requests() -> None:
    cases = trigger_cases("Pack reports", ["pack reports"], ["photos", "restore reports"])
    assert [c.input for c in cases if c.kind == "negative"][:2] == [
        "Now the same for photos",
        "Restore reports",
    ]


def test_an_everyday_request_that_sounds_like_the_skill_is_no_negative_case() -> None:
    cases = trigger_cases("Call my dentist", ["call my dentist"], [])
    negatives = [c.input for c in cases if c.kind == "negative"]
    assert "Call my dentist" not in negatives
    assert len(negatives) >= 3


def inputs(kind: str, *said: Any) -> list[str]:
    return [case.input for case in trigger_cases(*said) if case.kind == kind]


def test_near_misses_ask_for_other_work_another_object_and_the_other_direction() -> None:
    title = "Convert the Markdown notes to HTML pages"
    assert inputs("negative", title, [title.lower()], [])[:4] == [
        "Delete the Markdown notes to HTML pages",
        "Mail the Markdown notes to HTML pages to a colleague",
        "Convert the train tickets",
        "Convert html pages into markdown notes",
    ]


def test_a_near_miss_is_no_other_work_that_the_skill_does_as_well() -> None:
    assert "Delete the old logs" not in inputs("negative", "Delete the old logs", ["delete the old logs"], [])


def test_a_title_is_paraphrased_with_other_verbs_of_the_same_meaning() -> None:
    assert "Sum the invoices" in inputs("paraphrase", "Total the invoices", ["total the invoices"], [])


def test_phrases_say_the_title_in_other_words_and_name_results_in_their_folder(teach: Any) -> None:
    read = meaning(teach, title="Resize the photos", goal_summary="Resize the photos")
    assert trigger_phrases(read, [], ["small/beach.jpg"]) == (
        "resize the photos",
        "make small/beach.jpg",
        "scale the photos",
        "shrink the photos",
    )


def parameter(name: str, shown: str, kind: ParameterType = ParameterType.TEXT) -> SkillParameter:
    return SkillParameter(
        name=name, type=kind, description=f"The {name}: “{shown}” in the demonstration", examples=(shown,)
    )


def taught(teach: Any, goal: str, *parameters: SkillParameter) -> tuple[str, ...]:
    said = ParameterWording(parameters).formal(goal)
    return trigger_phrases(meaning(teach, title=goal, goal_summary=said, parameters=parameters), [])


def test_a_phrase_asks_for_another_value_as_a_person_does(teach: Any) -> None:
    goal = "Load the deliveries into a database and export the value per supplier for the warehouse in Linz"
    phrases = taught(
        teach,
        goal,
        parameter("deliveries_file", "deliveries-04.csv", ParameterType.PATH),
        parameter("warehouse", "Linz"),
    )
    assert goal.replace("Load", "load").replace("the warehouse in Linz", "another warehouse") in phrases
    assert not [one for one in phrases if "warehouse in warehouse" in one or one.endswith("deliveries")]


def test_a_phrase_without_words_for_a_value_is_left_away(teach: Any) -> None:
    phrases = taught(
        teach,
        "List the 5 most frequent errors",
        parameter("frequent", "5", ParameterType.NUMBER),
    )
    assert "list the 5 most frequent errors" in phrases
    assert not [one for one in phrases if "other" in one or "frequent most" in one]


@pytest.mark.parametrize(
    ("name", "shown", "kind", "expected"),
    [
        ("guests_file", "guests.csv", "path", "print the badges with another guests file"),
        ("guests_file_2", "guests.csv", "path", None),
        ("pages", "7", "number", "print the badges with another number of pages"),
        ("prices", "new", "text", "print the badges with other prices"),
        ("month", "2026-10", "date", "print the badges for another month"),
        ("called", "Maple", "text", None),
    ],
)
def test_the_title_is_asked_for_with_another_value(
    teach: Any, name: str, shown: str, kind: str, expected: str | None
) -> None:
    phrases = taught(teach, "Print the badges", parameter(name, shown, ParameterType(kind)))
    asked = [one for one in phrases if "other" in one]
    assert asked == ([expected] if expected else [])


def test_a_long_title_is_never_cut_in_the_middle_of_what_is_put_behind_it(teach: Any) -> None:
    said = "Collect the open orders of all branches in one table, with the totals of each branch"
    goal = f"{said} and the best order of a branch"
    phrases = taught(teach, goal, parameter("orders_file", "orders.csv", ParameterType.PATH))
    assert not [one for one in phrases if "another" in one]
    assert (
        "please collect the open orders of all branches in one table, with the totals of each branch"
        in phrases
    )


def test_a_word_that_is_a_folder_as_well_or_that_names_itself_is_not_exchanged(teach: Any) -> None:
    phrases = taught(
        teach,
        "Find the photos of the south that are there twice",
        parameter("folder", "photos", ParameterType.PATH),
        parameter("south", "south"),
    )
    assert not [one for one in phrases if "other south" in one or "find another" in one]


def test_courtesy_fills_the_list_only_up_to_three_phrases(teach: Any) -> None:
    goal = "Run the report of the month's hours"
    assert taught(teach, goal) == (
        "run the report of the month's hours",
        "help me run the report of the month's hours",
        "please run the report of the month's hours",
    )

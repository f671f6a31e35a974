"""What a model may do to a draft, and what stays."""

from dataclasses import replace
from typing import Any

import pytest

from contracts.learning.evidence import ConditionKind, ConditionProof, LessonEvidence, ProofCondition
from domain.learning.interpretation.naming import slug_from_title
from domain.learning.interpretation.steps import all_events
from domain.learning.model.merge import DeterministicDraft, OutOfBounds
from tests.domain.learning.model_wordings import BASE, TEACH, base_of, first_checkpoint, proposed, worded


def test_a_good_wording_becomes_the_draft_and_passes_the_lint() -> None:
    found = worded(proposed())
    assert found.drafted_by == "model:small-writer"
    assert found.interpretation.written_by == "model:small-writer"
    assert found.interpretation.title == found.draft.title == "Rank the sales reports and pack them"
    assert found.draft.slug == slug_from_title("Rank the sales reports and pack them")
    assert found.draft.trigger_phrases[:2] == ("rank the sales reports", "pack the sales reports")
    assert "sales forecast" in found.draft.negative_triggers
    assert found.lint.passed
    markdown = next(f.content for f in found.draft.files if f.path == "SKILL.md")
    assert "# Rank the sales reports and pack them" in markdown
    assert ", for the reports" in markdown


DEMONSTRATIONS: dict[str, list[Any]] = {
    "reports": TEACH.reports(),
    "a download": [
        TEACH.command(1, "curl -sSf https://data.example.org/rates.json -o in/rates.json", "+in/rates.json"),
        TEACH.command(2, "jq -r .[] in/rates.json > out.txt", "+out.txt"),
    ],
    "a removal": [
        TEACH.command(1, "gzip -k 'My Notes.txt'", "+My Notes.txt.gz"),
        TEACH.command(2, "rm 'My Notes.txt'", "-My Notes.txt"),
    ],
    "a build": [
        TEACH.command(1, "git commit -am 'Fix the totals'"),
        TEACH.command(2, "make test"),
        TEACH.command(3, "python build.py --release > dist/app-2026.10.whl", "+dist/app-2026.10.whl"),
    ],
    "an app": [
        TEACH.event(1, action_label="Open the export dialog"),
        TEACH.event(2, action_label="Confirm the export of Q3/2026"),
    ],
}


@pytest.mark.parametrize("demonstration", DEMONSTRATIONS)
@pytest.mark.parametrize("goal", [None, "Get the figures of Q3/2026 ready for the board"])
def test_a_model_that_repeats_the_draft_is_within_bounds(demonstration: str, goal: str | None) -> None:
    marks = [TEACH.mark("mark_goal", 0.5, goal)] if goal else []
    learned = TEACH.learn(DEMONSTRATIONS[demonstration], marks)
    interpretation = learned.interpretation
    base = DeterministicDraft(TEACH.session(), learned.steps, interpretation, learned.draft)
    repeated = proposed(
        base,
        title=interpretation.title,
        goal_summary=interpretation.goal_summary,
        use_conditions=interpretation.use_conditions[:6],
        non_use_conditions=interpretation.non_use_conditions[:6],
        checkpoints=[c.model_dump(exclude={"order_hint"}) for c in interpretation.checkpoints],
        trigger_phrases=learned.draft.trigger_phrases[:8],
        negative_triggers=learned.draft.negative_triggers[:8],
    )
    found = worded(repeated, base)
    assert found.draft.title == learned.draft.title
    assert found.interpretation.checkpoints == interpretation.checkpoints


def test_checkpoints_may_be_put_in_another_order() -> None:
    edits = proposed()
    found = worded(edits.changed(checkpoints=edits.checkpoints[::-1]))
    ids = [c.checkpoint_id for c in BASE.interpretation.checkpoints]
    assert len(ids) > 1
    assert [c.checkpoint_id for c in found.interpretation.checkpoints] == ids[::-1]
    assert [c.order_hint for c in found.interpretation.checkpoints] == list(range(1, len(ids) + 1))


def test_the_same_draft_and_wording_give_the_same_result() -> None:
    assert worded(proposed()) == worded(proposed())


def test_what_a_person_stated_stays() -> None:
    edits: dict[str, object] = {
        "title": "Monthly sales",
        "trigger_phrases": ["do the monthly sales"],
        "negative_triggers": ["yearly sales"],
        "checkpoints": [
            {"checkpoint_id": "cp-01", "goal": "All there", "success_condition": "The file x exists"}
        ],
    }
    edits["checkpoints"][0]["order_hint"] = 1  # type: ignore[index]
    base = base_of("Rank the sales", edits)
    found = worded(proposed(), base)
    assert found.interpretation.title == "Monthly sales"
    assert found.interpretation.goal_summary == base.interpretation.goal_summary == "Rank the sales"
    assert found.interpretation.checkpoints == base.interpretation.checkpoints
    assert found.draft.trigger_phrases == ("do the monthly sales",)
    assert found.draft.negative_triggers == ("yearly sales",)
    assert found.interpretation.use_conditions == ("When the sales figures of a period are due",)
    assert found.note == (
        "In the person's own words: checkpoints, goal_summary, negative_triggers, title, trigger_phrases."
    )


def test_an_answered_question_stays() -> None:
    base = base_of(answers=[TEACH.answer("use_conditions", "When Bob asks for sales")])
    assert worded(proposed(), base).interpretation.use_conditions == base.interpretation.use_conditions


def test_no_condition_and_no_negative_trigger_of_the_rules_is_lost() -> None:
    found = worded(proposed(non_use_conditions=[], negative_triggers=[]))
    assert set(BASE.interpretation.non_use_conditions) <= set(found.interpretation.non_use_conditions)
    assert set(BASE.draft.negative_triggers) <= set(found.draft.negative_triggers)
    assert BASE.draft.negative_triggers, "there is something to lose"


def test_a_phrase_that_has_nothing_to_do_with_the_task_is_left_out() -> None:
    found = worded(proposed(trigger_phrases=["rank the sales reports", "good morning everybody", "sales"]))
    assert "good morning everybody" not in found.draft.trigger_phrases
    assert "sales" not in found.draft.trigger_phrases


def test_a_file_that_the_persons_wish_names_may_be_named() -> None:
    edits = proposed(goal_summary="Rank the sales as in quarters.ods")
    with pytest.raises(OutOfBounds, match="not shown"):
        worded(edits)
    found = worded(edits, wish="Say that it is the order of quarters.ods")
    assert found.interpretation.goal_summary.endswith("quarters.ods")


def test_a_checkpoint_keeps_the_parameters_of_the_draft() -> None:
    checkpoints = [c.model_dump() for c in BASE.interpretation.checkpoints]
    checkpoints[0]["success_condition"] = "The file reports/{quarter}.csv exists"
    interpretation = BASE.interpretation.changed(
        checkpoints=tuple(type(BASE.interpretation.checkpoints[0])(**c) for c in checkpoints)
    )
    base = DeterministicDraft(BASE.session, BASE.steps, interpretation, BASE.draft)
    kept = first_checkpoint(success_condition="The table reports/{quarter}.csv exists")
    assert worded(proposed(**kept), base).lint.passed
    with pytest.raises(OutOfBounds, match="parameters"):
        worded(proposed(**first_checkpoint(success_condition="The file reports/sales.csv exists")), base)


def test_a_model_s_words_keep_what_the_replay_of_the_demonstration_proved() -> None:
    condition = ProofCondition(
        kind=ConditionKind.EXISTS, path="reports.tgz", statement="reports.tgz is there"
    )
    evidence = LessonEvidence(
        state_id=TEACH.id(7),
        reproduced=True,
        kept=tuple(event.event_id for event in all_events(BASE.steps)),
        proofs=(ConditionProof(condition=condition),),
        made_at=TEACH.now,
    )
    found = worded(proposed(), replace(BASE, evidence=evidence)).draft

    assert (found.starting_state_id, found.conditions) == (TEACH.id(7), (condition,))
    assert "references/demonstration.md" in [file.path for file in found.files]


def test_a_wording_from_before_a_parameter_was_renamed_speaks_of_it_by_its_new_name() -> None:
    goal = "Rank the sales of the regions of {quarter} and archive the reports"
    found = worded(proposed(goal_summary=goal), replace(BASE, renamed={"quarter": "period"}))

    assert found.interpretation.goal_summary == goal.replace("{quarter}", "{period}")

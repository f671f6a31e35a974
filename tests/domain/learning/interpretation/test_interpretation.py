from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import FieldConfidence, SemanticWorkflowInterpretation
from domain.learning.checkpoints.checkpoint_lint import lint
from domain.learning.interpretation.interpretation import interpret


def of_field(interpretation: SemanticWorkflowInterpretation, field: str) -> FieldConfidence:
    return next(c for c in interpretation.confidences if c.field == field)


def test_a_realistic_demonstration_is_understood(teach: Any) -> None:
    meaning = interpret(teach.source(teach.reports()))
    assert meaning.title == "Sort, archive and checksum reports"
    assert meaning.goal_summary == (
        "Create reports/top.txt, reports.tgz and reports.sha256 from reports/sales.csv"
    )
    assert meaning.use_conditions[0] == "Someone asks to sort, archive and checksum reports"
    assert meaning.non_use_conditions
    assert meaning.project_scope == "global"
    assert meaning.preferred_control_surfaces == ("native_openclaw_tool",)
    assert meaning.success_conditions == (
        "The file reports/top.txt exists",
        "The file reports.tgz exists",
        "The file reports.sha256 exists",
    )
    assert [(c.checkpoint_id, c.goal) for c in meaning.checkpoints] == [
        ("cp-01", "The file reports/sales.csv is ready"),
        ("cp-02", "The sorted list is ready"),
        ("cp-03", "The archive is complete"),
        ("cp-04", "The checksum is recorded"),
    ]
    assert meaning.checkpoints[3].success_condition == (
        "The file reports.sha256 exists and holds a digest that matches reports.tgz"
    )
    assert not meaning.user_confirmed


def test_observed_effects_are_what_lasts_and_can_be_repeated(teach: Any) -> None:
    events = [
        teach.command(1, "vim notes.txt", "+notes.txt"),
        teach.command(2, "curl -H 'Authorization: [MASKED]' https://example.com -o page.html", "+page.html"),
        teach.command(3, "sort notes.txt > tmp", "+tmp"),
        teach.command(4, "uniq tmp > out.txt", "+out.txt"),
        teach.command(5, "rm tmp old.txt", "-tmp", "-old.txt"),
    ]
    effects = interpret(teach.source(events)).observed_effects
    assert [(e.kind, e.path, e.source_event_id) for e in effects] == [
        ("file_exists", "out.txt", teach.event_id(4)),
        ("file_absent", "old.txt", teach.event_id(5)),
    ]


def test_a_marked_goal_wins_over_what_the_files_say(teach: Any) -> None:
    marks = [
        teach.mark("mark_goal", 0, "something else"),
        teach.mark("mark_goal", 1, "I want to publish the weekly figures. Every Monday!"),
    ]
    meaning = interpret(teach.source(teach.reports(), marks))
    assert meaning.title == "Publish the weekly figures"
    assert meaning.goal_summary == "Publish the weekly figures. Every Monday!"
    assert of_field(meaning, "goal_summary").confidence == 0.95
    assert of_field(meaning, "name").confidence == 0.8
    assert of_field(meaning, "use_conditions").confidence == 0.45
    assert not of_field(meaning, "goal_summary").confirmed


def test_answers_win_over_marks_and_edits_over_answers(teach: Any) -> None:
    answers = [
        teach.answer("name", "Weekly pack."),
        teach.answer("goal_summary", "Pack the week"),
        teach.answer("use_conditions", "- On Mondays\n- When sales asks; when a report is missing"),
        teach.answer("project_scope", "only this project"),
        teach.answer("success_condition", "The pack is on the share"),
    ]
    marks = [teach.mark("mark_goal", 1, "Something")]
    meaning = interpret(teach.source(teach.reports(), marks, answers=answers, edits={"title": "Monday pack"}))
    assert meaning.title == "Monday pack"
    assert meaning.goal_summary == "Pack the week"
    assert meaning.use_conditions == ("On Mondays", "When sales asks", "when a report is missing")
    assert meaning.project_scope == "project_scoped"
    assert meaning.success_conditions == ("The pack is on the share",)
    assert all(c.confirmed == (c.confidence == 1.0) for c in meaning.confidences)
    assert meaning.user_confirmed


def test_a_passed_deadline_leaves_it_unconfirmed(teach: Any) -> None:
    answers = [teach.answer(f, "A thing is there") for f in
               ("name", "goal_summary", "use_conditions", "success_condition")]  # fmt: skip
    assert interpret(teach.source(teach.reports(), answers=answers)).user_confirmed
    assert not interpret(teach.source(teach.reports(), answers=answers, unconfirmed=True)).user_confirmed


def test_consent_confirms_the_suggestion(teach: Any) -> None:
    answers = [teach.answer("name", "Yes, please.", suggestion="Weekly pack")]
    meaning = interpret(teach.source(teach.reports(), answers=answers))
    assert meaning.title == "Weekly pack"
    assert of_field(meaning, "name").confirmed


def test_a_long_answer_is_cut_behind_a_word_and_shown_as_cut(teach: Any) -> None:
    answers = [
        teach.answer("name", "pack reports " * 20),
        teach.answer("goal_summary", "Pack the week " * 100),
    ]
    meaning = interpret(teach.source(teach.reports(), answers=answers))
    assert meaning.title.endswith(("pack…", "reports…"))
    assert meaning.goal_summary.endswith(("Pack…", "the…", "week…"))
    assert (len(meaning.title) <= 160, len(meaning.goal_summary) <= 600) == (True, True)


def test_no_exception_is_an_answer(teach: Any) -> None:
    meaning = interpret(teach.source(teach.reports(), answers=[teach.answer("non_use_conditions", "None")]))
    assert meaning.non_use_conditions == ()
    assert of_field(meaning, "non_use_conditions").confirmed


@pytest.mark.parametrize(
    ("answer", "scope", "confirmed"),
    [("Anywhere", "global", True), ("all projects", "global", True), ("project_scoped", "project_scoped", True),
     ("Just for this client", "project_scoped", True), ("hm", "unclear", False)],
)  # fmt: skip
def test_the_scope_is_read_from_plain_words(teach: Any, answer: str, scope: str, confirmed: bool) -> None:
    meaning = interpret(teach.source(teach.reports(), answers=[teach.answer("project_scope", answer)]))
    assert (meaning.project_scope, of_field(meaning, "project_scope").confirmed) == (scope, confirmed)


def test_the_scope_is_inferred_from_session_and_paths(teach: Any) -> None:
    scoped = teach.session(project_id="acme")
    assert interpret(teach.source(teach.reports(), session=scoped)).project_scope == "project_scoped"
    outside = [teach.command(1, "cp /etc/hosts hosts.txt", "+hosts.txt")]
    assert interpret(teach.source(outside)).project_scope == "unclear"


def test_edited_checkpoints_replace_the_made_ones_in_their_order(teach: Any) -> None:
    edits = {
        "checkpoints": [
            {"goal": "Second", "success_condition": "B is there", "order_hint": 9},
            {"goal": "First", "success_condition": "A is there", "order_hint": 1},
        ]
    }
    meaning = interpret(teach.source(teach.reports(), edits=edits))
    assert [(c.checkpoint_id, c.goal) for c in meaning.checkpoints] == [
        ("cp-02", "First"),
        ("cp-01", "Second"),
    ]


def test_a_demonstration_in_an_app_becomes_states(teach: Any) -> None:
    labels = ["Open the Export dialog", "Click OK", "Select PDF format", "Export the song"]
    events = [teach.event(i, action_label=label) for i, label in enumerate(labels)]
    meaning = interpret(teach.source(events))
    assert [c.success_condition for c in meaning.checkpoints] == [
        "The Export dialog is open",
        "The PDF format is selected",
        "The song is exported",
    ]
    assert meaning.title == "Export the song"
    assert meaning.preferred_control_surfaces == ("raw_ui",)
    assert of_field(meaning, "success_condition").confidence == 0.35


def test_marked_labels_name_the_checkpoints(teach: Any) -> None:
    marks = [
        teach.mark("mark_step", 3.5, "Collect the sales"),
        teach.mark("mark_step", 8.5, "Pack the reports"),
    ]
    meaning = interpret(teach.source(teach.reports(), marks))
    assert [c.goal for c in meaning.checkpoints] == ["The sales are collected", "The reports are packed"]
    assert meaning.title == "Pack the reports"


def test_an_effect_of_an_unknown_program_is_less_certain(teach: Any) -> None:
    known = interpret(teach.source([teach.command(1, "sort a.txt > b.txt", "+b.txt")]))
    unknown = interpret(teach.source([teach.command(1, "frobnicate a.txt b.txt", "+b.txt")]))
    for field in ("name", "goal_summary", "success_condition"):
        assert of_field(unknown, field).confidence < of_field(known, field).confidence


def test_evidence_points_to_the_events_that_left_something(teach: Any) -> None:
    meaning = interpret(teach.source(teach.reports()))
    assert of_field(meaning, "goal_summary").evidence_event_ids == tuple(
        teach.event_id(n) for n in (4, 6, 9, 10)
    )


def test_a_capture_without_anything_that_counts_is_refused(teach: Any) -> None:
    with pytest.raises(Refusal) as refusal:
        interpret(teach.source([teach.command(1, "make", exit_class="failed")]))
    assert refusal.value.code is ErrorCode.INSUFFICIENT_TRACES


def test_a_wrong_edit_is_refused(teach: Any) -> None:
    with pytest.raises(Refusal) as refusal:
        interpret(teach.source(teach.reports(), edits={"title": ""}))
    assert refusal.value.code is ErrorCode.REVISION_INVALID


NAMES = st.one_of(
    st.sampled_from(
        ["a.txt", "A.txt", "div-8472", "#submit-btn", "(340, 220)", "wait 5 seconds", "ada@example.com", "no",
         "reports/q3-2025.csv", "click here.txt", "sk-live-mF3kQ9xZ7vL2pR8tW4yB6nJ1", "x" * 230, "ünï/çödé.txt",
         "[MASKED].txt", "a\nb", "Export the file", "{0}", "%s", "`rm`.md", "not", "exists", "//div[@id]",
         "4111111111111111", "gone.md", "---"]
    ),
    st.text(min_size=1, max_size=40),
)  # fmt: skip
SHOWN = st.lists(
    st.tuples(
        st.sampled_from(
            ["sort a > b", "cp a b", "rm a", "mv a b", "tar czf a b", "frob", "vim a", "echo x", "ls", "'"]
        ),
        st.lists(st.tuples(st.sampled_from("+~-0"), NAMES).map("".join), max_size=3),
    ),
    min_size=1,
    max_size=6,
)  # fmt: skip
LABELS = st.lists(
    st.one_of(NAMES, st.sampled_from(["Click Save", "Open the dialog", "Wait 3 seconds", "done"])), max_size=2
)


@given(shown=SHOWN, labels=LABELS, in_app=st.lists(NAMES, max_size=2))
@settings(max_examples=60, deadline=None)
def test_what_the_rules_make_up_always_passes_the_lint_and_is_the_same_every_time(
    teach: Any, shown: list[tuple[str, list[str]]], labels: list[str], in_app: list[str]
) -> None:
    events = [teach.command(i, command, *files) for i, (command, files) in enumerate(shown)]
    events += [teach.event(100 + i, action_label=label) for i, label in enumerate(in_app)]
    marks = [teach.mark("mark_step", i + 0.5, label) for i, label in enumerate(labels)]
    learned = teach.learn(events, marks)
    assert lint(learned.interpretation, learned.draft).findings == ()
    again = teach.learn(events, marks)
    assert again.interpretation.model_dump_json() == learned.interpretation.model_dump_json()
    assert again.draft.model_dump_json() == learned.draft.model_dump_json()


@pytest.mark.parametrize("count", range(2, 9))
def test_files_that_are_moved_together_are_named_in_their_checkpoint(teach: Any, count: int) -> None:
    changes = [one for n in range(count) for one in (f"-img{n}.jpg", f"+holiday{n}.jpg")]
    moved = teach.command(1, 'for f in img*.jpg; do mv "$f" "holiday${f#img}"; done', *changes)
    (checkpoint,) = interpret(teach.source([moved])).checkpoints
    assert checkpoint.goal == "The files are in their new places"
    assert checkpoint.success_condition.startswith("The files holiday0.jpg")
    assert checkpoint.success_condition.endswith(" exist")

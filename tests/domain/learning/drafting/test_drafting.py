import re
from pathlib import Path
from typing import Any

import pytest
import skills_ref
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, InstallLane
from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.abilities.lookup import Fit
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import ParameterType, SkillParameter
from contracts.learning.proposal import SkillDraft
from domain.abilities.fit.fit_index import FitIndex
from domain.learning.checkpoints.checkpoint_lint import coordinates_in, gesture_in, selector_in
from domain.learning.drafting.bundle import workflow_graph
from domain.learning.drafting.drafting import draft_skill
from domain.learning.drafting.method import EXAMPLE
from domain.learning.drafting.skill_markdown import parse_frontmatter


def as_ability(draft: SkillDraft, lane: InstallLane) -> AbilityAvailabilityEntry:
    return AbilityAvailabilityEntry(
        ability_id=f"learned.{draft.slug}",
        owner_user_id="ada",
        title=draft.title,
        family="workflow",
        source=AbilitySource.LEARNED,
        install_lane=lane,
        enabled=True,
        usable_now=True,
        trigger_phrases=draft.trigger_phrases,
        negative_triggers=draft.negative_triggers,
    )


def test_the_bundle_holds_its_files(teach: Any) -> None:
    draft = teach.learn(teach.reports()).draft
    assert [f.path for f in draft.files] == [
        "SKILL.md",
        "capabilities/learned.sort-archive-and-checksum-reports.json",
        "support-packs.json",
        "tests/success.json",
        "tests/triggers.json",
        EXAMPLE,
    ]
    assert draft.slug == "sort-archive-and-checksum-reports"
    assert draft.capability_id == f"learned.{draft.slug}"
    assert draft.dependencies == ("mkdir", "sha256sum", "sort", "tar")


def test_the_skill_file_reads_as_a_person_would_write_it(teach: Any) -> None:
    text = teach.learn(teach.reports()).file("SKILL.md")
    _, _, body = text.partition("\n# ")
    assert body.startswith("Sort, archive and checksum reports\n")
    assert "- Someone asks to sort, archive and checksum reports.\n" in body
    assert "Create `reports/top.txt`, `reports.tgz` and `reports.sha256` from `reports/sales.csv`.\n" in body
    assert "3. **The archive is complete.** (cp-03)\n" in body
    assert (
        "   Verify: the file `reports.tgz` exists and is a readable archive that lists the content of reports"
        " (not tested: a person looks).\n" in body
    )
    assert "- The content of `reports/sales.csv`; in the demonstration it was entered by hand.\n" in body
    assert "Nobody has confirmed the name and when to use it" in body


@pytest.mark.acceptance("R11.2-26")
def test_the_skill_file_holds_checkpoints_and_neither_clicks_nor_commands(teach: Any) -> None:
    labels = ["Open the Export dialog", "Click Save at (340, 220)", "Press Ctrl+S", "Tap #submit-btn"]
    events = [*teach.reports(), *(teach.event(50 + i, action_label=label) for i, label in enumerate(labels))]
    learned = teach.learn(events)
    text = learned.file("SKILL.md")
    for checkpoint in learned.interpretation.checkpoints:
        assert f"({checkpoint.checkpoint_id})" in text
        assert checkpoint.goal in text.replace("`", "")
    assert not any(
        gesture_in(line) or coordinates_in(line) or selector_in(line) for line in text.splitlines()
    )
    for event in events:
        if event.terminal and event.terminal.command not in ("ls",):
            assert event.terminal.command not in text


@pytest.mark.acceptance("R11.2-27")
def test_the_workflow_graph_is_nowhere_in_the_bundle(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    graph = workflow_graph(learned.interpretation, learned.steps)
    for file in learned.draft.files:
        assert graph.workflow_id not in file.content
        assert "next_step_ids" not in file.content
        for step in graph.steps:
            assert step.step_id not in file.content
    skill = learned.file("SKILL.md")
    assert not any(step.label in skill for step in graph.steps if step.step_type == "action")


def test_the_graph_runs_through_the_steps_and_then_the_checkpoints(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    graph = workflow_graph(learned.interpretation, learned.steps)
    ids = [s.step_id for s in graph.steps]
    assert graph.entry_step_id == ids[0] == "step-01"
    assert [s.next_step_ids for s in graph.steps] == [*((i,) for i in ids[1:]), ()]
    assert [s.step_type.value for s in graph.steps] == ["action"] * 4 + ["verification"] * 4
    assert graph.steps[-1].verification_rule_ref == "checkpoints/cp-04"


def test_the_manifest_tells_what_routing_needs(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    manifest = CapabilityManifest.model_validate_json(
        learned.file(f"capabilities/{learned.draft.capability_id}.json")
    )
    assert manifest.origin_skill == learned.draft.slug
    assert manifest.action_verbs == ("sort", "archive", "checksum")
    assert manifest.health_probe.target == "mkdir sha256sum sort tar"
    assert [(v.target, v.expected) for v in manifest.verification][-1] == ("reports.sha256", "present")
    assert not manifest.requires_supervision


def test_removing_or_fetching_asks_for_supervision_and_says_so(teach: Any) -> None:
    for event in (
        teach.command(1, "rm old.txt", "-old.txt"),
        teach.command(1, "curl -o a.csv https://example.com/a.csv", "+a.csv"),
    ):
        learned = teach.learn([event])
        manifest = learned.json(f"capabilities/{learned.draft.capability_id}.json")
        assert manifest["requires_supervision"]
    removed = teach.learn([teach.command(1, "rm old.txt", "-old.txt")]).file("SKILL.md")
    assert "- It removes `old.txt`: name what will go, and get a yes first." in removed


def test_a_removal_by_a_pattern_is_named_though_what_it_removed_was_made_by_the_work(teach: Any) -> None:
    events = [
        teach.command(1, "split -l 1 words.txt a.part.", "+a.part.aa", "+a.part.ab"),
        teach.command(2, "sort a.part.* > all.txt", "+all.txt"),
        teach.command(3, "rm *.part.* *~", "-a.part.aa", "-a.part.ab"),
    ]
    text = teach.learn(events).file("SKILL.md")
    assert "- It removes whatever `*.part.*` and `*~` names, also files that were there before: " in text


def test_what_a_pattern_removes_is_named_once(teach: Any) -> None:
    events = [teach.command(1, "rm notes.txt *.part", "-notes.txt", "-a.part", "-b.part")]
    text = teach.learn(events).file("SKILL.md")
    assert "- It removes `notes.txt`: " in text
    assert "- It removes whatever `*.part` names, also files that were there before: " in text


def test_rehearsal_commands_are_the_kept_ones_that_can_be_repeated(teach: Any) -> None:
    events = [
        teach.command(1, "vim notes.txt", "+notes.txt"),
        teach.command(2, "cat notes.txt"),
        teach.command(3, "curl -u [MASKED] https://example.com -o a", "+a"),
        teach.command(4, "sort notes.txt > b", "+b", folder="sub"),
    ]
    rehearsal = teach.learn(events).draft.rehearsal
    assert [(r.event_id, r.command, r.working_folder) for r in rehearsal] == [
        (teach.event_id(4), "sort notes.txt > b", "sub")
    ]


def test_success_tests_are_the_observed_effects(teach: Any) -> None:
    assert teach.learn(teach.reports()).json("tests/success.json")[-1] == {
        "kind": "file_exists",
        "path": "reports.sha256",
    }


def test_edits_set_slug_and_triggers(teach: Any) -> None:
    edits = {
        "proposed_skill_slug": "weekly-pack",
        "trigger_phrases": ["pack the week"],
        "negative_triggers": ["unpack"],
    }
    draft = teach.learn(teach.reports(), edits=edits).draft
    assert draft.slug == "weekly-pack"
    assert draft.capability_id == "learned.weekly-pack"
    assert draft.trigger_phrases == ("pack the week",)
    assert draft.negative_triggers == ("unpack",)


def test_trigger_hints_come_first(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    draft = draft_skill(
        learned.interpretation, learned.steps, teach.session(), trigger_hints=["Do the Monday thing."]
    )
    assert draft.trigger_phrases[0] == "do the Monday thing"


def test_secrets_and_personal_paths_stay_out_of_the_skill_file(teach: Any) -> None:
    events = [
        teach.command(1, "cp /home/ada/secret.csv in.csv", "+in.csv"),
        teach.command(2, "sort in.csv > ada@example.com.txt", "+ada@example.com.txt"),
    ]
    answers = [teach.answer("use_conditions", "When API_TOKEN=mF3kQ9xZ7vL2pR8tW4yB6nJ1 is set")]
    text = teach.learn(events, answers=answers).file("SKILL.md")
    assert "ada@" not in text
    assert "home" not in text
    assert "mF3kQ9" not in text


def test_digits_within_longer_numbers_and_formats_of_names_are_not_asked_for(teach: Any) -> None:
    events = [
        teach.command(1, "cp IMG_20240501_120007.jpg IMG_2010.jpg", "+IMG_2010.jpg"),
        teach.command(2, "csplit -b %03d.eml inbox.mbox '/^From /' '{*}'", "+xx001.eml"),
    ]
    inputs = teach.learn(events).file("SKILL.md").partition("## Inputs to ask for")[2].partition("##")[0]
    assert "in the demonstration 20240501." in inputs
    assert "inbox.mbox" in inputs
    assert "%03d" not in inputs


def test_names_that_vary_are_asked_for(teach: Any) -> None:
    events = [teach.command(1, "sort q3-2025.csv > top-2025-09.txt", "+top-2025-09.txt")]
    text = teach.learn(events).file("SKILL.md")
    assert (
        "The period, date or version that the names stand for; in the demonstration q3, 2025 and 2025-09."
        in text
    )


def test_a_draft_of_confirmed_answers_does_not_doubt_them(teach: Any) -> None:
    answers = [teach.answer(f, "A thing is there") for f in
               ("name", "goal_summary", "use_conditions", "success_condition")]  # fmt: skip
    assert "Nobody has confirmed" not in teach.learn(teach.reports(), answers=answers).file("SKILL.md")


def test_a_negative_trigger_comes_from_a_non_use_condition(teach: Any) -> None:
    edits = {
        "non_use_conditions": [
            "Never for photos",
            "When someone asks to restore reports",
            "Use it for reports",
        ]
    }
    draft = teach.learn(teach.reports(), edits=edits).draft
    assert draft.negative_triggers == ("photos", "restore reports")


GOALS = st.one_of(
    st.sampled_from(
        ["Publish the weekly figures", "Quarterly report pack", "the", "a", "Show me how to explain how it works",
         "Delete the old logs", "日本語の目標", "no: yes", "--- x ---", "true", "I want to", "Ütf",
         "What's tomorrow's weather?", "0<ACTIV<0A", "DELETED", "Sorting", "traced", "TRACED 0A", "x" * 300,
         "Book dinner Friday evening", "; ; ;", "{0} %s"]
    ),
    st.text(min_size=1, max_size=60),
)  # fmt: skip


@given(GOALS)
@settings(max_examples=40, deadline=None)
def test_every_draft_is_a_valid_skill_whose_trigger_tests_hold(
    teach: Any, tmp_path_factory: pytest.TempPathFactory, goal: str
) -> None:
    learned = teach.learn(teach.reports(), [teach.mark("mark_goal", 0, goal)])
    draft: SkillDraft = learned.draft
    text = learned.file("SKILL.md")
    folder = tmp_path_factory.mktemp("skills") / draft.slug
    folder.mkdir()
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    assert skills_ref.validate(Path(folder)) == []
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", draft.slug)
    metadata = parse_frontmatter(text)
    assert metadata["name"] == draft.slug
    assert isinstance(metadata["description"], str)
    assert 3 <= len(draft.trigger_phrases) <= 8
    cases = learned.json("tests/triggers.json")
    for lane in (InstallLane.EXPERIMENTAL_PRIVATE, InstallLane.SHARED_PROMOTED):
        ability = as_ability(draft, lane)
        index = FitIndex([ability])
        for case in cases:
            judged = index.judged(case["input"], ability.ability_id, caller_user_id=ability.owner_user_id)
            assert judged is not None
            assert (judged.fit is not Fit.NO) == case["should_trigger"], (case, judged)
    for kind in ("positive", "negative", "paraphrase"):
        assert sum(c["kind"] == kind for c in cases) >= 3, (kind, cases)


def test_a_program_that_the_replay_did_without_is_none_that_it_depends_on(teach: Any) -> None:
    events = [teach.command(1, "for f in *.csv; do ecoh $f; sort $f > sorted; done", "+sorted")]
    learned = teach.learn(events)
    replayed = LessonEvidence(
        state_id=teach.id(7),
        reproduced=True,
        kept=(events[0].event_id,),
        not_needed=("ecoh",),
        made_at=teach.now,
    )
    for evidence, needed in ((None, ("ecoh", "sort")), (replayed, ("sort",))):
        draft = draft_skill(learned.interpretation, learned.steps, teach.session(), evidence=evidence)
        assert draft.dependencies == needed


def test_the_inputs_are_named_as_they_were_and_all_of_them(teach: Any) -> None:
    events = [
        teach.command(1, "sort orders.csv 'clients March.csv' > all.csv", "+all.csv"),
        teach.command(2, "git log v1.4.0..HEAD > log.txt", "+log.txt"),
        teach.command(3, 'echo "$(date +%F) done" >> history.log', "~history.log"),
    ]
    learned = teach.learn(events)
    orders = SkillParameter(
        name="orders_file", type=ParameterType.PATH, description="d", examples=("orders.csv",), required=False
    )
    evidence = LessonEvidence(
        state_id=teach.id(7),
        reproduced=True,
        kept=tuple(event.event_id for event in events),
        inputs=("clients March.csv", "orders.csv"),
        made_at=teach.now,
    )
    said = learned.interpretation.changed(parameters=(orders,))
    draft = draft_skill(said, learned.steps, teach.session(), evidence=evidence)
    markdown = next(file.content for file in draft.files if file.path == "SKILL.md")
    inputs = markdown.partition("## Inputs to ask for")[2].partition("##")[0]

    assert "in the demonstration this was `orders.csv` and `clients March.csv`." in inputs
    assert "HEAD" not in inputs
    assert "by hand" not in inputs

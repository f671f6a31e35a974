"""An improvement keeps what its base proved, until a new demonstration that was replayed takes its place."""

from collections.abc import Sequence

from contracts.learning.evidence import (
    ConditionKind,
    ConditionProof,
    LessonEvidence,
    ProofCondition,
    WrittenScript,
)
from contracts.learning.observation import ObservedActionEvent
from contracts.learning.proposal import BaseSkill, SkillDraft
from domain.learning.drafting.drafting import draft_skill
from domain.learning.drafting.improvement import BaseMaterial, ImprovementInput, Shown, improve
from domain.learning.interpretation.steps import all_events
from tests.domain.conftest import Learned, Teaching

T = Teaching()
FACTS, EXAMPLE = "## What the result depends on", "references/demonstration.md"
SORTED = T.command(1, "bash rank.sh sales.csv | sort -r > top.txt", "+top.txt")
COUNTED = T.command(2, "wc -l < top.txt > count.txt", "+count.txt")


def proof(condition: str) -> ConditionProof:
    return ConditionProof(
        condition=ProofCondition(kind=ConditionKind.EXISTS, path=condition, statement=f"{condition} is there")
    )


def replayed(
    state: int, shown: Sequence[ObservedActionEvent], **found: object
) -> tuple[Learned, LessonEvidence]:
    """A lesson with what its replay on the starting state of this number proved."""
    learned = T.learn(shown)
    evidence = LessonEvidence(
        state_id=T.id(state),
        reproduced=True,
        kept=tuple(event.event_id for event in all_events(learned.steps)),
        made_at=T.now,
    ).changed(**found)
    draft = draft_skill(learned.interpretation, learned.steps, T.session(), evidence=evidence)
    return Learned(learned.interpretation, learned.steps, draft), evidence


TAUGHT, _ = replayed(
    7,
    [SORTED],
    proofs=(proof("top.txt"),),
    scripts=(WrittenScript(path="rank.sh", content='cat "$1"\n'),),
)


def improved(shown: Shown | None = None, **edits: object) -> SkillDraft:
    base = BaseMaterial(
        skill=BaseSkill(
            ability_id=TAUGHT.draft.capability_id,
            skill_slug=TAUGHT.draft.slug,
            version=1,
            content_hash="0" * 64,
        ),
        draft=TAUGHT.draft,
        interpretation=TAUGHT.interpretation,
        installed={file.path: file.content for file in TAUGHT.draft.files},
    )
    source = ImprovementInput(T.id(12), T.id(13), T.session(), T.now, edits, shown)
    return improve(base, source).draft


def text_of(draft: SkillDraft, path: str = "SKILL.md") -> str:
    return next(file.content for file in draft.files if file.path == path)


def facts_of(draft: SkillDraft) -> str:
    return text_of(draft).partition(FACTS)[2].partition("\n## ")[0]


def test_words_alone_keep_starting_state_conditions_facts_scripts_and_example() -> None:
    found = improved(use_conditions=["Maria asks for the figures"])

    assert found.starting_state_id == TAUGHT.draft.starting_state_id == T.id(7)
    assert found.conditions == TAUGHT.draft.conditions != ()
    assert facts_of(found) == facts_of(TAUGHT.draft) != ""
    assert text_of(found, EXAMPLE) == text_of(TAUGHT.draft, EXAMPLE)
    assert text_of(found, "scripts/rank.sh") == 'cat "$1"\n'


def test_the_example_has_the_title_that_words_give_the_skill() -> None:
    assert text_of(improved(title="Rank the sales"), EXAMPLE).startswith("# Rank the sales:")


def test_a_new_demonstration_that_was_replayed_brings_its_own_proof() -> None:
    better, evidence = replayed(8, [SORTED, COUNTED], proofs=(proof("count.txt"),))
    found = improved(Shown(better.interpretation, better.steps, evidence=evidence))

    assert found.starting_state_id == T.id(8)
    assert [condition.path for condition in found.conditions] == ["count.txt"]
    assert "wc" in facts_of(found)
    assert "wc -l" in text_of(found, EXAMPLE)


def test_a_script_of_the_base_that_a_new_demonstration_runs_stays_a_part_of_the_method() -> None:
    better, evidence = replayed(8, [SORTED, COUNTED])
    found = improved(Shown(better.interpretation, better.steps, evidence=evidence))

    assert "kept in `scripts/rank.sh`" in facts_of(found)


def test_a_new_demonstration_that_was_not_replayed_has_no_proof_and_takes_no_fact_away() -> None:
    better = T.learn([SORTED, COUNTED])
    found = improved(Shown(better.interpretation, better.steps))

    assert (found.starting_state_id, found.conditions) == (None, ())
    assert [command.command for command in found.rehearsal][-1] == "wc -l < top.txt > count.txt"
    assert facts_of(found) == facts_of(TAUGHT.draft)
    assert text_of(found, EXAMPLE) == text_of(TAUGHT.draft, EXAMPLE)

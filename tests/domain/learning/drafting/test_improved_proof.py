"""An improvement keeps what its base proved, until a new demonstration that was replayed takes its place."""

from collections.abc import Sequence

from contracts.learning.evidence import (
    ConditionKind,
    ConditionProof,
    LessonEvidence,
    ProofCondition,
    WrittenScript,
)
from contracts.learning.interpretation import SkillParameter, UnseenInput
from contracts.learning.observation import ObservedActionEvent
from contracts.learning.proposal import SkillDraft
from domain.learning.comparison.parameters import parameterised, type_of
from domain.learning.drafting.drafting import draft_skill
from domain.learning.drafting.improvement import Improvement, ImprovementInput, Shown, improve
from domain.learning.drafting.skill_markdown import NOT_REPLAYED
from domain.learning.interpretation.steps import all_events
from tests.domain.conftest import Learned, Teaching
from tests.domain.learning.drafting.test_delta import base_of

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


def improvement_of(taught: Learned, shown: Shown | None = None, **edits: object) -> Improvement:
    return improve(base_of(taught), ImprovementInput(T.id(12), T.id(13), T.session(), T.now, edits, shown))


def improved(shown: Shown | None = None, **edits: object) -> SkillDraft:
    return improvement_of(TAUGHT, shown, **edits).draft


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


def once(state: int, shown: Sequence[ObservedActionEvent], **values: str) -> tuple[Learned, LessonEvidence]:
    """A lesson shown once, with the parameters that its replay offered."""
    offered = [
        SkillParameter(name=name, type=type_of((value,)), description=f"The {name}", examples=(value,))
        for name, value in values.items()
    ]
    learned, evidence = replayed(state, shown)
    interpretation = parameterised(learned.interpretation, offered, {})
    draft = draft_skill(interpretation, learned.steps, T.session(), evidence=evidence)
    return Learned(interpretation, learned.steps, draft), evidence


AFTERWARDS = [
    T.command(2, "cp top.csv kept.csv", "+kept.csv"),
    T.command(3, "wc -l < kept.csv > lines.txt", "+lines.txt"),
    T.command(4, "tar czf kept.tgz kept.csv", "+kept.tgz"),
]


def largest(count: int) -> list[ObservedActionEvent]:
    line = f"sort -k2nr stock.csv | head -n {count} > top.csv"
    return [T.command(1, line, "+top.csv"), *AFTERWARDS]


def parameters_after(base: Learned, shown: tuple[Learned, LessonEvidence]) -> dict[str, tuple[str, ...]]:
    better, evidence = shown
    found = improvement_of(base, Shown(better.interpretation, better.steps, evidence=evidence))
    return {p.name: p.examples for p in found.interpretation.parameters}


def test_a_parameter_that_one_new_demonstration_does_not_offer_again_stays_with_its_value() -> None:
    base, _ = once(7, largest(3), table="stock.csv", count="3")

    assert parameters_after(base, once(8, largest(5), file="stock.csv")) == {
        "table": ("stock.csv",),
        "count": ("5", "3"),
    }


def test_a_parameter_of_which_the_new_commands_have_no_value_goes() -> None:
    base, _ = once(7, largest(3), table="stock.csv", count="3")
    other = [T.command(1, "sort -k2nr stock.csv > top.csv", "+top.csv"), *AFTERWARDS]

    assert parameters_after(base, once(8, other, file="stock.csv")) == {"table": ("stock.csv",)}


def test_a_known_parameter_keeps_its_place_where_the_new_way_has_more_programs() -> None:
    line = "awk -F'\\t' '$2==\"ERR\" && $3>=7' läufe_kw10.tsv | sort -k3,3nr > fehler_kw10.tsv"
    base, _ = once(7, [T.command(1, line, "+fehler_kw10.tsv")], week="kw10", min_minutes="7")
    better = (
        "awk -F'\\t' '$2==\"ERR\" && $3>=9' läufe_kw52.tsv | sort -t $'\\t' -k3,3nr -k1,1 | head -n 2"
        " > fehler_kw52.tsv"
    )
    shown = once(8, [T.command(1, better, "+fehler_kw52.tsv")], laufe_kw_file="läufe_kw52.tsv", count="2")

    assert parameters_after(base, shown) == {
        "count": ("2",),
        "week": ("kw52", "kw10"),
        "min_minutes": ("9", "7"),
    }


def test_no_text_of_an_improvement_speaks_of_a_parameter_that_is_gone() -> None:
    line = "sort stock_kw10.csv > top_kw10.csv"
    base, _ = once(7, [T.command(1, line, "+top_kw10.csv")], week="kw10")
    assert "`top_{week}.csv` is missing" in text_of(base.draft)
    better, evidence = once(8, [T.command(1, "sort stock.csv > best.csv", "+best.csv")])
    found = improvement_of(base, Shown(better.interpretation, better.steps, evidence=evidence))

    assert found.interpretation.parameters == ()
    assert not any("{week}" in file.content for file in found.draft.files)
    assert "`best.csv` is missing" in text_of(found.draft)


def test_a_value_shown_once_more_is_added_to_those_that_were_known() -> None:
    known, _ = once(7, largest(3), count="3")
    (count,) = known.interpretation.parameters
    interpretation = known.interpretation.changed(parameters=(count.changed(examples=("3", "4")),))
    base = Learned(interpretation, known.steps, known.draft)

    assert parameters_after(base, once(8, largest(5), number="5")) == {"count": ("5", "3", "4")}


def test_a_new_demonstration_that_was_not_replayed_has_no_proof_and_says_so_of_its_facts() -> None:
    better = T.learn([SORTED, COUNTED])
    found = improved(Shown(better.interpretation, better.steps))

    assert (found.starting_state_id, found.conditions) == (None, ())
    assert [command.command for command in found.rehearsal][-1] == "wc -l < top.txt > count.txt"
    for text in (facts_of(found), text_of(found, EXAMPLE)):
        assert NOT_REPLAYED in text
    assert "wc: counts lines" in facts_of(found)
    assert "wc -l < top.txt > count.txt" in text_of(found, EXAMPLE)
    assert "kept in `scripts/rank.sh`" in facts_of(found)
    assert text_of(found, "scripts/rank.sh") == 'cat "$1"\n'


def test_words_alone_leave_an_example_that_was_not_replayed_marked_as_such() -> None:
    found = improvement_of(T.learn([SORTED, COUNTED]), title="Rank the sales").draft

    assert text_of(found, EXAMPLE).startswith("# Rank the sales:")
    assert NOT_REPLAYED in text_of(found, EXAMPLE)
    assert NOT_REPLAYED in facts_of(found)


BY_HAND = "## What was done by hand"


def with_unseen(taught: Learned, said: str | None, evidence: LessonEvidence | None = None) -> Learned:
    """The lesson with work in sqlite3 that was not seen, and what a person says of it."""
    unseen = UnseenInput(program="sqlite3", command="sqlite3 shop.db", change="changed shop.db", said=said)
    interpretation = taught.interpretation.changed(unseen_inputs=(unseen,))
    draft = draft_skill(interpretation, taught.steps, T.session(), evidence=evidence)
    return Learned(interpretation, taught.steps, draft)


def by_hand(draft: SkillDraft) -> str:
    return text_of(draft).partition(BY_HAND)[2].partition("\n## ")[0]


def test_what_a_person_said_of_unseen_work_stays_where_words_alone_improve() -> None:
    base = with_unseen(TAUGHT, "vacuum;")
    found = improvement_of(base, use_conditions=["Maria asks for the figures"])
    assert "as a person says: `vacuum;`" in by_hand(found.draft)
    assert found.interpretation.unseen_inputs == base.interpretation.unseen_inputs


def test_unseen_work_of_a_new_demonstration_takes_the_place_of_the_earlier_one() -> None:
    base = with_unseen(TAUGHT, "vacuum;")
    seen, evidence = replayed(8, [SORTED, COUNTED])
    found = improvement_of(base, Shown(seen.interpretation, seen.steps, evidence=evidence))
    assert by_hand(found.draft) == ""
    assert found.interpretation.unseen_inputs == ()

    better = with_unseen(T.learn([SORTED, COUNTED]), None)
    draft = improvement_of(base, Shown(better.interpretation, better.steps)).draft
    assert "What was done in sqlite3 is not known" in by_hand(draft)
    assert "vacuum" not in by_hand(draft)

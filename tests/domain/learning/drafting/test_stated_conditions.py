"""A person's conditions of success are tested where they can be read, and marked where only a person can judge."""

from contracts.learning.evidence import ConditionKind
from contracts.learning.proposal import SkillDraft
from domain.learning.conditions.condition_wording import condition
from domain.learning.drafting.drafting import draft_skill
from domain.learning.proof.wording import proven_statements
from tests.domain.learning.drafting.test_improved_proof import (
    SORTED,
    T,
    improved,
    proof,
    replayed,
    text_of,
)

MADE = "The file nie.txt has been made and is not empty"
LOOKED_AT = "The totals agree with what the bank says"
PROVEN = proof("top.txt").condition.statement


def drafted(*stated: str) -> SkillDraft:
    """A replayed lesson of which a person has stated the conditions of success."""
    learned, evidence = replayed(7, [SORTED], proofs=(proof("top.txt"), proof("other.txt")))
    interpretation = learned.interpretation.changed(success_conditions=stated)
    edits = {"success_conditions": list(stated)}
    return draft_skill(interpretation, learned.steps, T.session(), edits=edits, evidence=evidence)


def test_a_condition_of_a_person_that_is_of_a_known_kind_is_tested() -> None:
    draft = drafted(PROVEN, MADE)
    assert condition(ConditionKind.NOT_EMPTY, "nie.txt") in draft.conditions
    assert draft.untested == ()
    assert "not tested" not in text_of(draft).partition("## Done when")[2]


def test_a_condition_of_no_known_kind_says_in_the_skill_that_a_person_looks() -> None:
    draft = drafted(PROVEN, LOOKED_AT)
    assert draft.untested == (LOOKED_AT,)
    assert f"- {LOOKED_AT} (not tested: a person looks)." in text_of(draft)


def test_a_proven_condition_that_a_person_takes_out_is_tested_no_longer() -> None:
    assert [one.statement for one in drafted(PROVEN).conditions] == [PROVEN]


def test_a_condition_in_words_of_an_improvement_is_tested_beside_those_of_its_base() -> None:
    draft = improved(success_conditions=["top.txt is there", MADE, LOOKED_AT])
    assert [one.path for one in draft.conditions] == ["top.txt", "nie.txt"]
    assert draft.untested == (LOOKED_AT,)
    assert f"{LOOKED_AT} (not tested: a person looks)." in text_of(draft)


def test_what_was_proven_of_one_file_is_stated_in_full() -> None:
    found = [
        condition(ConditionKind.COLUMNS, "top.txt", argument="comma:2"),
        condition(ConditionKind.HEADER_OF, "top.txt", other="sales.csv"),
        condition(ConditionKind.DISTINCT_LINES, "top.txt"),
        condition(ConditionKind.NOT_EMPTY, "top.txt"),
    ]
    proofs = tuple(proof("top.txt").changed(condition=one) for one in found)
    learned, evidence = replayed(7, [SORTED], proofs=proofs)
    assert {*proven_statements(evidence)} == {one.statement for one in learned.draft.conditions}


def test_what_is_tested_and_not_stated_is_named_in_one_line() -> None:
    learned, evidence = replayed(7, [SORTED], proofs=(proof("top.txt"), proof("other.txt")))
    interpretation = learned.interpretation.changed(success_conditions=[PROVEN])
    text = text_of(draft_skill(interpretation, learned.steps, T.session(), evidence=evidence))
    assert "A trial also tests: " in text
    assert "other.txt" in text.split("A trial also tests: ")[1].splitlines()[0]

"""A command is left out by words: exactly one is meant, nothing rests on it, and what was only its own goes too."""

from datetime import UTC, datetime

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.learning.evidence import (
    CommandUse,
    ConditionKind,
    ConditionProof,
    LeftOutCommand,
    LessonEvidence,
    ProofCondition,
)
from contracts.learning.interpretation import Checkpoint, ParameterType, SkillParameter
from contracts.learning.proposal import RehearsalCommand, with_edits
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.instructions import read_instructions
from domain.learning.drafting.left_out import DraftedTexts, edits_after, with_commands, without_commands
from tests.domain.learning.drafting.test_instructions import DRAFT, SHOWN

NOW = datetime(2026, 5, 1, tzinfo=UTC)

WORK: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    # Command, files that it reads, writes and removes
    ("mkdir -p out", (), ("out",), ()),
    ("sort -u names.txt > list.txt", ("names.txt",), ("list.txt",), ()),
    ("wc -l list.txt > out/count.txt", ("list.txt",), ("out/count.txt",), ()),
    ("cp names.txt out/names.bak", ("names.txt",), ("out/names.bak",), ()),
    ("mv draft.md out/final.md", ("draft.md",), ("out/final.md",), ("draft.md",)),
    ("tar -czf out.tgz out", ("out/count.txt", "out/names.bak", "out/final.md"), ("out.tgz",), ()),
    ("chmod 644 out.tgz", (), ("out.tgz",), ()),
    ("rm list.txt", (), (), ("list.txt",)),
)
IDS = tuple(f"01890000-0000-7000-8000-{n:012d}" for n in range(1, len(WORK) + 1))


def commands(
    work: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = WORK,
) -> Commands:
    return Commands(
        [
            RehearsalCommand(event_id=one, command=line, working_folder=".")
            for one, (line, *_) in zip(IDS, work, strict=False)
        ],
        {
            one: CommandUse(event_id=one, succeeded=True, read=read, written=written, removed=removed)
            for one, (_, read, written, removed) in zip(IDS, work, strict=False)
        },
    )


def left_out(said: str, of: Commands | None = None) -> list[int]:
    """The numbers of the commands that the words leave out."""
    read = read_instructions(said, SHOWN, DRAFT, commands=of or commands())
    assert read.not_understood == ()
    assert set(read.edits) == {"left_out"}
    found = read.edits["left_out"]
    assert isinstance(found, list)
    return [IDS.index(str(one)) + 1 for one in found]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("do not delete the temporary file", 8),
        ("Don't remove the list.", 8),
        ("do not delete list.txt", 8),
        ("never delete anything", 8),
        ("drop the rm", 8),
        ("remove the rm command", 8),
        ("remove command 8", 8),
        ("leave out the last command", 8),
        ("remove the command `rm list.txt`", 8),
        ("leave out rm list.txt", 8),
        ("skip the step that deletes the list", 8),
        ("leave the rm out", 8),
        ("drop the chmod", 7),
        ("do not change the permissions", 7),
        ("leave out the command that sets the mode", 7),
        ("drop the line with chmod", 7),
        ("remove the step that sets the permissions of the archive", 7),
    ],
)
def test_the_one_command_that_is_meant_is_left_out(said: str, number: int) -> None:
    assert left_out(said) == [number]


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        (
            "leave out the step that makes the list. Drop the wc. Do not delete the list. Drop the tar and the chmod",
            [2, 3, 8, 6, 7],
        ),
        (
            "skip the sorting, drop the rm and leave out the counting; drop the tar and the chmod",
            [2, 8, 3, 6, 7],
        ),
        ("drop the tar and the chmod", [6, 7]),
        ("remove the wc, the sort and the rm; drop tar and chmod", [3, 2, 8, 6, 7]),
        ("do not compress the folder; drop the chmod", [6, 7]),
        ("do not move the draft. drop the tar. drop the chmod", [5, 6, 7]),
        ("remove commands 6 and 7", [6, 7]),
        ("leave out what copies the names, and drop command 6 and drop command 7", [4, 6, 7]),
        ("no packing. drop the chmod", [6, 7]),
        ("skip the copying of the names. leave out the archiving. do not set the mode", [4, 6, 7]),
    ],
)
def test_several_commands_are_left_out_together(said: str, numbers: list[int]) -> None:
    assert left_out(said) == numbers


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "leave out the step that makes the list",
            "“wc -l list.txt > out/count.txt” uses list.txt, which it makes",
        ),
        ("drop the mkdir", "uses out, which it makes"),
        ("do not make the folder out", "uses out, which it makes"),
        ("drop the tar", "“chmod 644 out.tgz” uses out.tgz, which it makes"),
        ("drop the mv", "“tar -czf out.tgz out” uses out/final.md, which it makes"),
        ("remove command 12", "there is no number 12; there are 8: 1. mkdir -p out"),
        ("remove the scp command", "“the scp command” fits no command"),
        ("do not create anything", "fits several commands; say: remove command"),
        ("remove commands 1-8", "a skill needs at least one command"),
    ],
)
def test_what_others_use_or_what_fits_several_is_refused_with_the_reason(said: str, why: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read_instructions(said, SHOWN, DRAFT, commands=commands())

    assert refusal.value.code is ErrorCode.REVISION_INVALID
    assert why in refusal.value.message
    assert len(refusal.value.message) <= 240


@pytest.mark.parametrize(
    "said",
    [
        "do not upload the photos",
        "drop the colours",
        "leave the upload out",
        "no ads",
        "do not delete the draft",
        "do not run anything",
        "do not change the goal",
        "delete names.txt",
        "drop the names",
        "don't overwrite results",
        "do not ask before deleting",
    ],
)
def test_words_about_work_that_no_command_does_are_left_over(said: str) -> None:
    assert read_instructions(said, SHOWN, DRAFT, commands=commands()).not_understood == (said,)


@pytest.mark.parametrize("said", ["remove step 3", "remove the step about the old copies", "drop cp-03"])
def test_a_checkpoint_is_still_removed_by_its_number_or_its_words(said: str) -> None:
    read = read_instructions(said, SHOWN, DRAFT, commands=commands())

    assert set(read.edits) == {"checkpoints"}


def test_where_no_command_can_be_left_out_the_reason_is_given() -> None:
    found = Commands(commands().shown, {}, "the task was shown several times")

    with pytest.raises(Refusal, match="the task was shown several times"):
        read_instructions("drop the mv", SHOWN, DRAFT, commands=found)


def test_what_is_no_command_of_the_draft_cannot_be_left_out() -> None:
    with pytest.raises(Refusal, match="is no command of the draft"):
        commands().check(["01890000-0000-7000-8000-000000000099"])


def test_commands_that_later_revisions_leave_out_add_up_and_an_empty_list_puts_them_back() -> None:
    once = with_edits({}, {"left_out": ["a"]})
    assert with_edits(once, {"left_out": ["b"]}) == {"left_out": ["a", "b"]}
    assert with_edits(once, {"left_out": []}) == {"left_out": []}


def proof(kind: ConditionKind, path: str, *numbers: int, words: tuple[str, ...] = ()) -> ConditionProof:
    condition = ProofCondition(kind=kind, path=path, statement=f"{path} {kind}")
    return ConditionProof(condition=condition, told_apart_by=numbers, told_apart_in_words=words)


EVIDENCE = LessonEvidence(
    state_id=IDS[0],
    reproduced=True,
    kept=IDS,
    uses=tuple(commands().uses.values()),
    inputs=("draft.md", "names.txt"),
    folders=(),
    proofs=(
        proof(ConditionKind.EXISTS, "out/count.txt", 1, 2, 3),
        proof(ConditionKind.EXISTS, "out/final.md", 1, 5, words=("without “-p” in command 1",)),
        proof(ConditionKind.ABSENT, "draft.md", 5),
        proof(ConditionKind.EXISTS, "out.tgz", 6),
        proof(ConditionKind.MODE, "out.tgz", 6, 7),
        proof(ConditionKind.ABSENT, "list.txt", 8),
    ),
    made_at=NOW,
)
LINES = {one: line for one, (line, *_) in zip(IDS, WORK, strict=True)}


def test_conditions_inputs_and_numbers_follow_the_commands_that_are_left() -> None:
    left = without_commands(EVIDENCE, [IDS[4], IDS[5], IDS[6]], LINES)

    assert left.kept == (*IDS[:4], IDS[7])
    assert left.inputs == ("names.txt",)
    assert [one.event_id for one in left.left_out] == [IDS[4], IDS[5], IDS[6]]
    assert [(one.condition.path, one.told_apart_by) for one in left.proofs] == [
        ("out/count.txt", (1, 2, 3)),
        ("list.txt", (5,)),
    ]


def test_a_condition_that_holds_without_the_command_stays() -> None:
    left = without_commands(EVIDENCE, [IDS[6]], LINES)

    assert [one.statement for one in left.conditions] == [
        "out/count.txt exists",
        "out/final.md exists",
        "draft.md absent",
        "out.tgz exists",
        "list.txt absent",
    ]
    assert left.proofs[1].told_apart_in_words == ("without “-p” in command 1",)


def test_evidence_without_such_a_command_stays_as_it_is() -> None:
    assert without_commands(EVIDENCE, ["01890000-0000-7000-8000-000000000099"], LINES) is EVIDENCE


def checkpoint(number: int, goal: str) -> Checkpoint:
    return Checkpoint(
        checkpoint_id=f"cp-{number:02d}", goal=goal, success_condition=f"{goal} holds", order_hint=number
    )


WIDTH = SkillParameter(name="width", type=ParameterType.NUMBER, description="The width", examples=("800",))
BEFORE = DraftedTexts(
    ["convert a.png -resize 800 b.png", "rm -r tmp7"],
    [WIDTH],
    [checkpoint(1, "The photo"), checkpoint(2, "The tidying")],
    ["b.png exists", "tmp7 is gone"],
)


def test_edits_about_what_went_with_the_command_go_and_all_others_stay() -> None:
    edits: dict[str, object] = {
        "title": "Shrink to {edge}",
        "parameters": [
            {"name": "width", "new_name": "edge"},
            {"name": "number", "value": "7"},
        ],
        "checkpoints": [
            {**checkpoint(2, "The tidying").model_dump(), "success_condition": "It is tidy"},
            checkpoint(1, "The photo").model_dump(),
            checkpoint(3, "The mail").model_dump(),
        ],
        "success_conditions": ["tmp7 is gone", "It looks good"],
    }
    after = DraftedTexts(["rm -r tmp7"], [], [checkpoint(1, "The tidying")], ["tmp7 is gone"])
    found = edits_after(edits, BEFORE, after)
    assert found["title"] == "Shrink to 800"
    assert found["parameters"] == [{"name": "number", "value": "7"}]
    assert [one["goal"] for one in found["checkpoints"]] == ["The tidying", "The mail"]  # type: ignore[attr-defined]

    after = DraftedTexts([BEFORE.commands[0]], [WIDTH], [checkpoint(1, "The photo")], ["b.png exists"])
    found = edits_after(edits, BEFORE, after)
    assert found["title"] == "Shrink to {edge}"
    assert found["parameters"] == [{"name": "width", "new_name": "edge"}]
    assert [one["goal"] for one in found["checkpoints"]] == ["The photo", "The mail"]  # type: ignore[attr-defined]
    assert found["success_conditions"] == ["It looks good"]


def test_the_newer_word_on_a_command_replaces_the_older_one() -> None:
    kept = with_edits({}, {"put_back": ["a", "b"]})
    assert with_edits(kept, {"left_out": ["a"]}) == {"put_back": ["b"], "left_out": []}
    gone = with_edits({}, {"left_out": ["c", "d"]})
    assert with_edits(gone, {"put_back": ["c"]}) == {"left_out": ["d"], "put_back": []}
    assert with_edits(kept, {"put_back": []}) == {"put_back": []}


def test_a_command_that_is_put_back_takes_its_place_and_the_proofs_count_it() -> None:
    sort, wc, uniq = IDS[:3]
    lines = {sort: "sort a > b", wc: "wc -l a", uniq: "uniq b > c"}
    told = ProofCondition(kind=ConditionKind.EXISTS, path="c", statement="c is there")
    evidence = LessonEvidence(
        state_id=IDS[0],
        reproduced=True,
        kept=(sort, uniq),
        left_out=(LeftOutCommand(event_id=wc, reason="It changed nothing."),),
        uses=tuple(
            CommandUse(event_id=one, succeeded=True, read=read, written=written)
            for one, read, written in ((sort, ("a",), ("b",)), (wc, ("d", "b"), ()), (uniq, ("b",), ("c",)))
        ),
        inputs=("a",),
        proofs=(
            ConditionProof(
                condition=told, told_apart_by=(1, 2), told_apart_in_words=("without -u in command 2",)
            ),
        ),
        made_at=NOW,
    )
    found = with_commands(evidence, [wc], lines)

    assert (found.kept, found.left_out, found.inputs) == ((sort, wc, uniq), (), ("a", "d"))
    assert found.proofs[0].told_apart_by == (1, 3)
    assert found.proofs[0].told_apart_in_words == ("without -u in command 3",)
    assert without_commands(found, [wc], lines).proofs == evidence.proofs
    assert with_commands(evidence, [IDS[5]], lines) == evidence

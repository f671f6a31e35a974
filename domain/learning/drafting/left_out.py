"""Leave commands out of a lesson: its evidence, and a person's edits, without what rested on them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from contracts.base import clipped
from contracts.learning.evidence import ConditionKind, ConditionProof, LeftOutCommand, LessonEvidence
from contracts.learning.interpretation import Checkpoint, SkillParameter
from contracts.learning.proposal import PARAMETERS, parameter_entries
from domain.learning.comparison.parameter_edits import is_shown, respoken_edits
from domain.learning.conditions.comparisons import sources_compared
from domain.learning.conditions.path_patterns import matching
from domain.learning.interpretation.slicing import parent_folders

_REASON = "A person left it out."
_NUMBER = re.compile(r"\bin command (\d+)")


def without_commands(
    evidence: LessonEvidence, left_out: Collection[str], commands: Mapping[str, str]
) -> LessonEvidence:
    """The evidence without these commands, and without what no longer holds or was only theirs.

    What the replay without each command broke is known from the conditions' proofs. ``commands`` are the lines of the
    lesson by their event ids.
    """
    gone = [one for one in evidence.kept if one in left_out]
    if not gone:
        return evidence
    uses = tuple(use for use in evidence.uses if use.event_id not in gone)
    kept = tuple(one for one in evidence.kept if one not in gone)
    working = [use for use in uses if use.event_id in kept]
    used = {path for use in working for path in (*use.read, *use.removed)}
    inputs = tuple(path for path in evidence.inputs if path in used)
    text = "\n".join(commands.get(one, "") for one in kept)
    holding = {folder for path in inputs for folder in parent_folders(path)}
    by_person = (
        LeftOutCommand(event_id=one, command=clipped(commands.get(one, ""), 120), reason=_REASON)
        for one in gone
    )
    return evidence.changed(
        kept=kept,
        left_out=(*evidence.left_out, *by_person),
        uses=uses,
        inputs=inputs,
        begun=tuple(path for path in evidence.begun if path in inputs),
        folders=tuple(one for one in evidence.folders if one in holding or one in text),
        scripts=tuple(one for one in evidence.scripts if any(one.path in use.written for use in working)),
        repeated_as=tuple(one for one in evidence.repeated_as if one.event_id not in gone),
        proofs=tuple(_Left(evidence, gone, commands).proofs()),
    )


class _Left:
    """The proofs that are left without the ``gone`` commands, counting the others anew."""

    def __init__(self, evidence: LessonEvidence, gone: Sequence[str], commands: Mapping[str, str]) -> None:
        self._proofs = evidence.proofs
        checks = {
            p.condition.argument for p in evidence.proofs if p.condition.kind is ConditionKind.CHECK_PASSES
        }
        repeated = {one.event_id: one.command for one in evidence.repeated_as}
        lines = {one: repeated.get(one, commands.get(one, ""))[:400] for one in evidence.kept}
        self._gone_checks = {lines[one] for one in gone} & checks
        counted = [one for one in evidence.kept if lines[one] not in checks]
        self._gone_numbers = {counted.index(one) + 1 for one in gone if one in counted}
        rest = [use for use in evidence.uses if use.event_id not in gone]
        uses = [use for use in evidence.uses if use.event_id in gone]
        self._made = {path for use in rest for path in use.written} | {*evidence.inputs}
        self._taken = {path for use in rest for path in use.removed}
        self._unmade = {path for use in uses for path in use.written} - self._made
        self._untaken = {path for use in uses for path in use.removed} - self._taken

    def proofs(self) -> Iterator[ConditionProof]:
        """Those of conditions that hold without the commands."""
        for one in self._proofs:
            if not self._breaks(one):
                left = self._renumbered(one)
                if left.told_apart_by or left.told_apart_in_words:
                    yield left

    def _breaks(self, proof: ConditionProof) -> bool:
        condition = proof.condition
        if condition.kind is ConditionKind.CHECK_PASSES:
            return condition.argument in self._gone_checks
        if not self._gone_numbers.isdisjoint(proof.told_apart_by):
            return True
        is_absence = condition.kind is ConditionKind.ABSENT
        lost, left = (self._untaken, self._taken) if is_absence else (self._unmade, self._made)
        named = [condition.path, *(sources_compared(condition.other) if condition.other else ())]
        return any(matching(one, lost) and not matching(one, left) for one in named)

    def _renumbered(self, proof: ConditionProof) -> ConditionProof:
        words = [one for one in proof.told_apart_in_words if not self._is_of_gone(one)]
        return proof.changed(
            told_apart_by=tuple(map(self._number, proof.told_apart_by)),
            told_apart_in_words=tuple(
                _NUMBER.sub(lambda match: f"in command {self._number(int(match.group(1)))}", one)
                for one in words
            ),
        )

    def _is_of_gone(self, words: str) -> bool:
        return any(int(number) in self._gone_numbers for number in _NUMBER.findall(words))

    def _number(self, number: int) -> int:
        return number - sum(1 for one in self._gone_numbers if one < number)


@dataclass(frozen=True)
class DraftedTexts:
    """What the rules draft of a lesson before a person's edits: what these may be about."""

    commands: Sequence[str]
    parameters: Sequence[SkillParameter]
    checkpoints: Sequence[Checkpoint]
    success_conditions: Sequence[str]


def edits_after(edits: Mapping[str, object], before: DraftedTexts, after: DraftedTexts) -> dict[str, object]:
    """The edits without those about parameters, checkpoints and conditions that went with the commands.

    A parameter that is gone is spoken of by its value. A list that would be empty is drafted anew.
    """
    gone = {p.name: p for p in before.parameters if p.name not in {one.name for one in after.parameters}}
    called = {
        str(one.get("new_name", one["name"])): gone[str(one["name"])].examples[0]
        for one in parameter_entries(edits)
        if str(one["name"]) in gone
    }
    values = {name: one.examples[0] for name, one in gone.items()} | called
    kept = respoken_edits(edits, {}, values)
    entries = [one for one in parameter_entries(kept) if not _is_gone(one, gone, before, after)]
    kept.pop(PARAMETERS, None)
    if entries:
        kept[PARAMETERS] = [dict(one) for one in entries]
    lost = _lost(before.checkpoints, after.checkpoints)
    checkpoints = [
        one
        for one in cast("Sequence[Mapping[str, Any]]", kept.pop("checkpoints", ()))
        if not any(_is_same(one, checkpoint) for checkpoint in lost)
    ]
    if checkpoints:
        kept["checkpoints"] = [{**one, "order_hint": n} for n, one in enumerate(checkpoints, start=1)]
    conditions = cast("Sequence[str]", kept.pop("success_conditions", ()))
    unsaid = {*before.success_conditions} - {*after.success_conditions}
    if said := [one for one in conditions if one not in unsaid]:
        kept["success_conditions"] = said
    return kept


def _is_gone(
    entry: Mapping[str, Any], gone: Collection[str], before: DraftedTexts, after: DraftedTexts
) -> bool:
    if "value" not in entry:
        return str(entry["name"]) in gone
    value = str(entry["value"])
    return is_shown(value, before.commands) and not is_shown(value, after.commands)


def _lost(before: Sequence[Checkpoint], after: Sequence[Checkpoint]) -> list[Checkpoint]:
    left = {one.success_condition for one in after}
    return [one for one in before if one.success_condition not in left]


def _is_same(entry: Mapping[str, Any], drafted: Checkpoint) -> bool:
    """Whether an edited checkpoint is the drafted one, as far as a person has not reworded all of it."""
    return drafted.success_condition == entry["success_condition"] or (
        drafted.checkpoint_id == entry["checkpoint_id"] and drafted.goal == entry["goal"]
    )

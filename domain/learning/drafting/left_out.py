"""Leave commands out of a lesson, or put them back: its evidence and a person's edits, as they follow from that."""

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


def with_commands(
    evidence: LessonEvidence, put_back: Collection[str], commands: Mapping[str, str]
) -> LessonEvidence:
    """The evidence with these commands, which it left out, in their places.

    They change nothing, so what is proven stays so; their files of the starting state are inputs too. ``commands`` are
    the lines of the lesson by their event ids.
    """
    added = [use for use in evidence.uses if use.event_id in put_back and use.event_id not in evidence.kept]
    if not added:
        return evidence
    ids = {use.event_id for use in added}
    kept = tuple(
        use.event_id for use in evidence.uses if use.event_id in ids or use.event_id in evidence.kept
    )
    written: set[str] = set()
    inputs = dict.fromkeys(evidence.inputs)
    for use in evidence.uses:
        if use.event_id in ids:
            inputs |= dict.fromkeys(path for path in (*use.read, *use.removed) if path not in written)
        written |= {*use.written}
    counted = _counted(evidence, commands)
    now = [one for one in kept if one in ids or one in counted]
    numbers = {n: now.index(one) + 1 for n, one in enumerate(counted, start=1)}
    return evidence.changed(
        kept=kept,
        put_back=tuple(use.event_id for use in added),
        left_out=tuple(one for one in evidence.left_out if one.event_id not in ids),
        inputs=tuple(sorted(inputs))[:500],
        proofs=tuple(_renumbered(one, numbers) for one in evidence.proofs),
    )


class _Left:
    """The proofs that are left without the ``gone`` commands, counting the others anew."""

    def __init__(self, evidence: LessonEvidence, gone: Sequence[str], commands: Mapping[str, str]) -> None:
        self._proofs = evidence.proofs
        lines = _lines(evidence, commands)
        self._gone_checks = {lines[one] for one in gone} & _checks(evidence)
        counted = _counted(evidence, commands)
        left = [one for one in counted if one not in gone]
        self._numbers = {n: left.index(one) + 1 for n, one in enumerate(counted, start=1) if one in left}
        self._gone_numbers = {n for n, one in enumerate(counted, start=1) if one in gone}
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
        words = tuple(one for one in proof.told_apart_in_words if not self._is_of_gone(one))
        return _renumbered(proof.changed(told_apart_in_words=words), self._numbers)

    def _is_of_gone(self, words: str) -> bool:
        return any(int(number) in self._gone_numbers for number in _NUMBER.findall(words))


def _lines(evidence: LessonEvidence, commands: Mapping[str, str]) -> dict[str, str]:
    """The lines of the kept commands as they are repeated, by their ids."""
    repeated = {one.event_id: one.command for one in evidence.repeated_as}
    return {one: repeated.get(one, commands.get(one, ""))[:400] for one in evidence.kept}


def _checks(evidence: LessonEvidence) -> set[str]:
    return {p.condition.argument for p in evidence.proofs if p.condition.kind is ConditionKind.CHECK_PASSES}


def _counted(evidence: LessonEvidence, commands: Mapping[str, str]) -> list[str]:
    """The kept commands that proofs count, in order: checks are none of them."""
    checks, lines = _checks(evidence), _lines(evidence, commands)
    return [one for one in evidence.kept if lines[one] not in checks]


def _renumbered(proof: ConditionProof, numbers: Mapping[int, int]) -> ConditionProof:
    """The proof with other numbers for its commands."""
    return proof.changed(
        told_apart_by=tuple(numbers[one] for one in proof.told_apart_by),
        told_apart_in_words=tuple(
            _NUMBER.sub(lambda match: f"in command {numbers[int(match.group(1))]}", one)
            for one in proof.told_apart_in_words
        ),
    )


@dataclass(frozen=True)
class DraftedTexts:
    """What the rules draft of a lesson before a person's edits: what these may be about."""

    commands: Sequence[str]
    parameters: Sequence[SkillParameter]
    checkpoints: Sequence[Checkpoint]
    success_conditions: Sequence[str]


def edits_after(edits: Mapping[str, object], before: DraftedTexts, after: DraftedTexts) -> dict[str, object]:
    """The edits without those about parameters, checkpoints and conditions that went with the commands.

    Checkpoints that came with commands take their places among those that were edited. A parameter that is gone is
    spoken of by its value. A list that would be empty is drafted anew.
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
        checkpoints = _with_new(checkpoints, before.checkpoints, after.checkpoints)
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


def _with_new(
    edited: Sequence[Mapping[str, Any]], before: Sequence[Checkpoint], after: Sequence[Checkpoint]
) -> list[Mapping[str, Any]]:
    """The edited checkpoints with those that are new in the draft, each behind the one that it follows there."""
    found = list(edited)
    known = {one.success_condition for one in before}
    number = max((int(str(one["checkpoint_id"]).removeprefix("cp-")) for one in found), default=0)
    for place, new in enumerate(after):
        if new.success_condition in known:
            continue
        number += 1
        earlier = [n for n, one in enumerate(found) if any(_is_same(one, c) for c in after[:place])]
        entry = new.changed(checkpoint_id=f"cp-{number:02d}").model_dump(mode="json")
        found.insert(earlier[-1] + 1 if earlier else 0, entry)
    return found


def _is_same(entry: Mapping[str, Any], drafted: Checkpoint) -> bool:
    """Whether an edited checkpoint is the drafted one, as far as a person has not reworded all of it."""
    return drafted.success_condition == entry["success_condition"] or (
        drafted.checkpoint_id == entry["checkpoint_id"] and drafted.goal == entry["goal"]
    )

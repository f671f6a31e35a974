"""Checks: commands that change nothing and whose exit status says whether files are right.

A check is told from looking around by an experiment: where a byte of each file that it reads is changed, it fails.
It belongs to a lesson where the goal asks for one, and it reads what the work made or works on.
"""

import re
import shlex
from collections.abc import Collection, Sequence

from contracts.learning.evidence import CommandUse, ConditionKind, ConditionProof, ProofCondition
from domain.learning.commands.command_line import BUILTINS, parts_of, programs_in
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.noise import looks_around

MOST_CHECKS = 4
"""Checks of one lesson, the last ones."""

_ASKED = re.compile(
    r"\b(?:check(?:s|ed|ing)?|verif(?:y|ies|ied|ying)|test(?:s|ed|ing)?|validat(?:e|es|ed|ing)|valid|intact|undamaged"
    r"|integrity|prov(?:e|es|en|ed)|confirm(?:s|ed)?|ensure(?:s|d)?|make sure|consistent)\b",
    re.IGNORECASE,
)


def asks_for_a_check(goal: str) -> bool:
    """Whether the goal says that something is to be checked."""
    return _ASKED.search(goal) is not None


def possible_checks(
    commands: Sequence[str], uses: Sequence[CommandUse], kept: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Commands that may be checks of the work, by id, with the files that they would have to check.

    ``commands`` are the lines of ``uses``; ``kept`` are the ids of the commands that do the work. A check succeeded,
    changed nothing and read what one of these made, and none changed afterwards, or what one of these reads. What was
    made comes first.
    """
    made = {path for use in uses if use.event_id in kept for path in use.written}
    work = made | {path for use in uses if use.event_id in kept for path in use.read}
    found: dict[str, tuple[str, ...]] = {}
    for number, (command, use) in enumerate(zip(commands, uses, strict=True)):
        later = {path for one in uses[number + 1 :] if one.event_id in kept for path in one.written}
        about = sorted((path for path in use.read if path in work), key=lambda path: (path not in made, path))
        changes = use.written or use.removed or any(part.writes for part in parts_of(command))
        if use.event_id in kept or not use.succeeded or changes or looks_around(command):
            continue
        if about and not later & set(use.read):
            found[use.event_id] = tuple(about)
    return dict([*found.items()][-MOST_CHECKS:])


def damaging(paths: Sequence[str]) -> str:
    """A command line that changes bytes within each of the files, and of those in the folders."""
    change = (
        'for f; do chmod u+w "$f"; for n in 1 2 3; do printf "\\377" | '
        'dd of="$f" bs=1 seek=$(($(wc -c < "$f") * n / 4)) conv=notrunc status=none; done; done'
    )
    return f"find {shlex.join(paths)} -type f -exec sh -c {shlex.quote(change)} sh {{}} +"


def check_proof(about: Sequence[str], command: str) -> ConditionProof:
    """What a check proves of the files that it reads."""
    path = about[0][:240]
    programs = [one for one in programs_in(command) if one not in BUILTINS and not looks_around(one)]
    return ConditionProof(
        condition=ProofCondition(
            kind=ConditionKind.CHECK_PASSES,
            path=path,
            argument=command[:400],
            statement=f"The check by {listed(programs)} passes"[:240],
        ),
        told_apart_in_words=(f"with bytes of {path} changed"[:240],),
    )

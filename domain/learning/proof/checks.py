"""Checks: commands that change nothing and whose exit status says whether files are right.

A check is told from looking around by an experiment. Without the work its exit status is another one: the search that
finds nothing any more found something before. One whose exit status was asked for, or that the goal asks for, may
instead fail where a byte of each file that it reads is changed.
"""

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from contracts.learning.evidence import CommandUse, ConditionKind, ConditionProof, ProofCondition
from domain.learning.commands.command_line import BUILTINS, name_set, parts_of, programs_in
from domain.learning.commands.operations import TEST, VERIFY, operation_of
from domain.learning.conditions.path_patterns import pattern_of
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.noise import looks_around
from domain.learning.method.option_meanings import facts_of

MOST_CHECKS = 4
"""Checks of one lesson, the last ones."""

NEGATION = "! "
"""Stands before a search that has to find nothing."""

_SEARCHING = name_set("grep egrep fgrep zgrep rg")
_ANSWERING = _SEARCHING | name_set("diff cmp")
"""Programs whose exit status 1 is an answer; that nothing is found may be what is wanted, that files differ is news."""

_ASKED = re.compile(
    r"\b(?:check(?:s|ed|ing)?|verif(?:y|ies|ied|ying)|test(?:s|ed|ing)?|validat(?:e|es|ed|ing)|valid|intact|undamaged"
    r"|integrity|prov(?:e|es|en|ed)|confirm(?:s|ed)?|ensure(?:s|d)?|make sure|consistent)\b",
    re.IGNORECASE,
)


def asks_for_a_check(goal: str) -> bool:
    """Whether the goal says that something is to be checked."""
    return _ASKED.search(goal) is not None


@dataclass(frozen=True)
class PossibleCheck:
    """A command that may be a check of the work."""

    command: str
    about: tuple[str, ...]
    """The files that it would have to check, those that were made first."""
    status: int
    """Its exit status after the work; 1 where a search found nothing."""
    is_asked: bool
    """Whether it is one whatever its exit status is without the work, if it fails on damaged files."""

    @property
    def repeated(self) -> str:
        """The command as it succeeds after the work."""
        return f"{NEGATION}{self.command}" if self.status else self.command

    def is_told_by(self, status: int | None, before: Collection[str]) -> bool:
        """Whether its exit status without the work, on the files ``before`` it, shows that it asks for the work."""
        if self.status:
            return status == 0
        if status is None or status == 0:
            return False
        answers = status == 1 and (_is_only(_ANSWERING, self.command) or set(self.about) <= {*before})
        return answers or asks_for_status(self.command)


def possible_checks(
    commands: Sequence[str],
    uses: Sequence[CommandUse],
    statuses: Sequence[int | None],
    kept: Collection[str],
    *,
    asked: bool,
) -> dict[str, PossibleCheck]:
    """Commands that may be checks of the work, by id.

    ``commands`` are the lines of ``uses``, and ``statuses`` how they ended; ``kept`` are the ids of the commands that
    do the work; ``asked`` is whether the goal asks for a check. A check succeeded, or found nothing, changed nothing
    and read what one of these made, and none changed afterwards; where it is asked for, also what one of these reads.
    """
    made = {path for use in uses if use.event_id in kept for path in use.written}
    work = made | {path for use in uses if use.event_id in kept for path in use.read if asked}
    found: dict[str, PossibleCheck] = {}
    for number, (command, use, status) in enumerate(zip(commands, uses, statuses, strict=True)):
        later = {path for one in uses[number + 1 :] if one.event_id in kept for path in one.written}
        about = sorted((path for path in use.read if path in work), key=lambda path: (path not in made, path))
        changes = use.written or use.removed or any(part.writes for part in parts_of(command))
        if use.event_id in kept or changes or not about or later & set(use.read):
            continue
        is_checking = not looks_around(command) or asks_for_status(command)
        if (status == 0 and (is_checking or _is_only(_ANSWERING, command))) or (
            status == 1 and _is_only(_SEARCHING, command)
        ):
            is_asked = is_checking and (asked or asks_for_status(command)) and not status
            found[use.event_id] = PossibleCheck(command, tuple(about), status, is_asked)
    return dict([*found.items()][-MOST_CHECKS:])


def asks_for_status(command: str) -> bool:
    """Whether a program of the command was asked for nothing but an exit status, or for one beside its output."""
    return operation_of(command) in (VERIFY, TEST)


def _is_only(programs: Collection[str], command: str) -> bool:
    """Whether the command is one call of one of the programs."""
    parts = parts_of(command)
    return len(parts) == 1 and parts[0].program in programs


def damaging(paths: Sequence[str]) -> str:
    """A command line that changes bytes within each of the files, and of those in the folders."""
    change = (
        'for f; do chmod u+w "$f"; for n in 1 2 3; do printf "\\377" | '
        'dd of="$f" bs=1 seek=$(($(wc -c < "$f") * n / 4)) conv=notrunc status=none; done; done'
    )
    return f"find {shlex.join(paths)} -type f -exec sh -c {shlex.quote(change)} sh {{}} +"


def check_proof(check: PossibleCheck, shown_by: str, *, held_for: int) -> ConditionProof:
    """What a check proves of the files that it reads; ``held_for`` counts the variations that it succeeded on."""
    programs = [one for one in programs_in(check.command) if one not in BUILTINS]
    checking = [one for one in programs if not looks_around(one)] or programs
    path = _name_of(check.about) if check.status else check.about[0]
    if check.status:
        said = f"The search by {listed(checking)} finds nothing in {path}"
    else:
        by = f" by {listed(checking)}" if checking else ""
        said = f"The check of {path}{by} passes{_sought(check.command)}"
    return ConditionProof(
        condition=ProofCondition(
            kind=ConditionKind.CHECK_PASSES,
            path=path[:240],
            argument=check.repeated[:400],
            statement=said[:240],
        ),
        told_apart_in_words=(shown_by[:240],),
        holds_for=held_for,
        tried=held_for,
    )


def _sought(command: str) -> str:
    """What a search that has to find something looks for; empty for other checks."""
    found = [
        fact.text for fact in facts_of(command) if fact.program in _SEARCHING and fact.kind == "expression"
    ]
    return f": it finds {found[0].removeprefix('only ')}" if found else ""


def _name_of(paths: Sequence[str]) -> str:
    """One name for several files: the pattern of those that lie equally deep."""
    depth = paths[0].count("/")
    return pattern_of([path for path in paths if path.count("/") == depth])

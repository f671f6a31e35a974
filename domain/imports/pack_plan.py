"""The plan of a pack's install: its members in order of their dependencies, and what stands in the way.

Pure rules (DOC3 §0C.20, §1.1P; rows P-23, G0-16): a skill comes after those that it depends on, and nothing is
installed while one of them is missing.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.imports.pack_members import PackMember, PackMemberState, PackProblem
from contracts.imports.packs import MOST_MEMBERS
from contracts.learning.validation import unproved_digest

READY = PackMemberState.READY


class PackPlan(NamedTuple):
    """The members, in the order in which they are installed, and every reason why they cannot be."""

    members: tuple[PackMember, ...]
    problems: tuple[PackProblem, ...]

    @property
    def unproved_digest(self) -> str | None:
        """SHA-256 of what a person accepts with the pack: each import, and the list of what of it is not proved."""
        shown = [[one.import_id, unproved_digest(one.unproved)] for one in self.members if one.unproved]
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest() if shown else None


def pack_plan(members: Sequence[PackMember], installed: frozenset[str]) -> PackPlan:
    """Orders ``members``, those that are equal as they were given.

    ``installed`` are the skills that are here, of the pack or not. Every problem is named, not the first alone.
    """
    ready = {one.skill: one for one in members if one.state is READY}
    ordered, circular = _by_dependency(ready)
    rest = (one for one in members if one.state is not READY)
    here = {one.skill for one in members if one.state is PackMemberState.INSTALLED}
    problems = [
        *_size(members),
        *_unavailable(members),
        *_missing(ready.values(), {*ready, *here, *installed}),
        *_circular(circular),
    ]
    return PackPlan((*rest, *ordered, *(ready[name] for name in circular)), tuple(problems))


def _by_dependency(ready: dict[str, PackMember]) -> tuple[list[PackMember], list[str]]:
    """The members after what they depend on; and those that wait for one another, or for such."""
    waiting = dict(ready)
    ordered: list[PackMember] = []
    while waiting:
        free = next((one for one in waiting.values() if not _waits(one, waiting)), None)
        if free is None:
            break
        ordered.append(waiting.pop(free.skill))
    return ordered, list(waiting)


def _waits(member: PackMember, waiting: dict[str, PackMember]) -> bool:
    return any(name in waiting for name in member.depends_on)


def _size(members: Sequence[PackMember]) -> Iterable[PackProblem]:
    if len(members) > MOST_MEMBERS:
        said = f"The pack has {len(members)} skills; one may have {MOST_MEMBERS}. Divide it."
        yield _problem(ErrorCode.SKILL_PACK_TOO_LARGE, said, ())


def _unavailable(members: Sequence[PackMember]) -> Iterable[PackProblem]:
    missing = tuple(one.skill for one in members if one.state is PackMemberState.UNAVAILABLE)
    if missing:
        said = (
            f"Not imported for review, and not installed: {', '.join(missing)}. Import and stage them first."
        )
        yield _problem(ErrorCode.SKILL_PACK_MEMBER_UNAVAILABLE, said, missing)
    elif not members:
        yield _problem(ErrorCode.SKILL_PACK_MEMBER_UNAVAILABLE, "The pack names no skill.", ())


def _missing(ready: Iterable[PackMember], known: set[str]) -> Iterable[PackProblem]:
    wanted = {name: one.skill for one in ready for name in one.depends_on if name not in known}
    if wanted:
        named = ", ".join(f"{by} needs {name}" for name, by in wanted.items())
        said = f"{named}: add what is missing to the pack, or install it first."
        yield _problem(ErrorCode.SKILL_DEPENDENCY_MISSING, said, tuple(wanted))


def _circular(names: Sequence[str]) -> Iterable[PackProblem]:
    if names:
        said = f"These depend on one another, so none can come first: {', '.join(names)}."
        yield _problem(ErrorCode.SKILL_PACK_DEPENDENCY_CYCLE, said, tuple(names))


def _problem(code: ErrorCode, message: str, skills: tuple[str, ...]) -> PackProblem:
    return PackProblem(code=code.value, message=clipped(message, 240), skills=skills)

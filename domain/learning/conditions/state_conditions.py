"""Guesses of conditions about the state behind files: branches and tags of git, rows of a database, packages."""

import re
from collections.abc import Iterator, Sequence

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.condition_wording import ENVIRONMENT, PACKAGE, condition
from domain.learning.conditions.conditions import TARGET, FolderContents, lines_of
from domain.learning.conditions.file_conditions import Work
from domain.learning.conditions.made_dates import without_date
from domain.learning.conditions.path_patterns import is_named, is_pattern
from domain.learning.conditions.rows import has_rows

MOST_STATE_CONDITIONS = 20
_COUNTED = re.compile(r": (?:merge )?commits$")
"""Numbers of which the difference counts: another folder has others to begin with."""
_ROWS = re.compile(r": rows$")
_SEEDED = frozenset({"pip", "setuptools", "wheel"})
"""Packages that a new environment has by itself."""

_SEPARATORS = re.compile(r"[-_.]+")
_LEFT_OUT = re.compile(r": (?:tables|definitions|tracked files|table .*: (?:kind|content)|repository)$")


def state_conditions(work: Work, inputs: Sequence[str]) -> tuple[ProofCondition, ...]:
    """A condition for each fact that the work changed; numbers only where they follow from something."""
    was, now = work.before.facts(), work.after.facts()
    reached = [path for path in work.before.paths() if work.globs.pattern(path) is not None]
    found: list[ProofCondition] = []
    changed = [key for key in sorted({*was, *now}) if was.get(key) != now.get(key) and len(key) <= 240]
    beside = _beside_the_goal([key for key in changed if key in now], work)
    for key in changed:
        if key in beside or _LEFT_OUT.search(key) is not None:
            continue
        if key.endswith(TARGET) and (target := now.get(key)) is not None:
            found.append(_of_link(key.removesuffix(TARGET), target, work, reached))
        else:
            found += _of_fact(key, was.get(key), now.get(key), work.before, inputs)
    return tuple(dict.fromkeys(found))[:MOST_STATE_CONDITIONS]


def _beside_the_goal(changed: Sequence[str], work: Work) -> set[str]:
    """Of what came into an environment all but its goal: the packages that the commands name, else all but its own.

    A new environment in which nothing was installed is a goal itself.
    """
    given = _SEPARATORS.sub("-", work.given).lower()
    found: set[str] = set()
    for subject in {key.split(": ")[0] for key in changed}:
        is_new = f"{subject}: {ENVIRONMENT}" in changed
        every = [key for key in changed if key.startswith(f"{subject}: {PACKAGE}")]
        names = {key: key.removeprefix(f"{subject}: {PACKAGE}") for key in every}
        installed = [key for key in every if not (is_new and names[key] in _SEEDED)]
        # A version may follow, or the name of another package that begins like it.
        named = [k for k in installed if re.search(rf"(?<![\w-]){re.escape(names[k])}(?!\w|-[a-z])", given)]
        found |= {*every} - {*(named or installed)}
        if installed:
            found.add(f"{subject}: {ENVIRONMENT}")
    return found


def _of_link(link: str, target: str, work: Work, reached: Sequence[str]) -> ProofCondition:
    """Where a link leads to: what the commands name of it, and patterns for what they make or find."""
    if not work.globs.is_named(link):
        dated = without_date(link, work.given)
        link = work.globs.result_pattern(dated, reached) or dated
    if not is_named(target, work.meant):
        target = without_date(target, work.given)
        # A link by one name leads to one place, whatever that is called by then.
        if is_pattern(link):
            target = work.globs.pattern(target) or work.globs.result_pattern(target, reached) or target
        target = "/".join(one if _is_given(one, work) else "*" for one in target.split("/"))
    return condition(ConditionKind.STATE, f"{link}{TARGET}", argument=target)


def _is_given(piece: str, work: Work) -> bool:
    return piece in ("", ".", "..") or is_pattern(piece) or is_named(piece, work.meant)


def _of_fact(
    key: str, was: str | None, now: str | None, before: FolderContents, inputs: Sequence[str]
) -> Iterator[ProofCondition]:
    if now is None:
        yield condition(ConditionKind.STATE, key, argument="")
    elif key.endswith(f": {ENVIRONMENT}") or f": {PACKAGE}" in key:
        yield condition(ConditionKind.STATE, key, argument="*")
    elif _COUNTED.search(key):
        if (more := int(now) - int(was or 0)) > 0:
            yield condition(ConditionKind.STATE, key, argument=f"+{more}")
    elif _ROWS.search(key):
        for path in inputs:
            if has_rows(path, before) and (
                difference := int(now) - len(lines_of(before.text(path) or ""))
            ) in (0, -1):
                yield condition(ConditionKind.STATE, key, other=path, argument=str(difference))
    elif not now.isdigit() or now == "0":
        yield condition(ConditionKind.STATE, key, argument=now)

"""Guesses of conditions about the state behind files: branches and tags of git, rows of a database, packages."""

import re
from collections.abc import Iterator, Sequence

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import FolderContents, lines_of
from domain.learning.conditions.rows import has_rows

MOST_STATE_CONDITIONS = 20
_COUNTED = re.compile(r": (?:merge )?commits$")
"""Numbers of which the difference counts: another folder has others to begin with."""
_ROWS = re.compile(r": rows$")
_PACKAGE = re.compile(r": (?:package|environment) ?")
_LEFT_OUT = re.compile(r": (?:tables|definitions|tracked files|table .*: (?:kind|content)|repository)$")


def state_conditions(
    before: FolderContents, after: FolderContents, inputs: Sequence[str]
) -> tuple[ProofCondition, ...]:
    """A condition for each fact that the work changed; numbers only where they follow from something."""
    was, now = before.facts(), after.facts()
    found: list[ProofCondition] = []
    for key in sorted({*was, *now}):
        if was.get(key) != now.get(key) and len(key) <= 240 and _LEFT_OUT.search(key) is None:
            found += _of_fact(key, was.get(key), now.get(key), before, inputs)
    return tuple(found[:MOST_STATE_CONDITIONS])


def _of_fact(
    key: str, was: str | None, now: str | None, before: FolderContents, inputs: Sequence[str]
) -> Iterator[ProofCondition]:
    if now is None:
        yield condition(ConditionKind.STATE, key, argument="")
    elif _PACKAGE.search(key):
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

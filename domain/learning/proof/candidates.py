"""Candidate conditions of a lesson: statements that hold on the demonstration's result (invariant inference).

A candidate is only a guess: it becomes a condition where leaving out a part of the work breaks it and changed input
does not (``skills/rehearsal/evidence.py``). Files that no command names are taken together by a pattern, so that the
conditions hold for other names as well.
"""

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence

from contracts.learning.evidence import MAX_CONDITIONS, ConditionKind, ProofCondition
from domain.learning.conditions.comparison_conditions import comparison_conditions
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import FolderContents, is_there, lines_of, objection
from domain.learning.conditions.file_conditions import Work, conditions_of_file, mode_asked
from domain.learning.conditions.input_globs import families_by
from domain.learning.conditions.made_dates import without_date
from domain.learning.conditions.path_patterns import (
    Family,
    captured,
    families,
    families_at_any_depth,
    filled,
    matching,
    pattern_of,
)
from domain.learning.conditions.query_conditions import query_conditions
from domain.learning.conditions.rows import has_rows
from domain.learning.conditions.state_conditions import state_conditions
from domain.learning.proof.outcomes import compared_paths

MOST_FOR_ONE_FILE = 8
"""Conditions of one file or of one family of files."""

_MOST_FILES = 24
_SHOWN_MEMBERS = 3
_MOST_CHARACTERS = 240
_RANKS: dict[ConditionKind, int] = {
    ConditionKind.SORTED: 0,
    ConditionKind.SAME_CONTENT: 0,
    ConditionKind.COMPARES: 0,
    ConditionKind.SELECTS: 0,
    ConditionKind.MEMBERS_OF: 0,
    ConditionKind.FILE_COUNT: 0,
    ConditionKind.LINE_COUNT: 1,
    ConditionKind.MODE: 1,
    ConditionKind.STATE: 1,
    ConditionKind.LACKS_TEXT: 2,
    ConditionKind.LACKS_WORD: 2,
    ConditionKind.HEADER_OF: 2,
    ConditionKind.COLUMNS: 2,
    ConditionKind.LINES_OF: 3,
    ConditionKind.DISTINCT_LINES: 3,
    ConditionKind.HOLDS_TEXT: 3,
    ConditionKind.ABSENT: 3,
    ConditionKind.VALID_JSON: 4,
    ConditionKind.CHECK_PASSES: 4,
    ConditionKind.NOT_EMPTY: 5,
    ConditionKind.EXISTS: 5,
}
"""How much a kind of condition says; the least first."""


def candidates(
    before: FolderContents,
    after: FolderContents,
    commands: Sequence[str],
    inputs: Sequence[str],
    *,
    sources: Mapping[str, Sequence[str]] | None = None,
    most: int = MAX_CONDITIONS,
    most_for_one_file: int = MOST_FOR_ONE_FILE,
    locale: str = "C",
    folders: Sequence[str] = (),
) -> tuple[ProofCondition, ...]:
    """Conditions that hold ``after`` the work and say more than that nothing happened.

    ``inputs`` are the files of the starting state that the commands read, ``commands`` the lines that did the work,
    ``sources`` what the commands that wrote a file read (by default all inputs). ``locale`` is the one that the
    commands ran in, ``folders`` are those that each was entered in.
    """
    work = Work(before, after, tuple(commands), locale, tuple(folders))
    there, was_there = sorted(compared_paths(after)), sorted(compared_paths(before))
    changed = [path for path in there if after.digest(path) != before.digest(path)]
    gone = [path for path in was_there if path not in after.paths()]
    modes = [path for path in there if path not in changed and _has_other_mode(path, work)]
    literal = {path for path in (*changed, *gone, *modes) if work.globs.is_named(path)}
    found: list[ProofCondition] = []
    made = [path for path in changed if path not in before.paths()]
    edited = [path for path in changed if path in before.paths()]
    called = _called_alike(made, literal, work, inputs)
    made = [path for path in made if not any(path in family.members for family in called)]
    of_files = (
        *called,
        *_of_the_day(_grouped(made, literal), work),
        *_taken(edited, literal, work, is_anywhere=True),
    )
    for one in of_files[:_MOST_FILES]:
        if isinstance(one, Family):
            found += _of_family(one, work, inputs, sources, gone)
        else:
            own = inputs if sources is None else sources.get(one, ())
            found += (_of_patterns(c, one, work) for c in conditions_of_file(one, work, own))
            found += comparison_conditions(one, work, own)
            found += query_conditions(one, work)
    for one in _taken(gone, literal, work, is_whole=True):
        found.append(condition(ConditionKind.ABSENT, _path(one)))
    for one in _taken(modes, literal, work, is_anywhere=True):
        found += _modes(one, work)
    found += state_conditions(work, inputs)
    holding = [
        c
        for c in dict.fromkeys(found)
        if len(c.path) < _MOST_CHARACTERS and objection(c, before, after) is None
    ]
    return selected(holding, most, most_for_one_file)


def selected(
    conditions: Sequence[ProofCondition],
    most: int = MAX_CONDITIONS,
    most_for_one_file: int = MOST_FOR_ONE_FILE,
) -> tuple[ProofCondition, ...]:
    """At most so many conditions, those that say most of each file first; in their old order."""
    by_path: dict[str, list[ProofCondition]] = {}
    for one in conditions:
        by_path.setdefault(one.path, []).append(one)
    ranked: list[tuple[int, ProofCondition]] = []
    for of_path in by_path.values():
        best = sorted(of_path, key=lambda c: _RANKS[c.kind])[:most_for_one_file]
        ranked += list(enumerate(best))
    kept = {id(one) for _, one in sorted(ranked, key=lambda pair: pair[0])[:most]}
    return tuple(one for one in conditions if id(one) in kept)


def _has_other_mode(path: str, work: Work) -> bool:
    return path in work.before.paths() and work.after.mode(path) != work.before.mode(path)


def _grouped(
    paths: Sequence[str], literal: Collection[str], *, is_anywhere: bool = False
) -> list[str | Family]:
    """The paths that a command names, and the others by families; single ones stay by themselves."""
    unnamed = [path for path in paths if path not in literal]
    grouped = families_at_any_depth(unnamed) if is_anywhere else families(unnamed)
    members = {path for family in grouped for path in family.members}
    return [*(path for path in paths if path not in members), *grouped]


def _taken(
    paths: Sequence[str],
    literal: Collection[str],
    work: Work,
    *,
    is_anywhere: bool = False,
    is_whole: bool = False,
) -> list[str | Family]:
    """Files that were there: those that the commands take by a pattern by it, the others as ``_grouped`` does.

    With ``is_whole`` a pattern counts only where all that it names is among the paths.
    """
    families = [
        one
        for one in work.globs.families([path for path in paths if path not in literal])
        if not is_whole or len(matching(one.pattern, work.before.paths())) == len(one.members)
    ]
    members = {path for one in families for path in one.members}
    rest = [path for path in paths if path not in members]
    return [*families, *_grouped(rest, literal, is_anywhere=is_anywhere)]


def _called_alike(
    made: Sequence[str], literal: Collection[str], work: Work, inputs: Sequence[str]
) -> tuple[Family, ...]:
    """The results that are called like inputs which the commands take by a pattern."""
    patterns = {
        path: pattern
        for path in made
        if path not in literal
        and (pattern := work.globs.result_pattern(without_date(path, work.given), inputs)) is not None
    }
    return families_by(patterns)


def _of_patterns(one: ProofCondition, path: str, work: Work) -> ProofCondition:
    """The condition with the pattern of a source in place of the name that it had when it was shown."""
    pattern = None if one.other is None else work.globs.pattern(one.other)
    if pattern is None:
        return one
    stays = one.other is not None and work.after.digest(one.other) == work.before.digest(one.other)
    is_new = path not in work.before.paths()
    return condition(one.kind, path, other=pattern, argument=one.argument, is_new=is_new, other_stays=stays)


def _of_the_day(paths: Sequence[str | Family], work: Work) -> list[str | Family]:
    """The paths, those whose names hold a date that a command makes by a pattern."""
    found: list[str | Family] = []
    for one in paths:
        members = one.members if isinstance(one, Family) else (one,)
        pattern = pattern_of([without_date(path, work.given) for path in members])
        found.append(one if pattern in members else Family(pattern, members))
    return found


def _path(one: str | Family) -> str:
    return one.pattern if isinstance(one, Family) else one


def _modes(one: str | Family, work: Work) -> Iterator[ProofCondition]:
    members = one.members if isinstance(one, Family) else (one,)
    modes = {mode_asked(path, work) for path in members}
    if len(modes) == 1:
        yield condition(ConditionKind.MODE, _path(one), argument=modes.pop())
    else:
        for path in members:
            yield condition(ConditionKind.MODE, path, argument=mode_asked(path, work))


def _of_family(
    family: Family,
    work: Work,
    inputs: Sequence[str],
    sources: Mapping[str, Sequence[str]] | None,
    gone: Sequence[str],
) -> Iterator[ProofCondition]:
    """What holds of every member; single files where nothing is common to them."""
    yield from _counted(family, work, inputs)
    yield from _copies(family, work, gone)
    for member in family.members[:_SHOWN_MEMBERS]:
        own = inputs if sources is None else sources.get(member, ())
        is_new = member not in work.before.paths()
        for one in conditions_of_file(member, work, own):
            if one.kind is not ConditionKind.SAME_CONTENT:
                other = None if one.other is None else _generalised(one.other, member, family, work)
                yield condition(one.kind, family.pattern, other=other, argument=one.argument, is_new=is_new)


def _generalised(other: str, member: str, family: Family, work: Work) -> str:
    """The source by a pattern, where every member has a source of its own name."""
    if (taken := work.globs.pattern(other)) is not None:
        return taken
    pattern = other
    for capture in captured(family.pattern, member) or ():
        pattern = pattern.replace(capture, "*", 1) if capture else pattern
    own = [filled(pattern, captured(family.pattern, one) or ()) for one in family.members]
    return pattern if all(path in work.before.paths() for path in own) else other


def _families(paths: Sequence[str], work: Work) -> list[Family]:
    """Inputs by the patterns that the commands take them by, the others by those of their names."""
    return [one for one in _taken(paths, (), work) if isinstance(one, Family)]


def _counted(family: Family, work: Work, inputs: Sequence[str]) -> Iterator[ProofCondition]:
    count = len(family.members)
    for one in inputs:
        if has_rows(one, work.before):
            difference = count - len(lines_of(work.before.text(one) or ""))
            if difference in (0, -1):
                yield condition(ConditionKind.FILE_COUNT, family.pattern, other=one, argument=str(difference))
    sources = _families([one for one in inputs if work.before.tree_of(one) is None], work)
    # A result that is called like some of the inputs is one for each of these, and for others by chance.
    own = [one for one in sources if work.globs.result_pattern(family.members[0], one.members)]
    for source in own or sources:
        everything = matching(source.pattern, work.before.paths())
        if (
            len(everything) == count
            and source.pattern != family.pattern
            and not _unpacked(family, source, work)
        ):
            yield condition(ConditionKind.FILE_COUNT, family.pattern, other=source.pattern, argument="0")


def _unpacked(family: Family, source: Family, work: Work) -> bool:
    """Whether the files lay in archives under their own names: others hold other files."""
    held = {
        member.removeprefix("./") for path in source.members for member in work.before.members(path) or ()
    }
    return any(
        path.endswith(f"/{member}") or path == member
        for path in family.members
        for member in held
        if posixpath.basename(member) not in work.given
    )


def _copies(family: Family, work: Work, gone: Sequence[str]) -> Iterator[ProofCondition]:
    """Where each member has the content of a file that was there."""
    digests = {work.after.digest(path) for path in family.members}
    origins = [path for path in sorted(work.before.paths()) if work.before.digest(path) in digests]
    origins = [path for path in origins if path in gone] or [p for p in origins if p not in family.members]
    for source in _families(origins, work):
        stays = all(work.after.digest(path) == work.before.digest(path) for path in source.members)
        for argument in ("all", ""):
            one = condition(
                ConditionKind.SAME_CONTENT,
                family.pattern,
                other=source.pattern,
                argument=argument,
                other_stays=stays,
            )
            if is_there(one, work.before, work.after) and objection(one, work.before, work.after) is None:
                yield one
                break

"""Infer title, goal, sources and conditions of a demonstration where no person stated them."""

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from domain.learning.checkpoints.checkpoint_lint import contradict, same_state
from domain.learning.checkpoints.checkpoints import (
    PageOutcome,
    existence,
    main_operation,
    may_be_shown,
    shown_path,
    telling_outcomes,
)
from domain.learning.commands.command_line import appends, named_paths, sources_in
from domain.learning.commands.operations import (
    COMPUTE,
    COUNT,
    DELETE,
    FILTER,
    SORT,
    TRIM,
    WRITE,
    NetChange,
    NetEffect,
    Operation,
    gives_way,
)
from domain.learning.interpretation.browser import sends_or_fetches, signs_in
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.naming import (
    listed,
    lower_first,
    plain,
    starts_with_verb,
)
from domain.learning.interpretation.noise import can_be_replayed, waits_for_a_person
from domain.learning.interpretation.steps import DemonstratedStep, all_events, total_effects

CONDITIONS_SHOWN = 8
"""The most success conditions the rules make up; further effects stay in the observed ones."""

PAGE_EFFECTS = 20
"""The most page outcomes that count as observed effects."""

_FILES_IN_GOAL = 4

FILES_IN_CONDITION = 3
"""The most results that a made-up condition names."""

_EXTENSIONS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,2}$")
_SCRIPT = re.compile(r"\.(?:py|sh|bash|js|mjs|ts|rb|pl|r|jl|lua|awk|sql)$", re.IGNORECASE)
INSPECTING = frozenset({FILTER, TRIM, COUNT, COMPUTE, SORT, WRITE})
"""Operations that only show something where they make no file."""

_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_VARYING = re.compile(
    rf"(?i)(?<![^\W_])(?:19|20)\d\d(?:(?P<sign>[-_.]){_MONTH}(?:(?P=sign){_DAY})?|{_MONTH}{_DAY})(?![^\W_])"
    # Fewer digits may count anything where they are glued to something: IMG_2010, a time of day.
    rf"|\b(?:(?:19|20)\d\d(?:{_MONTH})?|q[1-4]|h[12]|kw\d\d|w\d\d|v\d+(?:\.\d+)*)\b"
)


_COMPUTED = re.compile(r".*(?:\$[\w({]|`).*")
"""A line whose text the shell completes: ``echo "$(date +%F) done" >> log``."""
_REVISIONS = re.compile(r"[^/.]\.{2,3}[^/.]")
"""A range of revisions, such as ``v1.4.0..HEAD``."""


@dataclass(frozen=True)
class DefaultExclusion:
    """A reason for not using a skill that the rules suggest, with wordings that give such a wish away."""

    condition: str
    phrases: tuple[tuple[str, str], ...]
    """Each wording with a whole sentence that holds it."""


ONLY_LOOKING = DefaultExclusion(
    "Someone only wants existing results shown or explained",
    (
        ("just show me", "Just show me the {0} we have"),
        ("explain how", "Explain how the {0} came about"),
        ("only describe", "Only describe the {0}"),
    ),
)
UNDOING = DefaultExclusion(
    "Someone wants earlier results taken back or deleted",
    (
        ("delete the old", "Delete the old {0}"),
        ("undo what", "Undo what was done to the {0}"),
        ("get rid of", "Get rid of the {0}"),
    ),
)
UNCLEAR_REMOVAL = DefaultExclusion("It is not certain which files may be removed", ())
DEFAULT_EXCLUSIONS = (ONLY_LOOKING, UNDOING, UNCLEAR_REMOVAL)


@dataclass(frozen=True)
class Materials:
    """The files a demonstration starts from and ends with, each as a path relative to its folder."""

    supplied: tuple[str, ...]
    """Read, and there before."""
    scripts: tuple[str, ...]
    """Programs of the person's own that were there before and did part of the work."""
    by_hand: tuple[str, ...]
    """Typed in or edited during the demonstration."""
    results: tuple[str, ...]
    """Made or changed by the work itself, and there at the end."""
    removed: tuple[str, ...]
    moved: tuple[str, ...] = ()
    """Gone at the end since they were moved, renamed or packed."""

    @property
    def varying(self) -> tuple[str, ...]:
        """The dates, periods and versions that occur in the files' names."""
        names = (*self.supplied, *self.by_hand, *self.results)
        found = (m.group(0) for name in names for m in _VARYING.finditer(name))
        return tuple(dict.fromkeys(found))


def materials_of(steps: Sequence[DemonstratedStep]) -> Materials:
    """Sorts the files of a demonstration by the part they play; names that may not be shown are left out."""
    totals = [e for e in total_effects(steps) if may_be_shown(e.path)]
    made = {e.path for e in totals if e.change in (NetChange.CREATED, NetChange.TRANSIENT)}
    typed = _typed_paths(steps)
    survivors = [e.path for e in totals if e.survives]
    used = _used_after_made(steps)
    results = [p for p in survivors if p not in typed or p not in used]
    gone = [e for e in totals if e.change is NetChange.DELETED]
    by = {event.event_id: event.terminal.command for event in all_events(steps) if event.terminal}
    moved = [e.path for e in gone if gives_way(by.get(e.event_id, ""))]
    removed = [e.path for e in gone if e.path not in moved]
    other = {*made, *results, *removed, *moved, *typed}
    supplied = [p for p in _read_paths(steps) if p not in other and may_be_shown(p)]
    return Materials(
        supplied=tuple(p for p in supplied if not is_script(p)),
        scripts=tuple(p for p in supplied if is_script(p)),
        by_hand=tuple(p for p in survivors if p in typed),
        results=tuple(results) or tuple(survivors),
        removed=tuple(removed),
        moved=tuple(moved),
    )


def is_script(path: str) -> bool:
    """Whether a file is a program by its name."""
    return _SCRIPT.search(path) is not None


def operations_in(steps: Sequence[DemonstratedStep]) -> tuple[Operation, ...]:
    """The operations that say what a demonstration is about, each once, in order.

    What only inspects files that others made says nothing of it.
    """
    typed = [s for s in steps if any(e.terminal for e in s.events)]
    telling = [s for s in typed if s.produced or main_operation(s) not in INSPECTING]
    found = [main_operation(s) for s in telling or typed]
    rank = max((o.rank for o in found), default=0)
    return tuple(dict.fromkeys(o for o in found if o.rank >= rank))


def inferred_goal(steps: Sequence[DemonstratedStep], title: str, names: LastingNames) -> str:
    """A goal such as "Create reports/summary.txt and archive.tgz from reports/sales.csv"."""
    materials = materials_of(steps)
    totals = {e.path: e for e in total_effects(steps)}
    created = [p for p in materials.results if totals[p].change is NetChange.CREATED]
    updated = [p for p in materials.results if totals[p].change is NetChange.MODIFIED]
    sources = [p for p in (*materials.supplied, *materials.by_hand) if p not in materials.results]
    parts = [
        f"{verb} {_files(names.of_all(paths))}"
        for verb, paths in (("create", created), ("update", updated))
        if paths
    ]
    made = listed(parts)
    if made and sources:
        made += f" from {_files(sources)}"
    if materials.removed:
        made += f"{', and ' if made else ''}remove {_files(names.of_all(materials.removed))}"
    if not made:
        marked = [
            lower_first(plain(s.label)) for s in steps if s.marked or not any(e.terminal for e in s.events)
        ]
        told = [lower_first(plain(s.label)) for s in telling_page_steps(steps)]
        made = ", then ".join(list(dict.fromkeys(told or marked))[-6:]) or lower_first(title)
        if sites := sites_of(steps):
            made += f" on {listed(sites[:FILES_IN_CONDITION])}"
    return clipped(made[0].upper() + made[1:], 600)


def inferred_use_conditions(
    title: str, steps: Sequence[DemonstratedStep], names: LastingNames
) -> tuple[str, ...]:
    """When to use it, as far as the title and the results tell."""
    first = (
        f"Someone asks to {lower_first(title)}" if starts_with_verb(title) else f"Someone asks for: {title}"
    )
    changed = {e.path for e in total_effects(steps) if e.change is NetChange.MODIFIED}
    made = [path for path in materials_of(steps).results if path not in changed]
    results = [shown_path(p) for p in names.of_all(made)[-FILES_IN_CONDITION:]]
    subject = "The file" if len(made) == 1 else "One of the files"
    missing = f"{subject} {listed(results, last='or')} is missing or out of date" if results else ""
    return tuple(clipped(c, 240) for c in (first, missing) if c)


def inferred_non_use_conditions(steps: Sequence[DemonstratedStep]) -> tuple[str, ...]:
    """When not to use it: the usual cases."""
    materials = materials_of(steps)
    removes = any(main_operation(s) is DELETE for s in steps) or bool(materials.removed)
    if not removes and not materials.results:
        return (UNDOING.condition,)
    return (ONLY_LOOKING.condition, (UNCLEAR_REMOVAL if removes else UNDOING).condition)


def inferred_success_conditions(
    steps: Sequence[DemonstratedStep], last_checkpoint_condition: str, names: LastingNames
) -> tuple[str, ...]:
    """The lasting effects as plain statements; the last checkpoint's where no file tells."""
    materials = materials_of(steps)
    wanted = {*materials.results, *materials.removed, *materials.moved}
    found: list[str] = []
    for effect in reversed(total_effects(steps)):
        text = existence(effect, names) if effect.path in wanted else None
        if text and not any(same_state(text, o) or contradict(text, o, antonyms=True) for o in found):
            found.insert(0, text)
        if len(found) == CONDITIONS_SHOWN:
            break
    for outcome in telling_outcomes(steps):
        text = outcome.statement
        if len(found) < CONDITIONS_SHOWN and not any(
            same_state(text, o) or contradict(text, o) for o in found
        ):
            found.append(text)
    return tuple(found) or (last_checkpoint_condition,)


def page_effects(steps: Sequence[DemonstratedStep]) -> tuple[PageOutcome, ...]:
    """What was seen in a browser at the end of the work: each statement once, the newest holding."""
    by_subject = {(o.kind, o.subject): o for o in telling_outcomes(steps)}
    return tuple(by_subject.values())[-PAGE_EFFECTS:]


def sites_of(steps: Sequence[DemonstratedStep]) -> tuple[str, ...]:
    """The sites that were worked on, each once, in order."""
    return tuple(dict.fromkeys(e.browser.site for e in all_events(steps) if e.browser is not None))


def telling_page_steps(steps: Sequence[DemonstratedStep]) -> list[DemonstratedStep]:
    """The steps that sent or fetched something; signing in counts only where it was all there was."""
    telling = [s for s in steps if sends_or_fetches(s.events)]
    return [s for s in telling if not signs_in(s.events)] or telling


def lasting_effects(steps: Sequence[DemonstratedStep]) -> tuple[NetEffect, ...]:
    """The net effects that the taught commands can bring about again; those of an editor they cannot."""
    replayed = {e.event_id for e in all_events(steps) if can_be_replayed(e)}
    return tuple(
        e for e in total_effects(steps) if e.change is not NetChange.TRANSIENT and e.event_id in replayed
    )


def _files(paths: Sequence[str]) -> str:
    return listed([shown_path(path) for path in paths], most=_FILES_IN_GOAL)


def subject_of(materials: Materials) -> str:
    """What most results have in common, the later one on a tie; else the input's own name."""
    stems = Counter(stem_of(p) for p in reversed(materials.results or materials.removed or materials.moved))
    stems.pop("", None)
    if stems:
        return stems.most_common(1)[0][0]
    names = [posixpath.basename(p) for p in (*materials.supplied, *materials.scripts)]
    return names[-1] if names else "files"


def stem_of(path: str) -> str:
    """The first part of a path in words: ``q3-reports/top.txt`` gives "reports"."""
    name = _EXTENSIONS.sub("", posixpath.normpath(path).split("/")[0])
    words = re.findall(r"[^\W\d_]{2,}", _VARYING.sub(" ", name))
    return " ".join(words[:4]).lower()


def _typed_paths(steps: Sequence[DemonstratedStep]) -> set[str]:
    """Files whose content a person gave on the spot, and that nothing else wrote."""
    typed: dict[str, bool] = {}
    for step in steps:
        for event in step.events:
            terminal = event.terminal
            if terminal is None:
                continue
            by_hand = waits_for_a_person(terminal.command) or (
                main_operation(DemonstratedStep(step.label, (event,))) is WRITE
                and not _COMPUTED.fullmatch(terminal.command)
            )
            for produced in terminal.produced_files:
                # A line added to a file that was there is no content that somebody else would give.
                grows = (
                    produced.path not in typed and produced.change == "modified" and appends(terminal.command)
                )
                typed[produced.path] = by_hand and not grows and typed.get(produced.path, True)
    return {path for path, by_hand in typed.items() if by_hand}


def _used_after_made(steps: Sequence[DemonstratedStep]) -> set[str]:
    """Files that a later command names, or whose folder it names, after they were made."""
    made: set[str] = set()
    used: set[str] = set()
    for event in all_events(steps):
        if event.terminal is None:
            continue
        command, folder = event.terminal.command, event.terminal.working_folder
        produced = {f.path for f in event.terminal.produced_files}
        named = {*named_paths(command, folder), *sources_in(command, folder)} - produced
        used |= {p for p in made if p in named or any(p.startswith(f"{n}/") for n in named)}
        made |= produced
    return used


def _read_paths(steps: Sequence[DemonstratedStep]) -> tuple[str, ...]:
    """Files that a command names before anything in the demonstration has written them."""
    written: set[str] = set()
    read: dict[str, None] = {}
    for event in all_events(steps):
        if event.terminal is None:
            continue
        produced = {f.path: f.change for f in event.terminal.produced_files}
        for path in named_paths(event.terminal.command, event.terminal.working_folder):
            fresh = produced.get(path) == "created"
            is_file = posixpath.splitext(path)[1] and not _REVISIONS.search(path)
            if path not in written and not fresh and is_file:
                read[path] = None
        written |= set(produced)
    return tuple(read)

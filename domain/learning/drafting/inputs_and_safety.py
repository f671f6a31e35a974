"""The sections "Inputs to ask for" and "Safety" of a skill, from the files, commands and pages of a demonstration."""

from collections.abc import Collection, Sequence

from contracts.base import clipped
from contracts.learning.observation import BrowserAction, BrowserObservation
from domain.learning.checkpoints.checkpoint_lint import is_semantic, may_be_named
from domain.learning.checkpoints.checkpoints import may_be_shown, shown_path
from domain.learning.commands.operations import NetChange
from domain.learning.drafting.demonstrated_work import DemonstratedWork
from domain.learning.drafting.removals import moved_away, removals
from domain.learning.interpretation.browser import PASSWORD, submits
from domain.learning.interpretation.inference import sites_of
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.steps import DemonstratedStep, all_events, total_effects
from domain.learning.lesson_folders import lesson_folders
from domain.learning.proof.trial import ability_folders

_FILES_LISTED = 6

_MOST_NAMED = 12


def inputs_to_ask_for(work: DemonstratedWork) -> list[str]:
    """What to know before the work begins, with the example of the demonstration."""
    found = _browser_inputs(work.steps)
    folders = ability_folders(lesson_folders(all_events(work.steps)))
    found += [
        f"The folder {one.path}"
        + (f"; in the demonstration this was {one.shown}" if one.shown != one.name else "")
        for one in folders
        if len(folders) > 1
    ]
    materials = work.materials
    if work.supplied:
        found.append(f"The input to work on; in the demonstration this was {_named(work.supplied)}")
    if materials.scripts:
        found.append(f"The script {_named(materials.scripts)}, which does a part of the work")
    if materials.by_hand:
        names = _named(materials.by_hand)
        found.append(f"The content of {names}; in the demonstration it was entered by hand")
    if varying := [value for value in materials.varying if not work.wording.speaks_in(value)]:
        shown = listed(varying)
        found.append(f"The period, date or version that the names stand for; in the demonstration {shown}")
    if hosts := [host for host in work.hosts if may_be_named(host)]:
        found.append(
            f"The address to fetch from; in the demonstration it was on {listed(hosts[:_FILES_LISTED])}"
        )
    if materials.results:
        found.append("Other names for the results, if those of the demonstration do not suit")
    return found or ["Nothing beyond the request itself"]


def safety_rules(work: DemonstratedWork) -> list[str]:
    """What to be careful of: what the work removes, changes, reaches and sends."""
    steps, materials, names = work.steps, work.materials, work.names
    totals = [e for e in total_effects(steps) if may_be_shown(e.path)]
    changed = [e.path for e in totals if e.change is NetChange.MODIFIED and names.lasts(e)]
    in_folder = any(e.terminal for e in all_events(steps))
    place = "the folder" if in_folder else "the site" if sites_of(steps) else "the app and the document"
    found = [f"Work only in {place} agreed on; leave everything else as it is"]
    gone = (*materials.removed, *materials.moved)
    patterns = work.deleted_patterns
    if removed := [one for one in removals(steps, gone, names) if one not in patterns]:
        found.append(f"It removes {_named(removed)}: name what will go, and get a yes first")
    if moved := moved_away(steps, gone, names):
        found.append(
            f"It moves, renames or packs {_named(moved)}: name what becomes of them, and get a yes first"
        )
    if patterns:
        found.append(
            f"It removes whatever {_named(patterns)} names, also files that were there before: name them all,"
            " and get a yes first"
        )
    if changed:
        found.append(f"It changes {_named(names.of_all(changed))}: keep a copy until the result is accepted")
    if materials.results and set(materials.results) - set(changed):
        found.append("If a result exists already, ask before replacing it")
    if work.hosts:
        found.append(
            "It reaches the network: fetch only from addresses the person has named, and send nothing"
        )
    if any(submits(step.events) for step in steps):
        found.append(
            "It sends what is entered to a site: show the values, and get a yes before each form is sent"
        )
    found.append("If a checkpoint cannot be verified, stop and say which one and why; do not work around it")
    found.append("Keep passwords, keys and personal data out of files, file names and messages")
    rules = [work.wording.formal(text) for text in found]
    if work.evidence and (begun := work.evidence.begun):
        rules.append(
            f"It was tried with the first lines of {_named(begun)} alone: look at what it makes of a whole file"
        )
    return rules


def _named(paths: Sequence[str]) -> str:
    return listed([shown_path(path) for path in paths], most=_FILES_LISTED)


def _browser_inputs(steps: Sequence[DemonstratedStep]) -> list[str]:
    """What to ask for before working on the sites of the demonstration; empty where none was worked on."""
    sites = sites_of(steps)
    if not sites:
        return []
    found = [f"The site to work on; in the demonstration it was {listed(sites[:_MOST_NAMED])}"]
    entered, secret = _entered(steps, is_secret=False), _entered(steps, is_secret=True)
    if fields := entered[:_MOST_NAMED]:
        found.append(
            clipped(f"The values for {listed([f'“{name}”' for name in fields])}; none was kept", 400)
        )
    if others := _left_alone(steps, {*entered, *secret})[:_MOST_NAMED]:
        named = listed([f"“{name}”" for name in others])
        found.append(
            clipped(f"Whether {named} of the same page should be filled in; they were left alone", 400)
        )
    if secret:
        found.append("A signed-in session: the person signs in; this skill holds no password")
    return found


def _entered(steps: Sequence[DemonstratedStep], *, is_secret: bool) -> list[str]:
    """The names of the fields that were filled in, each once, those of a sign-in among the secret ones."""
    names: dict[str, None] = {}
    forms = _filled_in(steps)
    sign_ins = _sign_ins(forms)
    for form, observed in forms:
        name = observed.accessible_name or ""
        if (form in sign_ins) is is_secret and _is_a_name(name):
            names[name] = None
    return list(names)


_Form = tuple[str, str | None, int]


def _filled_in(steps: Sequence[DemonstratedStep]) -> list[tuple[_Form, BrowserObservation]]:
    """Every field that was filled in, with its form: a form without a name is told by what is sent in between."""
    found: list[tuple[_Form, BrowserObservation]] = []
    sent = 0
    for event in all_events(steps):
        observed = event.browser
        if observed is None:
            continue
        if observed.action in (BrowserAction.SUBMIT, BrowserAction.NAVIGATE):
            sent += 1
        elif observed.action in (BrowserAction.INPUT, BrowserAction.SELECT):
            number = 0 if observed.form_name else sent
            found.append(((observed.page_path, observed.form_name, number), observed))
    return found


def _sign_ins(forms: Sequence[tuple[_Form, BrowserObservation]]) -> set[_Form]:
    return {form for form, observed in forms if observed.value and observed.value.kind == PASSWORD}


def _left_alone(steps: Sequence[DemonstratedStep], filled: Collection[str]) -> list[str]:
    """The other fields of the pages on which some were filled in, as the pages showed them."""
    forms = _filled_in(steps)
    sign_ins = _sign_ins(forms)
    pages = {(form[0], observed.page_title) for form, observed in forms if form not in sign_ins}
    names: dict[str, None] = {}
    for event in all_events(steps):
        observed = event.browser
        if (
            observed is None
            or observed.outcome is None
            or (observed.page_path, observed.page_title) not in pages
        ):
            continue
        names |= {name: None for name in observed.outcome.fields if name not in filled and _is_a_name(name)}
    return list(names)


def _is_a_name(name: str) -> bool:
    return bool(name) and is_semantic(f"The field {name} is filled in")

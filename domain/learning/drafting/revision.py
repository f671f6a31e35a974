"""Validate a person's edits of a proposal, and derive the documents that it depends on.

DOC3 §0C.16A revise, §0A.25.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import (
    MAX_DEPENDENCIES,
    Checkpoint,
    DeclaredDependency,
    DependencyKind,
    ParameterType,
    ProjectScope,
)
from contracts.learning.proposal import (
    LEFT_OUT,
    PUT_BACK,
    LearningDocumentDependency,
    SkillBundleProposal,
    SkillDraft,
    left_out_commands,
    put_back_commands,
)
from contracts.plain_problems import field_problems
from domain.learning.redaction.redaction import redact

MAX_LIST = 20
"""The most entries of an edited list."""

MAX_EDITED_CHECKPOINTS = 40
"""The most checkpoints a person may set."""

DEPENDENCIES = "document_dependencies"
"""The edited field that holds all documents that the skill rests on; an empty list takes them back."""

DECLARABLE = (
    DependencyKind.SUPPORT_PACK,
    DependencyKind.APP_MANUAL,
    DependencyKind.EXISTING_SKILL,
    DependencyKind.CAPABILITY_MANIFEST,
)
"""What a person may declare; which tests there are is known from the draft."""

_PARAMETER_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def check_edits(edited_fields: Mapping[str, object]) -> dict[str, object]:
    """The edited fields, checked and normalised to plain JSON values.

    Texts lose their outer space; checkpoints may leave out ``checkpoint_id`` and ``order_hint``, which then
    follow their position. An edit keeps its wording otherwise: the lint judges it, not this.

    Raises:
        Refusal: ``REVISION_INVALID`` with ``fields``, the offending names (``checkpoints/2/goal``,
            ``parameters/0/type`` …).
    """
    checked: dict[str, object] = {}
    problems: dict[str, str] = {}
    for name, value in sorted(edited_fields.items()):
        check = _CHECKS.get(name)
        if check is None:
            problems[name] = f"is not editable; editable are {', '.join(_CHECKS)}"
            continue
        try:
            checked[name] = check(value)
        except _EditError as error:
            problems[f"{name}{error.where}"] = error.what
    if not problems:
        problems = _blocked_triggers(checked) or _both_ways(checked)
    if problems:
        field, what = next(iter(problems.items()))
        message = clipped(f"{clipped(field, 80)} {what}", 240)
        raise Refusal(ErrorCode.REVISION_INVALID, message, fields=list(problems))
    return checked


class _EditError(Exception):
    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where


def _text(limit: int) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise _EditError("must be a text that is not blank")
        text = " ".join(value.split())
        if len(text) > limit:
            raise _EditError(f"may have at most {limit} characters, has {len(text)}")
        if any(not c.isprintable() for c in text):
            raise _EditError("must not hold control characters")
        return text

    return check


def _texts(limit: int, fewest: int) -> Callable[[object], list[str]]:
    one = _text(limit)

    def check(value: object) -> list[str]:
        if not isinstance(value, list | tuple):
            raise _EditError("must be a list of texts")
        entries = cast("list[object]", list(cast("Any", value)))
        if not fewest <= len(entries) <= MAX_LIST:
            raise _EditError(f"must have {fewest} to {MAX_LIST} entries, has {len(entries)}")
        found: list[str] = []
        for position, entry in enumerate(entries):
            try:
                text = one(entry)
            except _EditError as error:
                raise _EditError(error.what, f"/{position}") from error
            if text not in found:
                found.append(text)
        return found

    return check


def _slug(value: object) -> str:
    if not isinstance(value, str) or len(value) > 64 or not _SLUG.fullmatch(value):
        raise _EditError("must be 1 to 64 of a-z, 0-9 and single inner hyphens")
    return value


def _scope(value: object) -> str:
    if value not in list(ProjectScope):
        raise _EditError(f"must be one of {', '.join(ProjectScope)}")
    return str(value)


_CHECKPOINT_HAS = "goal and success_condition"
_PARAMETER_HAS = "name and what changes about it"
_DEPENDENCY_HAS = "dependency_kind and dependency_ref"


def _listed(value: object, has: str) -> list[object]:
    if not isinstance(value, list | tuple):
        raise _EditError(f"must be a list of objects with {has}")
    return list(cast("Sequence[object]", value))


def _fields(entry: object, position: int, has: str) -> dict[str, object]:
    if not isinstance(entry, Mapping):
        raise _EditError(f"must be an object with {has}", f"/{position}")
    return {str(k): v for k, v in cast("Mapping[object, object]", entry).items()}


def _checkpoints(value: object) -> list[dict[str, object]]:
    entries = _listed(value, _CHECKPOINT_HAS)
    if not 1 <= len(entries) <= MAX_EDITED_CHECKPOINTS:
        raise _EditError(f"must have 1 to {MAX_EDITED_CHECKPOINTS} entries, has {len(entries)}")
    found = [_checkpoint(entry, position) for position, entry in enumerate(entries)]
    ids = [c["checkpoint_id"] for c in found]
    repeated = next((i for i, name in enumerate(ids) if name in ids[:i]), None)
    if repeated is not None:
        raise _EditError("repeats the id of an earlier checkpoint", f"/{repeated}/checkpoint_id")
    return found


def _checkpoint(entry: object, position: int) -> dict[str, object]:
    values: dict[str, object] = {
        "checkpoint_id": f"cp-{position + 1:02d}",
        "order_hint": position + 1,
        **_fields(entry, position, _CHECKPOINT_HAS),
    }
    for name in ("goal", "success_condition"):
        try:
            values[name] = _text(240)(values.get(name))
        except _EditError as error:
            raise _EditError(error.what, f"/{position}/{name}") from error
    try:
        return Checkpoint.model_validate(values, strict=True).model_dump(mode="json")
    except ValidationError as error:
        first = field_problems(error, whole="")[0]
        raise _EditError(first.problem, f"/{position}/{first.path.replace('.', '/')}") from error


def _parameters(value: object) -> list[dict[str, object]]:
    """What is to change about parameters; whether they exist is known to the draft alone."""
    entries = _listed(value, _PARAMETER_HAS)
    if len(entries) > MAX_LIST:
        raise _EditError(f"must have at most {MAX_LIST} entries, has {len(entries)}")
    return [_parameter(entry, position) for position, entry in enumerate(entries)]


def _parameter(entry: object, position: int) -> dict[str, object]:
    given = _fields(entry, position, _PARAMETER_HAS)
    checked: dict[str, object] = {}
    if "name" not in given:
        raise _EditError("is missing: which parameter is meant?", f"/{position}/name")
    for name, value in given.items():
        check = _PARAMETER_CHECKS.get(name)
        if check is None:
            allowed = ", ".join(_PARAMETER_CHECKS)
            raise _EditError(f"is not known; allowed are {allowed}", f"/{position}/{clipped(name, 40)}")
        try:
            checked[name] = check(value)
        except _EditError as error:
            raise _EditError(error.what, f"/{position}/{name}") from error
    if len(checked) == 1:
        raise _EditError(
            "changes nothing; give new_name, type, description, required, fixed or value", f"/{position}"
        )
    return checked


def _parameter_name(value: object) -> str:
    if not isinstance(value, str) or not _PARAMETER_NAME.fullmatch(value):
        raise _EditError("must be 1 to 40 of a-z, 0-9 and _, beginning with a letter")
    return value


def _parameter_type(value: object) -> str:
    if value not in list(ParameterType):
        raise _EditError(f"must be one of {', '.join(ParameterType)}")
    return str(value)


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise _EditError("must be true or false")
    return value


_PARAMETER_CHECKS: dict[str, Callable[[object], object]] = {
    "name": _parameter_name,
    "new_name": _parameter_name,
    "type": _parameter_type,
    "description": _text(240),
    "required": _yes_or_no,
    "fixed": _yes_or_no,
    "value": _text(200),
}


def _dependencies(value: object) -> list[dict[str, object]]:
    entries = _listed(value, _DEPENDENCY_HAS)
    if len(entries) > MAX_DEPENDENCIES:
        raise _EditError(f"must have at most {MAX_DEPENDENCIES} entries, has {len(entries)}")
    found = [_dependency(entry, position) for position, entry in enumerate(entries)]
    named = [(one["dependency_kind"], one["dependency_ref"]) for one in found]
    repeated = next((i for i, name in enumerate(named) if name in named[:i]), None)
    if repeated is not None:
        raise _EditError("repeats an earlier one", f"/{repeated}")
    return found


def _dependency(entry: object, position: int) -> dict[str, object]:
    given = _fields(entry, position, _DEPENDENCY_HAS)
    for name in given:
        if name not in _DEPENDENCY_CHECKS:
            allowed = ", ".join(_DEPENDENCY_CHECKS)
            raise _EditError(f"is not known; allowed are {allowed}", f"/{position}/{clipped(name, 40)}")
    checked: dict[str, object] = {}
    for name, check in _DEPENDENCY_CHECKS.items():
        try:
            checked[name] = check(given.get(name, True if name == "required" else None))
        except _EditError as error:
            raise _EditError(error.what, f"/{position}/{name}") from error
    return checked


def _dependency_kind(value: object) -> str:
    if value not in DECLARABLE:
        raise _EditError(f"must be one of {', '.join(DECLARABLE)}")
    return str(value)


def _dependency_ref(value: object) -> str:
    text = _text(200)(value)
    if redact(text).text != text:
        raise _EditError("looks like it holds a secret; name the document without it")
    return text


_DEPENDENCY_CHECKS: dict[str, Callable[[object], object]] = {
    "dependency_kind": _dependency_kind,
    "dependency_ref": _dependency_ref,
    "required": _yes_or_no,
}


def _blocked_triggers(checked: Mapping[str, object]) -> dict[str, str]:
    """A negative trigger inside a trigger phrase would switch that phrase off for good."""
    phrases = [p.lower() for p in cast("list[str]", checked.get("trigger_phrases", []))]
    return {
        f"negative_triggers/{position}": "occurs in a trigger phrase and would block it"
        for position, negative in enumerate(cast("list[str]", checked.get("negative_triggers", [])))
        if any(negative.lower() in phrase for phrase in phrases)
    }


def _both_ways(checked: Mapping[str, object]) -> dict[str, str]:
    """A command is either left out or put back."""
    back = put_back_commands(checked)
    both = next((n for n, one in enumerate(back) if one in left_out_commands(checked)), None)
    return {} if both is None else {f"{PUT_BACK}/{both}": "is in left_out too; name it in one of them"}


_CHECKS: dict[str, Callable[[object], object]] = {
    "title": _text(160),
    "proposed_skill_slug": _slug,
    "goal_summary": _text(600),
    "use_conditions": _texts(240, 1),
    "non_use_conditions": _texts(240, 0),
    "success_conditions": _texts(240, 1),
    "trigger_phrases": _texts(120, 1),
    "negative_triggers": _texts(120, 0),
    "project_scope": _scope,
    "checkpoints": _checkpoints,
    "parameters": _parameters,
    DEPENDENCIES: _dependencies,
    LEFT_OUT: _texts(36, 0),
    PUT_BACK: _texts(36, 0),
}


_SKILL_FILE = "SKILL.md"
_TESTS = "tests/"


def document_dependencies(
    proposal: SkillBundleProposal, draft: SkillDraft, declared: Sequence[DeclaredDependency] = ()
) -> tuple[LearningDocumentDependency, ...]:
    """What has to be there for the proposal to be judged and to work, in the order of the kinds.

    ``declared`` is what a person said it rests on, and whether it can do without.
    """
    stated = {(one.dependency_kind, one.dependency_ref): one.required for one in declared}
    found = dict.fromkeys((*_found(proposal, draft), *stated))
    return tuple(
        LearningDocumentDependency(
            proposal_id=proposal.proposal_id,
            dependency_kind=kind,
            dependency_ref=ref,
            # Without its tests a skill still works; it only cannot be proven again.
            required=stated.get((kind, ref), kind is not DependencyKind.TEST_ARTIFACT),
        )
        for kind, ref in sorted(found, key=lambda one: (list(DependencyKind).index(one[0]), one[1]))
    )


def declared_dependencies(edits: Mapping[str, object]) -> tuple[DeclaredDependency, ...]:
    """The documents among checked edits."""
    given = cast("Sequence[object]", edits.get(DEPENDENCIES, ()))
    return tuple(DeclaredDependency.model_validate(one) for one in given)


def support_packs(declared: Sequence[DeclaredDependency]) -> tuple[str, ...]:
    """The support packs among what a person declared."""
    return tuple(one.dependency_ref for one in declared if one.dependency_kind is DependencyKind.SUPPORT_PACK)


def in_words(declared: DeclaredDependency) -> str:
    """A declared document as a SKILL.md names it."""
    need = "" if declared.required else ", if it is at hand"
    return f"{_WORDS[declared.dependency_kind]} {declared.dependency_ref}{need}"


_WORDS = {
    DependencyKind.SUPPORT_PACK: "The support pack",
    DependencyKind.APP_MANUAL: "The manual",
    DependencyKind.EXISTING_SKILL: "The skill",
    DependencyKind.CAPABILITY_MANIFEST: "The capability",
    DependencyKind.TEST_ARTIFACT: "The test",
}


def _found(proposal: SkillBundleProposal, draft: SkillDraft) -> Iterator[tuple[DependencyKind, str]]:
    for ref in proposal.support_pack_refs:
        yield DependencyKind.SUPPORT_PACK, ref
    if proposal.base is not None:
        yield DependencyKind.EXISTING_SKILL, f"{proposal.base.ability_id}@{proposal.base.version}"
    yield DependencyKind.CAPABILITY_MANIFEST, proposal.draft_manifest_path
    for file in draft.files:
        if file.path != _SKILL_FILE and file.path.startswith(_TESTS):
            yield DependencyKind.TEST_ARTIFACT, file.path

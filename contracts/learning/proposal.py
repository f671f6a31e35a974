"""Proposal of a skill bundle: its draft, lint report, review rounds, manual edits and, for an improvement, its base.

DOC3 §0C.10A (proposal), §0A.24 (rounds), §0C.16A revise (edits), §0C.4, §0A.8 (improvement).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, cast

from pydantic import Field

from contracts.abilities.availability import ImportOrigin, InstallLane
from contracts.base import (
    Contract,
    Sha256,
    Text120,
    Text160,
    Text240,
    Text400,
    Text1000,
    Text2000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.evidence import MAX_CONDITIONS, LeftOutCommand, ProofCondition, UnrehearsedCommand
from contracts.learning.interpretation import DependencyKind, ObservedEffect
from contracts.learning.model_draft import DETERMINISTIC
from contracts.learning.observation import MAX_FOLDERS, LessonFolder
from contracts.learning.validation import OverallResult

MAX_NOTE = 1000
"""The longest note of a draft, in characters: all that answers and words of a revision left open."""


class ProposalRound(Contract):
    """One draft, and what came of testing it."""

    revision: int = Field(ge=1)
    present: bool = Field(description="Whether it is the draft as it is now; the others are history.")
    title: Text160
    content_hash: Sha256
    drafted_by: Text120
    drafter_note: Text1000 = ""
    drafted_at: UtcTime
    tested: OverallResult | None = Field(default=None, description="The newest run's result, if any.")


class ProposalRoundsResponse(VersionedContract):
    """Every round of a proposal, the newest first."""

    proposal_id: Uuid
    rounds: tuple[ProposalRound, ...]


class ProposalFeedbackKind(StrEnum):
    """What a person did with a proposal (DOC3 L4564)."""

    CLARIFICATION = "clarification"
    EDIT = "edit"
    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_TESTS = "request_tests"
    INSTALL_PRIVATE = "install_private"


class SkillProposalFeedback(VersionedContract):
    """One line of ``capabilities/skill_proposal_feedback.jsonl``: what a person said of a proposal."""

    proposal_id: Uuid
    feedback_kind: ProposalFeedbackKind
    feedback_text: Text2000 | None = None
    edited_fields: dict[str, Any] = Field(default_factory=dict)
    created_at: UtcTime


NOT_CARRIED_OUT = "Not carried out, since no rule understands it: "
"""Begins the note on a draft whose revision asked for more than the rules understand."""

PARAMETERS = "parameters"
"""The edited field that holds changes of parameters, each of which names its parameter as it is called then."""


LEFT_OUT = "left_out"
"""The edited field that holds the ids of the commands that are left out of the method."""


def left_out_commands(edits: Mapping[str, object]) -> tuple[str, ...]:
    """The ids of the commands that checked edits leave out."""
    return tuple(cast("Sequence[str]", edits.get(LEFT_OUT, ())))


PUT_BACK = "put_back"
"""The edited field that holds the ids of commands that the replay left out and a person keeps in the method."""


def put_back_commands(edits: Mapping[str, object]) -> tuple[str, ...]:
    """The ids of the commands that checked edits keep though their omission changes nothing."""
    return tuple(cast("Sequence[str]", edits.get(PUT_BACK, ())))


def with_edits(kept: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """All edits of a proposal after ``new``: a field set again is replaced, a parameter's edits add up.

    Both are checked edits. What is kept about a parameter goes by its drafted name; an empty list of parameters
    takes all their edits back. Commands that are left out or put back add up too, and an empty list takes that back;
    the newer word on a command replaces the older one.
    """
    edits = {**kept, **new}
    for name, opposite in ((LEFT_OUT, PUT_BACK), (PUT_BACK, LEFT_OUT)):
        if name in edits and (name in new or opposite in new):
            edits[name] = _added_up(name, opposite, kept, new)
    if PARAMETERS not in new:
        return edits
    added = parameter_entries(new)
    if not added:
        edits.pop(PARAMETERS)
        return edits
    before = parameter_entries(kept)
    merged: list[dict[str, Any]] = [dict(entry) for entry in before]
    places = {str(entry.get("new_name", entry["name"])): n for n, entry in enumerate(before)}
    for entry in added:
        place = places.get(str(entry["name"]))
        if place is None:
            merged.append(dict(entry))
        else:
            merged[place] |= {name: value for name, value in entry.items() if name != "name"}
    edits[PARAMETERS] = merged
    return edits


def _added_up(name: str, opposite: str, kept: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """The ids of a list of commands after ``new``, without those of which it, or what it takes back, says otherwise."""

    def ids(edits: Mapping[str, object], of: str) -> tuple[str, ...]:
        return tuple(cast("Sequence[str]", edits.get(of, ())))

    before = () if name in new and not new[name] else ids(kept, name)
    otherwise = {*ids(kept, opposite), *ids(new, opposite)}
    return [one for one in dict.fromkeys((*before, *ids(new, name))) if one not in otherwise]


def parameter_entries(edits: Mapping[str, object]) -> list[Mapping[str, Any]]:
    """The changes of parameters among checked edits."""
    return list(cast("Sequence[Mapping[str, Any]]", edits.get(PARAMETERS, ())))


MAX_CONFLICTS = 20
"""The most conflicts that are listed one by one."""


class BaseSkill(Contract):
    """The installed version that a proposal improves, pinned when it was chosen or last rebased."""

    ability_id: Text160
    skill_slug: Text120
    version: int = Field(ge=1)
    content_hash: Sha256 = Field(description="Of the proposal that the version was installed from.")


class BaseConflict(Contract):
    """A part that was edited manually and that the proposal would change: the manual edit stays."""

    path: Text240
    part: Text160 = Field(description="A section or key of the file; the path again for the whole file.")
    yours: Text400
    proposed: Text400


class BaseStanding(Contract):
    """How the base stands now. A stale proposal is not approved; ``revise`` rebases it."""

    base: BaseSkill
    present_version: int | None = None
    stale: bool
    reasons: tuple[Text240, ...] = ()
    edited_by_hand: tuple[Text240, ...] = Field(
        default=(), description="Installed files that were edited since the proposal was drafted."
    )
    conflicts: tuple[BaseConflict, ...] = Field(
        default=(), max_length=MAX_CONFLICTS, description="Where the hand's text was kept in the proposal."
    )


class ProposalState(StrEnum):
    """DOC3's ``SkillBundleProposalStateSchema``."""

    DRAFT = "draft"
    AWAITING_QUESTIONS = "awaiting_questions"
    TESTING = "testing"
    READY_FOR_REVIEW = "ready_for_review"
    INSTALLING_PRIVATE = "installing_private"
    INSTALLED_PRIVATE = "installed_private"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    QUARANTINED = "quarantined"


class SkillBundleProposal(VersionedContract):
    """A drafted skill on its way to being accepted."""

    proposal_id: Uuid
    owner_user_id: Text120
    learn_session_id: Uuid | None = None
    interpretation_id: Uuid | None = None
    source_trace_ids: tuple[Uuid, ...] = Field(
        min_length=1, description="What it was drafted from; of an imported skill the id of its import."
    )
    title: Text160
    proposed_skill_slug: Text120
    trigger_phrases: tuple[Text120, ...] = ()
    negative_triggers: tuple[Text120, ...] = ()
    draft_skill_path: Text240
    draft_manifest_path: Text240
    draft_graph_ref: Text240 | None = None
    content_hash: Sha256 = Field(description="Hash of the whole draft; validation results are bound to it.")
    revision: int = Field(default=1, ge=1)
    proposal_state: ProposalState
    install_lane: InstallLane = InstallLane.PENDING
    ability_id: Text160 | None = None
    primary_capability_id: Text160 | None = None
    support_pack_refs: tuple[Text240, ...] = ()
    drafted_by: Text120 = Field(default=DETERMINISTIC, description="Who worded it: the rules, or model:NAME.")
    drafter_note: Text1000 = Field(
        default="",
        description="Why a model that was asked did not word it, what of it a person has stated, or which words of "
        "the revision or of the answers were not carried out.",
    )
    base: BaseSkill | None = Field(default=None, description="What it improves; absent for a new skill.")
    hand_edits: Sha256 | None = Field(default=None, description="Digest of the hand edits it has taken in.")
    base_conflicts: tuple[BaseConflict, ...] = Field(default=(), max_length=MAX_CONFLICTS)
    imported_from: ImportOrigin | None = Field(
        default=None, description="The archive it was made from; it then belongs to no session."
    )
    created_at: UtcTime
    updated_at: UtcTime


class LearningDocumentDependency(VersionedContract):
    """Something a proposal needs to work."""

    proposal_id: Uuid
    dependency_kind: DependencyKind
    dependency_ref: Text240
    required: bool = True


class LintSeverity(StrEnum):
    """Errors block review; warnings are shown."""

    ERROR = "error"
    WARNING = "warning"


class LintFinding(Contract):
    """One finding of the checkpoint lint, with what to write instead."""

    rule: str = Field(pattern=r"^CKP-\d{3}$")
    severity: LintSeverity
    location: Text160 = Field(description="Which field, e.g. checkpoints/cp-02/success_condition.")
    message: Text240
    suggestion: Text240


class CheckpointLintReport(VersionedContract):
    """What the lint says of a draft (decisions "Checkpoints")."""

    passed: bool
    findings: tuple[LintFinding, ...] = ()


GOAL_SECTION, PARAMETER_SECTION, METHOD_SECTION = "Goal", "Parameters", "What the result depends on"
UNSEEN_SECTION = "What was done by hand"
"""Headings in SKILL.md under which other rules read."""

TECHNIQUES = "techniques"
"""The entry of its front matter, under ``metadata``, that says what the commands do in technical words."""


class DraftedFile(Contract):
    """One file of a drafted bundle, by its path inside the skill folder."""

    path: Text240
    content: str = Field(max_length=262_144)


class PackedFile(Contract):
    """One file of an imported bundle, installed byte for byte as it was packed; its content is kept by its digest."""

    path: Text240
    sha256: Sha256
    size_bytes: int = Field(ge=0)


MAX_COMMAND_CHARS = 400_000
"""The longest command of a rehearsal: ten files of 32 KiB that an editor wrote."""


class RehearsalCommand(Contract):
    """One taught command, as the rehearsal replays it. Kept for proof, never shown to the agent."""

    event_id: Uuid
    command: str = Field(
        max_length=MAX_COMMAND_CHARS, description="A shell line; with the text that an editor wrote, if any."
    )
    working_folder: str = Field(max_length=400)
    may_fail: bool = Field(
        default=False, description="Whether its exit status was not 0 when it was shown, and its work counts."
    )


MAX_REHEARSED_DEMONSTRATIONS = 3
"""The most demonstrations of one task that a rehearsal repeats."""


class RehearsedDemonstration(Contract):
    """A further demonstration of the task with its own inputs, as the rehearsal repeats it for proof."""

    number: int = Field(ge=2, description="Which demonstration it was, counted from 1.")
    commands: tuple[RehearsalCommand, ...]
    effects: tuple[ObservedEffect, ...] = ()
    inputs: tuple[Text240, ...] = Field(default=(), description="Files it worked on and did not make.")
    starting_state_id: Uuid | None = Field(
        default=None,
        description="The folder that it begins with; absent for that of the first demonstration.",
    )


class SkillDraft(VersionedContract):
    """Everything a drafter writes. Its canonical JSON is hashed; the hash is the draft's identity."""

    title: Text160
    slug: Text120
    description: str = Field(max_length=1024)
    trigger_phrases: tuple[Text120, ...]
    negative_triggers: tuple[Text120, ...]
    files: tuple[DraftedFile, ...] = Field(description="SKILL.md, the capability manifest, tests.")
    packed: tuple[PackedFile, ...] = Field(
        default=(), description="Of an imported skill: its files beside SKILL.md, as they came."
    )
    rehearsal: tuple[RehearsalCommand, ...] = ()
    further_demonstrations: tuple[RehearsedDemonstration, ...] = Field(
        default=(),
        max_length=MAX_REHEARSED_DEMONSTRATIONS - 1,
        description="What is rehearsed beside ``rehearsal``, which is the first demonstration.",
    )
    capability_id: Text160
    dependencies: tuple[Text120, ...] = Field(default=(), description="Programs the taught commands call.")
    starting_state_id: Uuid | None = Field(
        default=None, description="The folder that ``rehearsal`` begins with; absent for an empty one."
    )
    folders: tuple[LessonFolder, ...] = Field(
        default=(),
        max_length=MAX_FOLDERS,
        description="The folders that the commands work in, the one they begin in first, where there are several.",
    )
    conditions: tuple[ProofCondition, ...] = Field(
        default=(), max_length=MAX_CONDITIONS, description="What a rehearsal checks of the result."
    )
    untested: tuple[Text240, ...] = Field(
        default=(), description="Conditions of success that no rehearsal can check: a person looks."
    )
    unrehearsed: tuple[UnrehearsedCommand, ...] = Field(
        default=(),
        description="Commands and steps of the lesson that no rehearsal can carry out; nothing proves them.",
    )
    left_out: tuple[LeftOutCommand, ...] = Field(
        default=(),
        description="Commands of the demonstration that are no part of the lesson, each with the reason.",
    )

    @property
    def taught_commands(self) -> tuple[RehearsalCommand, ...]:
        """The commands of every demonstration that is rehearsed."""
        further = (command for one in self.further_demonstrations for command in one.commands)
        return (*self.rehearsal, *further)

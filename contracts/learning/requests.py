"""Request bodies of commands on sessions and proposals (DOC3 §0C.16A, §0C.28)."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from contracts.abilities.availability import InstallLane
from contracts.base import Contract, Sha256, Text80, Text120, Text240, Text1000, Text2000, Uuid
from contracts.learning.observation import StepKindHint
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import ValidationRunKind
from contracts.platform.commands import Command


class SessionActionRequest(Command):
    """The body of a command that takes no arguments; it may be left out altogether."""

    reason: Text240 | None = None


class ResumeRequest(SessionActionRequest):
    """Goes on with the capture; ``new_demonstration`` begins the task anew, with other inputs."""

    new_demonstration: bool = False


class MarkGoalRequest(Command):
    """States the goal of what is being shown."""

    goal_description: str = Field(min_length=1, max_length=400)
    at_event_id: Uuid | None = None


class MarkStepRequest(Command):
    """Names the step that begins now."""

    step_label: str = Field(min_length=1, max_length=240)
    step_kind_hint: StepKindHint | None = Field(
        default=None,
        description="The kind that the workflow graph gives the step; left out, or other, its words and commands tell.",
    )
    at_event_id: Uuid | None = None


class TrimKind(StrEnum):
    """Which end of the capture to cut."""

    TRIM_START = "trim_start"
    TRIM_END = "trim_end"


class TrimRequest(Command):
    """Cuts the capture so that it starts or ends with the named event."""

    trim_kind: TrimKind
    to_event_id: Uuid


class SubmittedAnswer(Contract):
    """An answer on the wire."""

    question_id: Text80
    answer_text: str = Field(min_length=1, max_length=2000)


class AnswerQuestionsRequest(Command):
    """Answers to some or all open questions."""

    answers: tuple[SubmittedAnswer, ...] = Field(min_length=1, max_length=20)


class SetTestPolicyRequest(Command):
    """Sets the bounds of the rehearsal."""

    test_policy: TestPolicy


class GenerateProposalRequest(Command):
    """Draft a proposal; ``ask_before_build`` asks first even where the session's policy would not."""

    ask_before_build: bool | None = None


UNDERSTOOD_INSTRUCTIONS = (
    "remove step 3",
    "remove command 2",
    "do not delete the list",
    "put back the command wc",
    "swap steps 2 and 3",
    "move step 4 before step 2",
    "rename step 2 to “The photos are smaller”",
    "add a step after step 2: The photos are sorted, done when the list is in order",
    "change the condition of step 2 to “each photo is 800 pixels wide”",
    "add to Done when: small.zip exists",
    "remove the condition 2",
    "call the parameter width `pixels`",
    "make 800 fixed",
    "make 85 a parameter called quality",
    "make width optional",
    "rename the title to Shrink photos",
    "change the goal to “Make photos fit for mail”",
    "use it when photos are too large",
    "do not use it for videos",
    "add the trigger “shrink my photos”",
)
"""What a revision's words may say without a model: examples of everything that the rules carry out."""


class ProposalReviseRequest(Command):
    """Sends a proposal back to drafting with instructions and edited fields.

    Instructions that name a step (checkpoint), a condition, a parameter or an order are carried out by rules
    ("remove step 3", "make 800 fixed"); what the rules do not understand is left to the model, and without one it
    is said in the proposal's ``drafter_note``.

    ``edited_fields`` may hold ``title``, ``proposed_skill_slug``, ``goal_summary``, ``use_conditions``,
    ``non_use_conditions``, ``success_conditions``, ``trigger_phrases``, ``negative_triggers``, ``project_scope``,
    ``checkpoints``, ``document_dependencies``, ``parameters``, ``left_out`` and ``put_back``; anything else is
    ``REVISION_INVALID``. ``left_out`` are the ids of commands that are no part of the method; an empty list puts all
    of them back. ``put_back`` are the ids of commands that the replay left out and that belong to the method.
    ``document_dependencies`` is the whole list of ``{dependency_kind, dependency_ref, required?}`` that the skill
    rests on: support packs, manuals, skills and capabilities. ``parameters`` is a list of ``{name, new_name?, type?,
    description?, required?, fixed?, value?}``, each about the parameter that is called ``name`` now; ``fixed`` makes
    it a value that never changes, and ``value`` makes a parameter of a text that a command shows. An empty list takes
    back what was changed about parameters before.
    """

    revision_instructions: Text2000
    edited_fields: dict[str, Any] = Field(default_factory=dict, max_length=20)


class StartValidationRunRequest(Command):
    """Runs the checks; none selected means the ladder. ``ablation`` and ``variation`` are run only when selected."""

    run_label: Text120 | None = None
    selected_tests: tuple[ValidationRunKind, ...] = Field(default=(), max_length=20)


class RequestAdapterRequest(Command):
    """Asks for a connection or a tool that the proposal needs and that is not here (DOC3 §0.4H)."""

    wanted: Annotated[Text240, StringConstraints(min_length=1)] = Field(
        description="What the adapter is to connect or offer."
    )


class AcceptingCommand(Command):
    """Installs a proposal; one that is not proved in everything only where a person accepts that."""

    accept_unproved: bool = Field(
        default=False,
        description="Whether the caller has read the proposal's ``unproved`` steps and accepts them as they are.",
    )
    unproved_digest: Sha256 | None = Field(
        default=None, description="The proposal's, as it was read: another list is not accepted by this."
    )


class ProposalInstallRequest(AcceptingCommand):
    """Installs a proposal that is ready for review."""

    install_lane: Literal[InstallLane.EXPERIMENTAL_PRIVATE, InstallLane.APPROVED_WORKSPACE]


class ApproveProposalRequest(AcceptingCommand):
    """Accepts a proposal for the workspace."""

    approval_scope: Literal[InstallLane.APPROVED_WORKSPACE, InstallLane.SHARED_PROMOTED] = (
        InstallLane.APPROVED_WORKSPACE
    )
    approval_note: Text1000 | None = None


class RejectProposalRequest(Command):
    """Turns a proposal down, for good."""

    reason: str = Field(min_length=1, max_length=1000)

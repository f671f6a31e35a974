"""Autonomous practice: request, runs, and the plans that a language model suggests.

DOC3 §0A.7; decisions "Numbers".

A suggestion is commands and nothing else: its score, whether it may run and whether it worked follow from the rules,
the allowed commands and the real effects.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from contracts.abilities.control_surface import ControlSurface
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text200,
    Text240,
    Text400,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.model_draft import DETERMINISTIC
from contracts.learning.observation import ProducedFile
from contracts.platform.commands import Command

MAX_ACTIONS = 40
MAX_MINUTES = 15
MAX_ATTEMPTS = 3
CONFIRM_BELOW = 0.4
"""The confidence, 0 to 1, from which an idea is tried without asking, where the person says nothing else."""

MAX_START_BYTES = 262_144
"""The most that all start files together may hold, as UTF-8."""

PracticePath = Annotated[str, StringConstraints(max_length=120, pattern=r"^\w[\w.-]*(?:/\w[\w.-]*)*$")]
"""A file inside the practice folder; the characters need no quoting in a shell."""

PRACTISED_SURFACES = frozenset({ControlSurface.NATIVE_OPENCLAW_TOOL})
"""The surfaces that can be practised here: commands in the rehearsal sandbox."""


class PracticeConditionKind(StrEnum):
    """How success is seen from outside, whatever the commands say of themselves."""

    FILE_EXISTS = "file_exists"
    FILE_CONTAINS = "file_contains"
    COMMAND_EXITS = "command_exits"


class PracticeCondition(Contract):
    """One observable effect. A file must be made or changed by the attempt: one that was there proves nothing."""

    kind: PracticeConditionKind
    path: PracticePath | None = None
    text: Text400 | None = Field(default=None, description="What the file holds somewhere.")
    command: Text400 | None = Field(default=None, description="Run in the sandbox after the attempt.")
    exit_code: int = Field(default=0, ge=0, le=255)

    @model_validator(mode="after")
    def _names_what_its_kind_needs(self) -> "PracticeCondition":
        given = {name for name in ("path", "text", "command") if getattr(self, name)}
        needed = {
            PracticeConditionKind.FILE_EXISTS: {"path"},
            PracticeConditionKind.FILE_CONTAINS: {"path", "text"},
            PracticeConditionKind.COMMAND_EXITS: {"command"},
        }[self.kind]
        if given != needed:
            raise ValueError(f"{self.kind.value} takes {' and '.join(sorted(needed))}, and nothing else")
        return self


class PracticeStartFile(Contract):
    """A file that is there when an attempt begins."""

    name: Annotated[str, StringConstraints(max_length=60, pattern=r"^\w[\w.-]*$")]
    content: str = Field(max_length=65_536)


class PracticeBudget(Contract):
    """What practice may use up; the defaults are the upper limits."""

    max_actions: int = Field(default=MAX_ACTIONS, ge=1, le=MAX_ACTIONS)
    max_minutes: int = Field(default=MAX_MINUTES, ge=1, le=MAX_MINUTES)
    max_attempts: int = Field(default=MAX_ATTEMPTS, ge=1, le=MAX_ATTEMPTS)


class StartPracticeRequest(Command):
    """What to practise, and the bounds of it.

    ``allowed_commands`` holds programs (``sort``) and whole commands, in which ``{input}`` and ``{output}``
    stand for files and ``{text}`` for a text or number of the goal. Nothing else is run but the person's own
    check commands.
    """

    goal: str = Field(min_length=1, max_length=400)
    success_conditions: tuple[PracticeCondition, ...] = Field(min_length=1, max_length=10)
    allowed_commands: tuple[Annotated[str, StringConstraints(min_length=1, max_length=400)], ...] = Field(
        min_length=1, max_length=40
    )
    allowed_surfaces: tuple[ControlSurface, ...] = Field(
        default=(ControlSurface.NATIVE_OPENCLAW_TOOL,), min_length=1, max_length=12
    )
    start_files: tuple[PracticeStartFile, ...] = Field(default=(), max_length=20)
    budget: PracticeBudget = PracticeBudget()
    confirm_below: float = Field(
        default=CONFIRM_BELOW, ge=0, le=1, description="An idea of less confidence is asked about, not tried."
    )

    @model_validator(mode="after")
    def _start_files_fit(self) -> "StartPracticeRequest":
        names = [file.name for file in self.start_files]
        if len(set(names)) < len(names):
            raise ValueError("two start files have the same name")
        if sum(len(file.content.encode()) for file in self.start_files) > MAX_START_BYTES:
            raise ValueError(f"the start files hold more than {MAX_START_BYTES} bytes together")
        return self


class PracticeState(StrEnum):
    """How practice stands."""

    RUNNING = "running"
    REACHED = "reached"
    ASKS = "asks"
    BUDGET_USED = "budget_used"
    CANCELLED = "cancelled"
    FAILED = "failed"


class IdeaSource(StrEnum):
    """Where a command comes from."""

    ALLOWED = "allowed"
    ABILITY = "ability"
    TRACE = "trace"
    MODEL = "model"


class PracticeStep(Contract):
    """One command of an idea."""

    command: Text400
    source: IdeaSource
    about: Text240 = Field(default="", description="The ability or capture it was taught in.")


class PracticeIdea(Contract):
    """A sequence of commands worth trying. ``confidence`` is how likely it is to be right, by the rules."""

    steps: tuple[PracticeStep, ...] = Field(min_length=1, max_length=8)
    confidence: float = Field(ge=0, le=1)
    proposed_by: Text120 = Field(
        default=DETERMINISTIC, description="The search, or ``model:`` and the name of a language model."
    )
    proposer_note: Text240 = Field(default="", description="Why it is not the model's, where one was asked.")


class PractisedAction(Contract):
    """One action that was carried out, and what was seen of it; output only of failures, redacted."""

    command: Text400
    succeeded: bool
    is_check: bool = Field(default=False, description="A person's check command, not a step.")
    produced: tuple[ProducedFile, ...] = Field(default=(), max_length=100)
    details: Text400 | None = None


class ConditionSeen(Contract):
    """What a look at the real effects showed."""

    condition: Text400
    met: bool
    details: Text400 | None = None


class PracticeAttempt(Contract):
    """One try in a fresh folder."""

    number: int = Field(ge=1, le=MAX_ATTEMPTS)
    idea: PracticeIdea
    actions: tuple[PractisedAction, ...] = ()
    conditions: tuple[ConditionSeen, ...] = ()
    reached: bool = False
    interrupted: bool = Field(default=False, description="Stopped from outside, or out of time.")
    outcome: Text400


class PracticeRun(VersionedContract):
    """A session's practice: its bounds, everything that was tried, and how it stands."""

    learn_session_id: Uuid
    owner_user_id: Text120
    state: PracticeState = PracticeState.RUNNING
    goal: Text400
    success_conditions: tuple[PracticeCondition, ...]
    allowed_commands: tuple[Text400, ...]
    start_files: tuple[Text120, ...] = Field(default=(), description="Their names.")
    budget: PracticeBudget
    request_blob: Sha256 = Field(description="Digest of the whole request, start files included.")
    model: Text80 | None = Field(
        default=None, description="The language model that is asked for ideas, if any."
    )
    actions_used: int = Field(default=0, ge=0)
    attempts: tuple[PracticeAttempt, ...] = Field(default=(), max_length=MAX_ATTEMPTS)
    question: Text400 | None = Field(default=None, description="What it needs to know to go on.")
    note: Text240 | None = Field(default=None, description="How it ended, in a sentence.")
    workflow_id: Text200
    correlation_id: Text200
    started_at: UtcTime
    updated_at: UtcTime
    ends_by: UtcTime
    finished_at: UtcTime | None = None


class NextIdea(Contract):
    """What to do next: an idea, or why there is none."""

    idea: PracticeIdea | None = None
    end: PracticeState | None = None
    question: Text400 | None = None
    note: Text240 | None = None


class PracticeRef(Contract):
    """Names the practice of a session in workflow messages; the bounds are in the store."""

    learn_session_id: Uuid
    owner_user_id: Text120
    correlation_id: Text200


class PracticeTry(Contract):
    """Asks for one attempt."""

    ref: PracticeRef
    number: int = Field(ge=1, le=MAX_ATTEMPTS)
    idea: PracticeIdea
    seconds_left: float = Field(gt=0)


class PracticeClosing(Contract):
    """How practice ends. One that reached its goal has its attempt taken into the capture first."""

    ref: PracticeRef
    state: PracticeState
    note: Text240
    question: Text400 | None = None
    now: UtcTime


class AttemptNoted(Contract):
    """An attempt to be put on record."""

    ref: PracticeRef
    attempt: PracticeAttempt
    now: UtcTime


MOST_PLANS = 3
"""The most plans that a model may suggest at once."""

MOST_PLAN_COMMANDS = 5
"""The most commands of a plan: as many as the search looks for."""

PlannedCommand = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]


class PracticePlan(Contract):
    """Commands that could reach the goal, in the order they are to be run in."""

    commands: Annotated[tuple[PlannedCommand, ...], Field(min_length=1, max_length=MOST_PLAN_COMMANDS)]


class PracticePlans(Contract):
    """A model's answer: plans to try, the likeliest first."""

    plans: Annotated[tuple[PracticePlan, ...], Field(min_length=1, max_length=MOST_PLANS)]


class PracticeQuestion(Contract):
    """Asks a model what could be tried next."""

    ref: PracticeRef
    seconds_left: float = Field(gt=0, description="Of the practice: no answer is waited for longer.")


class PracticeThoughts(Contract):
    """What came of asking: plans within bounds, or none, and ``note`` says why."""

    model: Text80
    plans: tuple[PracticePlan, ...] = Field(default=(), max_length=MOST_PLANS)
    note: Text240 = ""


class IdeaWanted(Contract):
    """Asks for the next idea; ``thoughts`` where a model was asked before."""

    ref: PracticeRef
    thoughts: PracticeThoughts | None = None

"""Trials: the taught method of an installed ability, run in the sandbox on a copy of another folder."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.abilities.parameters import ParameterName
from contracts.base import (
    Contract,
    Sha256,
    Text120,
    Text160,
    Text200,
    Text240,
    Text400,
    Text1000,
    Text2000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.interpretation import MAX_PARAMETERS
from contracts.platform.commands import Command

MAX_FOLDER_FILES = 5_000
"""The most files, folders and links of a folder that a method is tried on."""

MAX_FOLDER_BYTES = 64 * 1024 * 1024
"""The most that the files of such a folder may hold together."""

MAX_ARCHIVE_BYTES = MAX_FOLDER_BYTES + 8 * 1024 * 1024
"""The largest archive of such a folder: its files and their headers, hardly compressed."""

MAX_RESULT_FILES = 20_000
MAX_RESULT_BYTES = 256 * 1024 * 1024
"""The most files that the resulting folder may have, and the most that they may hold together."""

MAX_VALUE = 400
"""The longest value of a parameter, in characters."""

ParameterValue = Annotated[str, StringConstraints(max_length=MAX_VALUE)]


class TrialState(StrEnum):
    """Where a trial stands."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TrialCommandResult(StrEnum):
    """How one command of a trial ended."""

    WORKED = "worked"
    FAILED = "failed"
    NOT_RUN = "not_run"


class TrialConditionResult(StrEnum):
    """Whether a condition holds on the resulting folder."""

    HOLDS = "holds"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    NOT_CHECKED = "not_checked"


class TrialFolder(VersionedContract):
    """A folder that was handed in, to be tried on until it expires."""

    folder_ref: Text120
    digest: Sha256
    size_bytes: int = Field(ge=0, description="Of the archive.")
    files: int = Field(ge=0, description="Files, folders and links in it.")
    created_at: UtcTime
    expires_at: UtcTime


class StartTrialRequest(Command):
    """Asks for a trial on a folder that was handed in."""

    folder_ref: Text120 = Field(
        pattern=r"^trial-folder/[0-9a-f]{64}$",
        description="As it was answered when the folder was handed in.",
    )
    values: Mapping[ParameterName, ParameterValue] = Field(
        default_factory=dict[str, str],
        max_length=MAX_PARAMETERS,
        description="A value for each parameter that takes another one than was shown.",
    )


class TrialCommand(Contract):
    """One command of the method, as it was run, and how it ended."""

    number: int = Field(ge=1)
    command: Text2000
    working_folder: Text400
    result: TrialCommandResult
    details: Text1000 | None = None


class TrialCondition(Contract):
    """One condition on the resulting folder, and whether it holds."""

    statement: Text400
    path: Text400
    result: TrialConditionResult
    details: Text400 | None = None


class TrialRef(Contract):
    """Names a trial, for its workflow and activities; its values are on record."""

    trial_id: Uuid
    ability_id: Text160
    owner_user_id: Text120
    correlation_id: Text200


class TrialRun(VersionedContract):
    """A trial: its progress, and what came of it."""

    trial_id: Uuid
    ability_id: Text160
    ability_version: int = Field(ge=1)
    owner_user_id: Text120
    state: TrialState
    folder_digest: Sha256
    values: Mapping[ParameterName, ParameterValue] = Field(default_factory=dict[str, str])
    progress: Text240 = Field(default="", description="What it is doing, in words.")
    commands: tuple[TrialCommand, ...] = ()
    conditions: tuple[TrialCondition, ...] = ()
    note: Text400 = Field(default="", description="How it ended, and what to do where it did not pass.")
    result_digest: Sha256 | None = Field(default=None, description="Of the resulting folder's archive.")
    result_bytes: int | None = Field(default=None, ge=0)
    workflow_id: Text200
    correlation_id: Text200
    started_at: UtcTime
    updated_at: UtcTime
    finished_at: UtcTime | None = None
    expires_at: UtcTime = Field(description="When the trial and its folders are removed.")

    @property
    def ref(self) -> TrialRef:
        """Its name for workflow and activities."""
        return TrialRef(
            trial_id=self.trial_id,
            ability_id=self.ability_id,
            owner_user_id=self.owner_user_id,
            correlation_id=self.correlation_id,
        )


class TrialEnding(Contract):
    """How a trial ended that has no result: it was cancelled, or broke off."""

    ref: TrialRef
    state: TrialState
    note: Text400
    now: UtcTime


class TrialOutcome(Contract):
    """What a workflow is answered of a trial: counts and no contents."""

    state: TrialState
    commands_worked: int = Field(default=0, ge=0)
    commands: int = Field(default=0, ge=0)
    conditions_held: int = Field(default=0, ge=0)
    conditions_failed: int = Field(default=0, ge=0)
    conditions_not_applicable: int = Field(default=0, ge=0)

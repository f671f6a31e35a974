"""Bodies and answers of the commands on an ability (DOC3 §0C.16A, lines 1583-1587; routes.md)."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.base import Contract, Sha256, Text160, Text240
from contracts.learning.proposal import InstallLane
from contracts.learning.requests import Command


class AbilityActionRequest(Command):
    """A command that needs no arguments; the body may be left out altogether."""

    reason: Text240 | None = None


class QuarantineAbilityRequest(Command):
    """Takes an ability out of use because something is wrong with it."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=240)]


class RollbackAbilityRequest(Command):
    """Makes an older version's content current; without a version, that of the previous one."""

    to_version: int | None = Field(default=None, ge=1, le=1_000_000)
    reason: Text240 | None = None


class AbilityEnabledResponse(Contract):
    """The answer of ``activate`` and ``deactivate``."""

    ability_id: Text160
    enabled: bool


class AbilityQuarantineResponse(Contract):
    """The answer of ``quarantine`` and ``unquarantine``."""

    ability_id: Text160
    quarantined: bool
    reason: Text240 | None = None


class AbilityLaneResponse(Contract):
    """The answer of ``promote-shared`` and ``demote-private``."""

    ability_id: Text160
    install_lane: InstallLane


class AbilityArchivedResponse(Contract):
    """The answer of ``archive``. Nothing is deleted: ``activate`` brings the ability back."""

    ability_id: Text160
    archived: Literal[True] = True


class AbilityRollbackResponse(Contract):
    """The answer of ``rollback``: a new version that holds an older one's content."""

    ability_id: Text160
    version: int = Field(ge=1)
    restored_from: int = Field(ge=1)
    content_hash: Sha256

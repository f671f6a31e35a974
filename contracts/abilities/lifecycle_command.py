"""Commands on an installed ability (DOC3 §0A.19)."""

from enum import StrEnum

from contracts.base import Text160, Text240, UtcTime, VersionedContract


class AbilityLifecycleAction(StrEnum):
    """What can be done with an installed ability."""

    ACTIVATE = "activate"
    DEACTIVATE = "deactivate"
    PROMOTE_SHARED = "promote_shared"
    DEMOTE_PRIVATE = "demote_private"
    QUARANTINE = "quarantine"
    UNQUARANTINE = "unquarantine"
    ARCHIVE = "archive"


class LifecycleRequester(StrEnum):
    """On whose behalf."""

    USER = "user"
    SYSTEM = "system"
    REPAIR = "repair"


class AbilityLifecycleCommand(VersionedContract):
    """One command on one ability."""

    ability_id: Text160
    action: AbilityLifecycleAction
    reason: Text240 | None = None
    requested_by: LifecycleRequester
    created_at: UtcTime

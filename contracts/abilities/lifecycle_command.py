"""Commands on an installed ability, and how it stands (DOC3 §0A.19; rollback: routes.md)."""

from enum import StrEnum

from contracts.base import Text160, Text240, UtcTime, VersionedContract


class AbilityLifecycleAction(StrEnum):
    """What can be done with an installed ability: the document's seven, and the way back to older content."""

    ACTIVATE = "activate"
    DEACTIVATE = "deactivate"
    PROMOTE_SHARED = "promote_shared"
    DEMOTE_PRIVATE = "demote_private"
    QUARANTINE = "quarantine"
    UNQUARANTINE = "unquarantine"
    ARCHIVE = "archive"
    ROLLBACK = "rollback"


class AbilityState(StrEnum):
    """How an installed ability stands. Only an active one may be routed to."""

    ACTIVE = "active"
    DEACTIVATED = "deactivated"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"


class LifecycleRequester(StrEnum):
    """On whose behalf."""

    USER = "user"
    SYSTEM = "system"
    REPAIR = "repair"


class AbilityLifecycleCommand(VersionedContract):
    """One command on one ability, as ``abilities/activation_history.jsonl`` keeps it."""

    ability_id: Text160
    action: AbilityLifecycleAction
    reason: Text240 | None = None
    requested_by: LifecycleRequester
    created_at: UtcTime

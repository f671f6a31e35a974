"""Improving an installed skill: what a proposal starts from, and how that stands now (DOC3 §0C.4, §0A.8)."""

from pydantic import Field

from contracts.base import Contract, Sha256, Text120, Text160, Text240, Text400

MAX_CONFLICTS = 20
"""The most conflicts that are listed one by one."""


class BaseSkill(Contract):
    """The installed version that a proposal improves, pinned when it was chosen or last rebased."""

    ability_id: Text160
    skill_slug: Text120
    version: int = Field(ge=1)
    content_hash: Sha256 = Field(description="Of the proposal that the version was installed from.")


class BaseConflict(Contract):
    """A part that somebody edited by hand and the proposal would change: the hand's text stays."""

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

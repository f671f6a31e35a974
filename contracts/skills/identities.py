"""Identities: which numbers and channels belong to which name (OC-15, OC-16, O-19)."""

from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract
from contracts.skills.voice import PHONE

NAME = r"^[^_.\x00-\x20\x7f][^.\x00-\x1f\x7f]{0,79}$"
"""No dot, as other programs take one for a path; nothing that begins like ``__proto__``."""

MAX_CHANNELS = 20

IdentityName = Annotated[str, StringConstraints(pattern=NAME)]


class LinkIdentityRequest(Contract):
    """Asks that a number, and other channels, belong to a name."""

    name: IdentityName
    peerId: str = Field(pattern=PHONE)
    channels: tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...] = Field(
        default=(), max_length=MAX_CHANNELS
    )


class UnlinkIdentityRequest(Contract):
    """Asks that a name is forgotten."""

    name: IdentityName

"""Phone calls that skills place (OC-02…OC-09)."""

from typing import Literal

from pydantic import Field

from contracts.base import Contract

PHONE = r"^\+?[0-9]{2,15}$"
"""A number of E.164, or an extension; the leading ``+`` is not sent."""

MAX_SPOKEN = 1_000
"""The longest text of a call."""


class PlaceCallRequest(Contract):
    """Asks for a call: announce speaks the message, conversation also listens."""

    to: str = Field(pattern=PHONE)
    device: str = Field(min_length=1, max_length=120)
    message: str = Field(min_length=1, max_length=MAX_SPOKEN)
    mode: Literal["announce", "conversation"] = "announce"


class CallStatusRequest(Contract):
    """Asks how a call stands."""

    call_id: str = Field(pattern=r"^[A-Za-z0-9_.:@-]{1,200}$")

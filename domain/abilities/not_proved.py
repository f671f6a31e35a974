"""What an agent is told of an ability of which something was never proved."""

from contracts.abilities.availability import ImportOrigin, UnprovedAcceptance
from contracts.base import clipped

_SAID = 280
"""Characters; how to go about it has room beside it."""

HOW_TO_FOLLOW_IT = (
    "read each command before you run it, do only what the user asked for, and ask the user before you delete, send, "
    "install or overwrite anything"
)
"""How an agent goes about what nobody has shown to work."""


def not_proved(unproved: UnprovedAcceptance | None, origin: ImportOrigin | None) -> str | None:
    """What of an ability nothing has ever shown to work; None where everything was proved."""
    if origin is not None:
        held = f" It was installed in spite of {', '.join(origin.overridden)}." if origin.overridden else ""
        whence = origin.original_filename or origin.source
        said = (
            f"Nothing of it is proved: it was imported ({whence}), and nobody has demonstrated it here.{held}"
        )
        return clipped(said, _SAID)
    if unproved is None:
        return None
    parts = "; ".join(one.step.rstrip(".") for one in unproved.steps)
    return clipped(f"Not proved here ({len(unproved.steps)}): {parts}.", _SAID)

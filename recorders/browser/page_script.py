"""The listener that every watched document is given."""

import json
import secrets
from importlib.resources import files

from recorders.browser.cdp_connection import Params
from recorders.browser.typed_echoes import TypedEchoes

WORLD = "apprentice-recorder"
"""The isolated world in which the listener lives: pages neither see nor reach it."""

RECORDING, PAUSED = "● Recording", "Recording paused"


class PageScript:
    """The listener's source for one recording, and the name of the binding it reports by."""

    def __init__(self, echoes: TypedEchoes) -> None:
        self.binding = f"apprentice_{secrets.token_hex(8)}"
        listener = files("recorders.browser").joinpath("page_listener.js").read_text(encoding="utf-8")
        self._source = f"({listener})({json.dumps(self.binding)}, {json.dumps(echoes.key)})"

    @property
    def on_new_document(self) -> Params:
        """Parameters of ``Page.addScriptToEvaluateOnNewDocument``; runs in present documents as well."""
        return {"source": self._source, "worldName": WORLD, "runImmediately": True}


LEAVE = "globalThis.apprenticeRecorder?.leave()"
"""The expression that ends the listener of a page and takes its badge away."""


def show_badge(text: str) -> str:
    """The expression that makes the badge say ``text``."""
    return f"globalThis.apprenticeRecorder?.show({json.dumps(text)})"

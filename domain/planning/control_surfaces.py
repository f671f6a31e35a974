"""The order of control surfaces: the most semantic one that is there comes first (DOC3 §1.1E, §1.1Q)."""

from collections.abc import Collection
from enum import StrEnum

from contracts.capabilities.control_surface import ControlSurface as Surface


class Truth(StrEnum):
    """Where the thing acted upon really is."""

    LOCAL = "local"
    REMOTE = "remote"


_NATIVE = (Surface.NATIVE_OPENCLAW_TOOL,)
_CONNECTORS = (Surface.MCP_CONNECTOR, Surface.MCP_SERVER)
_BRIDGE = (Surface.BRIDGE_TOOL,)
_PROGRAMS = (Surface.APP_API, Surface.WRAPPER_SCRIPT, Surface.APPLESCRIPT, Surface.PYTHON_WRAPPER)
_INPUT = (Surface.KEYBOARD_SHORTCUT, Surface.MIDI_BINDING)
_PAGES = (Surface.NATIVE_OPENCLAW_BROWSER, Surface.PAGE_KNOWLEDGE_UI)
_RAW = (Surface.RAW_UI,)

ORDER: dict[Truth, tuple[Surface, ...]] = {
    # Connectors come with the bridge's tools where the truth is local: both are structured.
    Truth.LOCAL: (*_NATIVE, *_BRIDGE, *_CONNECTORS, *_PROGRAMS, *_INPUT, *_PAGES, *_RAW),
    Truth.REMOTE: (*_NATIVE, *_CONNECTORS, *_BRIDGE, *_PROGRAMS, *_INPUT, *_PAGES, *_RAW),
}
"""Every surface once, best first."""

USER_INTERFACE = frozenset({*_PAGES, *_RAW})
"""Surfaces that act through what a person sees; acting there where a semantic one failed is a fallback."""


def ranked(available: Collection[Surface], truth: Truth = Truth.LOCAL) -> tuple[Surface, ...]:
    """The surfaces that are available, healthy and allowed, best first."""
    return tuple(surface for surface in ORDER[truth] if surface in available)

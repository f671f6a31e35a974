"""Control surfaces: how an agent can act, from native tools to the raw user interface (DOC3 §0.2A, rows G0-03)."""

from enum import StrEnum


class ControlSurface(StrEnum):
    """Thirteen surfaces, from native tools down to the raw user interface."""

    NATIVE_OPENCLAW_TOOL = "native_openclaw_tool"
    NATIVE_OPENCLAW_BROWSER = "native_openclaw_browser"
    BRIDGE_TOOL = "bridge_tool"
    MCP_CONNECTOR = "mcp_connector"
    MCP_SERVER = "mcp_server"
    APP_API = "app_api"
    WRAPPER_SCRIPT = "wrapper_script"
    APPLESCRIPT = "applescript"
    PYTHON_WRAPPER = "python_wrapper"
    KEYBOARD_SHORTCUT = "keyboard_shortcut"
    MIDI_BINDING = "midi_binding"
    PAGE_KNOWLEDGE_UI = "page_knowledge_ui"
    RAW_UI = "raw_ui"

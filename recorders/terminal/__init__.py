"""The terminal recorder: a real bash that reports each finished command line, never what it printed."""

from recorders.errors import RecorderError
from recorders.terminal.options import RecordingSummary, TerminalRecorderOptions
from recorders.terminal.recording import record_terminal, run_scripted

__all__ = ["RecorderError", "RecordingSummary", "TerminalRecorderOptions", "record_terminal", "run_scripted"]

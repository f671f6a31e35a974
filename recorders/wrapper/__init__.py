"""The wrapper: runs one command for real and reports one receipt of it, never what it printed."""

from recorders.wrapper.options import WrapperOptions, WrapperSummary
from recorders.wrapper.wrapping import wrap_command

__all__ = ["WrapperOptions", "WrapperSummary", "wrap_command"]

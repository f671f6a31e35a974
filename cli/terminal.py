"""A console that other people's words cannot command: they are shown, and the terminal does not obey them."""

import json
import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# Control characters (C0 but line end and tab, DEL, C1), and what turns the direction of text.
_COMMANDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """``text`` with characters that command a terminal, or reorder what is read, as JSON escapes them."""
    return _COMMANDING.sub(lambda found: json.dumps(found[0])[1:-1], text)


class TerminalConsole(Console):
    """Rich's console; what is printed is made ``harmless``, its own colours and cursor are not touched."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich's, piece by piece."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else harmless(text), style, control)

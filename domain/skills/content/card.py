"""The picture of content where no tool makes one: its words on a card, as SVG (O-6).

The same content gives the same card. It is shapes and text alone: no script, no style sheet, no reference outward, at
most ``MOST_CARD_BYTES``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.platform.drawn_text import is_right_to_left, lines_of, xml_text

MOST_CARD_BYTES = 64 * 1024

_BACKGROUND, _INK, _MUTED = "#14181f", "#f5f7fa", "#a9b4c2"
_FONTS = "system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif"
_MARGIN = 80
_WORDS_SIZE, _FOOTER_SIZE = 34, 26
_TITLE_SIZES, _MOST_TITLE_LINES = (72, 56, 44, 36), 5
_BOLD = 1.2
"""How much wider bold letters are."""

_LEADING = 1.35
"""The distance of lines, by the size of their letters."""

_MOST_LINES_OF_ONE = 4


@dataclass(frozen=True)
class _Form:
    """Pixels, and the colour of the bar."""

    width: int
    height: int
    colour: str


_FORMS = {
    "twitter": _Form(1200, 675, "#4aa3df"),
    "tiktok": _Form(1080, 1920, "#ee5d7a"),
    "instagram": _Form(1080, 1080, "#d98cd0"),
    "youtube": _Form(1280, 720, "#e0655a"),
}
_OTHER = _Form(1200, 675, "#7fb48a")


@dataclass(frozen=True)
class _Block:
    """Lines below each other in one size of letters."""

    lines: Sequence[str]
    size: int
    weight: int = 400

    @property
    def height(self) -> float:
        return len(self.lines) * self.size * _LEADING + _WORDS_SIZE / 2


def content_card(title: str, words: Sequence[str], platform: str) -> str:
    """An SVG document in the form that the platform shows: the title, the first lines of ``words``, the platform.

    What does not fit is left out, with an ellipsis where it was cut. Text of scripts that are written to the left is at
    the right edge.
    """
    form = _FORMS.get(platform, _OTHER)
    width, left = form.width - 2 * _MARGIN, form.height - 2.0 * _MARGIN - _FOOTER_SIZE
    blocks = [_title(title, width)]
    left -= blocks[0].height
    for one in words:
        room = int((left - _WORDS_SIZE / 2) / (_WORDS_SIZE * _LEADING))
        lines, _ = (
            lines_of(one, width / _WORDS_SIZE, min(room, _MOST_LINES_OF_ONE)) if room > 0 else ([], False)
        )
        if lines:
            blocks.append(_Block(lines, _WORDS_SIZE))
            left -= blocks[-1].height
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{form.width}" height="{form.height}"'
            f' viewBox="0 0 {form.width} {form.height}" role="img" font-family="{_FONTS}">',
            f"<title>{xml_text(title)}</title>",
            f'<rect width="{form.width}" height="{form.height}" fill="{_BACKGROUND}"/>',
            f'<rect width="{form.width}" height="16" fill="{form.colour}"/>',
            *_drawn(blocks, form, _MARGIN + left / 2),
            f'<text x="{_MARGIN}" y="{form.height - _MARGIN // 2}" font-size="{_FOOTER_SIZE}" fill="{_MUTED}">'
            f"{xml_text(platform)}</text>",
            "</svg>\n",
        )
    )


def _title(title: str, width: int) -> _Block:
    """In the largest letters in which it fits into its lines; in the smallest it may be cut."""
    fitted: list[str] = []
    for size in _TITLE_SIZES:
        fitted, whole = lines_of(title, width / (size * _BOLD), _MOST_TITLE_LINES)
        if whole:
            return _Block(fitted, size, 700)
    return _Block(fitted, _TITLE_SIZES[-1], 700)


def _drawn(blocks: Sequence[_Block], form: _Form, top: float) -> list[str]:
    drawn: list[str] = []
    for block in blocks:
        leftward = is_right_to_left("".join(block.lines))
        place = f'x="{form.width - _MARGIN}" direction="rtl"' if leftward else f'x="{_MARGIN}"'
        for number, line in enumerate(block.lines, start=1):
            y = round(top + number * block.size * _LEADING)
            drawn.append(
                f'<text {place} y="{y}" font-size="{block.size}" font-weight="{block.weight}" fill="{_INK}">'
                f"{xml_text(line)}</text>"
            )
        top += block.height
    return drawn

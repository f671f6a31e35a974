"""A server's words, safe to be shown: what cannot be seen is spelled out; nothing hides, no terminal obeys."""

import unicodedata

_KEPT = frozenset("\t\n")


def visible(text: str) -> str:
    """``text`` with control, format and other unseen characters as ``\\uXXXX``; line ends and tabs stay."""
    return "".join(
        character
        if character in _KEPT or unicodedata.category(character)[0] != "C"
        else f"\\u{ord(character):04x}"
        for character in text
    )

"""Writes a front matter that every reader of YAML understands alike: texts in double quotes, in the order given."""

import json
import re
from collections.abc import Mapping

_PLAIN = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def skill_md_text(front: Mapping[str, str | Mapping[str, str]], body: str) -> str:
    """A SKILL.md of a front matter whose values are texts, or mappings of texts, and a body."""
    lines = ["---"]
    for name, value in front.items():
        if isinstance(value, str):
            lines.append(f"{_scalar(name)}: {_scalar(value)}")
        else:
            lines.append(f"{_scalar(name)}:")
            lines += [f"  {_scalar(inner)}: {_scalar(text)}" for inner, text in value.items()]
    return "\n".join([*lines, "---", "", body])


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text not in _RESERVED:
        return text
    written = json.dumps(text, ensure_ascii=False)
    # What YAML takes for the end of a line, or refuses, is spelled out.
    return re.sub("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]", _escaped, written)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

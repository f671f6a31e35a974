"""The rules of the Agent Skills specification for the fields of a front matter (agentskills.io/specification)."""

import re

MOST_SKILL_MD_BYTES = 1024 * 1024
"""The largest SKILL.md that is read."""

MOST_FRONTMATTER_BYTES, MOST_FRONTMATTER_DEPTH = 16 * 1024, 8
"""The largest front matter, in UTF-8, and its deepest nesting."""

NAME_LIMIT, DESCRIPTION_LIMIT, COMPATIBILITY_LIMIT = 64, 1024, 500
"""The most characters of these fields."""

FIELDS = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
"""The fields of the specification, in the order in which they are written."""

MOST_FIELDS = 200
"""The most fields that are read, those of metadata counted."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

_RESERVED_NAMES = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")


def is_skill_name(text: str) -> bool:
    """Whether it is 2 to 64 lower-case letters, digits and single hyphens, no hyphen first or last.

    The specification allows a single character; a skill's folder here has at least two (DOC3 line 4381).
    """
    return 2 <= len(text) <= NAME_LIMIT and bool(_NAME.fullmatch(text))


def is_reserved_name(text: str) -> bool:
    """Whether no folder may be called so on Windows."""
    return bool(_RESERVED_NAMES.fullmatch(text))


def slug_of(text: str) -> str | None:
    """The skill name that a title or folder comes closest to, or None where nothing of it is left."""
    found = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:NAME_LIMIT].rstrip("-")
    return found if is_skill_name(found) and not is_reserved_name(found) else None

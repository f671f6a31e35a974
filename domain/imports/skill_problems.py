"""What can be wrong with the SKILL.md of a bundle, and what was changed about it with the person's consent.

A problem that no repair mends refuses the skill; a repair never drops what was said: it is kept under ``metadata``.
"""

from dataclasses import dataclass
from enum import StrEnum

from contracts.base import clipped
from domain.platform.visible_text import visible


class SkillCode(StrEnum):
    """Where a SKILL.md departs from the Agent Skills specification, beside the codes of its front matter's YAML."""

    # Nothing mends these.
    NOT_UTF8 = "SKILL_MD_NOT_UTF8"
    EMPTY = "SKILL_MD_EMPTY"
    TOO_LARGE = "SKILL_MD_TOO_LARGE"
    LINK_TEXT = "SKILL_MD_IS_A_PATH"
    LINE_BREAK = "FRONTMATTER_UNUSUAL_LINE_BREAK"
    UNSEEN_CHARACTER = "FRONTMATTER_UNSEEN_CHARACTER"
    NAME_IS_PATH = "SKILL_NAME_IS_A_PATH"
    NAME_RESERVED = "SKILL_NAME_RESERVED"
    NAME_UNUSABLE = "SKILL_NAME_UNUSABLE"
    NAME_NOT_TEXT = "SKILL_NAME_NOT_TEXT"
    DESCRIPTION_UNUSABLE = "SKILL_DESCRIPTION_UNUSABLE"
    ALLOWED_TOOLS_UNUSABLE = "SKILL_ALLOWED_TOOLS_UNUSABLE"
    TOO_MANY_FIELDS = "SKILL_TOO_MANY_FIELDS"
    # A repair mends these.
    FRONTMATTER_MISSING = "FRONTMATTER_MISSING"
    FRONTMATTER_NOT_YAML = "FRONTMATTER_NOT_YAML"
    LEADING_LINES = "SKILL_MD_LEADING_LINES"
    FILE_NAME = "SKILL_MD_FILE_NAME"
    NAME_MISSING = "SKILL_NAME_MISSING"
    NAME_INVALID = "SKILL_NAME_INVALID"
    NAME_NOT_FOLDER = "SKILL_NAME_NOT_FOLDER"
    DESCRIPTION_MISSING = "SKILL_DESCRIPTION_MISSING"
    DESCRIPTION_TOO_LONG = "SKILL_DESCRIPTION_TOO_LONG"
    DESCRIPTION_NOT_TEXT = "SKILL_DESCRIPTION_NOT_TEXT"
    LICENSE_NOT_TEXT = "SKILL_LICENSE_NOT_TEXT"
    COMPATIBILITY_NOT_TEXT = "SKILL_COMPATIBILITY_NOT_TEXT"
    COMPATIBILITY_TOO_LONG = "SKILL_COMPATIBILITY_TOO_LONG"
    ALLOWED_TOOLS_FORM = "SKILL_ALLOWED_TOOLS_FORM"
    ALLOWED_TOOLS_SPELLING = "SKILL_ALLOWED_TOOLS_SPELLING"
    METADATA_NOT_MAPPING = "SKILL_METADATA_NOT_MAPPING"
    METADATA_NOT_TEXT = "SKILL_METADATA_NOT_TEXT"
    FIELD_SPELLING = "SKILL_FIELD_SPELLING"
    UNKNOWN_FIELD = "SKILL_UNKNOWN_FIELD"
    EMPTY_FIELD = "SKILL_EMPTY_FIELD"


class SkillRefused(Exception):
    """A SKILL.md that cannot be taken, and that no repair mends. ``line`` counts in the file, from 1."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(code, message, line)
        self.code = str(code)
        self.message = clipped(visible(message), 1000)
        self.line = line

    def __str__(self) -> str:
        place = f" (line {self.line})" if self.line is not None else ""
        return f"{self.code}: {self.message}{place}"


@dataclass(frozen=True)
class Repair:
    """One change that makes a SKILL.md conform: what was wrong (``code``), where, and both wordings."""

    code: SkillCode
    field: str
    message: str
    before: str
    after: str

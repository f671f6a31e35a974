"""Makes the fields of a front matter conform to the Agent Skills specification, and lists every change.

What a field may not hold is kept under ``metadata``; a field that means two things, or hides what it is, refuses the
skill.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from contracts.base import clipped
from domain.imports.allowed_tools import MOST_TOOLS, joined_tools, split_tools
from domain.imports.skill_problems import Repair, SkillCode, SkillRefused
from domain.imports.specification import (
    COMPATIBILITY_LIMIT,
    DESCRIPTION_LIMIT,
    FIELDS,
    MOST_FIELDS,
    is_reserved_name,
    is_skill_name,
    slug_of,
)
from domain.platform.visible_text import visible

_TOOLS = "allowed-tools"
_FULL_DESCRIPTION, _FULL_COMPATIBILITY = "full-description", "full-compatibility"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_PROSE = re.compile(r"\w[^\s:]*\s+\S+\s+\S")

Front = dict[str, str | Mapping[str, str]]


def repaired_fields(
    said: Mapping[str, object], body: str, folder: str | None, repairs: list[Repair]
) -> Front:
    """The fields of the specification, each as it has to be. Appends to ``repairs`` what was changed.

    Raises:
        SkillRefused: a field cannot be used, and nothing else tells what it should be.
    """
    inner = said.get("metadata")
    if len(said) + (len(cast("dict[str, object]", inner)) if isinstance(inner, dict) else 0) > MOST_FIELDS:
        raise SkillRefused(SkillCode.TOO_MANY_FIELDS, f"the front matter has more than {MOST_FIELDS} fields")
    return _Fields(said, body, folder, repairs).repaired()


class _Fields:
    def __init__(
        self, said: Mapping[str, object], body: str, folder: str | None, repairs: list[Repair]
    ) -> None:
        self._said = _spelled(said, repairs)
        self._body = body
        self._folder = folder
        self._repairs = repairs
        self._kept: dict[str, str] = {}

    def repaired(self) -> Front:
        front: Front = {"name": self._name(), "description": self._description()}
        if (licence := self._text("license", SkillCode.LICENSE_NOT_TEXT)) is not None:
            front["license"] = licence
        if (compatibility := self._compatibility()) is not None:
            front["compatibility"] = compatibility
        if (tools := self._allowed_tools()) is not None:
            front["allowed-tools"] = tools
        metadata = self._metadata()
        self._move_unknown(metadata)
        for name, value in self._kept.items():
            metadata[_free(name, metadata)] = value
        if metadata:
            front["metadata"] = metadata
        return front

    def _name(self) -> str:
        said = self._said.get("name")
        if said is not None and not isinstance(said, str | int):
            raise SkillRefused(SkillCode.NAME_NOT_TEXT, "name is no text; write the skill's name")
        name = str(said).strip() if said is not None and not isinstance(said, bool) else ""
        _refuse_deceptive(name)
        if is_skill_name(name) and name == said:
            if self._folder is not None and self._folder != name:
                message = "The skill is installed in a folder called like the skill."
                self._note(SkillCode.NAME_NOT_FOLDER, "folder", message, self._folder, name)
            return name
        found = slug_of(name) if is_skill_name(name) else None
        found = found or slug_of(self._folder or "") or slug_of(name) or slug_of(self._title())
        if found is None:
            raise SkillRefused(
                SkillCode.NAME_UNUSABLE,
                "name has to be 2 to 64 lower-case letters a to z, digits and single hyphens, and neither it nor the "
                "folder's name comes close",
            )
        code = SkillCode.NAME_INVALID if name else SkillCode.NAME_MISSING
        self._note(code, "name", "A name is lower-case letters, digits and single hyphens.", name, found)
        return found

    def _title(self) -> str:
        heading = re.search(r"^# {1,3}(.{1,200})", self._body, re.MULTILINE)
        return re.sub(r"(?i)^skill:\s*|\s+skill$", "", heading[1].strip()) if heading else ""

    def _description(self) -> str:
        said = self._said.get("description")
        if isinstance(said, list):
            said = self._joined(cast("list[object]", said))
        elif isinstance(said, int | float) and not isinstance(said, bool):
            self._note(
                SkillCode.DESCRIPTION_NOT_TEXT,
                "description",
                "A description is a text.",
                str(said),
                str(said),
            )
            said = str(said)
        if said is not None and not isinstance(said, str):
            raise SkillRefused(
                SkillCode.DESCRIPTION_UNUSABLE, "description is no text; write one or two sentences"
            )
        text = (said or "").strip()
        if not text:
            text = _first_paragraph(self._body)
            if not text:
                raise SkillRefused(
                    SkillCode.DESCRIPTION_UNUSABLE,
                    "there is no description, nor a paragraph to take it from; say what it does and when to use it",
                )
            text = _shortened(text, DESCRIPTION_LIMIT)
            message = "The description is taken from the text's first paragraph."
            self._note(SkillCode.DESCRIPTION_MISSING, "description", message, "", text)
            return text
        if len(text) <= DESCRIPTION_LIMIT:
            return text
        short = _shortened(text, DESCRIPTION_LIMIT)
        message = f"A description has at most {DESCRIPTION_LIMIT} characters; the whole is kept in metadata."
        self._note(SkillCode.DESCRIPTION_TOO_LONG, "description", message, text, short)
        self._kept[_FULL_DESCRIPTION] = text
        return short

    def _joined(self, items: Sequence[object]) -> str | None:
        if not all(isinstance(item, str) for item in items):
            return None
        text = "; ".join(str(item) for item in items)
        message = "A description is one text."
        self._note(SkillCode.DESCRIPTION_NOT_TEXT, "description", message, _as_text(items), text)
        return text

    def _text(self, field: str, code: SkillCode) -> str | None:
        if field not in self._said:
            return None
        said = self._said[field]
        if said is None or said == "":
            self._note(SkillCode.EMPTY_FIELD, field, "An empty field is left out.", "", "")
            return None
        if isinstance(said, str):
            return said
        text = _as_text(said)
        self._note(code, field, "The field is a text.", text, text)
        return text

    def _compatibility(self) -> str | None:
        text = self._text("compatibility", SkillCode.COMPATIBILITY_NOT_TEXT)
        if text is None or len(text) <= COMPATIBILITY_LIMIT:
            return text
        short = _shortened(text, COMPATIBILITY_LIMIT)
        message = (
            f"compatibility has at most {COMPATIBILITY_LIMIT} characters; the whole is kept in metadata."
        )
        self._note(SkillCode.COMPATIBILITY_TOO_LONG, "compatibility", message, text, short)
        self._kept[_FULL_COMPATIBILITY] = text
        return short

    def _allowed_tools(self) -> str | None:
        field = _TOOLS
        if field not in self._said:
            return None
        said = self._said[field]
        if said is None:
            # It names no tool. Left out it would allow every tool, which is the contrary.
            self._note(SkillCode.ALLOWED_TOOLS_FORM, field, "No tool is allowed.", "", "")
            return ""
        names = self._tool_names(said)
        if len(names) > MOST_TOOLS:
            raise SkillRefused(
                SkillCode.ALLOWED_TOOLS_UNUSABLE, f"allowed-tools names more than {MOST_TOOLS} tools"
            )
        text = joined_tools(names)
        if not isinstance(said, str) or "," in re.sub(r"\([^()]*\)", "", said):
            message = "allowed-tools is a text of names with spaces between them."
            self._note(SkillCode.ALLOWED_TOOLS_FORM, field, message, _as_text(said), text)
        return text

    def _tool_names(self, said: object) -> tuple[str, ...]:
        items = cast("list[object]", said) if isinstance(said, list) else [said]
        try:
            return tuple(name for item in items for name in split_tools(_tool_text(item)))
        except ValueError as error:
            raise SkillRefused(
                SkillCode.ALLOWED_TOOLS_UNUSABLE, f"allowed-tools cannot be read: {error}"
            ) from error

    def _metadata(self) -> dict[str, str]:
        said = self._said.get("metadata")
        if "metadata" not in self._said:
            return {}
        if said is None:
            self._note(SkillCode.EMPTY_FIELD, "metadata", "An empty field is left out.", "", "")
            return {}
        if not isinstance(said, dict):
            text = _as_text(said)
            message = "metadata is a mapping; what it held is kept in it as value."
            self._note(SkillCode.METADATA_NOT_MAPPING, "metadata", message, text, f"value: {text}")
            return {"value": text}
        found: dict[str, str] = {}
        for name, value in cast("dict[str, object]", said).items():
            found[name] = _as_text(value)
            if not isinstance(value, str):
                message = "The values of metadata are texts; lists and mappings are kept as JSON."
                self._note(SkillCode.METADATA_NOT_TEXT, f"metadata.{name}", message, found[name], found[name])
        return found

    def _move_unknown(self, metadata: dict[str, str]) -> None:
        for name, value in self._said.items():
            if name not in FIELDS:
                place = _free(name, metadata)
                metadata[place] = _as_text(value)
                message = "A field that the specification does not know is kept in metadata."
                self._note(SkillCode.UNKNOWN_FIELD, name, message, metadata[place], f"metadata.{place}")

    def _note(self, code: SkillCode, field: str, message: str, before: str, after: str) -> None:
        self._repairs.append(Repair(code, visible(field), message, visible(before), visible(after)))


def _spelled(said: Mapping[str, object], repairs: list[Repair]) -> dict[str, object]:
    """The fields under their names in the specification, where only capitals, ``_`` or a hyphen make the difference.

    Raises:
        SkillRefused: the permitted tools are there twice; of any other field the right spelling stands.
    """
    found = dict(said)
    for field in FIELDS:
        others = [name for name in said if name != field and _letters(name) == _letters(field)]
        if field == _TOOLS and len(others) + (field in said) > 1:
            raise SkillRefused(
                SkillCode.ALLOWED_TOOLS_UNUSABLE,
                "allowed-tools is there twice in different spellings; leave one",
            )
        if len(others) == 1 and field not in said:
            found[field] = found.pop(others[0])
            code = SkillCode.ALLOWED_TOOLS_SPELLING if field == _TOOLS else SkillCode.FIELD_SPELLING
            before = visible(others[0])
            repairs.append(Repair(code, field, f"The field is called {field}.", before, field))
    return found


def _letters(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).casefold()


def _refuse_deceptive(name: str) -> None:
    if "/" in name or "\\" in name or ".." in name:
        raise SkillRefused(SkillCode.NAME_IS_PATH, "name is a path; write the skill's name alone")
    if is_reserved_name(name.casefold()):
        raise SkillRefused(SkillCode.NAME_RESERVED, "name is that of a device of Windows; choose another")
    if visible(name) != name:
        raise SkillRefused(SkillCode.UNSEEN_CHARACTER, "name holds characters that are not seen; remove them")


def _tool_text(item: object) -> str:
    if not isinstance(item, str):
        raise ValueError("a name is no text")
    return item


def _free(name: str, taken: Mapping[str, str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first_paragraph(body: str) -> str:
    fenced = False
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        lines = lines[1:] if lines and lines[0].startswith("#") else lines
        fences = sum(line.startswith(("```", "~~~")) for line in lines)
        inside, fenced = fenced or fences > 0, fenced ^ (fences % 2 == 1)
        text = " ".join(lines)
        if not inside and _PROSE.match(text):
            return text
    return ""


def _shortened(text: str, limit: int) -> str:
    """The sentences that fit, at least half of the limit; else what fits, with an ellipsis."""
    if len(text) <= limit:
        return text
    ends = [found.start() for found in _SENTENCE_END.finditer(text, 0, limit + 1)]
    last = ends[-1] if ends else 0
    return text[:last].rstrip() if last >= limit // 2 else clipped(text, limit)

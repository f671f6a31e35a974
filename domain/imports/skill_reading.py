"""Reads the SKILL.md of a stranger: strictly, and with repairs that are shown before they are applied.

``read_skill`` takes what can be understood in one way only. Where the text departs from the Agent Skills specification
in a form that is often met and whose meaning is plain, a repair makes it conform; nothing that was said is dropped.
"""

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from domain.imports.field_repairs import repaired_fields
from domain.imports.skill_problems import Repair, SkillCode, SkillRefused
from domain.imports.specification import (
    MOST_FRONTMATTER_BYTES,
    MOST_FRONTMATTER_DEPTH,
    MOST_SKILL_MD_BYTES,
)
from domain.platform.frontmatter import (
    FrontmatterCode,
    FrontmatterLimits,
    FrontmatterProblem,
    read_frontmatter,
    split_frontmatter,
)
from domain.platform.visible_text import visible

_LIMITS = FrontmatterLimits(MOST_FRONTMATTER_BYTES, MOST_FRONTMATTER_DEPTH)
_UNUSUAL_BREAK = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Emoji are joined and chosen by these, and words of some scripts shaped; any other unseen character may hide a word.
_SHAPING = re.compile("[\u200c\u200d\u200e\u200f\ufe0e\ufe0f]")
_TOP_LEVEL = re.compile(r"(?P<name>[A-Za-z][\w-]*):[ \t]+(?P<value>\S.*?)[ \t]*")
_HEADING = re.compile(r"#[ \t]+\S")
_MOST_QUOTED = 20
_PLAIN = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True)
class ReadSkill:
    """A skill as it conforms. ``text`` is its SKILL.md; without repairs it is what was given, line ends apart.

    ``front`` holds the fields of the specification alone: texts, and a mapping of texts for ``metadata``.
    """

    name: str
    description: str
    front: Mapping[str, str | Mapping[str, str]]
    body: str
    original: str
    text: str
    repairs: tuple[Repair, ...]

    @property
    def conforms(self) -> bool:
        """Whether the specification takes it as it is."""
        return not self.repairs

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the skill says beside the fields of the specification."""
        found = self.front.get("metadata", {})
        return {} if isinstance(found, str) else found

    def with_repair(self, repair: Repair) -> "ReadSkill":
        """The skill with one more repair, that of its file's name."""
        return replace(self, repairs=(*self.repairs, repair))

    def diff(self) -> str:
        """The repairs as a unified diff of SKILL.md; empty without any."""
        before, after = (text.split("\n") for text in (self.original, self.text))
        # The text after the front matter is the same, and may be long.
        same = 0
        while same < min(len(before), len(after)) and before[-1 - same] == after[-1 - same]:
            same += 1
        end = max(0, same - 3)
        before, after = before[: len(before) - end], after[: len(after) - end]
        lines = difflib.unified_diff(before, after, "SKILL.md as packed", "SKILL.md as repaired", lineterm="")
        return "".join(f"{line}\n" for line in lines)


def read_skill(content: bytes, folder: str | None) -> ReadSkill:
    """The skill in a SKILL.md. ``folder`` is the name of the folder it lies in, None at the top of an archive.

    Raises:
        SkillRefused: no repair makes it a skill.
    """
    original = _text_of(content)
    repairs: list[Repair] = []
    said, body = _front_and_body(original, repairs)
    front = repaired_fields(said, body, folder, repairs)
    name, description = front["name"], front["description"]
    if not isinstance(name, str) or not isinstance(description, str):
        raise TypeError("name and description are texts")
    # A folder of another name is renamed when it is installed; the text stays as it is.
    changes = any(repair.field not in ("folder", "file") for repair in repairs)
    text = original
    if changes:
        text = skill_md_text(front, body)
        # What a repair took from the text below is as visible as what was written above it.
        _check_characters(split_frontmatter(text)[0])
    return ReadSkill(name, description, front, body, original, text, tuple(repairs))


def _text_of(content: bytes) -> str:
    if len(content) > MOST_SKILL_MD_BYTES:
        raise SkillRefused(
            SkillCode.TOO_LARGE, "SKILL.md is larger than 1 MiB; move details to files in references/"
        )
    try:
        text = content.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SkillRefused(SkillCode.NOT_UTF8, "SKILL.md is not UTF-8; save it with that encoding") from error
    if not text.strip():
        raise SkillRefused(SkillCode.EMPTY, "SKILL.md is empty")
    return text


def _front_and_body(original: str, repairs: list[Repair]) -> tuple[dict[str, object], str]:
    text = _without_leading_lines(original, repairs)
    try:
        front, body = split_frontmatter(text)
    except FrontmatterProblem as problem:
        if problem.code is FrontmatterCode.NOT_CLOSED:
            raise _refused(problem) from problem
        return _without_front(text, repairs)
    _check_characters(front)
    try:
        return read_frontmatter(text, _LIMITS), body
    except FrontmatterProblem as problem:
        if problem.code is not FrontmatterCode.NOT_YAML:
            raise _refused(problem) from problem
    return _with_quotes(front, repairs), body


def _without_leading_lines(original: str, repairs: list[Repair]) -> str:
    text = original.lstrip()
    if text == original or not text.startswith("---"):
        return original
    lead = visible(original[: len(original) - len(text)])
    message = "Empty lines before the front matter are removed."
    repairs.append(Repair(SkillCode.LEADING_LINES, "SKILL.md", message, lead, ""))
    return text


def _without_front(text: str, repairs: list[Repair]) -> tuple[dict[str, object], str]:
    """A text with a heading and no front matter gets one; what else lacks it is no skill."""
    if "\n" not in text.strip() and not _HEADING.match(text):
        raise SkillRefused(
            SkillCode.LINK_TEXT,
            "SKILL.md holds one line and no front matter, as when a link was packed as text; pack the file itself",
            1,
        )
    if not any(_HEADING.match(line) for line in text.splitlines()[:20]):
        raise SkillRefused(
            FrontmatterCode.MISSING,
            "SKILL.md has no front matter; start it with name and description between two lines of ---",
            1,
        )
    repairs.append(
        Repair(
            SkillCode.FRONTMATTER_MISSING, "SKILL.md", "A front matter is written before the text.", "", "---"
        )
    )
    return {}, text


def _check_characters(front: str) -> None:
    if found := _UNUSUAL_BREAK.search(front):
        raise SkillRefused(
            SkillCode.LINE_BREAK,
            "the front matter has a line break that some readers see and others do not; use plain line ends",
            front[: found.start()].count("\n") + 2,
        )
    for number, line in enumerate(front.split("\n"), start=2):
        if _CONTROL.search(line):
            raise SkillRefused(
                FrontmatterCode.CONTROL_CHARACTER, "the front matter holds a control character", number
            )
        if visible(shown := _SHAPING.sub("", line)) != shown:
            raise SkillRefused(
                SkillCode.UNSEEN_CHARACTER,
                "the front matter holds characters that are not seen, or that turn the direction of the text; "
                "remove them",
                number,
            )


def _with_quotes(front: str, repairs: list[Repair]) -> dict[str, object]:
    """Reads YAML after quoting the one-line texts that break it: ``description: Use this: often``."""
    lines = front.split("\n")
    changed: list[Repair] = []
    for _ in range(_MOST_QUOTED):
        try:
            found = read_frontmatter("---\n" + "\n".join(lines) + "\n---\n", _LIMITS)
        except FrontmatterProblem as problem:
            number = (problem.line or 0) - 2
            if problem.code is not FrontmatterCode.NOT_YAML or not 0 <= number < len(lines):
                raise _refused(problem) from problem
            line = _TOP_LEVEL.fullmatch(lines[number])
            if line is None or line["value"][0] in "\"'|>&*!{":
                raise _refused(problem) from problem
            quoted = line["value"].replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
            repaired = f'{line["name"]}: "{quoted}"'
            message = "The text is put in quotes: as it stands, it is no YAML."
            changed.append(
                Repair(SkillCode.FRONTMATTER_NOT_YAML, line["name"], message, lines[number], repaired)
            )
            lines[number] = repaired
            continue
        repairs.extend(changed)
        return found
    raise SkillRefused(FrontmatterCode.NOT_YAML, "the front matter is no YAML")


def _refused(problem: FrontmatterProblem) -> SkillRefused:
    return SkillRefused(problem.code, problem.what, problem.line)


def skill_md_text(front: Mapping[str, str | Mapping[str, str]], body: str) -> str:
    """A SKILL.md of a front matter whose values are texts, or mappings of texts, and a body.

    Every reader of YAML understands it alike: texts in double quotes, in the order given.
    """
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

"""Looks over the text of a SKILL.md: its length, large parameter docs, one computer's paths, missing files."""

import posixpath
import re
from collections.abc import Iterator

from contracts.imports.compatibility import SkillCompatibilityFinding
from domain.imports.bundles import SkillBundle
from domain.imports.findings import info, warning

_MOST_LINES = 500
"""The longest text that the specification advises."""

_MOST_JSON_LINES = 60
_MOST_MISSING = 10
_JSON_BLOCK = re.compile(r"^```json[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_HOME = re.compile(r"(?:/Users/|/home/|[A-Za-z]:\\Users\\)([A-Za-z][\w.-]*)")
_ANYBODY = frozenset((
    "user", "username", "you", "your", "yourname", "yourusername", "me", "myuser", "name", "dev",
    "developer", "example", "shared", "public", "runner", "node", "ubuntu", "vscode", "agent", "claude",
    "linuxbrew", "app", "youruser", "someone", "alice", "bob", "john", "jane",
))  # fmt: skip
# Each repetition is bounded: a megabyte may be made so that it is searched for ever.
_LINKED = re.compile(
    r"\]\([ \t]{0,3}(?:\./)?([^()\[\]\s:#?]{1,200}\.\w{1,8})(?:#[^()\s]{0,200})?[ \t]{0,3}\)"
)
_OWN_FOLDERS = re.compile(
    r"(?<![\w/.~$}-])(?:\./)?((?:scripts|references|assets|schemas)/[\w./-]{0,200}\w\.[a-z]\w{0,7})\b"
)


def text_findings(bundle: SkillBundle) -> Iterator[SkillCompatibilityFinding]:
    """What is worth knowing of the text."""
    body = bundle.skill.body
    if (lines := body.count("\n")) > _MOST_LINES:
        yield info(
            "SKILL_MD_LONG",
            f"SKILL.md has {lines} lines; agents read it whole. Move details to files in references/.",
            "SKILL.md",
        )
    if any(found[1].count("\n") > _MOST_JSON_LINES for found in _JSON_BLOCK.finditer(body)):
        yield info(
            "PARAMETER_DOCS_INLINE",
            f"SKILL.md holds more than {_MOST_JSON_LINES} lines of JSON. Move them to a file in schemas/.",
            "SKILL.md",
        )
    homes = {found[0] for found in _HOME.finditer(body) if found[1].casefold() not in _ANYBODY}
    if homes:
        yield warning(
            "HOME_PATH",
            f"SKILL.md names a folder of one person's computer: {min(homes)}. Say where to find it instead.",
            "SKILL.md",
        )
    for path in _missing_files(bundle)[:_MOST_MISSING]:
        yield warning("FILE_MISSING", "SKILL.md refers to a file that is not in the skill. Add it.", path)


def _missing_files(bundle: SkillBundle) -> list[str]:
    there = {file.path.casefold() for file in bundle.files}
    # Examples in code fences speak of files that a user has.
    text = re.sub(r"^(```|~~~).*?^\1", "", bundle.skill.body, flags=re.MULTILINE | re.DOTALL)
    named = [found[1] for pattern in (_LINKED, _OWN_FOLDERS) for found in pattern.finditer(text)]
    paths = dict.fromkeys(posixpath.normpath(path) for path in named if not path.startswith("/"))
    return [path for path in paths if not path.startswith("..") and path.casefold() not in there]

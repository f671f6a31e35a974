"""Looks over what a SKILL.md says: its description, its examples of use, its length, its paths, its missing files."""

import posixpath
import re
from collections.abc import Iterator

from contracts.imports.compatibility import SkillCompatibilityFinding
from domain.imports.bundles import SkillBundle
from domain.imports.findings import info, warning
from domain.imports.portable import listed
from domain.imports.skill_reading import ReadSkill

_SHORTEST = 20
"""The fewest characters of a description (DOC3 line 5749)."""

_FEWEST_EXAMPLES = 3
"""The fewest examples that a skill is tested with, of each kind (DOC3 lines 5890-5894)."""

_SAYS_WHEN = re.compile(
    r"\b(?:when|whenever|while|if|use (?:this|it|for|to)|used (?:for|to)|for|to|trigger\w*|asks?|asked|invoke)\b",
    re.I,
)
_PLACEHOLDER = re.compile(
    r"^\W*(?:todo|tbd|fixme|placeholder)\b|\[(?:todo|tbd|description)\b|\btodo:|\blorem ipsum\b"
    r"|^replace (?:this|with)\b|\byour description\b|\bdescription (?:goes )?here\b",
    re.IGNORECASE,
)
_EMPTY_WORDS = frozenset((
    "a", "an", "and", "any", "all", "does", "for", "good", "great", "help", "helper", "helpers",
    "helpful", "helps", "is", "it", "many", "my", "of", "on", "or", "other", "really", "skill", "skills",
    "some", "stuff", "task", "tasks", "that", "the", "thing", "things", "this", "to", "tool", "tools",
    "use", "used", "useful", "user", "users", "various", "very", "with", "your", "you",
))  # fmt: skip
_FEWEST_TELLING = 3

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


def description_findings(skill: ReadSkill) -> Iterator[SkillCompatibilityFinding]:
    """What is wrong with the description and the examples of use."""
    text = skill.description
    # The rules on words hold for languages that write Latin letters with spaces between words.
    latin = sum(letter.isascii() for letter in text if letter.isalpha()) * 2 > len(text.replace(" ", ""))
    telling = {word for word in re.findall(r"\w+", text.casefold()) if word not in _EMPTY_WORDS}
    telling_too_little = latin and (len(text) < _SHORTEST or len(telling) < _FEWEST_TELLING)
    if found := _PLACEHOLDER.search(text):
        yield warning(
            "DESCRIPTION_PLACEHOLDER",
            f"The description still says {found[0]!r}. Say what the skill does and when to use it.",
            "SKILL.md",
        )
    elif telling_too_little:
        yield warning(
            "DESCRIPTION_VAGUE",
            "The description says too little for an agent to choose the skill by. Say what it does and when to use it.",
            "SKILL.md",
        )
    elif latin and not _SAYS_WHEN.search(text):
        yield info(
            "DESCRIPTION_WITHOUT_WHEN",
            "The description does not say when to use the skill. Add a sentence that starts with: Use when.",
            "SKILL.md",
        )
    if (_PLACEHOLDER.search(text) or telling_too_little) and not listed(skill.metadata, "triggers", 200):
        yield info(
            "EXAMPLES_TO_WRITE",
            f"Write {_FEWEST_EXAMPLES} requests that should find the skill, {_FEWEST_EXAMPLES} in other words, and "
            f"{_FEWEST_EXAMPLES} that should not, as metadata.triggers and metadata.negative_triggers.",
            "SKILL.md",
        )
    for field, what in (("triggers", "use"), ("negative_triggers", "when it is not to be used")):
        count = len(listed(skill.metadata, field, 200))
        if 0 < count < _FEWEST_EXAMPLES:
            yield info(
                "EXAMPLES_FEW",
                f"{count} examples of {what} are given; {_FEWEST_EXAMPLES} are tested. Add some as metadata.{field}.",
                "SKILL.md",
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

"""Warns of a description by which no agent can tell when to use the skill, and of too few examples of its use."""

import re
from collections.abc import Iterator

from contracts.imports.compatibility import SkillCompatibilityFinding
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

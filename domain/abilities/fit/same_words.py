"""Whether a request says a title or a trigger phrase in the same words, with other small ones around them."""

import re
from collections.abc import Sequence

from domain.abilities.fit.reading import Reading
from domain.abilities.fit.ruling import Profile
from domain.abilities.fit.spelling import without_lead
from domain.abilities.fit.words import tokens, word_of

_SPOKEN_ALIKE: Sequence[tuple[str, str]] = (
    (r"\b(?:of|for) (?:each|every)\b|\bper\b|\baccording to\b", "by"),
    (r"\bone of the\b|\ball of\b|\bevery\b", "all"),
    (r"\b(?:that|which) have\b", "with"),
    (r"\b(?:that|which) are\b", ""),
    (r"\binto\b", "to"),
)
"""Small words that say the same."""

_DETERMINER_LIST = "the my our your his her their its these those a an some one all"
_LEADING_LIST = """
    please kindly can could would will you i we i'd i'll like need want have to help me us it time let go and now just
"""
_ENDING_LIST = "for me us please again now thanks thank you"
_LEADING, _ENDING = frozenset(_LEADING_LIST.split()), frozenset(_ENDING_LIST.split())
_DETERMINERS = frozenset(_DETERMINER_LIST.split())
"""Words that leave open which ones are meant; "this" and "last" do not."""


def said_in_its_words(request: Reading, profile: Profile) -> bool:
    """Whether the request is the title or a phrase but for courtesy, articles and small words that say the same.

    The order of the words counts: "sync A with B" is not "sync B with A".
    """
    asked = _in_order(request)
    return bool(asked) and any(_in_order(said) == asked for said in (profile.title, *profile.phrases))


def _in_order(said: Reading) -> tuple[str, ...]:
    """The meanings of all words but courtesy and articles, in order."""
    text = without_lead(said.text)
    for spoken, plain in _SPOKEN_ALIKE:
        text = re.sub(spoken, plain, text)
    found = list(tokens(text))
    while found and found[0] in _LEADING:
        del found[0]
    while found and found[-1] in _ENDING:
        del found[-1]
    return tuple(word_of(token).meaning for token in found if token not in _DETERMINERS)

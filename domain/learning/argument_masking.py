"""Masking the secrets of an argument list while it is still a list: the limits of its words are certain there.

A command line is text, and a secret with a blank or a quote in it is several words of it to a rule. So the value
after an option of a telling name, and the value behind ``=``, are masked whole before anything is joined; what a
word tells by its own shape is left to the rules for text, word by word (DOC3 §0C.22 privacy rules).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.learning.named_secrets import MASK, is_secret_name
from domain.learning.redaction import redact

LONGEST_WORD = 8_000
"""Characters of one word that are looked at; the rest is left out."""

_OPTION = re.compile(r"--?([A-Za-z][\w.-]*)")
_ASSIGNED = re.compile(r"(-{0,2})([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_ANOTHER_OPTION = re.compile(r"--[A-Za-z].*|-[A-Za-z]", re.DOTALL)


@dataclass(frozen=True)
class MaskedArgument:
    """One word of a command line; a masked one is written as it is, so that its mask stays readable."""

    text: str
    is_masked: bool = False


def masked_arguments(arguments: Sequence[str]) -> Iterator[MaskedArgument]:
    """The words with their secrets masked, in their order.

    What follows ``--password`` is its value, unless it reads as another option: ``--auth --verbose``.
    """
    is_value = False
    for word in arguments:
        if is_value and not _ANOTHER_OPTION.fullmatch(word):
            is_value = False
            yield MaskedArgument(MASK, is_masked=True)
            continue
        option = _OPTION.fullmatch(word)
        is_value = option is not None and is_secret_name(option.group(1))
        yield _masked(word)


def _masked(word: str) -> MaskedArgument:
    assigned = _ASSIGNED.fullmatch(word)
    if assigned is not None and is_secret_name(assigned.group(2)):
        return MaskedArgument(f"{assigned.group(1)}{assigned.group(2)}={MASK}", is_masked=True)
    if len(word) > LONGEST_WORD:
        # Cut between words: half a secret no longer looks like one.
        word = word[:LONGEST_WORD].rsplit(None, 1)[0]
    # In quotes a rule knows where the word ends, as for a header with blanks in it.
    quote = "'" if '"' in word else '"'
    quoted = redact(f"{quote}{word}{quote}").text
    return MaskedArgument(redact(quoted.removeprefix(quote).removesuffix(quote)).text)

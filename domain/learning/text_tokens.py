"""Cutting a text into the pieces that can differ between two demonstrations: dates, numbers, words."""

import re

_TOKEN = re.compile(
    r"""
    \\[abfnrtv0\\]                        # an escape of printf or echo
    | \d{4}-\d{2}-\d{2} (?![^\W_])        # a day
    | \d{4}-(?:\d{2}|[qQ][1-4]) (?![^\W_]) # a month or a quarter
    | \d+\.\d+ (?![^\W_]|\.\d)            # a decimal number
    | [^\W_]+                             # a word, a whole number or a mixture such as "q3"
    | \s+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)


def tokens_of(text: str) -> tuple[str, ...]:
    """The pieces of ``text``, in order; together they are the text."""
    return tuple(_TOKEN.findall(text))


def quoted_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where quoted parts stand in ``text``, as character positions without the quotes."""
    return tuple((match.start() + 1, match.end() - 1) for match in _QUOTED.finditer(text))

"""Words of memories for full-text search: stems and groups of one meaning, the same for every database.

Both databases are given words that are worked out here, so that SQLite and PostgreSQL find the same.
"""

import re
from functools import lru_cache

from domain.abilities.fit.words import STOP_WORDS, tokens, word_of

MAX_TERMS = 12
"""Words of a query beyond these are not looked at."""

_TOLD_LIST = """
    january february march april june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday today tomorrow yesterday job task stuff best old new first last enough
    different good another everybody everyone somebody someone day days high low wish want wants need needs
"""
_TOLD = frozenset(_TOLD_LIST.split())
"""Stop words of requests that say something in a memory."""

_SAME_LIST = """
    bike bicycle cycle
    car automobile auto
    mother mum mom mama
    father dad daddy papa
    child kid
    baby infant
    grandmother grandma granny
    grandfather grandpa
    doctor physician gp
    medicine medication drug pill tablet
    sick ill unwell
    house home
    flat apartment
    shop store
    film movie
    holiday vacation
    begin start
    buy purchase
    present gift
    sleep slept asleep
    tired exhausted fatigue
    angry furious mad
    glad happy
    sad unhappy
    partner spouse
    friend pal buddy
    dinner supper
    job profession occupation
    pet animal
"""
_STOP = STOP_WORDS - _TOLD
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def index_words(text: str) -> tuple[str, ...]:
    """Every word of a text as it is searched for, in order; stop words too, for texts that consist of them."""
    return tuple(term for token in tokens(text) for term in _terms(token))


def query_terms(query: str) -> tuple[str, ...]:
    """The words of a query that say something, each once; all of them where none does."""
    said = [token for token in tokens(query) if token not in _STOP] or tokens(query)
    return tuple(dict.fromkeys(term for token in said for term in _terms(token)))[:MAX_TERMS]


def _meaning(token: str) -> str:
    found = word_of(token).meaning
    return _SAME.get(found, found)


@lru_cache(maxsize=8192)
def _terms(token: str) -> tuple[str, ...]:
    if _UNSPACED.search(token) is None:
        return (_meaning(token),)
    # Scripts without spaces are searched by pairs of characters.
    found: list[str] = []
    for run in _UNSPACED.findall(token):
        found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    rest = _UNSPACED.sub(" ", token).split()
    return (*found, *map(_meaning, rest))


_SAME: dict[str, str] = {
    word_of(name).meaning: word_of(line.split()[0]).meaning
    for line in _SAME_LIST.strip().splitlines()
    for name in line.split()
}
"""Everyday words of one meaning, beside those of requests."""

"""Content words of a request: tokens, stop words, stems, and groups of words with one meaning.

Stems are those of Snowball's English stemmer. Words of other languages are compared as they are written. A format
belongs to a kind (``csv`` to tables, ``png`` to images): the two fit each other, and two formats of one kind do not.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer  # pyright: ignore[reportMissingTypeStubs]

_MEASURE = re.compile(r"\d+(?:st|nd|rd|th|px|k|kb|mb|gb|cm|mm|am|pm)?")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_STOP_LIST = """
    a about after again all already also am an and any anything are around as at be because been before being
    both but by came can come comes could did do does done down during each else every everybody everyone
    everything few for from further go goes going had has have having he hello her here hers hey hi him his how
    i if in into is it its just kindly last later latest least less let lets like many may me might more much
    must my need needed needs next no nor not now of off ok on once one ones only onto or other our ours out
    over own per please quite rather really shall she should so some somebody someone something such than thank
    thanks that the their theirs them then there these they thing things this those through to today together
    tomorrow too under until up upon us usual usually very via want wanted wants was way we well were what
    whatever when where whether which while who whole whose why will wish with within without would yesterday
    yet you your yours say said says yyyy mm dd first enough old new good different certain given fresh
    following several went wide long high able according across always another back best don't doesn't didn't
    ever i'd i'll i'm i've it's let's that's isn't aren't can't won't we'd we'll we're we've what's there's job
    stuff task time january february march april june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday week's day days
"""
STOP_WORDS = frozenset(_STOP_LIST.split())
"""Words that say nothing about what is wanted."""

_GROUP_LIST = """
    photo photograph picture image pic jpg jpeg png gif tiff webp heic thumbnail snapshot
    scan scanned scanner
    customer client buyer
    table spreadsheet sheet
    invoice bill
    supplier vendor
    colleague coworker employee staff worker
    boss manager
    mail email newsletter
    folder directory dir tree
    duplicate identical same double twin redundant repeated
    frequent common often most
    error failure exception fault bug crash
    large big huge biggest largest
    small tiny smaller smallest
    newest recent
    website homepage webpage site
    database db
    environment env venv virtualenv variable
    configuration config conf setting settings
    password passphrase
    docs manual
    dependency requirement
    timesheet hours
    stock inventory
    meeting conference
    account login
    slide presentation deck
    reference bibliography citation
    chart diagram graph plot
    ui interface
    repository repo
    text txt plaintext
    python py
    shell bash sh
    executable permission permissions chmod mode private
    checksum hash digest sha256 md5 fingerprint
    expense cost spending
    salary wage payroll
    tax taxes vat
    purchase buying
    revenue sales turnover
    trip travel journey
    ticket issue
    conflict conflicting
    link url hyperlink
    dead broken
    line row
    column field
    us american
    german deutsch
    monthly month
    weekly week
    daily day
    yearly year annual
    quarterly quarter
    region regional
    recording audio
    live prod
    sum total amount
    header heading headline
    space blank whitespace
    label tag
    number digit
    company firm business
    person people
    program application app software code source
    machine server host
    container docker
    query sql
    empty blank
    attachment attached
    dataset data
    article post
    appointment event
    phone telephone
    overdue unpaid late
    test tests
"""
_KINDS = {
    "table": "csv tsv xlsx xls excel ods",
    "database": "sqlite sqlite3 postgres postgresql mysql duckdb mariadb",
    "website": "html htm",
    "photo": "jpg jpeg png gif tiff webp heic svg",
    "archive": "zip tar tgz gz gzip 7z xz rar tarball",
    "recording": "mp3 wav flac ogg m4a aac",
    "video": "mp4 mov avi mkv webm",
    "document": "pdf docx doc odt",
    "configuration": "ini toml",
}
_SPELLED = {
    "md": "markdown", "yml": "yaml", "htm": "html", "jpeg": "jpg", "sqlite3": "sqlite", "postgresql": "postgres",
    "documentation": "docs", "docs": "docs", "production": "live", "xls": "xlsx", "excel": "xlsx", "tgz": "tar",
    "tarball": "tar", "gzip": "gz", "doc": "docx",
}  # fmt: skip
"""Spellings of one format."""

_GENERIC_LIST = """
    file folder list data document item entry content copy line number name version set part piece amount result
    output report text note path record field value kind type series bunch lot group format form current large
    small single separate main program script command project message pixel px month week year day quarter date
    table page
"""

_GENERIC_WEIGHT = 0.35
"""The weight of a word that occurs in many tasks."""

_FORMATS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Word:
    """A content word: its meaning as a stem or a group's name, and the kind of the format that it names."""

    meaning: str
    kind: str | None = None
    token: str = field(default="", compare=False)
    """As it is written, for reasons and for what a noun names."""


def tokens(text: str) -> tuple[str, ...]:
    """The words of ``text`` in lower case, in order; a possessive loses its ending."""
    found = (match.group(0).replace("’", "'") for match in _TOKEN.finditer(text.lower()))
    return tuple(token.removesuffix("'s") for token in found)


@lru_cache(maxsize=8192)
def stem(token: str) -> str:
    """The stem of a word; ``pdfs`` and the like lose their plural."""
    if token.endswith("s") and (token[:-1] in _FORMATS):
        return token[:-1]
    # A stemmer keeps the word it works on: none is shared between threads.
    return str(EnglishStemmer().stemWord(token))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


@lru_cache(maxsize=8192)
def word_of(token: str) -> Word:
    """The meaning of a token."""
    plain = token
    if token not in _SPELLED and token.endswith("s") and token[:-1] in _FORMATS:
        plain = token[:-1]
    plain = _SPELLED.get(plain, plain)
    kind = _FORMATS.get(plain)
    if kind is not None:
        return Word(plain, kind, token)
    stemmed = stem(plain)
    return Word(_GROUP_OF.get(stemmed, stemmed), None, token)


def is_content(token: str) -> bool:
    """Whether a token says something: no stop word, no number, more than one character."""
    return token not in STOP_WORDS and len(token) > 1 and _MEASURE.fullmatch(token) is None


def base_weight(meaning: str) -> float:
    """The weight of a word before its rarity counts."""
    return _GENERIC_WEIGHT if meaning in _GENERIC else 1.0


def _groups() -> dict[str, str]:
    """The name of the group of each stem; a word of two groups is in the first."""
    found: dict[str, str] = {}
    for line in _GROUP_LIST.strip().splitlines():
        names = [str(stem(word)) for word in line.split()]
        for name in names:
            found.setdefault(name, names[0])
    return found


def _formats(group_of: dict[str, str]) -> dict[str, str]:
    """The meaning of the kind of each format."""
    found: dict[str, str] = {}
    for kind, names in _KINDS.items():
        meaning = group_of.get(stem(kind), stem(kind))
        found.update((name, meaning) for name in names.split())
    return found


_GROUP_OF: dict[str, str] = _groups()
_FORMATS.update(_formats(_GROUP_OF))
_GENERIC = frozenset(_GROUP_OF.get(stem(word), stem(word)) for word in _GENERIC_LIST.split())

"""Make titles, slugs and plain phrases from goals and file names."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from contracts.base import clipped

TITLE_LIMIT = 72
"""The most characters of a title that the rules make up; a goal's one clause may be longer."""

LONGEST_TITLE = 160
"""The most characters of any title."""

SLUG_LIMIT = 56
"""The most characters of a made slug: room is left below 64 for a suffix that tells two apart."""

_LEAD_INS = re.compile(
    r"^(?:please|(?:i|we)(?: want| need| would like|'d like|’d like| am going| are going)(?: you)? to|"
    r"(?:the |my |our )?goal(?: is| here is)?(?: to|:)|(?:let me |i will |i'll )?show(?:ing)?(?: you)? how to"
    r"|how to|this (?:shows|demonstrates) how to|learn(?: how)? to|to)\s+",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=\w)[.!?;](?:\s|$)|\n")
_PART_END = re.compile(r"(?<=\w)[.!?;:]\s+|\n+")
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|got|will|must|should|can|cannot|need|needs|lacks?|misses)\b",
    re.IGNORECASE,
)
"""Verbs of a sentence that says how things are; a heading such as "Monthly report" has none."""

_POINTS_BACK = re.compile(r"\w+(?: \w+)? (?:it|them|this|that|these|those)\b", re.IGNORECASE)
"""An instruction that only says what is meant together with the sentence before: "put it everywhere"."""

_NAMES_A_FILE = re.compile(r"\S*\w(?:/|\.[^\W\d])")
_CLAUSE_END = re.compile(r"[:;,](?=\s)|\s(?=\()")
_WRITTEN_OUT = str.maketrans(
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "oe",
        "ł": "l",
        "đ": "d",
        "þ": "th",
    }
)
_VERB_LIST = """
    add analyse analyze append apply approve archive assemble assign back backup batch book build bundle
    calculate cancel capture change check checksum choose clean clear clone close collect combine commit
    compare compile compress compute configure convert copy count create crop cut deduplicate delete
    deliver deploy describe download draft draw duplicate edit email encode encrypt enter exchange
    export extract fetch fill filter find fingerprint fix format forward gather generate get give group
    handle hash import improve index insert inspect install join keep label launch list load log look
    mail make mark measure merge migrate mirror mix monitor move narrow normalise normalize open order
    organise organize pack package paste patch pick plan plot post prepare print process produce publish pull
    push put read rebuild record redact refresh register release relocate remove rename render reorder
    repair replace reply report request reset resize restart restore retrieve review rotate run sanitise
    sanitize save scan schedule search select send separate set share sign sort split start stop store
    submit summarise summarize sync tag take tally test tidy total track transcode transcribe transform
    translate trim turn unpack unzip update upgrade upload validate verify view watch write zip
"""
_VERBS = frozenset(_VERB_LIST.split())


_LITTLE_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "into",
        "it",
        "its",
        "of",
        "on",
        "or",
        "our",
        "that",
        "the",
        "their",
        "them",
        "then",
        "this",
        "to",
        "with",
    ]
)


def plain(text: str) -> str:
    """``text`` on one line: runs of white space become one space, control and format characters go.

    Three hyphens in a row become a dash: some readers take them for the end of a front matter.
    """
    spaced = " ".join(text.split())
    kept = "".join(c for c in spaced if unicodedata.category(c)[0] != "C")
    return re.sub(r"-{3,}", "–", kept).strip()


def sentence(text: str) -> str:
    """``text`` as a sentence: a full stop unless it ends in a mark of its own, an upper-case start.

    A first word that is a file's name keeps its case.
    """
    line = plain(text)
    if not line:
        return ""
    return upper_first(line) + ("" if line[-1] in ".!?…:" else ".")


def upper_first(text: str) -> str:
    """``text`` with an upper-case start, unless its first word is a file's name."""
    return text[:1].upper() + text[1:] if _is_word(text.split(" ", 1)[0]) else text


def _is_word(first: str) -> bool:
    """Whether a first word is none that reads as a file's name: of letters, with a sign of a sentence at its end."""
    return re.fullmatch(r"[\w'’-]+[,;:.]*", first) is not None


def without_stop(text: str) -> str:
    """``text`` on one line without its final full stop."""
    return plain(text).rstrip(" .;")


def lower_first(text: str) -> str:
    """``text`` with a lower-case start, unless its first word is one such as ``I`` or ``PDF``, or a file's name."""
    first = text.split(" ", 1)[0]
    if len(first) < 2 or first[1:] != first[1:].lower() or not _is_word(first):
        return text
    return text[:1].lower() + text[1:]


def starts_with_verb(text: str) -> bool:
    """Whether ``text`` begins with a common verb in its imperative."""
    words = re.findall(r"[a-z]+", text.lower())
    return bool(words) and words[0] in _VERBS


def is_verb(word: str) -> bool:
    """Whether ``word`` is a common verb in its imperative."""
    return word.lower() in _VERBS


def listed(names: Sequence[str], last: str = "and", *, most: int | None = None) -> str:
    """``a, b and c``, or with another word before the last; an empty text for nothing.

    Of more than ``most`` names the others are counted: ``a, b and 3 more``.
    """
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1] if names else "")))


def cut_at_word(text: str, limit: int) -> str:
    """``text`` cut to ``limit`` characters, at a word's end where there is one."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1].rpartition(" ")[0]
    return head.rstrip(" ,;:-") if len(head) > limit // 2 else clipped(text, limit)


def title_from_goal(goal: str) -> str:
    """A title out of a stated goal: its first sentence without its lead-in, at most 160 characters.

    What only says why ("The room has a new name: …") is left out before what is to be done. A title of more than 72
    characters ends with a clause where it has one, else within its 160 characters; an ellipsis shows what was cut.
    """
    line = plain(_SENTENCE_END.split(_from_instruction(goal.strip()), maxsplit=1)[0]) or plain(goal)
    line = _shortened(without_lead_in(line).rstrip(" .,;:"))
    return line if _NAMES_A_FILE.match(line) else line[:1].upper() + line[1:]


def _from_instruction(goal: str) -> str:
    """``goal`` from its first instruction on, where it begins by saying how things are."""
    if starts_with_verb(without_lead_in(goal)):
        return goal
    for end in _PART_END.finditer(goal):
        told, rest = goal[: end.start()], goal[end.end() :]
        asked = without_lead_in(rest)
        if starts_with_verb(asked):
            return rest if _STATES.search(told) and not _POINTS_BACK.match(asked) else goal
    return goal


def clipped_at_word(text: str, limit: int) -> str:
    """``text`` cut behind a word to at most ``limit`` characters, the cut shown by an ellipsis."""
    return text if len(text) <= limit else f"{cut_at_word(text, limit - 1).rstrip('…')}…"


def _shortened(line: str) -> str:
    """``line`` as a title: whole where it is short, else without its last clauses."""
    if len(line) <= TITLE_LIMIT:
        return line
    ends = [match.start() for match in _CLAUSE_END.finditer(line) if match.start() <= TITLE_LIMIT]
    if ends and ends[-1] >= TITLE_LIMIT // 3:
        return f"{line[: ends[-1]]}…"
    return clipped_at_word(line, LONGEST_TITLE)


def without_lead_in(text: str) -> str:
    """``text`` on one line without openings such as "I want to" or "The goal is to"."""
    line = plain(text)
    previous = ""
    while line != previous:
        previous, line = line, _LEAD_INS.sub("", line)
    return line


def _without_dangling(slug: str) -> str:
    """``slug`` without the little words that the cut has left at its end."""
    words = slug.split("-")
    while len(words) > 1 and words[-1] in _LITTLE_WORDS:
        words.pop()
    return "-".join(words)


def other_slug(slug: str, owner_user_id: str) -> str:
    """Another skill name for one that is not free: with four hex digits that are always the same for this owner."""
    digits = hashlib.sha256(f"{owner_user_id}\n{slug}".encode()).hexdigest()[:4]
    return f"{slug[:SLUG_LIMIT].rstrip('-')}-{digits}"


def in_ascii(text: str) -> str:
    """``text`` in lower-case ASCII: ä as ae and ß as ss, other Latin letters without their marks, nothing else."""
    letters = unicodedata.normalize("NFC", text.lower()).translate(_WRITTEN_OUT)
    return unicodedata.normalize("NFKD", letters).encode("ascii", "ignore").decode()


def underscored(text: str) -> str:
    """The words of ``text`` as they are joined in the name of a parameter; empty where it has no Latin letters."""
    return re.sub(r"[^a-z0-9]+", "_", in_ascii(text)).strip("_")


def identifier(text: str) -> str:
    """The name of a parameter that ``text`` gives: at most 40 characters, "value" where it gives none."""
    name = underscored(text)[:40]
    return name if re.match(r"[a-z]", name) else "value"


def slug_from_title(title: str) -> str:
    """A skill name out of a title: lower-case ASCII words joined by hyphens, at most 56 characters.

    A title without any ASCII letter or digit gets ``skill-`` and eight hex digits of its hash.
    """
    ascii_text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"['’]", "", ascii_text.lower())).strip("-")
    if len(slug) > SLUG_LIMIT:
        head = slug[: SLUG_LIMIT + 1].rpartition("-")[0]
        slug = _without_dangling(head if len(head) > SLUG_LIMIT // 2 else slug[:SLUG_LIMIT].strip("-"))
    return slug or f"skill-{hashlib.sha256(title.encode()).hexdigest()[:8]}"

"""Verbs in families of one meaning, which families are near each other, and verbs of two words.

Two families that are not near each other are different work: what deletes the invoices does not total them.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from domain.abilities.fit.words import stem

_FAMILIES = {
    "make": "create make produce generate prepare compose construct develop design produce provide",
    "get": "get give have obtain bring take receive put place do handle use",
    "write": "write draft compose author note document record jot generate prepare produce",
    "build": "build compile assemble rebuild",
    "show": "show display view see read look browse preview list present open inspect watch print_out peek",
    "explain": "explain describe tell clarify teach",
    "ask": "ask apply beg",
    "find": "find search locate identify detect spot discover hunt seek trace determine reveal look_for find_out",
    "filter": "filter select grep narrow pick choose isolate keep show_only pick_out",
    "extract": "extract pull scrape parse collect gather harvest capture read copy_out",
    "count": "count tally enumerate how_many how_often",
    "compute": "total sum calculate compute add_up work_out average aggregate tot how_much figure_out sum_up",
    "summarise": "summarise summarize condense report analyse analyze outline sum_up",
    "sort": "sort order rank arrange reorder alphabetise alphabetize",
    "group": "group categorise categorize classify sort organise organize tidy file",
    "delete": "delete remove erase drop purge wipe discard trash rm unlink uninstall prune get_rid throw_away "
    "clear unset kick strip",
    "dedupe": "deduplicate dedupe dedup",
    "clean": "clean tidy cleanse scrub sanitise sanitize clean_up tidy_up normalise normalize trim polish",
    "fix": "fix repair correct mend resolve debug settle heal sort_out patch troubleshoot",
    "move": "move relocate transfer shift mv put_away file archive",
    "rename": "rename relabel retitle give_names call",
    "copy": "copy duplicate clone replicate mirror sync synchronise synchronize cp rsync",
    "backup": "backup save snapshot back_up preserve dump",
    "restore": "restore recover bring_back rollback undo revert reset reinstate undelete reverse",
    "pack": "archive compress zip tar gzip pack bundle package zip_up",
    "unpack": "unpack unzip untar decompress extract expand uncompress gunzip inflate",
    "convert": "convert transform turn_into transcode render change_into reformat rewrite port migrate change "
    "translate normalise normalize",
    "import": "import load ingest read put_into feed turn_into",
    "export": "export dump save unload",
    "upload": "upload publish deploy release put_online roll_out push ship",
    "release": "release publish tag ship cut",
    "download": "download fetch retrieve pull wget curl grab",
    "send": "send mail email forward deliver share submit notify message hand_in pass_on distribute return",
    "remind": "remind chase dun prompt",
    "print": "print",
    "compare": "compare diff differ contrast what_changed reconcile match tell_apart",
    "verify": "verify check validate confirm ensure prove test lint audit make_sure",
    "test": "test",
    "install": "install set_up setup provision apply",
    "update": "update upgrade change edit modify adjust amend alter revise refresh enter raise bump bring_up_to_date",
    "replace": "replace substitute swap switch exchange change",
    "add": "add append insert attach include prepend enter put_in",
    "resize": "resize scale shrink scale_down reduce downscale make_small scale_up",
    "enlarge": "enlarge upscale scale_up blow_up",
    "crop": "crop trim cut",
    "rotate": "rotate turn straighten deskew flip",
    "split": "split divide separate break_up partition chop break_down break cut_up",
    "merge": "merge combine join concatenate unite put_together fold consolidate squash stitch collect gather",
    "commit": "commit check_in",
    "encrypt": "encrypt protect seal lock password-protect",
    "decrypt": "decrypt unlock unseal",
    "start": "start launch run bring_up boot execute spin_up turn_on switch_on",
    "stop": "stop halt kill shut_down turn_off switch_off terminate end bring_down quit",
    "restart": "restart reboot reload",
    "enable": "enable activate allow grant permit authorise authorize",
    "disable": "disable deactivate forbid deny revoke block ban suspend",
    "book": "book reserve schedule",
    "plan": "plan schedule arrange",
    "cancel": "cancel abort withdraw call_off unsubscribe",
    "approve": "approve accept sign reject decline",
    "pay": "pay buy purchase order settle transfer",
    "claim": "claim file submit claim_back",
    "close": "close finish archive",
    "fill": "fill fill_in fill_out complete populate mail_merge enter personalise personalize",
    "translate": "translate localise localize turn_into",
    "transcribe": "transcribe write_down turn_into",
    "record": "record tape film",
    "draw": "draw plot chart graph visualise visualize diagram sketch",
    "number": "number renumber",
    "permit": "chmod chown lock_down make_executable make_private",
    "optimise": "optimise optimize profile speed_up accelerate tune make_fast",
    "encode": "encode decode",
    "sign": "sign",
    "monitor": "monitor track observe supervise",
    "learn": "learn study practise practice",
    "play": "play sing",
    "set": "set configure define assign",
    "rate": "rate review assess evaluate judge grade",
    "reply": "reply answer respond",
    "mark": "mark flag highlight star",
    "hide": "hide mask redact anonymise anonymize",
    "open": "open",
    "log": "log",
    "hire": "hire fire recruit",
    "call": "call phone ring",
    "cook": "cook bake fry",
    "query": "query",
}

LIGHT = frozenset({"make", "get", "set"})
"""Families that leave open what is done: "make a backup", "get me the totals"."""

OPEN_TO_NOUNS = LIGHT | {"show", "start", "write", "backup"}
"""Families that a noun can fill: "show the totals", "run the cleaning", "write a summary", "save a copy"."""

_NEAR = (
    "find filter count compute summarise sort show extract compare group",
    "make write build fill draw summarise",
    "draw show",
    "clean fix dedupe filter convert update",
    "backup copy pack export",
    "move group sort",
    "convert export import extract make",
    "upload release send",
    "download extract get export",
    "verify test compare",
    "install build make",
    "start make",
    "build convert",
    "update replace fix add fill",
    "update set",
    "set permit fix",
    "add number import",
    "optimise fix add",
    "permit enable encrypt",
    "extract unpack",
    "translate convert",
    "transcribe extract",
    "send remind",
    "claim send",
    "book plan",
    "merge fill",
    "number rename",
    "fix install",
    "encrypt permit",
    "import update",
    "query find filter",
    "monitor verify find",
    "rate verify summarise compute",
    "encode convert",
)

_OPPOSITES = (
    ("pack", "unpack"), ("import", "export"), ("upload", "download"), ("merge", "split"), ("encrypt", "decrypt"),
    ("start", "stop"), ("enable", "disable"), ("backup", "restore"), ("make", "delete"), ("add", "delete"),
    ("book", "cancel"), ("install", "delete"), ("resize", "enlarge"), ("open", "close"), ("release", "restore"),
    ("commit", "restore"), ("copy", "delete"), ("write", "delete"), ("move", "restore"), ("update", "restore"),
)  # fmt: skip

_DOABLE_LIST = """
    make write build find filter extract count compute summarise sort group dedupe clean copy backup pack
    convert import export download compare resize crop split merge fill draw translate transcribe number encrypt
    book install add update replace fix optimise set permit release enlarge rotate
"""
_DOABLE_LIGHTLY = frozenset(_DOABLE_LIST.split())
"""What "make", "get" or "give me" can stand for; nobody says "make" for delete, send, move or stop."""

_DIRECTED = frozenset({"convert", "export", "import", "translate", "make", "get"})

_NOUNS = {
    "backup": "backup", "total": "compute", "sum": "compute", "count": "count", "copy": "copy", "summary": "summarise",
    "comparison": "compare", "difference": "compare", "diff": "compare", "conversion": "convert",
    "translation": "translate", "export": "export", "import": "import", "release": "release", "chart": "draw",
    "plot": "draw", "diagram": "draw", "graph": "draw", "reminder": "remind", "archive": "pack", "zip": "pack",
    "calculation": "compute", "mean": "compute", "median": "compute", "maximum": "compute", "minimum": "compute",
    "permission": "permit", "frequency": "count", "average": "compute",
    "cleaning": "clean", "cleanup": "clean", "repair": "fix", "restoration": "restore", "deletion": "delete",
    "removal": "delete", "encryption": "encrypt", "transcript": "transcribe", "transcription": "transcribe",
    "resizing": "resize", "split": "split", "merge": "merge", "update": "update", "upgrade": "update",
    "reservation": "book", "booking": "book", "upload": "upload", "download": "download", "extraction": "extract",
    "validation": "verify", "verification": "verify", "deployment": "upload", "installation": "install",
    "reconciliation": "compare", "sorting": "sort", "ranking": "sort", "statistics": "summarise",
    "overview": "summarise", "breakdown": "compute", "tally": "count",
    "rotation": "rotate", "renaming": "rename", "sums": "compute", "ballot": "count", "build": "build",
}  # fmt: skip
"""Nouns that name work."""

_OFTEN_NOUNS = """
    backup copy list sort order total count mail email archive log tag report print book file plot chart dump
    filter index import export release test check change update upload download sum split join link plan record
    name number format access query search review start stop run move crop square draft commit diff post address
    set use work place graph diagram document note paste patch return lock tape film trim cut ring call sign
    track monitor rank mark star flag design duplicate mirror match process average end close open present load
    save watch look display pull push ship schedule claim turn prompt answer reply zip tar pack bundle package
    snapshot group mask grade rate pay purchase message forward share block ban raise exchange swap profile tune
    learn practice play trace partition seal pick fold hire fire cook scale reduce reset separate tally upgrade
    clean clear empty complete correct fix install lint audit trash purge drop wipe strip extract parse merge
    convert bump enter capture tell preview view ask cancel store read write build make take put bring have show
"""
"""Words that are verbs only where a verb is expected: at the start, after "to", after another verb and "and"."""

_PARTICLES = {
    "add": {"up": "add_up"}, "work": {"out": "work_out"}, "figure": {"out": "figure_out"}, "sum": {"up": "sum_up"},
    "back": {"up": "back_up"}, "clean": {"up": "clean_up"}, "tidy": {"up": "tidy_up"}, "zip": {"up": "zip_up"},
    "set": {"up": "set_up"}, "bring": {"back": "bring_back", "up": "bring_up", "down": "bring_down"},
    "roll": {"back": "rollback", "out": "roll_out"}, "shut": {"down": "shut_down"},
    "scale": {"down": "scale_down", "up": "scale_up"}, "break": {"up": "break_up", "down": "break_down"},
    "cut": {"up": "cut_up"}, "put": {"together": "put_together", "away": "put_away", "online": "put_online"},
    "throw": {"away": "throw_away", "out": "throw_away"}, "get": {"rid": "get_rid"}, "turn": {"into": "turn_into",
    "off": "turn_off", "on": "turn_on"}, "fill": {"in": "fill_in", "out": "fill_out"},
    "hand": {"in": "hand_in"}, "write": {"down": "write_down"}, "lock": {"down": "lock_down"},
    "speed": {"up": "speed_up"}, "look": {"for": "look_for"}, "find": {"out": "find_out"}, "pick": {"out": "pick_out"},
    "call": {"off": "call_off"}, "claim": {"back": "claim_back"}, "switch": {"off": "switch_off", "on": "switch_on"},
    "spin": {"up": "spin_up"}, "sort": {"out": "sort_out"}, "check": {"in": "check_in"},
    "pass": {"on": "pass_on"}, "blow": {"up": "blow_up"}, "change": {"into": "change_into"},
    "take": {"back": "bring_back", "out": "extract"}, "undo": {}, "tell": {"apart": "tell_apart"},
    "tot": {"up": "tot"}, "make": {"sure": "make_sure", "smaller": "make_small", "small": "make_small",
    "faster": "make_fast", "fast": "make_fast", "executable": "make_executable", "private": "make_private"},
    "get_out": {}, "boot": {"up": "boot"}, "pull": {"out": "extract"}, "strip": {"out": "delete"},
    "show": {"only": "show_only"}, "keep": {"only": "filter"}, "line": {}, "count": {"up": "count"},
    "give": {"name": "give_names", "names": "give_names"}, "mail": {"merge": "mail_merge"},
}  # fmt: skip
"""Verbs whose meaning a second word changes, within a few words: "add … up", "turn … into"."""

PARTICLE_WITHIN = 9
"""The most words between a verb and the word that changes it."""


def _by_stem() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for family, words in _FAMILIES.items():
        for word in words.split():
            found.setdefault(word if "_" in word else stem(word), set()).add(family)
    return {word: frozenset(families) for word, families in found.items()}


def _pairs(lines: Iterable[str]) -> frozenset[frozenset[str]]:
    return frozenset(
        frozenset((one, other))
        for names in map(str.split, lines)
        for one in names
        for other in names
        if one != other
    )


_OF_STEM = _by_stem()
_VERB_OF_STEM: Mapping[str, str] = {
    stem(word): word for words in _FAMILIES.values() for word in words.split() if "_" not in word
}
_IRREGULAR_PARTICIPLES: Mapping[str, str] = {
    "broken": "break", "brought": "bring", "built": "build", "cut": "cut", "done": "do", "drawn": "draw",
    "found": "find", "kept": "keep", "made": "make", "paid": "pay", "put": "put", "read": "read", "rebuilt": "rebuild",
    "redone": "redo", "rewritten": "rewrite", "run": "run", "sent": "send", "set": "set", "shown": "show",
    "split": "split", "taken": "take", "told": "tell", "undone": "undo", "written": "write",
}  # fmt: skip
_START_STEMS = frozenset(map(stem, _OFTEN_NOUNS.split()))
_NEAR_PAIRS = _pairs(_NEAR)
_OPPOSITE_PAIRS = frozenset(map(frozenset, _OPPOSITES))
_NOUN_STEMS: Mapping[str, str] = {stem(noun): family for noun, family in _NOUNS.items()}


@lru_cache(maxsize=8192)
def families_of(verb: str) -> frozenset[str]:
    """The families of a verb; none for a word that is no known verb."""
    return _OF_STEM.get(verb if "_" in verb else stem(verb), frozenset[str]())


@lru_cache(maxsize=8192)
def verb_of_participle(word: str) -> str | None:
    """The known verb whose past participle ``word`` is: "sorted" is of "sort", "written" of "write"; else None."""
    if word in _IRREGULAR_PARTICIPLES:
        return _IRREGULAR_PARTICIPLES[word]
    return _VERB_OF_STEM.get(stem(word)) if word.endswith("ed") else None


@lru_cache(maxsize=8192)
def work_named_by(noun: str) -> str | None:
    """The family of the work that a noun names: "backup", "comparison"."""
    return _NOUN_STEMS.get(stem(noun))


def needs_a_place(verb: str) -> bool:
    """Whether the word is as often a noun, so that it is a verb only where one is expected."""
    return stem(verb) in _START_STEMS


def other_words_for(verb: str) -> tuple[str, ...]:
    """At most two common verbs of the same meaning and no other; none for a verb of several meanings."""
    families = [family for family in _FAMILIES if family in families_of(verb)]
    own = [family for family in families if stem(family) == stem(verb)] or families
    if len(own) != 1:
        return ()
    others = (word for word in _FAMILIES[own[0]].split() if stem(word) != stem(verb) and "_" not in word)
    return tuple(word for word in others if families_of(word) == frozenset(own))[:2]


def with_particle(verb: str, following: Iterable[str]) -> str | None:
    """The verb of two words that ``verb`` makes with one of the ``following``; None where there is none."""
    known = _PARTICLES.get(verb)
    return next((known[word] for word in following if word in known), None) if known else None


def are_near(one: str, other: str) -> bool:
    """Whether two families can mean the same work in other words."""
    return frozenset((one, other)) in _NEAR_PAIRS


def are_opposite(one: str, other: str) -> bool:
    """Whether one undoes what the other does."""
    return frozenset((one, other)) in _OPPOSITE_PAIRS


def is_directed(families: frozenset[str]) -> bool:
    """Whether the work has a direction: what it comes from and what it becomes are not the same."""
    return bool(families & _DIRECTED)


def may_be_lightly(family: str) -> bool:
    """Whether "make" or "get me" can stand for the family."""
    return family in _DOABLE_LIGHTLY

"""Generate trigger phrases and negative triggers of a skill, and the requests that test them.

The phrases are made from the title, the goal, the effects and the parameters, in several wordings. The requests that
test them (``domain.abilities.trigger_tests``) are made from the same and from near misses: another verb, another
object, the other direction. None is left out for what a matcher says of it.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from contracts.abilities.lookup import TriggerCase, TriggerCaseKind
from contracts.learning.interpretation import ParameterType, SemanticWorkflowInterpretation, SkillParameter
from domain.abilities.fit.reading import Reading, read
from domain.abilities.fit.spelling import telling_words
from domain.abilities.fit.verbs import are_near, families_of, is_directed
from domain.learning.commands.operations import SYNONYMS
from domain.learning.comparison.parameters import ParameterWording, in_words, is_also_a_word
from domain.learning.comparison.spoken_parameters import another, as_asked
from domain.learning.drafting.synonyms import reworded
from domain.learning.interpretation.inference import DEFAULT_EXCLUSIONS
from domain.learning.interpretation.naming import cut_at_word, lower_first, plain, starts_with_verb

MAX_PHRASES = 8
"""The most trigger phrases a draft makes up."""

PHRASE_LIMIT = 120
"""The most characters of a trigger phrase."""

CASES_OF_A_KIND = 3
"""The fewest positive, negative and paraphrase examples (DOC3 §1.1P, rows P-26), and so the fewest phrases."""

_SHORT_GOAL = 60
_OBJECT_WORDS = 6
_CLAUSE_END = re.compile(r"[:;,](?=\s)|\s(?=\()|\s(?=(?:and|then|so|but)\s)")
_UNRELATED = 2
_EXCLUSION_LEAD = re.compile(
    r"^(?:(?:please\s+)?(?:do not|don't|don’t|never|not)\s+)?(?:use\s+(?:it|this|this skill)?\s*)?"
    r"(?:for|when|if|in case of|in case)?\s*"
    r"(?:(?:someone|somebody|anyone|a person|the user|you|people|they|i|we)\s+(?:only\s+)?"
    r"(?:asks?|wants?|needs?|are asked|is asked|am asked|says?)\s*(?:only\s+)?(?:to|for|that)?)?\s*",
    re.IGNORECASE,
)
_EVERYDAY = (
    "What's tomorrow's weather?", "Book dinner Friday evening", "Translate my letter",
    "Who won yesterday's match?", "Turn down heating", "Call my dentist", "Recommend good novels",
    "How tall is Mont Blanc?", "Play quiet music", "Set an alarm at seven", "Tell me something funny",
    "Where did I park?",
)  # fmt: skip
_OTHER_WORK = (
    ("delete", "Delete {0}"), ("send", "Mail {0} to a colleague"), ("print", "Print {0}"),
    ("translate", "Translate {0} into Welsh"), ("restore", "Restore {0}"), ("encrypt", "Encrypt {0}"),
)  # fmt: skip
"""Near misses by another verb, each with the family of its verb."""

_OTHER_OBJECTS = ("the train tickets", "the garden furniture", "the birthday guests", "the chess clubs")
_PARAPHRASES = (
    "Could you {0} for me?",
    "I need you to {0} again, please",
    "It's that time again: {0}",
    "Same as last time, {0}",
)
_COURTESY = ("help me ", "please ", "I ", "i ")
_PARAPHRASES_OF_A_NAME = (
    "Could you do this for me: {0}",
    "I need the usual {0}",
    "It's time again: {0}",
    "Same as last time, {0}",
)


def trigger_phrases(
    interpretation: SemanticWorkflowInterpretation,
    verbs: Sequence[str],
    results: Sequence[str] = (),
    hints: Sequence[str] = (),
) -> tuple[str, ...]:
    """Three to eight wordings of the wish, terse and in lower case; hints from a person come first.

    ``results`` are the files that a request may name. A wording that nobody would say is left away: one that is cut
    in its middle, or that has no words for the value of a parameter. "Help me" and "please" say nothing new, and are
    there only where fewer than three phrases are.
    """
    parameters = interpretation.parameters
    title = _phrase(interpretation.title)
    goal = as_asked(_phrase(interpretation.goal_summary), parameters) or ""
    subject = _object_of(title, verbs)
    candidates = [_phrase(h) for h in hints]
    candidates.append(title)
    if goal and len(goal) <= _SHORT_GOAL:
        candidates.append(goal)
    candidates += [f"make {_result(path)}" for path in results[-2:] if len(path) <= _SHORT_GOAL]
    if subject:
        candidates += [f"{verb} {subject}" for verb in verbs[-2:]]
        candidates += [f"{SYNONYMS[v]} {subject}" for v in verbs[-2:] if v in SYNONYMS]
    else:
        candidates += reworded(title)
    candidates += _with_others(title, parameters)
    if goal and len(goal) > _SHORT_GOAL:
        candidates.append(goal)
    kept = dict.fromkeys(one for one in candidates if one and len(one) <= PHRASE_LIMIT)
    for opening in _openings(title):
        if len(kept) < CASES_OF_A_KIND or not starts_with_verb(title):
            kept[_within(f"{opening} {title}")] = None
    return tuple(kept)[:MAX_PHRASES]


def negative_triggers(
    interpretation: SemanticWorkflowInterpretation, phrases: Sequence[str]
) -> tuple[str, ...]:
    """Short wordings out of the non-use conditions that give away another wish.

    The matcher shuts out whatever contains one. So a wording that occurs in a trigger phrase, in the title or
    in a paraphrase of them is left out, and so is one too short or too long to be said like that.
    """
    protected = " \n ".join([*phrases, interpretation.title, *_paraphrases(phrases)]).lower()
    found: dict[str, None] = {}
    for condition in interpretation.non_use_conditions:
        known = next((d.phrases for d in DEFAULT_EXCLUSIONS if d.condition == condition), None)
        for wording in (_core(condition),) if known is None else [phrase for phrase, _ in known]:
            if 4 <= len(wording) <= 60 and len(wording.split()) <= 7 and wording not in protected:
                found[wording] = None
    return tuple(found)[:MAX_PHRASES]


def trigger_cases(
    title: str, phrases: Sequence[str], negatives: Sequence[str], verbs: Sequence[str] = ()
) -> tuple[TriggerCase, ...]:
    """Requests that ought to call the skill, and near misses that ought not; at least three of each kind.

    A wording that holds one of the negative triggers is no example of what ought to call it.
    """
    wanted = [p[:1].upper() + p[1:] for p in phrases]
    name = _phrase(title)
    paraphrases = [*_paraphrases(phrases), *(one[:1].upper() + one[1:] for one in reworded(name))]
    subject = _object_of(name, verbs) or _after_verb(name) or "results"
    near = [_near_miss(negative, _object_of(name, verbs) or "results") for negative in negatives]
    negative = [
        *near[:CASES_OF_A_KIND],
        *_near_misses(name, subject, phrases),
        *_unrelated((title, *phrases)),
    ]
    return (
        *_cases(_allowed(wanted, negatives), TriggerCaseKind.POSITIVE, MAX_PHRASES),
        *_cases(_allowed(paraphrases, negatives), TriggerCaseKind.PARAPHRASE, 5),
        *_cases(negative, TriggerCaseKind.NEGATIVE, len(negative)),
    )


def edited_phrases(edits: Mapping[str, object], name: str) -> tuple[str, ...] | None:
    """The phrases a person has set for ``name``, if any (already checked by ``check_edits``)."""
    return tuple(cast("Sequence[str]", edits[name])) if name in edits else None


def _cases(queries: Iterable[str], kind: TriggerCaseKind, most: int) -> list[TriggerCase]:
    return [
        TriggerCase(input=cut_at_word(q, 240), should_trigger=kind is not TriggerCaseKind.NEGATIVE, kind=kind)
        for q in list(dict.fromkeys(queries))[:most]
    ]


def _allowed(queries: Iterable[str], negatives: Sequence[str]) -> list[str]:
    return [q for q in queries if not any(negative.lower() in q.lower() for negative in negatives)]


def _near_misses(title: str, subject: str, phrases: Sequence[str]) -> Iterator[str]:
    """Requests that share words with the skill: two other verbs, another object, the other direction."""
    does = {family for text in (title, *phrases) for c in read(text).clauses for family in c.families}
    other = [
        wording
        for family, wording in _OTHER_WORK
        if family not in does and not any(are_near(family, one) for one in does)
    ]
    asked = [wording.format(_with_article(subject)) for wording in other[:2]]
    if any(clause.families & does for one in asked for clause in read(one).clauses):
        # What the title works on names that work again: whoever asks for it asks for a part of what the skill does.
        asked = [wording.format("the results") for wording in other[:2]]
    yield from asked
    # Lookups read no verb in "traced parcels": there it is a word of the object.
    is_read = any(clause.verb for clause in read(title).clauses)
    verb = (_verb_of(title) if is_read else "") or "do the same for"
    said = telling_words(" ".join((title, *phrases)))
    yield from [f"{verb[:1].upper()}{verb[1:]} {o}" for o in _OTHER_OBJECTS if not telling_words(o) & said][
        :1
    ]
    turned = _turned(read(title))
    if turned:
        yield turned


def _turned(title: Reading) -> str | None:
    """The title the other way round, where it names a direction: "convert HTML pages to Markdown notes"."""
    for clause in title.clauses:
        became = next((words for place, words in clause.added if place in ("to", "into", "as")), ())
        came = next((words for place, words in clause.added if place == "from"), clause.object)
        if clause.verb and came and became and set(came) != set(became) and is_directed(clause.families):
            verb = clause.verb.replace("_", " ").removesuffix(" into")
            source, target = (" ".join(word.token for word in words) for words in (came, became))
            return f"{verb[:1].upper()}{verb[1:]} {target} into {source}"
    return None


def _unrelated(said: Iterable[str]) -> list[str]:
    """Everyday requests that share no word with the skill."""
    words = telling_words(" ".join(said))
    return [one for one in _EVERYDAY if not telling_words(one) & words][:_UNRELATED]


def _paraphrases(phrases: Sequence[str]) -> list[str]:
    found: list[str] = []
    bare = [p for p in phrases if not p.startswith(_COURTESY)]
    for position, phrase in enumerate(bare[: len(_PARAPHRASES)]):
        templates = _PARAPHRASES if starts_with_verb(phrase) else _PARAPHRASES_OF_A_NAME
        found.append(templates[position].format(lower_first(phrase)))
    if phrases:
        templates = _PARAPHRASES if starts_with_verb(phrases[0]) else _PARAPHRASES_OF_A_NAME
        found += [t.format(lower_first(phrases[0])) for t in templates[1:]]
    return found


def _openings(title: str) -> tuple[str, ...]:
    return ("help me", "please") if starts_with_verb(title) else ("run", "do", "start")


def _with_others(title: str, parameters: Sequence[SkillParameter]) -> Iterator[str]:
    """The title with another value of a parameter: where it names one, there, else of the surest behind it."""
    if not starts_with_verb(title):
        return
    marked = ParameterWording([one for one in parameters if not is_also_a_word(one)]).formal(title)
    if marked != title:
        yield as_asked(marked, parameters) or ""
        return
    spoken = {noun for one in parameters for noun in (in_words(one), f"{in_words(one)}s") if noun in title}
    for parameter in parameters[:1]:
        said = another(parameter)
        if said and not spoken:
            preposition = "for" if parameter.type is ParameterType.DATE else "with"
            yield f"{title} {preposition} {said}"


def _phrase(text: str) -> str:
    return _within(lower_first(plain(text).rstrip(" .!?;:…")))


def _within(text: str) -> str:
    """``text`` as a phrase: a long one ends with a clause where it has one, else at a word."""
    if len(text) <= PHRASE_LIMIT:
        return text
    ends = [match.start() for match in _CLAUSE_END.finditer(text) if match.start() <= PHRASE_LIMIT]
    return text[: ends[-1]] if ends and ends[-1] > PHRASE_LIMIT // 3 else cut_at_word(text, PHRASE_LIMIT)


def _result(path: str) -> str:
    """A result as a request may name it: with the folder that it is in."""
    return "/".join(posixpath.normpath(path).split("/")[-2:])


def _verb_of(title: str) -> str:
    verb = title.split(" ", 1)[0].rstrip(",").lower()
    return verb if families_of(verb) and verb.isalpha() else ""


def _after_verb(title: str) -> str:
    """What follows the title's first verb, up to the next clause; the whole of a title without one."""
    rest = title.partition(" ")[2] if _verb_of(title) else title
    return " ".join(re.split(r"[,;:]|\s(?:and|then|until|so)\s", rest)[0].split()[:_OBJECT_WORDS])


def _with_article(subject: str) -> str:
    return (
        subject
        if subject.startswith(("the ", "a ", "an ", "my ", "all ", "each ", "every "))
        else f"the {subject}"
    )


def _object_of(title: str, verbs: Sequence[str]) -> str:
    """What the title's verbs act on; empty where the title is not made of those verbs."""
    words = title.replace(",", "").split()
    while words and (words[0] in verbs or words[0] == "and"):
        words.pop(0)
    return " ".join(words) if len(words) < len(title.split()) and 1 <= len(words) <= 5 else ""


def _near_miss(negative: str, subject: str) -> str:
    """A sentence that sounds like the skill and holds the negative trigger."""
    known = {phrase: example for d in DEFAULT_EXCLUSIONS for phrase, example in d.phrases}
    if negative in known:
        return known[negative].format(subject)
    wish = negative if starts_with_verb(negative) else f"now the same for {negative}"
    return wish[:1].upper() + wish[1:]


def _core(condition: str) -> str:
    """The part of a non-use condition that a request would contain."""
    text = plain(condition).rstrip(" .!?;:").lower()
    return _EXCLUSION_LEAD.sub("", text, count=1).strip(" ,'\"“”")

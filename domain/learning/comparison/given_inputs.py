"""What answers say of inputs that a lesson made up: that they are there already, or that the work makes them.

An answer that says neither, or both, is not guessed at: the draft names it.
"""

import re
from collections.abc import Iterable, Sequence

from contracts.base import clipped
from contracts.learning.evidence import LessonEvidence
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField

Answers = Iterable[tuple[LearningQuestion, LearningAnswer]]

_AS_SHOWN = "So the work makes it, as shown; if not, teach it with the file there."

_NO_END = "its replay did not end"
_SHORTENED = ((r"\bwon[’']?t\b", "will not"), (r"\bcan(?:not|[’']t)\b", "can not"), (r"n[’']t\b", " not"))
_CLAUSES = re.compile(r"[,.;:!?()\n—–]+| - |\b(?:but|and|because|since|so|if|when|once|that is why)\b")
_YES = re.compile(r"it is$|(?:yes|y|yep|yeah|yup|sure|of course|indeed)\b[ ]*")
_NO = re.compile(
    r"it is not$|(?:no|n|nope|nah)(?:$| +(?=(?:it|it[’']s|the|that|this|we|they|you|i|use|take|already|always)\b))"
)
_NOT = re.compile(
    r"\b(?:not|no|never|nothing|nobody|none|nor|neither|without|instead of|rather than|skips?|leave out|drop|stop|"
    r"avoid|missing|absent)\b"
)
_IS_NO_PLACE = re.compile(r"\bthere(?: is| are|[’']s| will be| was) (?=no|not|nothing|nobody)\b")
_MAKES = (
    r"(?:make|made|making|makes|create[sd]?|creating|writes?|writing|written|produce[sd]?|producing|generate[sd]?|"
    r"generating|builds?|built)"
)
_ELSEWHERE = re.compile(
    rf"\b{_MAKES}\b.*\b(?:by (?!hand|(?:the |this |its? )?(?:work|task|job|step|method|script|commands?|lesson|ability)"
    r"|it\b|you\b|itself)|elsewhere|beforehand|earlier)|"
    rf"\bmade up\b|\b{_MAKES}\b.*\bfor (?:the|this) (?:lesson|demonstration|demo|example)\b|"
    rf"\b(?:they|somebody|someone|(?:some|any)(?:body|one) else|customers?|colleagues?|another \w+)\b.*\b{_MAKES}\b"
)
_UNCLEAR = re.compile(rf"\b(?:i|we)\b.*\b{_MAKES}\b")
_MADE = re.compile(
    rf"\b(?:{_MAKES}|by the (?:work|task)|(?:part|result|output) of the (?:work|task)|(?:a|the) (?:result|output)|"
    r"anew|afresh|from scratch|afterwards|after the work|only (?:after|later)|as (?:suggested|(?:it was )?shown)|"
    r"latter)\b|"
    r"^(?:the )?(?:work|second)(?: one)?$"
)
_THERE = re.compile(
    r"\b(?:there|already|exist(?:s|ing)?|given|inputs?|present|in place|provided?|provides|suppl(?:y|ies|ied)|"
    r"available|deliver(?:s|ed)?|receives?d?|arrives?|sent|sends?|downloaded|uploaded|handed|brings?|"
    r"in (?:the|my|our|that) (?:folder|directory)|beforehand|before|earlier|"
    r"comes? (?:from (?!the work)|with |in )|from (?:the|a|our|my) (?!work|task|scratch)\w+|mine|my (?:own )?\w+|"
    r"former)\b|"
    r"^(?:the )?first(?: one)?$"
)


def says_there(answer: str) -> bool | None:
    """Whether an answer says that the file is there already; ``None`` where it says neither, or both."""
    text = answer.lower().strip()
    for short, long in _SHORTENED:
        text = re.sub(short, long, text)
    said: set[bool] = set()
    bare: bool | None = None
    for clause in filter(None, map(str.strip, _CLAUSES.split(text))):
        rest = clause
        for word, means in ((_YES, True), (_NO, False)):
            if found := word.match(rest):
                bare, rest = means if bare is None else bare, rest[found.end() :]
        said |= _said(_IS_NO_PLACE.sub("", rest))
    if not said and bare is not None:
        said = {bare}
    return said.pop() if len(said) == 1 else None


def given_inputs(answers: Answers) -> frozenset[str]:
    """The commands that made inputs of which a person says that they are there already."""
    return frozenset(
        event_id
        for question, answer in _about_files(answers)
        if says_there(answer.answer)
        for event_id in question.evidence_event_ids
    )


def input_note(answers: Answers, evidence: LessonEvidence | None) -> str:
    """What is to be known of answers about files that the evidence does not follow; empty where it follows all."""
    repeated = {use.event_id for use in evidence.uses} if evidence else set[str]()
    reason = clipped((evidence.inputs_note if evidence else "").rstrip(".") or _NO_END, 90)
    said: list[str] = []
    for question, answer in _about_files(answers):
        about = clipped(question.about or "the file", 40)
        there = says_there(answer.answer)
        if there is None:
            said.append(f"“{clipped(answer.answer, 30)}” does not say whether {about} is there already")
        elif there and (evidence is None or repeated.intersection(question.evidence_event_ids)):
            said.append(f"{about} could not be taken as there already ({reason})")
    return f"{'; '.join(said)}. {_AS_SHOWN}" if said else ""


def _about_files(answers: Answers) -> Sequence[tuple[LearningQuestion, LearningAnswer]]:
    return [pair for pair in answers if pair[0].field is QuestionField.INPUT]


def _said(clause: str) -> set[bool]:
    """What one clause says: that the file is there (True), that the work makes it (False), both or nothing."""
    if _ELSEWHERE.search(clause):
        return {_NOT.search(clause) is None}
    if _UNCLEAR.search(clause):
        return {True, False}
    negation = _NOT.search(clause)
    end = negation.end() if negation else len(clause)
    found = {True: _THERE, False: _MADE}
    said = {means for means, words in found.items() if words.search(clause, 0, end)}
    if negation is None:
        return said
    denied = {not means for means, words in found.items() if words.search(clause, end)}
    if not said and not denied and negation.group() in ("missing", "absent"):
        return {False}
    return said | denied

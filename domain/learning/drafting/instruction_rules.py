"""The rules of a revision's words: each turns one instruction into a changed draft, or says that it is not its own.

An instruction that a rule understands and that cannot be carried out is refused with ``REVISION_INVALID``.
"""

import re
from collections.abc import Callable

from contracts.learning.interpretation import Checkpoint, ParameterType, ProjectScope, SkillParameter
from domain.learning.drafting.instruction_places import (
    QUOTES,
    Places,
    no_parameter,
    parameter_name,
    parameter_named,
    refused,
    unquoted,
)
from domain.learning.drafting.revised_draft import Revision

_CONDITION = r"(?:success )?condition|check(?! ?point)|criterion"

_Rule = Callable[[Revision, "re.Match[str]"], Revision | None]

RULES: list[tuple[re.Pattern[str], _Rule]] = []
"""Patterns of whole instructions with their rules, the more particular ones first."""


def _rule(*patterns: str) -> Callable[[_Rule], _Rule]:
    def register(rule: _Rule) -> _Rule:
        for pattern in patterns:
            RULES.append((re.compile(pattern, re.IGNORECASE | re.DOTALL), rule))
        return rule

    return register


_REMOVE = r"(?:remove|delete|drop|leave out|leave away|omit|skip|take out|cut|get rid of|we do not need|I do not need)"
_CHANGE = r"(?:change|set|replace|rewrite|reword|rename|correct|edit|update|make)"
_TO = r"\s*(?:\bto(?: be| say| read)?\b|\bwith\b|\binto\b|\bby\b|->|→|:)\s*:?\s*"
_BE = r" (?:(?:be|read|say)\s+|(?=[“\"']|(?-i:[A-Z])))"
"""What leads from ``make the title`` to its words: a verb, or that they are quoted or begin with a capital."""


# Commands that were left out


@_rule(
    r"(?:put|bring|take|add) (.+?) back(?: in)?(?: again)?",
    r"(?:put|bring|take|add) back (?:in )?(.+)",
    r"(?:restore|reinstate|re-?add) (.+)",
    r"(?:do not|don't|don’t|never) (?:leave out|leave away|omit|skip) (.+)",
    r"(?:do not|don't|don’t|never) leave (.+) out",
)
def _put_back(revision: Revision, match: re.Match[str]) -> Revision | None:
    found = revision.left.named(match.group(1))
    return revision.with_commands(found) if found else None


@_rule(r"(?:keep|retain|include) (.+?)(?: in)?(?: too| as well| after all| again)?")
def _keep(revision: Revision, match: re.Match[str]) -> Revision | None:
    said = match.group(1)
    found = revision.left.named(said) if revision.left.mentions(said) else None
    return revision.with_commands(found) if found else None


# Checkpoints


@_rule(rf"{_REMOVE} (.+)", r"(?:leave|take|cut) (.+) out")
def _remove(revision: Revision, match: re.Match[str]) -> Revision | None:
    said = match.group(1)
    if _is_condition(said):
        return _remove_condition(revision, said)
    if re.match(r"(?i)(?:the )?(?:negative )?trigger", said):
        return _remove_trigger(revision, said)
    if re.match(r"(?i)(?:the )?parameter\b", said):
        return _fixed(revision, said)
    commands = revision.commands.removed(said)
    if commands is not None:
        return revision.without_commands(commands)
    positions = revision.steps.named(said)
    if positions is None:
        return None
    gone = {revision.present[revision.at(p)].checkpoint_id for p in positions}
    return revision.with_checkpoints([c for c in revision.present if c.checkpoint_id not in gone])


@_rule(
    r"(?:swap|exchange|switch|interchange) (.+?)(?: and | with | for |, )(.+)",
    r"(?:swap|exchange|switch) (.+)",
)
def _swap(revision: Revision, match: re.Match[str]) -> Revision | None:
    first, *other = match.groups()
    positions = revision.steps.named(first) or ()
    if other:
        positions += revision.steps.named(str(other[0]), bare=True) or ()
    if len(positions) != 2:
        return None
    found = list(revision.present)
    a, b = revision.at(positions[0]), revision.at(positions[1])
    found[a], found[b] = found[b], found[a]
    return revision.with_checkpoints(found)


@_rule(
    r"(?:move|put|do|place|have) (.+?) (?P<where>before|after|behind|in front of) (.+)",
    r"(?:move|put|do|place|have) (.+?) (?:to |at |as )?(?:the )?(?:very )?"
    r"(?P<where>first|start|beginning|top|front|last|end|bottom)(?: place| position)?",
    r"(?:move|put) (.+?) to (?:position|place|number) (?P<where>\d{1,2})",
    r"(?:move|put) (.+?) (?:one )?(?P<where>up|down)(?: by one)?",
)
def _move(revision: Revision, match: re.Match[str]) -> Revision | None:
    where = match.group("where").lower()
    groups = [one for one in match.groups() if one and one.lower() != where]
    positions = revision.steps.named(groups[0])
    if positions is None:
        return None
    moved = [revision.present[revision.at(p)] for p in positions]
    rest = [c for c in revision.present if c not in moved]
    if where in ("before", "after", "behind", "in front of"):
        other = revision.steps.named(groups[1], bare=True)
        if other is None or len(other) != 1 or other[0] in positions:
            return None
        place = rest.index(revision.present[revision.at(other[0])]) + (where in ("after", "behind"))
    elif where in ("up", "down"):
        place = revision.at(positions[0]) + (1 if where == "down" else -1)
    elif where.isdigit():
        place = int(where) - 1
    else:
        place = len(rest) if where in ("last", "end", "bottom") else 0
    if not 0 <= place <= len(rest):
        raise refused(f"there is no such place among {len(revision.present)} checkpoints")
    return revision.with_checkpoints([*rest[:place], *moved, *rest[place:]])


@_rule(
    rf"{_CHANGE} (?:the )?(?:{_CONDITION}|verification) (?:of|for|in|at) (.+?){_TO}(.+)",
    r"((?:the )?(?:\w+ )?(?:step|check ?point).*?) is (?:only )?done when (.+)",
    r"(?:verify|check) ((?:the )?(?:\w+ )?(?:step|check ?point).*?) (?:by|with)(?: checking that)? (.+)",
    r"in ((?:the )?(?:\w+ )?(?:step|check ?point).*?),? (?:verify|check)(?: that)? (.+)",
)
def _change_condition(revision: Revision, match: re.Match[str]) -> Revision | None:
    positions = revision.steps.named(match.group(1))
    if positions is None or len(positions) != 1:
        return None
    return revision.with_checkpoint(positions[0], success_condition=unquoted(match.group(2)))


@_rule(
    rf"{_CHANGE} (?:the )?(?:goal|text|wording|name|title) (?:of|for) (.+?){_TO}(.+)",
    rf"{_CHANGE} ((?:the )?(?:\w+ )?(?:step|check ?point).*?){_TO}(.+)",
    r"call ((?:the )?(?:step|check ?point) (?:\d+|cp-\d+)) (.+)",
)
def _reword(revision: Revision, match: re.Match[str]) -> Revision | None:
    positions = revision.steps.named(match.group(1))
    if positions is None or len(positions) != 1:
        return None
    return revision.with_checkpoint(positions[0], goal=unquoted(match.group(2)))


_MADE_OF = re.compile(
    r"(.+?)(?:\s*[,;–-]?\s*\(?(?:it is )?"
    r"(?:done when|verified by|verify that|verify|check that|condition)\s*:?\s*(.+?)\)?)?",
    re.IGNORECASE | re.DOTALL,
)


@_rule(
    r"(?:add|insert) (?:a |an |another )?(?:new )?(?:step|check ?point)"
    r"(?: (?P<where>before|after|behind) (?P<place>[^:]+?)| at the (?P<end>start|beginning|end))?"
    r"\s*(?::|,|that|to say)\s*(?P<text>.+)"
)
def _add_step(revision: Revision, match: re.Match[str]) -> Revision | None:
    place = len(revision.present)
    if match.group("place"):
        other = revision.steps.named(match.group("place"), bare=True)
        if other is None or len(other) != 1:
            return None
        place = revision.at(other[0]) + (match.group("where").lower() != "before")
    elif (match.group("end") or "end").lower() != "end":
        place = 0
    made = _MADE_OF.fullmatch(match.group("text"))
    goal, condition = (made.group(1), made.group(2)) if made else (match.group("text"), None)
    taken = [
        int(c.checkpoint_id.removeprefix("cp-")) for c in (*revision.shown.checkpoints, *revision.present)
    ]
    added = Checkpoint(
        checkpoint_id=f"cp-{max(taken, default=0) + 1:02d}",
        goal=unquoted(goal),
        success_condition=unquoted(condition or goal),
        order_hint=0,
    )
    return revision.with_checkpoints([*revision.present[:place], added, *revision.present[place:]])


# Conditions of success and of use


def _is_condition(said: str) -> bool:
    return bool(
        re.search(r"(?i)\bdone when\b", said)
        or re.match(rf"(?i)(?:the )?(?:\w+ )?(?:{_CONDITION})s?\b", said)
    )


def _conditions(revision: Revision) -> Places:
    return Places(_CONDITION, revision.texts("success_conditions"))


def _remove_condition(revision: Revision, said: str) -> Revision | None:
    text = re.sub(r"(?i)\s*(?:from|of|in|under) (?:the )?[“\"']?done when[”\"']?$", "", said)
    places = _conditions(revision)
    positions = places.named(text, bare=True) or (places.worded(text),)
    kept = [one for n, one in enumerate(revision.texts("success_conditions")) if n not in positions]
    if not kept:
        raise refused("a skill needs at least one condition of success; add another one first")
    return revision.with_texts("success_conditions", kept)


@_rule(
    r"add (?:to|under) (?:the )?[“\"']?done[ -]when[”\"']?(?: that)?\s*:?\s*(.+)",
    r"add (?:the |a )?(?:success )?condition(?: that)?\s*:?\s*(.+)",
    r"add (.+?) (?:to|under) (?:the )?[“\"']?done[ -]when[”\"']?",
    r"(?:it is )?(?:also |only )?(?:done|finished) (?:only )?when\s*:?\s*(.+)",
    r"(?:verify|check) at the end that (.+)",
)
def _add_condition(revision: Revision, match: re.Match[str]) -> Revision:
    return revision.with_more("success_conditions", match.group(1))


@_rule(
    rf"{_CHANGE} (?:the )?(?:{_CONDITION}) (“[^”]+”|\"[^\"]+\"){_TO}(.+)",
    rf"{_CHANGE} (?:the )?(?:{_CONDITION}) (.+?){_TO}(.+)",
    rf"{_CHANGE} ((?:the )?(?!the\b)\w+ (?:{_CONDITION})){_TO}(.+)",
    rf"{_CHANGE} (?:the )?({_CONDITION}){_TO}(.+)",
    rf"{_CHANGE} [“\"']?done[ -]when[”\"']?(?: (?:no\.? ?|number )?(\d+))?{_TO}(.+)",
)
def _change_success(revision: Revision, match: re.Match[str]) -> Revision | None:
    said, new = match.group(1) or "", match.group(2)
    texts = list(revision.texts("success_conditions"))
    if re.fullmatch(rf"(?i){_CONDITION}|", said):
        if len(texts) > 1:
            raise refused(f"which of the {len(texts)} conditions? Say: change the condition 2 to …")
        return revision.with_texts("success_conditions", [unquoted(new)])
    of_steps = _worded_step(revision, said) if said[:1] in QUOTES else None
    if of_steps is not None:
        return revision.with_checkpoint(of_steps, success_condition=unquoted(new))
    places = _conditions(revision)
    positions = places.named(said, bare=True) or (places.worded(said),)
    for position in positions:
        texts[position] = unquoted(new)
    return revision.with_texts("success_conditions", texts)


def _worded_step(revision: Revision, said: str) -> int | None:
    """The checkpoint with exactly this condition, where no condition of the whole says it."""
    words = unquoted(said).casefold()
    if any(words in text.casefold() for text in revision.texts("success_conditions")):
        return None
    found = [n for n, c in enumerate(revision.shown.checkpoints) if words in c.success_condition.casefold()]
    return found[0] if len(found) == 1 else None


@_rule(
    r"(?:it is|this is|use it|make it|keep it) (?:for |in )?(?:(?P<here>this project only|only (?:for|in) this project|"
    r"project[- ]scoped)|anywhere|everywhere|global|for all projects)"
)
def _scope(revision: Revision, match: re.Match[str]) -> Revision:
    scope = ProjectScope.PROJECT_SCOPED if match.group("here") else ProjectScope.GLOBAL
    return revision.with_field("project_scope", scope.value)


@_rule(
    r"(?:do not|don't|don’t|never) use (?:it|this)(?: when| if| for)?\s*:?\s+(.+)",
    r"add to (?:the )?[“\"']?when not to use[”\"']?(?: it)?\s*:?\s*(.+)",
)
def _not_use(revision: Revision, match: re.Match[str]) -> Revision:
    return revision.with_more("non_use_conditions", match.group(1))


@_rule(
    r"use (?:it|this) (?:only )?(?:when|if|for)\s*:?\s+(.+)",
    r"add to (?:the )?[“\"']?when to use[”\"']?(?: it)?\s*:?\s*(.+)",
)
def _use(revision: Revision, match: re.Match[str]) -> Revision:
    return revision.with_more("use_conditions", match.group(1))


@_rule(
    r"add (?:the |a )?(?P<no>negative )?triggers?(?: phrases?)?\s*:?\s+(.+)",
    r"(?P<no>never|do not) trigger (?:on|for)\s+(.+)",
)
def _trigger(revision: Revision, match: re.Match[str]) -> Revision:
    name = "negative_triggers" if match.group("no") else "trigger_phrases"
    return revision.with_more(name, match.groups()[-1])


@_rule(
    r"(?:do not|don't|don’t|never|no need to|(?:you|it) (?:need not|should not|must not)|stop) (\w+)(?: (.+))?",
    r"no (\w+ing)(?: of)?(?: (.+))?",
)
def _not_done(revision: Revision, match: re.Match[str]) -> Revision | None:
    commands = revision.commands.undone(match.group(1).lower(), match.group(2) or "")
    return revision.without_commands(commands) if commands else None


def _remove_trigger(revision: Revision, said: str) -> Revision:
    name = "negative_triggers" if "negative" in said.lower() else "trigger_phrases"
    words = re.sub(r"(?i)^(?:the )?(?:negative )?trigger(?: phrase)?\s*", "", said)
    texts = revision.texts(name)
    gone = Places("trigger", texts).worded(words)
    return revision.with_texts(name, [one for n, one in enumerate(texts) if n != gone])


# Parameters


@_rule(r"(?:call|name|rename) (?:the )?(?P<noun>parameter )?(?P<rest>.+)")
def _rename_parameter(revision: Revision, match: re.Match[str]) -> Revision | None:
    words = match.group("rest").split()
    for place in range(len(words) - 1, 0, -1):
        name = re.sub(r"(?i)^(?:to|as|into) ", "", " ".join(words[place:]))
        what = re.sub(r"(?i) (?:to|as|into)$", "", " ".join(words[:place]))
        found = parameter_named(what, revision.shown.parameters)
        if found is not None:
            return revision.with_parameter(name=found.name, new_name=parameter_name(name))
        if place == 1 and re.fullmatch(r"\d+(?:\.\d+)?", unquoted(what)):
            return revision.with_parameter(name=parameter_name(name), value=unquoted(what), fixed=False)
    if match.group("noun"):
        raise no_parameter(words[0], revision.shown.parameters)
    return None


@_rule(
    r"(?:make|keep|leave|treat|hold|fix) (.+?) (?:as )?(?:a |always )?(?:fixed|constant|the same)(?: value)?"
)
def _make_fixed(revision: Revision, match: re.Match[str]) -> Revision:
    return _fixed(revision, match.group(1))


@_rule(
    r"(.+?) is (?:always )?(?:fixed|constant|not a parameter|no parameter|always the same)",
    r"(.+?) (?:should not|must not|cannot|does not|never) (?:be a parameter|vary|change|changes|varies)",
    r"always use (\S+)(?: as .+| for .+)?",
)
def _said_fixed(revision: Revision, match: re.Match[str]) -> Revision | None:
    found = parameter_named(match.group(1), revision.shown.parameters)
    return found and revision.with_parameter(name=found.name, fixed=True)


def _fixed(revision: Revision, said: str) -> Revision:
    return revision.with_parameter(name=_known(revision, said).name, fixed=True)


@_rule(
    r"(?:make|turn|treat) (?P<value>.+?) (?:into |as )?an? parameter"
    r"(?:,? (?:(?:called|named|with the name) )?(?P<name>.+))?",
    r"(?P<value>.+?) (?:is|should be) an? parameter(?:,? (?:(?:called|named) )?(?P<name>.+))?",
    r"(?:add|introduce) (?:a |the )?parameter (?P<name>.+?) (?:for|with the value|=) (?P<value>.+)",
    r"(?P<value>.+?) (?:may|can|could) (?:vary|change|differ)(?:,? (?:call it|named|called) (?P<name>.+))?",
)
def _make_parameter(revision: Revision, match: re.Match[str]) -> Revision | None:
    name = match.group("name")
    text = unquoted(re.sub(r"(?i)^the (?:number|value|text|word) ", "", match.group("value")))
    found = parameter_named(text, revision.shown.parameters)
    if found is not None:
        renamed = {"new_name": parameter_name(name)} if name else {}
        return revision.with_parameter(name=found.name, fixed=False, **renamed)
    if name is None:
        if re.match(r"(?i)make|turn|treat", match.group(0)):
            raise refused(f"what shall it be called? Say: make {text} a parameter called NAME")
        return None
    return revision.with_parameter(name=parameter_name(name), value=text, fixed=False)


@_rule(r"(?:make|set) (.+?) (?:to )?(optional|required)", r"(.+?) (?:is|should be) (optional|required)")
def _need(revision: Revision, match: re.Match[str]) -> Revision | None:
    found = parameter_named(match.group(1), revision.shown.parameters)
    return found and revision.with_parameter(name=found.name, required=match.group(2).lower() == "required")


@_rule(
    rf"(?:make )?(.+?) (?:is|should be|to be)?\s*(?:a |an |of type )({'|'.join(ParameterType)})(?: parameter)?",
    rf"{_CHANGE} the type of (.+?) to ({'|'.join(ParameterType)})",
)
def _type(revision: Revision, match: re.Match[str]) -> Revision | None:
    found = parameter_named(match.group(1), revision.shown.parameters)
    return found and revision.with_parameter(name=found.name, type=match.group(2).lower())


@_rule(
    r"describe (.+?) (?:as|with|by)\s*:?\s*(.+)",
    rf"{_CHANGE} the description of (.+?){_TO}(.+)",
)
def _describe(revision: Revision, match: re.Match[str]) -> Revision:
    found = _known(revision, match.group(1))
    return revision.with_parameter(name=found.name, description=unquoted(match.group(2)))


def _known(revision: Revision, said: str) -> SkillParameter:
    found = parameter_named(said, revision.shown.parameters)
    if found is None:
        raise no_parameter(said, revision.shown.parameters)
    return found


# The skill as a whole


@_rule(
    rf"{_CHANGE} (?:the |its )?(?:skill name|skill's name|slug|folder name){_TO}(.+)",
    r"install (?:it )?as (.+)",
)
def _slug(revision: Revision, match: re.Match[str]) -> Revision:
    return revision.with_field("proposed_skill_slug", unquoted(match.group(1)))


@_rule(
    rf"{_CHANGE} (?:the |its )?(?:title|name|ability|skill|heading){_TO}(.+)",
    rf"make (?:the |its )?(?:title|name|heading){_BE}(.+)",
    r"(?:re)?name (?:it|this|the (?:skill|ability)) (?:to |as |into )?(.+)",
    r"call (?:it|this|the (?:skill|ability)) (.+)",
    r"(?:the )?title(?: is| should be|:)\s*(.+)",
)
def _title(revision: Revision, match: re.Match[str]) -> Revision:
    return revision.with_field("title", unquoted(match.group(1)))


@_rule(
    rf"{_CHANGE} (?:the |its )?(?:goal|goal summary|purpose|description){_TO}(.+)",
    rf"make (?:the |its )?(?:goal|purpose|description){_BE}(.+)",
    r"(?:the )?(?:goal|purpose)(?: is| should be|:)\s*(.+)",
)
def _goal(revision: Revision, match: re.Match[str]) -> Revision:
    return revision.with_field("goal_summary", unquoted(match.group(1)))


@_rule(
    r"(?:rebase|redraft|draft)(?: it)?(?: again)?",
    r"(?:try|look)?(?: it)? ?again|once more|take in what has changed",
)
def _again(revision: Revision, match: re.Match[str]) -> Revision:
    """Every revision drafts again from what is there now; nothing else is asked for."""
    del match
    return revision

"""Effect of a tool (read, create, update, delete, send), judged by its name, description, schema and hints.

DOC3 §0.6C allows reads and asks about all else, so a doubt counts as a change. A tool without a read-only hint is a
read only when every verb of its name is a known reading verb and neither its description nor its parameters say
otherwise. A hint can make a call graver. It decides where the name says nothing; it does not outweigh a name or a
description that says what the tool changes: all three are the server's own words, and they have to agree.

Names follow the rules of ``tests/domain/mcp/real_tools.tsv``: 327 tools of public servers.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from contracts.learning.observation import ToolEffect
from contracts.mcp.tools import MCPToolDefinition
from domain.mcp.tool_descriptions import effect_said
from domain.mcp.tool_verbs import ALSO_NOUNS, AMBIGUOUS_IN_PROSE, READS, WRITES

_JOINTS = frozenset({"and", "or", "then", "plus", "also"})
"""After one of these a name may have another verb."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PLAIN = re.compile(r"[A-Za-z0-9_.:/\-\s]*")

_GRAVEST = (ToolEffect.DELETE, ToolEffect.SEND, ToolEffect.CREATE, ToolEffect.UPDATE)

_RUNS_WHAT_IT_IS_GIVEN = frozenset(
    {
        "bash",
        "cmd",
        "command",
        "commands",
        "exec",
        "javascript",
        "script",
        "shell",
        "sql",
        "statement",
        "statements",
    }
)
"""Parameters whose value is carried out."""

_FOR_EFFECTS_ALONE = frozenset({"confirm", "confirmed", "force", "overwrite", "upsert"}) | frozenset(
    {"dryrun", "dry_run", "yes"}
)
"""Parameters that a read has no use for."""

_RECIPIENTS = frozenset(
    {"bcc", "cc", "recipient", "recipients", "send_to", "to_address", "to_email", "to_number"}
)
_ENDS_OF_A_RANGE = frozenset({"from", "start", "since", "begin"})
_CONTENT_SENT = frozenset({"body", "message", "subject", "text", "amount"})

_CHOICES = frozenset(
    {"action", "method", "mode", "op", "operation", "subcommand", "sub_command", "verb", "http_method"}
)
"""Parameters that say which of several things the tool does."""

_PLACE = re.compile(r"(?:^|_)(?:path|file|filename|folder|directory|dest|destination|output|out)(?:$|_)")
_PUT_THERE = re.compile(
    r"\b(?:save|write|store|export|dump|download)[a-z]*\b(?:\W+\w+){0,8}?\W+(?:to|into|in|at|on)\b"
)

_CHANGING_REQUESTS = frozenset({"post", "put", "patch", "delete"})


def effect_of(definition: MCPToolDefinition) -> ToolEffect:
    """What kind of call the tool is. What nothing is known of counts as a change."""
    if definition.destructive is True and definition.read_only is not True:
        return ToolEffect.DELETE
    named = effect_of_name(definition.tool_name)
    if named not in (None, ToolEffect.READ):
        return cast(ToolEffect, named)
    hinted = definition.read_only is True and definition.destructive is not True
    said = effect_said(definition.description, strict=not hinted) or effect_said(
        definition.title or "", strict=not hinted
    )
    if said is not None:
        return said
    if hinted:
        return ToolEffect.READ
    if named is None or definition.read_only is False or definition.destructive is True:
        return ToolEffect.UPDATE
    return _effect_of_parameters(definition.input_schema) or ToolEffect.READ


def effect_of_name(name: str) -> ToolEffect | None:
    """What a name says: the gravest of its verbs; none where it has no verb that is known, or one that is not."""
    words = [word.lower() for word in _WORDS.findall(name)]
    for effect in _GRAVEST:
        if not WRITES[effect].isdisjoint(words):
            return effect
    found = [_effect_of_part(part, later=number > 0) for number, part in enumerate(_parts(words))]
    for effect in _GRAVEST:
        if effect in found:
            return effect
    return ToolEffect.READ if found and None not in found and _PLAIN.fullmatch(name) else None


def _parts(words: list[str]) -> list[list[str]]:
    """The words between the joints."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _JOINTS:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _effect_of_part(words: list[str], *, later: bool) -> ToolEffect | None:
    """What the first verb of a part says. A later part without a verb is a thing where it is in the plural.

    Where the verb stands last, what is also a noun is one: ``outlook_mail_search`` searches mail.
    """
    for place, word in enumerate(words):
        if word in READS:
            return ToolEffect.READ
        if word in ALSO_NOUNS and not (place > 0 and words[-1] in READS):
            return ALSO_NOUNS[word]
    return ToolEffect.READ if later and words[0].endswith("s") else None


def _effect_of_parameters(schema: Mapping[str, Any]) -> ToolEffect | None:
    """What the names and choices of a tool's parameters give away."""
    listed = schema.get("properties")
    if not isinstance(listed, dict):
        return None
    properties = cast("dict[str, Any]", listed)
    names = {"_".join(_WORDS.findall(name)).lower(): name for name in properties}
    if not (_RUNS_WHAT_IT_IS_GIVEN | _FOR_EFFECTS_ALONE).isdisjoint(names):
        return ToolEffect.UPDATE
    if not _RECIPIENTS.isdisjoint(names):
        return ToolEffect.SEND
    if "to" in names and (_ENDS_OF_A_RANGE.isdisjoint(names) or not _CONTENT_SENT.isdisjoint(names)):
        return ToolEffect.SEND
    said = {_effect_of_parameter(name) for name in names}
    if any(_is_filled(name, properties[own]) for name, own in names.items()):
        said.add(ToolEffect.CREATE)
    for choice in _CHOICES & set(names):
        said |= _effects_of_choices(properties[names[choice]])
    return next((effect for effect in _GRAVEST if effect in said), None)


def _effect_of_parameter(name: str) -> ToolEffect | None:
    """``delete_after`` and ``mark_as_read`` are deeds; ``set`` and ``updated_since`` are things."""
    first, _, rest = name.partition("_")
    if not rest or first in AMBIGUOUS_IN_PROSE:
        return None
    return next((effect for effect in _GRAVEST if first in WRITES[effect]), None)


def _is_filled(name: str, said: Any) -> bool:
    """Whether a parameter is a place that the answer is written to."""
    about: Any = cast("dict[str, Any]", said).get("description") if isinstance(said, dict) else None
    return isinstance(about, str) and bool(_PLACE.search(name) and _PUT_THERE.search(about.lower()))


def _effects_of_choices(said: Any) -> set[ToolEffect]:
    """Of the values that a parameter may have; one that is free may be anything."""
    listed: Any = cast("dict[str, Any]", said).get("enum") if isinstance(said, dict) else None
    if not isinstance(listed, list):
        return {ToolEffect.UPDATE}
    values = [str(value) for value in cast("list[Any]", listed)]
    found = {effect_of_name(value) for value in values}
    if any(value.lower() in _CHANGING_REQUESTS for value in values):
        found.add(ToolEffect.UPDATE)
    return {effect for effect in found if effect not in (None, ToolEffect.READ)}

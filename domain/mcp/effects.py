"""What kind of call a tool is, by its name and hints (DOC3 §0.6C: reads allowed, all else asks first).

Hints are the server's own word. They can make a call more serious, never less than its name says; where the name
says nothing, a hint that it only reads is believed, as the name itself would be.
"""

import re
from collections.abc import Mapping

from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.tools import MCPToolDefinition


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READS = _words(
    "browse check count describe download exists explain export fetch find get grep inspect list lookup peek ping "
    "preview query read resolve retrieve search show stat status tail view whoami"
)

_WRITES: Mapping[ToolEffect, frozenset[str]] = {
    ToolEffect.DELETE: _words(
        "clear delete destroy discard drop erase expunge kill prune purge remove reset revoke rm terminate "
        "trash truncate uninstall unlink unpublish wipe"
    ),
    ToolEffect.SEND: _words(
        "broadcast dispatch forward notify pay publish respond send submit transfer tweet"
    ),
    ToolEffect.CREATE: _words(
        "add create deploy duplicate generate import insert install make mkdir provision register "
        "save subscribe"
    ),
    ToolEffect.UPDATE: _words(
        "accept append apply approve assign cancel close complete decline disable edit enable execute "
        "invoke mark modify move mutate overwrite put rename reopen replace restart restore rotate "
        "set toggle trigger unsubscribe update upsert write"
    ),
}
"""Verbs that write wherever they stand in a name, the gravest first."""

_ALSO_NOUNS: Mapping[str, ToolEffect] = {
    "archive": ToolEffect.DELETE,
    "book": ToolEffect.CREATE,
    "build": ToolEffect.CREATE,
    "call": ToolEffect.UPDATE,
    "comment": ToolEffect.SEND,
    "commit": ToolEffect.UPDATE,
    "copy": ToolEffect.CREATE,
    "change": ToolEffect.UPDATE,
    "draft": ToolEffect.CREATE,
    "email": ToolEffect.SEND,
    "fork": ToolEffect.CREATE,
    "invite": ToolEffect.SEND,
    "merge": ToolEffect.UPDATE,
    "message": ToolEffect.SEND,
    "new": ToolEffect.CREATE,
    "order": ToolEffect.SEND,
    "patch": ToolEffect.UPDATE,
    "post": ToolEffect.SEND,
    "purchase": ToolEffect.SEND,
    "push": ToolEffect.SEND,
    "record": ToolEffect.CREATE,
    "reply": ToolEffect.SEND,
    "run": ToolEffect.UPDATE,
    "schedule": ToolEffect.CREATE,
    "share": ToolEffect.SEND,
    "start": ToolEffect.UPDATE,
    "stop": ToolEffect.UPDATE,
    "sync": ToolEffect.UPDATE,
    "upload": ToolEffect.SEND,
}
"""Verbs that are things, too: after a reading verb they are what is read."""

_JOINTS = frozenset({"and", "or", "then"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def effect_of(definition: MCPToolDefinition) -> ToolEffect:
    """What kind of call the tool is. What nothing is known of counts as a change."""
    if definition.destructive is True and definition.read_only is not True:
        return ToolEffect.DELETE
    named = _effect_of_name(definition.tool_name)
    if named is None:
        return ToolEffect.READ if definition.read_only is True else ToolEffect.UPDATE
    if named is ToolEffect.READ and (definition.read_only is False or definition.destructive is True):
        return ToolEffect.UPDATE
    return named


def is_write(effect: ToolEffect) -> bool:
    """Whether it changes or sends anything."""
    return effect is not ToolEffect.READ


def _effect_of_name(name: str) -> ToolEffect | None:
    words = [word.lower() for word in _WORDS.findall(name)]
    for effect, verbs in _WRITES.items():
        if any(word in verbs for word in words):
            return effect
    reading = False
    for word in words:
        if word in READS:
            reading = True
        elif word in _JOINTS:
            reading = False
        elif word in _ALSO_NOUNS and not reading:
            return _ALSO_NOUNS[word]
    return ToolEffect.READ if any(word in READS for word in words) else None

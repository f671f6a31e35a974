"""Invalid request bodies, generated from the schema of a valid one."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.api.world import CANARY, resolved

DEEP = 100_000


class Wrong(NamedTuple):
    """A body that is wrong, and how."""

    how: str
    content: bytes
    content_type: str = "application/json"


def wrong_bodies(schema: Mapping[str, Any], good: dict[str, Any]) -> Iterator[Wrong]:
    """Bodies that differ from a good one in one thing."""
    yield from _unreadable(good)
    yield _wrong("an unknown field", {**good, "surprise": CANARY})
    yield _wrong("a list instead of an object", [CANARY])
    yield _wrong("a text instead of an object", CANARY)
    yield _wrong("another schema version", {**good, "schema_version": 2})
    for name, field in schema["properties"].items():
        yield from _wrong_fields(name, resolved(field), good)
    for name in schema.get("required", ()):
        yield _wrong(f"{name} left out", {k: v for k, v in good.items() if k != name})


def _wrong(how: str, body: object) -> Wrong:
    return Wrong(how, json.dumps(body).encode())


def _unreadable(good: dict[str, Any]) -> Iterator[Wrong]:
    text = json.dumps(good)
    opened = text[:-1] + ", " if good else "{"
    yield Wrong("cut off", text[:-1].encode())
    yield Wrong("no JSON", f"<{CANARY}/>".encode())
    yield Wrong("of another type", text.encode(), "text/plain")
    yield Wrong("a form", b"reason=" + CANARY.encode(), "application/x-www-form-urlencoded")
    yield Wrong("NaN", (opened + '"surprise": NaN}').encode())
    yield Wrong("nested without end", b"[" * DEEP + b"]" * DEEP)
    yield Wrong("nested in a field", (opened + '"surprise": ' + "[" * 500 + "]" * 500 + "}").encode())
    yield Wrong("a number without end", (opened + '"surprise": ' + "9" * 5000 + "}").encode())
    yield Wrong("in another encoding", text.encode("utf-16"))
    yield Wrong("no text at all", b'{"surprise": "\xff\xfe"}')
    yield Wrong("a surrogate in bytes", b'{"surprise": "\xed\xa0\x80"}')
    yield Wrong("a hostile field name", (opened + '"\\udc00": 1}').encode())
    yield Wrong("a control character in a name", (opened + '"\\u0001\\u001b[31m": 1}').encode())
    yield Wrong("a raw control character", (opened + '"surprise": "\x07"}').encode())


def _wrong_fields(name: str, field: Mapping[str, Any], good: dict[str, Any]) -> Iterator[Wrong]:
    kind = field.get("type")
    other: object = {"canary": CANARY} if kind != "object" and "properties" not in field else CANARY
    yield _wrong(f"{name} of another type", {**good, name: other})
    if "enum" in field or "const" in field:
        yield _wrong(f"{name} outside its values", {**good, name: CANARY})
    if kind == "integer":
        yield _wrong(f"{name} out of range", {**good, name: 10**30})
    if kind == "string" and "enum" not in field and "const" not in field:
        yield _wrong(f"{name} with NUL", {**good, name: f"{CANARY}\0"})
        yield _wrong(f"{name} with half a character", {**good, name: f"{CANARY}\ud83d"})
        if "maxLength" in field:
            long = (CANARY * field["maxLength"])[: field["maxLength"] + 1]
            yield _wrong(f"{name} too long", {**good, name: long})
        if field.get("minLength"):
            yield _wrong(f"{name} empty", {**good, name: ""})
    if kind == "array":
        yield _wrong(f"{name} with a wrong entry", {**good, name: [*good.get(name, ()), {"canary": CANARY}]})
        if field.get("minItems"):
            yield _wrong(f"{name} empty", {**good, name: []})
        if "maxItems" in field:
            entries = good.get(name) or [_entry_of(field)]
            yield _wrong(f"{name} too long", {**good, name: entries * (field["maxItems"] + 1)})


def _entry_of(field: Mapping[str, Any]) -> object:
    items = resolved(field["items"])
    return items["enum"][0] if "enum" in items else "one"

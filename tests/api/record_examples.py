"""Completes and records the examples of the OpenAPI document: ``python -m tests.api.record_examples [NAME ...]``.

Every example gets the fields that its model has gained, and is removed when its model or operation is gone. A response
model or request body without an example, and each one named (a model or an operation id), is taken from real traffic:
sessions taught through the API over a real worker and Temporal server, then every route that reads. Ids, times and
digests become fixed ones. Models and bodies that this does not reach are listed: write those by hand.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, TypeAdapter

from api.platform.openapi import examples
from tests.api.platform.test_openapi import endpoint_models
from tests.api.world import ROUTES, build_world, operation_of
from tests.fixtures.stack import Stack

FOLDER = Path(__file__).parents[2] / "api" / "platform" / "openapi_examples"
NAMES = "RECORD_EXAMPLES"
BEGUN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
_TEMPLATES = {
    name: (route.method, re.compile(re.sub(r"\\{\w+(?::path)?\\}", "[^/]+", re.escape(route.path))))
    for name, route in ROUTES.items()
}


def normalised(recorded: Any) -> Any:
    """``recorded`` with its ids, times and digests replaced, equal ones by equal ones, in order of appearance."""
    text = json.dumps(recorded)
    for pattern, fixed in (
        (r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", lambda n: f"0199aa10-7c00-7000-8000-{n:012x}"),
        (
            r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)",
            lambda n: f"{BEGUN + timedelta(minutes=n):%Y-%m-%dT%H:%M:%SZ}",
        ),
        (r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", lambda n: f"{n:064x}"),
    ):
        text = _numbered(text, pattern, fixed)
    return json.loads(text)


def _numbered(text: str, pattern: str, fixed: Callable[[int], str]) -> str:
    seen: dict[str, str] = {}
    return re.sub(pattern, lambda found: seen.setdefault(found[0], fixed(len(seen) + 1)), text)


def operation_called(method: str, path: str) -> str | None:
    """The operation id of a request."""
    matching = (name for name, (verb, form) in _TEMPLATES.items() if verb == method and form.fullmatch(path))
    return next(matching, None)


async def recorded_traffic(stack: Stack) -> tuple[dict[str, Any], dict[str, Any]]:
    """The newest successful responses by model, and request bodies by operation id, of everything played."""
    responses: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    models = {name: answer.__name__ for name, (_, answer) in endpoint_models().items() if _is_model(answer)}

    async def note(response: httpx.Response) -> None:
        name = operation_called(response.request.method, response.request.url.path)
        if name in models and response.is_success:
            responses[models[name]] = normalised(json.loads(await response.aread()))
            if body := response.request.content:
                requests[name] = normalised(json.loads(body))

    stack.http.event_hooks = {"response": [note]}
    world = await build_world(stack)
    for name in models:
        if ROUTES[name].method == "GET":
            await world.alice.call("GET", world.waiting.path_of(ROUTES[name]))
    return responses, requests


def _is_model(answer: Any) -> bool:
    return isinstance(answer, type) and issubclass(answer, BaseModel)


@pytest.mark.anyio
async def test_record_examples(shared: Stack) -> None:
    again = set(os.environ.get(NAMES, "").split())
    played_responses, played_requests = await recorded_traffic(shared)
    files: dict[str, dict[str, dict[str, Any]]] = {}
    missing: list[str] = []
    for name, (body, answer) in endpoint_models().items():
        (tag,) = operation_of(ROUTES[name])["tags"]
        file = files.setdefault(tag.replace(" ", "_").replace("-", "_"), {"responses": {}, "requests": {}})
        if _is_model(answer) and not any(answer.__name__ in one["responses"] for one in files.values()):
            found = _chosen(answer.__name__, examples().responses, played_responses, again)
            if found is None:
                missing.append(answer.__name__)
            else:
                whole = TypeAdapter(answer).validate_json(json.dumps(found))
                file["responses"][answer.__name__] = whole.model_dump(mode="json")
        if body is not None:
            found = _chosen(name, examples().requests, played_requests, again)
            if found is None:
                missing.append(name)
            else:
                file["requests"][name] = found
    for tag, content in files.items():
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (FOLDER / f"{tag}.json").write_text(text, encoding="utf-8")
    assert missing == [], "write these by hand"


def _chosen(name: str, kept: Any, played: dict[str, Any], again: set[str]) -> Any:
    if name in kept and not (name in again and name in played):
        return kept[name]
    return played.get(name)


if __name__ == "__main__":
    os.environ[NAMES] = " ".join(sys.argv[1:])
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "--override-ini=timeout=600", __file__])

"""Workflow ids are spelled in contracts/workflow_ids.py only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import workflow_ids

PROJECT = Path(__file__).parents[2]
KINDS = {value for name, value in vars(workflow_ids).items() if name.isupper() and isinstance(value, str)}
SCHEDULES = {value for name, value in vars(workflow_ids).items() if name.endswith("_SCHEDULE")}
LAYERS = (
    *("activities", "api", "bench", "cli", "clients", "config", "contracts", "domain", "gateways", "host"),
    *("recorders", "skills", "stores", "worker", "workflows"),
)
SPELLED = re.compile(rf"(?:{'|'.join(sorted(KINDS))})/(?:\{{\}})?(?:#.*)?")
"""An id, alone or with what a change appends to it; ``practice/{number}/{position}`` names no workflow."""

IN_THE_CONSOLE = {"console/static/session_data.js": {"learn-session", "validation-run"}}
"""Python is out of reach of the pages, which ask for two workflows by their ids."""


def texts_in(source: str) -> Iterator[str]:
    """Every string constant, with ``{}`` for what a formatted one puts in."""
    tree = ast.parse(source)
    pieces = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in pieces:
            yield node.value


def spelled_in(source: str) -> list[str]:
    return [text for text in texts_in(source) if SPELLED.fullmatch(text) or text in SCHEDULES]


@pytest.mark.thorough
def test_no_product_source_spells_a_workflow_id() -> None:
    found = {
        str(path.relative_to(PROJECT)): spelled
        for layer in LAYERS
        for path in (PROJECT / layer).rglob("*.py")
        if path != PROJECT / "contracts" / "workflow_ids.py"
        and (spelled := spelled_in(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_the_console_spells_the_ids_of_two_workflows_in_one_place() -> None:
    found: dict[str, set[str]] = {}
    for path in (PROJECT / "console").rglob("*.js"):
        kinds = set(re.findall(rf"[`'\"]({'|'.join(KINDS)})/", path.read_text(encoding="utf-8")))
        if kinds:
            found[str(path.relative_to(PROJECT))] = kinds
    assert found == IN_THE_CONSOLE


@pytest.mark.parametrize(
    "source",
    [
        'f"learn-session/{x}"',
        'f"mined-skill/{a}#{b}/{c}"',
        '"auth-profile/" + x',
        'start("nightly-maintenance")',
    ],
)
def test_a_spelled_id_is_found(source: str) -> None:
    assert spelled_in(source)

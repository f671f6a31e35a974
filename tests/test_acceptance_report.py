"""The committed acceptance report tells of the tests that there are."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.fixtures.acceptance import requirements, written

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "docs" / "acceptance.md"


def marked_tests() -> Iterator[tuple[str, str]]:
    """Each id with a test that shows it, read from the sources."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.acceptance"):
                        for name in mark.args:
                            yield ast.literal_eval(name), f"{path.relative_to(ROOT)}::{node.name}"


def test_the_report_names_every_test_that_shows_a_requirement() -> None:
    results: dict[str, dict[str, str]] = {}
    for name, test in marked_tests():
        results.setdefault(name, {})[test] = "passed"
    assert REPORT.read_text(encoding="utf-8") == written(results), (
        "run `make acceptance` and commit what it writes"
    )


def test_every_requirement_is_told_once() -> None:
    known = requirements()
    lines = (ROOT / "tests" / "acceptance.tsv").read_text(encoding="utf-8").splitlines()
    assert len(known) == len(lines) - 1
    assert all(requirement.text and requirement.source for requirement in known.values())

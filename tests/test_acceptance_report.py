"""The committed acceptance report tells of the tests that there are."""

import ast
from pathlib import Path

from tests.fixtures.acceptance import requirements, written

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "docs" / "acceptance.md"


def marked_tests() -> list[tuple[str, str]]:
    """Each id with a test that shows it; read from the sources."""
    found: list[tuple[str, str]] = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "acceptance(" not in source:
            continue
        module = ast.parse(source)
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.acceptance"):
                        for name in mark.args:
                            where = f"{path.relative_to(ROOT)}::{node.name}"
                            found.append((ast.literal_eval(name), where))
    return found


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

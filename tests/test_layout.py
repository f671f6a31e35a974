"""The tree is what ARCHITECTURE.md says: folders of a readable size, and every path that a page names."""

import re
import subprocess
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = (
    "contracts",
    "config",
    "host",
    "domain",
    "stores",
    "skills",
    "recorders",
    "clients",
    "activities",
    "workflows",
    "gateways",
    "api",
    "console",
    "worker",
    "cli",
)
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
MOST_MODULES_A_FOLDER = 20
NUMBERED_SERIES = frozenset({"stores/migrations/versions"})
"""Folders whose modules are found by their number, and that only ever grow."""
MOST_LINES_A_MODULE = 500


def modules() -> list[Path]:
    listed = subprocess.check_output(["git", "ls-files", "*.py"], cwd=ROOT, text=True).split()
    return [Path(name) for name in listed if name.split("/")[0] in LAYERS and (ROOT / name).is_file()]


def test_no_folder_has_more_modules_than_fit_on_a_screen() -> None:
    sizes = Counter(str(module.parent) for module in modules())
    crowded = {folder: count for folder, count in sizes.items() if count > MOST_MODULES_A_FOLDER}
    assert crowded.keys() - NUMBERED_SERIES == set(), crowded


def test_no_package_has_an_init_module() -> None:
    assert [str(module) for module in modules() if module.name == "__init__.py"] == []


def test_no_module_is_longer_than_one_idea() -> None:
    lengths = {
        str(module): len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in modules()
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_A_MODULE} == {}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_is_imported_from_this_tree(layer: str) -> None:
    # A regular package of the same name anywhere on the path would be preferred to a namespace package.
    assert [Path(folder) for folder in import_module(layer).__path__] == [ROOT / layer]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(
        rf"`((?:{'|'.join(LAYERS)}|tests|docs|bench)/[\w./-]+\.(?:py|js|md|json|tsv|toml))`",
        page.read_text(encoding="utf-8"),
    )
    assert [path for path in named if not (ROOT / path).exists()] == []

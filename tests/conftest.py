"""Shared by all tests: order and marks, a clean environment, settings under a temporary folder."""

import os
import signal
from collections import Counter
from collections.abc import Generator, Sequence
from functools import cache
from pathlib import Path

import hypothesis
import pytest
import structlog

from config.memory import loading
from config.settings import Settings
from tests.fixtures.thoroughness import times

pytest_plugins = (
    "tests.fixtures.only_here",
    "tests.fixtures.query_plans",
    "tests.fixtures.temporal",
    "tests.fixtures.stack",
    "tests.fixtures.crowds",
    "tests.fixtures.postgres",
    "tests.fixtures.model_server",
    "tests.fixtures.model_stack",
    "tests.fixtures.acceptance",
    "tests.fixtures.mcp_servers",
    "tests.fixtures.tool_calls",
    "tests.fixtures.authorization_server",
    "tests.fixtures.signing_in",
)

# The time of an example depends on the load of the machine, not on the code.
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    max_examples=times(100),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("untimed")


LONG_FIRST = ("lessons", "faults", "workflows", "model")
"""The folders with the longest tests: begun last, one of them would keep one process while the others are idle."""

THOROUGH = frozenset({"console", "e2e", "faults", "model"})
"""The folders of whole lessons, real pages, killed processes and random walks: few of them are for every day."""

PROCESSES = frozenset({"service", "deployment"})
"""The fixtures of an application in processes of its own: each process of a test run starts it anew."""

WHOLE = frozenset({"temporal_address", "browser"})
"""The fixtures behind an application in the test's process, and a browser."""

SHARED = "shared"
"""The fixture of an application that the tests of a file share; they vary one test over all operations."""

ONE_IN = 10
"""Of the operations that a test varies in a shared application, every tenth is for every day."""


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names bytes by their kind alone: archives hold the time they were made, and processes compare names of tests."""
    return "bytes" if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first; within their folders the order stays. ``thorough`` is marked where it is the rule.

    What needs a whole application is for every day once a file; in processes of its own, or in the folders of
    ``THOROUGH``, only where it is marked ``everyday``. What is shown of both databases is shown of SQLite every day.
    """
    place = {name: number for number, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: place.get(_folder(item), len(place)))
    daily = _daily(items)
    for item in items:
        if item not in daily or _is_of_postgres(item):
            item.add_marker("thorough")


def _daily(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """What the everyday run takes: what needs no whole application, and of each file the first that does."""
    files: set[Path] = set()
    cases: Counter[str] = Counter()
    daily: set[pytest.Item] = set()
    for item in items:
        needs = _needs(item)
        lasting = _folder(item) in THOROUGH or bool(PROCESSES & needs)
        if item.get_closest_marker("everyday") or not (needs & WHOLE or lasting):
            daily.add(item)
        elif SHARED in needs:
            test = item.nodeid.partition("[")[0]
            if cases[test] % ONE_IN == 0:
                daily.add(item)
            cases[test] += 1
        elif not lasting and item.path not in files and not _is_left_out(item):
            daily.add(item)
            files.add(item.path)
    return daily


def _needs(item: pytest.Item) -> frozenset[str]:
    return frozenset(getattr(item, "fixturenames", ()))


def _is_left_out(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("thorough")) or _is_of_postgres(item)


def _is_of_postgres(item: pytest.Item) -> bool:
    return "postgres_cluster" in _needs(item) or "postgresql" in item.name.partition("[")[2]


def _folder(item: pytest.Item) -> str:
    return _folder_of(item.path)


@cache
def _folder_of(path: Path) -> str:
    """Asked twice for each test, of which a file has dozens: taking paths apart is slow."""
    return path.relative_to(Path(__file__).parent).parts[0]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Excludes what is imported and collected from garbage collection: it would take longer than collecting does."""
    with loading():
        return (yield)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine that runs the tests reaches them."""
    for name in list(os.environ):
        if name.startswith(("APPRENTICE_", "TEMPORAL_")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True, scope="session")
def plain_logs() -> None:
    """One line a log entry, so that a failing test shows what matters."""
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
    )


@pytest.fixture(autouse=True, scope="session")
def interruptible_children() -> None:
    """Programs that tests start can be interrupted, also where the tests run in a script's background.

    There the shell has SIGINT ignored, and what is ignored is inherited.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the application does."""
    return "asyncio"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose every path is under the test's own folder and whose ports are free ones."""
    return Settings(data_dir=tmp_path / "data", api_port=0, temporal_port=0, temporal_ui_port=0)

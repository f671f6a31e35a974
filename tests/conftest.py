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
from tests.fixtures.thoroughness import is_every_day, times

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


LONG_FIRST = ("lessons", "model", "faults", "workflows")
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

SAMPLED = (
    "api/platform",
    "cli/platform",
    "clients",
    "contracts",
    "domain/imports",
    "domain/learning/method",
    "host",
    "recorders",
    "replay",
    "skills",
    "stores",
)
"""The folders whose tests start programs, fill databases, or vary one another in large tables."""

SAMPLED_ONE_IN = 5
"""Of a file in such a folder, every fifth test is for every day."""


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names bytes by their kind alone: archives hold the time they were made, and processes compare names of tests."""
    return "bytes" if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests come first; within their folders the order stays. ``thorough`` is marked where it is the rule.

    On every day what needs Temporal comes last, as its server takes processor time also while it idles.
    What needs a whole application is for every day once a folder; in processes of its own, or in the folders of
    ``THOROUGH``, only where it is marked ``everyday``. Of the files in ``SAMPLED`` every fifth test is. What is
    shown of both databases is shown of SQLite every day.
    """
    place = {name: number for number, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: place.get(_folder(item), len(place)))
    if is_every_day(config):
        items.sort(key=lambda item: bool(WHOLE & _needs(item)))
    daily = _daily(items)
    for item in items:
        if item not in daily:
            item.add_marker("thorough")


def _daily(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """What the everyday run takes: what needs no whole application, and of each folder the first that does."""
    counted: Counter[str] = Counter()

    def one_in(number: int, group: str) -> bool:
        counted[group] += 1
        return counted[group] % number == 1

    daily: set[pytest.Item] = set()
    folders: set[Path] = set()
    for item in items:
        needs = _needs(item)
        if _is_left_out(item):
            continue
        if item.get_closest_marker("everyday"):
            daily.add(item)
        elif SHARED in needs:
            if one_in(ONE_IN, item.nodeid.partition("[")[0]):
                daily.add(item)
        elif WHOLE & needs:
            if item.path.parent not in folders:
                folders.add(item.path.parent)
                daily.add(item)
        elif not _place(item.path).startswith(SAMPLED) or one_in(SAMPLED_ONE_IN, str(item.path)):
            daily.add(item)
    return daily


def _needs(item: pytest.Item) -> frozenset[str]:
    return frozenset(getattr(item, "fixturenames", ()))


def _is_left_out(item: pytest.Item) -> bool:
    if _is_of_postgres(item):
        return True
    long = item.get_closest_marker("thorough") or _folder(item) in THOROUGH or PROCESSES & _needs(item)
    return bool(long) and not item.get_closest_marker("everyday")


def _is_of_postgres(item: pytest.Item) -> bool:
    return "postgres_cluster" in _needs(item) or "postgresql" in item.name.partition("[")[2]


def _folder(item: pytest.Item) -> str:
    return _place(item.path).partition("/")[0]


@cache
def _place(path: Path) -> str:
    """Where a file is below the tests. Asked several times for each test of a file: taking paths apart is slow."""
    return path.relative_to(Path(__file__).parent).as_posix()


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

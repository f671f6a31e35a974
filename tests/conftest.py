"""Shared by all tests: order and marks, a clean environment, settings under a temporary folder."""

import gc
import os
import signal
from pathlib import Path

import hypothesis
import pytest
import structlog

from config.settings import Settings
from tests.fixtures.thoroughness import times

pytest_plugins = (
    "tests.fixtures.only_here",
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

THOROUGH = frozenset({"console", "e2e", "faults"})
"""The folders of whole lessons, real pages and killed processes: of each subject, few tests are for every day."""


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names bytes by their kind alone: archives hold the time they were made, and processes compare names of tests."""
    return "bytes" if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first; within their folders the order stays. ``thorough`` is marked where it is the rule.

    What shows a requirement of the specification is for every day, wherever it is. What is shown of both databases
    is shown of SQLite every day.
    """
    place = {name: number for number, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: place.get(_folder(item), len(place)))
    for item in items:
        shown_daily = item.get_closest_marker("everyday") or item.get_closest_marker("acceptance")
        if (_folder(item) in THOROUGH and not shown_daily) or _is_of_postgres(item):
            item.add_marker("thorough")


def _is_of_postgres(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and "postgresql" in item.name.partition("[")[2]


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).parts[0]


def pytest_collection_finish() -> None:
    """Excludes the imported modules from garbage collection."""
    gc.collect()
    gc.freeze()


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

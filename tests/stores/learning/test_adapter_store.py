"""What recorders report of themselves is kept for each user, newest first to count."""

from collections.abc import Callable

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind as Kind
from contracts.learning.observation import RegisteredAdapter
from stores.learning.adapters import SEEN_EVERY_S, AdapterStore
from stores.platform.database import Database
from stores.platform.journal.journal import EVENTS, read_stream


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def entry(adapters: AdapterStore, owner: str, kind: Kind) -> RegisteredAdapter:
    return next(one for one in adapters.registered(owner).adapters if one.status.kind is kind)


def test_an_adapter_nobody_heard_of_is_there_and_was_never_seen(store: Database) -> None:
    found = entry(AdapterStore(store), "ada", Kind.BROWSER_DOM)
    assert (found.available, found.status.healthy, found.status.last_seen_at) == (True, True, None)


def test_the_newest_report_of_a_user_holds_in_every_process(store: Database) -> None:
    one, other = AdapterStore(store), AdapterStore(store)
    told = one.heartbeat("ada", Kind.BROWSER_DOM, "NO_BROWSER")
    assert entry(other, "ada", Kind.BROWSER_DOM) == told
    assert (told.status.healthy, told.status.last_error_code) == (False, "NO_BROWSER")
    assert entry(other, "bob", Kind.BROWSER_DOM).status.healthy
    other.heartbeat("ada", Kind.BROWSER_DOM)
    assert entry(one, "ada", Kind.BROWSER_DOM).status.healthy


def test_a_browser_that_can_be_watched_no_more_is_told_once_as_a_capability_event(store: Database) -> None:
    adapters = AdapterStore(store)
    adapters.heartbeat("ada", Kind.BROWSER_DOM)
    for kind in (Kind.BROWSER_DOM, Kind.BROWSER_SNAPSHOT, Kind.TERMINAL_COMMAND):
        adapters.heartbeat("ada", kind, "SPOOL_FULL")
    with store.read() as connection:
        (told,) = read_stream(connection, EVENTS)
    assert told.owner == "ada"
    assert told.document["event"] == "browser.relay.detached"
    assert told.document["reason_codes"] == ["SPOOL_FULL"]


def test_events_that_keep_coming_are_written_down_now_and_then(store: Database) -> None:
    clock = Clock()
    adapters = AdapterStore(store, clock=clock)

    def seen_at() -> object:
        return entry(adapters, "ada", Kind.TERMINAL_COMMAND).status.last_seen_at

    adapters.saw("ada", {Kind.TERMINAL_COMMAND, Kind.PROCESS_LAUNCH})
    first = seen_at()
    assert first is not None
    clock.now += SEEN_EVERY_S - 1
    adapters.saw("ada", {Kind.TERMINAL_COMMAND})
    assert seen_at() == first
    clock.now += 1
    adapters.saw("ada", {Kind.TERMINAL_COMMAND})
    assert seen_at() != first


def test_a_broken_adapter_whose_events_come_in_is_well_at_once(store: Database) -> None:
    adapters = AdapterStore(store, clock=Clock())
    adapters.saw("ada", {Kind.TERMINAL_COMMAND})
    adapters.heartbeat("ada", Kind.TERMINAL_COMMAND, "SPOOL_FULL")
    with pytest.raises(Refusal) as refused:
        adapters.refuse_unusable("ada", {Kind.TERMINAL_COMMAND, Kind.BROWSER_DOM})
    assert refused.value.code is ErrorCode.ADAPTER_UNAVAILABLE
    assert "SPOOL_FULL" in refused.value.message
    assert Kind.TERMINAL_COMMAND.value not in refused.value.extra["alternatives"]  # type: ignore[operator]
    adapters.saw("ada", {Kind.TERMINAL_COMMAND})
    adapters.refuse_unusable("ada", {Kind.TERMINAL_COMMAND, Kind.BROWSER_DOM})


@pytest.mark.parametrize("ask", [AdapterStore.heartbeat, lambda s, _, kind: s.refuse_unavailable([kind])])
def test_what_is_disabled_or_not_deployed_takes_no_report(
    store: Database, ask: Callable[[AdapterStore, str, Kind], object]
) -> None:
    adapters = AdapterStore(store, [Kind.BROWSER_DOM])
    for kind in (Kind.BROWSER_DOM, Kind.MIDI):
        with pytest.raises(Refusal) as refused:
            ask(adapters, "ada", kind)
        assert refused.value.code is ErrorCode.ADAPTER_UNAVAILABLE
        assert entry(adapters, "ada", kind).status.last_seen_at is None
    assert Kind.BROWSER_DOM not in adapters.available
    assert Kind.MCP_RECEIPT in adapters.available

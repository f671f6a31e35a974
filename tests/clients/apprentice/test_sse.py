"""Reading server-sent events: the decoder's laws, and following a stream across dropped connections."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.apprentice.sse import EventTooLong, Reconnect, ServerSentEvent, SseDecoder, StreamContext, follow
from contracts.backoff import Backoff

LINE_TEXT = st.text(
    alphabet=st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=12
)
LINE_END = st.sampled_from(["\n", "\r", "\r\n"])


def decode(*chunks: bytes) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@given(
    st.lists(st.tuples(LINE_TEXT, LINE_TEXT, st.lists(LINE_TEXT, min_size=1, max_size=3)), max_size=4),
    LINE_END,
    st.data(),
)
def test_a_stream_cut_anywhere_decodes_to_the_events_that_were_written(
    written: list[tuple[str, str, list[str]]], end: str, data: st.DataObject
) -> None:
    text = "".join(
        f"id: {seq}{end}event: {kind}{end}" + "".join(f"data: {line}{end}" for line in lines) + end
        for seq, kind, lines in written
    )
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    chunks = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]

    expected = [ServerSentEvent(kind or "message", "\n".join(lines), seq) for seq, kind, lines in written]
    assert decode(*chunks) == expected


def test_keepalive_comments_and_unknown_fields_are_no_events() -> None:
    assert decode(b":keepalive\n\nretry: 10\n\nnoise: x\n\n") == []


def test_an_event_without_an_id_keeps_the_last_id_seen() -> None:
    first, second = decode(b"id: 7\ndata: a\n\ndata: b\n\n")
    assert (first.id, second.id) == ("7", "7")


def test_an_event_that_the_stream_did_not_finish_is_not_dispatched() -> None:
    assert decode(b"id: 7\ndata: half") == []


def test_an_endless_event_is_refused() -> None:
    line = b"data: " + b"x" * 1024 * 1024 + b"\n"
    with pytest.raises(EventTooLong):
        decode(*[line] * 6)


class Streams:
    """Hands out laid-out streams; a stream that ends with an error breaks the connection there."""

    def __init__(self, *streams: list[bytes | httpx.TransportError]) -> None:
        self.left = list(streams)
        self.asked_after: list[str] = []

    def open(self, last_id: str) -> StreamContext:
        self.asked_after.append(last_id)
        items = self.left.pop(0)

        def body():
            for item in items:
                if isinstance(item, httpx.TransportError):
                    raise item
                yield item

        return StreamContext(httpx.Response(200, content=body()))


def event(seq: int, kind: str = "learn.capture.started") -> bytes:
    return f"id: {seq}\nevent: {kind}\ndata: {seq}\n\n".encode()


DROP = httpx.ReadError("connection lost")


def test_following_resumes_after_drops_without_gap_or_repeat() -> None:
    streams = Streams([event(1), event(2), DROP], [event(3)], [DROP], [event(4)])
    pauses: list[float] = []

    seen = list(
        follow(
            streams.open,
            is_over=lambda: not streams.left,
            reconnect=Reconnect(backoff=Backoff(first=1, cap=3), sleep=pauses.append),
        )
    )

    assert [one.id for one in seen] == ["1", "2", "3", "4"]
    assert streams.asked_after == ["", "2", "3", "3"]
    assert pauses == [1, 1, 2]


def test_half_an_event_before_a_drop_is_read_again_whole() -> None:
    streams = Streams([event(1), b"id: 2\nevent: x\nda", DROP], [event(2)])
    seen = list(
        follow(streams.open, is_over=lambda: not streams.left, reconnect=Reconnect(sleep=lambda _: None))
    )
    assert [one.id for one in seen] == ["1", "2"]
    assert streams.asked_after == ["", "1"]


def test_after_a_reset_the_old_id_is_not_asked_for_again() -> None:
    streams = Streams([b"event: reset\ndata: {}\n\n", DROP], [event(9)])
    seen = list(
        follow(
            streams.open,
            is_over=lambda: not streams.left,
            last_event_id="3",
            reconnect=Reconnect(sleep=lambda _: None),
        )
    )
    assert [one.event for one in seen] == ["reset", "learn.capture.started"]
    assert streams.asked_after == ["3", ""]


def test_following_ends_when_the_stream_ends_and_nothing_more_will_come() -> None:
    streams = Streams([event(1)])
    assert [one.id for one in follow(streams.open, is_over=lambda: True)] == ["1"]


def test_a_stream_that_never_brings_an_event_is_given_up() -> None:
    streams = Streams([DROP], [], [DROP])
    with pytest.raises(httpx.ReadError):
        list(
            follow(
                streams.open,
                is_over=lambda: False,
                reconnect=Reconnect(attempts=3, sleep=lambda _: None),
            )
        )

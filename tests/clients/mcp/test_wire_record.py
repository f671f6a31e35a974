"""What is written down of a call belongs to it: not to another request, nor to one that is long over."""

from collections.abc import Callable
from contextlib import suppress

import httpx2
import pytest

from clients.mcp.address_guard import AddressRefused
from clients.mcp.wire_record import RecordingTransport, WireRecord

pytestmark = pytest.mark.anyio

LIMIT = 1_000
CALL = {"method": "tools/call"}

Answer = Callable[[httpx2.Request], httpx2.Response]


def over(record: WireRecord, answer: Answer) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=RecordingTransport(httpx2.MockTransport(answer), record), base_url="http://server"
    )


def refused(request: httpx2.Request) -> httpx2.Response:
    raise AddressRefused("it is elsewhere now", request=request)


def called() -> WireRecord:
    record = WireRecord(LIMIT)
    record.begin(LIMIT)
    record.calling = True
    return record


async def test_an_address_that_is_refused_says_that_the_call_was_not_sent():
    record = called()
    async with over(record, refused) as client:
        with pytest.raises(AddressRefused):
            await client.post("/mcp", json=CALL)
    assert (record.sent, record.address_refused) == (False, "it is elsewhere now")


async def test_an_address_that_is_refused_later_says_nothing_of_a_call_that_is_out():
    record = called()
    async with over(record, lambda _: httpx2.Response(200)) as client:
        await client.post("/mcp", json=CALL)
    async with over(record, refused) as client:
        with pytest.raises(AddressRefused):
            await client.get("/mcp")
    assert (record.sent, record.address_refused) == (True, None)


@pytest.mark.parametrize(
    "late",
    [
        lambda _: httpx2.Response(401),
        lambda _: httpx2.Response(429),
        lambda _: httpx2.Response(500),
        lambda _: httpx2.Response(200, headers={"content-encoding": "gzip"}),
        lambda _: httpx2.Response(200, content=b"x" * 200_000),
        refused,
    ],
    ids=["401", "429", "500", "compressed", "large", "refused"],
)
async def test_what_an_earlier_call_is_answered_late_says_nothing_of_the_one_that_is_out(late: Answer):
    record = called()
    ended: list[bool] = []
    record.end = lambda: ended.append(True)

    def meanwhile(request: httpx2.Request) -> httpx2.Response:
        record.begin(LIMIT)
        record.calling = record.sent = True
        return late(request)

    async with over(record, meanwhile) as client:
        with suppress(AddressRefused, httpx2.ReadError):
            await client.post("/mcp", json=CALL)
    assert ended == []
    assert (record.sent, record.refusal, record.address_refused) == (True, None, None)
    assert (record.too_large, record.compressed, record.call_answer) == (False, False, None)

"""A store that is busy for too long is said to be busy, and to be asked again."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from api.platform.errors import install_error_handlers
from stores.platform.database import Database
from stores.platform.tables import metadata

pytestmark = pytest.mark.anyio


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}", busy_ms=1)
    metadata.create_all(database.engine)
    yield database
    database.close()


@pytest.fixture
async def client(impatient: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    install_error_handlers(app)

    @app.post("/write")
    def write() -> None:
        with impatient.write():
            pass

    @app.get("/read")
    def read() -> None:
        raise NoConnectionFree("QueuePool limit of size 8 overflow 16 reached")

    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://apprentice") as client:
        yield client


async def test_a_write_that_did_not_get_its_turn_is_to_be_sent_again(
    impatient: Database, client: httpx.AsyncClient
) -> None:
    with impatient.write():
        answer = await client.post("/write")
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "2"
    error = answer.json()["error"]
    assert (error["code"], error["retryable"]) == ("TOO_MANY_REQUESTS", True)
    assert "nothing was written; send it again" in error["message"]
    assert (await client.post("/write")).is_success


async def test_a_request_that_got_no_connection_is_to_be_sent_again(client: httpx.AsyncClient) -> None:
    answer = await client.get("/read")
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "TOO_MANY_REQUESTS")

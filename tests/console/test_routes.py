"""What the console's files promise whoever opens them."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest

from api.app import create_app
from config.settings import Settings
from console.routes import ASSETS, SECURITY_HEADERS, vocabulary
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=create_app(settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://apprentice") as client:
        yield client


async def test_the_page_needs_no_token_and_runs_nothing_but_its_own_files(http: httpx.AsyncClient) -> None:
    response = await http.get("/console")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name] == value
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=", response.text)


async def test_every_file_is_served_guarded_and_only_when_it_has_changed(http: httpx.AsyncClient) -> None:
    for path, asset in ASSETS.items():
        first = await http.get(f"/console/static/{path}")
        assert first.content == asset.content, path
        assert first.headers["content-security-policy"] == SECURITY_HEADERS["Content-Security-Policy"], path
        again = await http.get(f"/console/static/{path}", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path


def test_no_file_refers_to_another_site() -> None:
    found = {
        address
        for asset in ASSETS.values()
        for address in re.findall(r"https?://[\w./]+", asset.content.decode())
    }
    assert found == {"http://www.w3.org/2000/svg"}


async def test_a_file_that_is_not_the_consoles_does_not_exist(http: httpx.AsyncClient) -> None:
    for path in ("missing.js", "../routes.py", "%2e%2e/routes.py", "views", ""):
        response = await http.get(f"/console/static/{path}")
        assert response.status_code == 404, path
        assert response.json()["error"]["code"] == "NOT_FOUND", path


async def test_the_page_is_told_the_rules_that_the_service_keeps(http: httpx.AsyncClient) -> None:
    told = (await http.get("/console/vocabulary.json")).json()
    assert told == vocabulary(None)
    assert told["agent_display_name"] is None
    assert set(told["pending"]) < {state.value for state in LearnSessionState}
    assert set(told["at_rest"]) == {state.value for state in AT_REST}


async def test_the_page_is_told_the_name_of_the_agent(settings: Settings) -> None:
    named = Settings(data_dir=settings.data_dir, agent_display_name="Ada </script>")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=create_app(named)), base_url="http://apprentice"
    ) as client:
        response = await client.get("/console/vocabulary.json")
        page = await client.get("/console")
    assert response.headers["content-type"] == "application/json"
    assert response.json()["agent_display_name"] == "Ada </script>"
    assert "Ada" not in page.text


def test_no_label_names_the_agent_in_a_way_that_cannot_be_branded() -> None:
    fixed = re.compile(r"\"[^\"\n]*\bthe agent\b[^\"\n]*\"")
    found = {path for path, asset in ASSETS.items() if fixed.search(asset.content.decode())}
    assert found == {"agent.js"}


def test_every_validation_stage_has_a_label() -> None:
    labels = ASSETS["wording.js"].content.decode().partition("export const CHECKS = {")[2].partition("};")[0]
    assert re.findall(r"^  (\w+): \[", labels, re.MULTILINE) == vocabulary(None)["checks"]

"""The documentation pages are served from here and load nothing from elsewhere."""

import re

import pytest

from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_the_page_and_everything_it_loads_come_from_this_service(shared: Stack) -> None:
    page = await shared.http.get("/docs")
    assert page.status_code == 200
    assert not re.search(r"https?://", page.text)
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) == 3
    for path in loaded:
        asset = await shared.http.get(path)
        assert asset.status_code == 200, path
        assert asset.content
    assert (await shared.http.get("/redoc")).status_code == 404

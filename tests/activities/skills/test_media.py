"""Media of generate_content from a real tool server (MCP) on 127.0.0.1."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from mcp.server.mcpserver import MCPServer

from activities.skills.services.media_service import MediaService
from activities.skills.services.model_service import ModelService
from clients.skills.media_tools import MediaTools
from tests.fixtures.bundled_skills import run_bundled
from tests.fixtures.served_tools import served_tools

pytestmark = pytest.mark.anyio


class MediaServer:
    """A tool server with ideogram and runwayml; it fails as often as ``failures`` says."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.failures = 0
        self.address = ""

    def answer(self, tool: str, prompt: str) -> str:
        self.asked.append((tool, prompt))
        if len(self.asked) <= self.failures:
            raise ValueError("the model is busy")
        return f"Made: https://cdn.example/{tool}-{len(self.asked)}.bin"


@contextmanager
def _running() -> Generator[MediaServer]:
    found = MediaServer()
    server = MCPServer("media", version="1", log_level="CRITICAL")

    @server.tool()
    def ideogram(prompt: str) -> str:
        """Makes a picture."""
        return found.answer("ideogram", prompt)

    @server.tool()
    def runwayml(prompt: str) -> str:
        """Makes a video."""
        return found.answer("runwayml", prompt)

    with served_tools(server) as found.address:
        yield found


@pytest.fixture
def media() -> Iterator[MediaServer]:
    with _running() as found:
        yield found


async def _write(media: MediaServer, **given: Any) -> Any:
    tools = MediaTools({"image": media.address, "video": media.address})
    services = {"model": ModelService(None), "media": MediaService(tools)}
    trend = {"topic": "Cold brew at home", "engagement_score": 1}
    persona = {"name": "Nora", "voice": "dry and warm"}
    asked = {"trend": trend, "persona": persona, "platform": "tiktok", **given}
    return await run_bundled("generate-content", asked, services, key=str(uuid4()))


@pytest.mark.thorough
@pytest.mark.acceptance("CH-23")
@pytest.mark.parametrize(
    ("content_type", "tool"),
    [
        ("video_script", "runwayml"),
        ("carousel", "ideogram"),
        ("single_post", "ideogram"),
        ("thread", "ideogram"),
    ],
)
async def test_the_right_tool_makes_the_medium(media: MediaServer, content_type: str, tool: str) -> None:
    found = await _write(media, content_type=content_type)
    assert found.status.value == "success", found
    assert found.outputs["content"]["media_urls"] == [f"https://cdn.example/{tool}-1.bin"]
    assert [name for name, _ in media.asked] == [tool]
    assert "Cold brew" in media.asked[0][1]


@pytest.mark.thorough
@pytest.mark.acceptance("CH-23")
async def test_text_only_asks_no_tool(media: MediaServer) -> None:
    found = await _write(media, media_generation=False)
    assert (found.outputs["content"]["media_urls"], media.asked) == ([], [])


@pytest.mark.thorough
@pytest.mark.acceptance("CH-26")
@pytest.mark.produces("generate-content", "MEDIA_GENERATION_FAILED")
async def test_a_tool_that_fails_is_asked_three_times_then_content_goes_without(media: MediaServer) -> None:
    media.failures = 2
    third = await _write(media)
    assert (third.status.value, len(media.asked)) == ("success", 3)
    media.failures = 99
    media.asked.clear()
    without = await _write(media)
    assert (without.status.value, len(media.asked)) == ("partial", 3)
    assert without.outputs["content"]["media_urls"] == []
    assert without.warnings[0].startswith("MEDIA_GENERATION_FAILED")

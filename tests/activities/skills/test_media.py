"""Media of generate_content from a real tool server (MCP) on 127.0.0.1."""

from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp.server.mcpserver import MCPServer

from activities.skills.services.media_service import MediaService
from activities.skills.services.model_service import ModelService
from clients.skills.media_tools import MediaTools
from contracts.errors import ErrorCode, Refusal
from stores.platform.database import Database
from stores.skills.services.content_cards import ContentCards
from tests.fixtures.bundled_skills import run_bundled
from tests.fixtures.databases import migrated
from tests.fixtures.served_tools import served_tools

pytestmark = pytest.mark.anyio

API = "https://apprentice.example"


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


@pytest.fixture
def cards(tmp_path: Path) -> Iterator[ContentCards]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    database = Database(url)
    yield ContentCards(database)
    database.close()


Write = Callable[..., Awaitable[Any]]


@pytest.fixture
def write(cards: ContentCards, media: MediaServer) -> Write:
    """Has content written, with the tools of ``media``."""
    tools = MediaTools({"image": media.address, "video": media.address})

    async def written(**given: Any) -> Any:
        return await _written(tools, cards, **given)

    return written


async def _written(tools: MediaTools, cards: ContentCards, **given: Any) -> Any:
    services = {"model": ModelService(None), "media": MediaService(tools, cards, API)}
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
async def test_the_right_tool_makes_the_medium(
    write: Write, media: MediaServer, content_type: str, tool: str
) -> None:
    found = await write(content_type=content_type)
    assert found.status.value == "success", found
    assert found.outputs["content"]["media_urls"] == [f"https://cdn.example/{tool}-1.bin"]
    assert [name for name, _ in media.asked] == [tool]
    assert "Cold brew" in media.asked[0][1]


@pytest.mark.thorough
@pytest.mark.acceptance("CH-23")
async def test_text_only_asks_no_tool(write: Write, media: MediaServer) -> None:
    found = await write(media_generation=False)
    assert (found.outputs["content"]["media_urls"], media.asked) == ([], [])


@pytest.mark.thorough
@pytest.mark.acceptance("CH-26")
@pytest.mark.produces("generate-content", "MEDIA_GENERATION_FAILED")
async def test_a_tool_that_fails_is_asked_three_times_then_content_goes_without(
    write: Write, media: MediaServer
) -> None:
    media.failures = 2
    third = await write()
    assert (third.status.value, len(media.asked)) == ("success", 3)
    media.failures = 99
    media.asked.clear()
    without = await write()
    assert (without.status.value, len(media.asked)) == ("partial", 3)
    assert without.outputs["content"]["media_urls"] == []
    assert without.warnings[0].startswith("MEDIA_GENERATION_FAILED")


@pytest.mark.thorough
@pytest.mark.acceptance("CH-26", "O-6")
async def test_no_card_stands_in_for_the_picture_of_a_tool_that_fails(
    write: Write, media: MediaServer
) -> None:
    media.failures = 99
    without = await write(content_type="single_post")
    assert (without.status.value, without.outputs["content"]["media_urls"]) == ("partial", [])


@pytest.mark.acceptance("CH-23", "O-6")
async def test_without_a_tool_the_picture_is_a_card_of_the_words_for_its_user_alone(
    cards: ContentCards,
) -> None:
    nothing = MediaTools({})
    found = await _written(nothing, cards, content_type="carousel")
    assert (found.status.value, found.warnings) == ("success", ()), found
    assert "card" in found.message
    (address,) = found.outputs["content"]["media_urls"]
    place, _, digest = address.rpartition("/")
    assert place == f"{API}/api/skills/media"
    now = datetime.now(UTC)
    card = cards.card("alice", digest, now).decode()
    assert card.startswith("<svg ")
    assert "Cold brew at home" in card
    assert found.outputs["content"]["captions"][1] in card
    again = await _written(nothing, cards, content_type="carousel")
    assert again.outputs["content"]["media_urls"] == [address]
    for owner, at in (("mallory", now), ("alice", now + timedelta(days=32))):
        with pytest.raises(Refusal) as refused:
            cards.card(owner, digest, at)
        assert refused.value.code is ErrorCode.NOT_FOUND


@pytest.mark.acceptance("CH-23", "CH-26", "O-6")
async def test_a_video_without_a_tool_is_left_out_and_said(cards: ContentCards) -> None:
    found = await _written(MediaTools({}), cards, content_type="video_script")
    assert (found.status.value, found.outputs["content"]["media_urls"]) == ("partial", [])
    assert found.warnings[0].startswith("MEDIA_GENERATION_FAILED: No tool that makes a video")

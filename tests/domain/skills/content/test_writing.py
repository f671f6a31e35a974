from itertools import product
from typing import Any

import pytest

from contracts.skills.content import CONTENT_TYPES, PLATFORMS, ContentPackage, Persona, Trend
from domain.skills.content.checks import check_content
from domain.skills.content.writing import write_content

TREND = Trend(
    topic="Cold brew at home",
    engagement_score=20_000,
    summary="People make cold brew in jars.",
    hashtags=("coldbrew",),
    url="https://news.example/1",
)
PERSONA = Persona(name="Nora", voice="dry and warm", tone="calmly", topics=("coffee",))
CASES = list(product(PLATFORMS, CONTENT_TYPES))


@pytest.mark.acceptance("CH-21")
@pytest.mark.parametrize(("platform", "content_type"), CASES)
def test_what_is_written_passes_the_checks_of_its_platform(platform: str, content_type: str) -> None:
    written = write_content(TREND, PERSONA, platform, content_type, safely=False)
    package = ContentPackage(
        content_id="6d1f6f0a-6a1c-5b0e-9f6e-3f1b2c7d8e90",
        platform=platform,
        content_type=content_type,
        **written.model_dump(),
    )
    assert check_content(package, {}, ()) == ()
    assert written.captions
    assert "coldbrew" in written.hashtags


@pytest.mark.acceptance("CH-25")
@pytest.mark.parametrize(("platform", "content_type"), CASES)
def test_the_same_input_gives_the_same_text(platform: str, content_type: str) -> None:
    first = write_content(TREND, PERSONA, platform, content_type, safely=False)
    assert all(
        write_content(TREND, PERSONA, platform, content_type, safely=False) == first for _ in range(20)
    )


@pytest.mark.parametrize(("platform", "content_type"), CASES)
@pytest.mark.parametrize(
    "fields",
    [
        {"topic": "x" * 200, "summary": "y" * 1_000},
        {"topic": "!", "hashtags": ()},
        {"topic": "日本のコーヒー", "summary": None},
    ],
)
def test_long_and_strange_trends_stay_within_the_limits(
    platform: str, content_type: str, fields: dict[str, Any]
) -> None:
    written = write_content(TREND.changed(**fields), PERSONA, platform, content_type, safely=False)
    package = ContentPackage(
        content_id="6d1f6f0a-6a1c-5b0e-9f6e-3f1b2c7d8e90", platform=platform, **written.model_dump()
    )
    assert check_content(package, {}, ()) == ()


def test_safely_leaves_out_what_others_wrote_at_length() -> None:
    written = write_content(TREND, PERSONA, "twitter", "single_post", safely=True)
    assert "jars" not in written.script
    assert "Cold brew" in written.script

"""semantic_filter, generate_content and validate_content: by rules, and with models that answer, fail or are slow."""

import json
from typing import Any
from uuid import uuid4

import pytest

from activities.skills.services.content_models import ContentModels, endpoints
from activities.skills.services.model_service import ModelService
from activities.skills.services.offered import ask
from tests.fixtures.bundled_skills import asker, bundled, refused_code, run_bundled
from tests.fixtures.model_server import Answering, Asked, ModelServer, Reply, completion, serving

pytestmark = pytest.mark.anyio

FILTER, WRITE, CHECK = "semantic-filter", "generate-content", "validate-content"
FIRST, SECOND = "gemini-3-flash", "gpt-4o-mini"
PERSONA = {"name": "Nora", "voice": "dry and warm"}
TREND = {"topic": "Cold brew at home", "engagement_score": 20_000, "trend_id": "t-1"}


def _trends(number: int) -> list[dict[str, Any]]:
    return [{"topic": f"fashion {n}", "engagement_score": n, "trend_id": str(n)} for n in range(number)]


def _models(*servers: ModelServer) -> ContentModels:
    names = (FIRST, SECOND)
    return endpoints(
        {name: one.url for name, one in zip(names, servers, strict=False)}, lambda _: None, 4_096
    )


def _services(models: ContentModels | None = None, **seconds: float) -> dict[str, Any]:
    return {"model": ModelService(models, seconds=seconds)}


def _scoring(score: float = 0.9) -> Answering:
    def answer(asked: Asked) -> Reply:
        scores = [
            {"index": one["index"], "relevance_score": score, "reasoning": "It fits."}
            for one in asked.data["trends"]
        ]
        return completion(json.dumps({"scores": scores}))

    return answer


def _text(script: str) -> Reply:
    return completion(json.dumps({"script": script, "captions": [script[:100]], "hashtags": ["coffee"]}))


async def _filter(services: dict[str, Any], number: int = 3, **given: Any) -> Any:
    asked = {"trends": _trends(number), "campaign_goals": ["fashion"], **given}
    return await run_bundled(FILTER, asked, services)


# ---- semantic_filter ----


@pytest.mark.acceptance("CH-15", "CH-16", "CH-18")
async def test_a_thousand_trends_are_scored_alike_each_time() -> None:
    trends = [*_trends(999), {"topic": "nothing", "engagement_score": 1}]
    given = {"trends": trends, "campaign_goals": ["fashion"]}
    first = await run_bundled(FILTER, given, _services())
    assert first.status.value == "success", first
    assert first.outputs is not None
    assert (first.outputs["total_input"], first.outputs["total_output"]) == (1_000, 999)
    again = await run_bundled(FILTER, given, _services())
    assert again.outputs is not None
    assert again.outputs["filtered_trends"] == first.outputs["filtered_trends"]


@pytest.mark.thorough
@pytest.mark.acceptance("CH-15")
async def test_a_score_that_equals_the_threshold_is_in() -> None:
    trends = [{"topic": "luxury hotels", "engagement_score": 1}]
    given = {"trends": trends, "campaign_goals": ["luxury brands"]}
    equal = await run_bundled(FILTER, {**given, "relevance_threshold": 0.5}, _services())
    above = await run_bundled(FILTER, {**given, "relevance_threshold": 0.51}, _services())
    assert equal.outputs is not None
    assert above.outputs is not None
    assert (equal.outputs["total_output"], above.outputs["total_output"]) == (1, 0)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-17")
async def test_scores_are_kept_so_that_only_new_trends_are_asked_about() -> None:
    with serving() as model:
        model.replies(_scoring())
        services = _services(_models(model))
        await _filter(services, 2, campaign_goals=["a", "b"])
        found = await _filter(services, 3, campaign_goals=["b", "a"])
    assert found.outputs["total_output"] == 3
    assert [len(one.data["trends"]) for one in model.asked] == [2, 1]
    assert {one.json["temperature"] for one in model.asked} == {0}
    assert all("seed" in one.json for one in model.asked)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-19")
@pytest.mark.acceptance("X-20")
async def test_where_a_batch_is_late_those_before_it_are_given() -> None:
    with serving() as model:

        def answer(asked: Asked) -> Reply:
            late = asked.data["trends"][0]["topic"] == "fashion 300"
            return Reply(hold=True) if late else _scoring()(asked)

        model.replies(answer)
        found = await _filter(_services(_models(model), batch=4.0), 500)
    assert found.status.value == "partial", found
    assert found.outputs["total_output"] == 300
    assert found.warnings == ("FILTER_TIMEOUT: 300 of 500 trends were scored.",)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-19")
@pytest.mark.produces("semantic-filter", "FILTER_TIMEOUT")
async def test_where_the_first_batch_is_late_there_is_nothing_to_give() -> None:
    with serving() as model:
        model.replies(Reply(hold=True))
        found = await _filter(_services(_models(model), batch=0.5))
    assert found.error is not None
    assert (found.error.code, found.error.http_status) == ("FILTER_TIMEOUT", 504)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-19")
@pytest.mark.parametrize("bad", [Reply(status=404), completion("no JSON"), completion('{"scores": []}')])
async def test_the_other_model_is_asked_where_one_fails_and_named(bad: Reply) -> None:
    with serving() as first, serving() as second:
        first.replies(bad)
        second.replies(_scoring())
        found = await _filter(_services(_models(first, second)))
    assert found.outputs["model_used"] == SECOND
    assert found.warnings[0].startswith(f"LLM_ERROR: {FIRST}")


@pytest.mark.thorough
@pytest.mark.acceptance("CH-19", "CH-26")
@pytest.mark.parametrize("skill", [FILTER, WRITE])
@pytest.mark.produces("semantic-filter", "LLM_ERROR")
@pytest.mark.produces("generate-content", "LLM_ERROR")
@pytest.mark.acceptance("O-17")
async def test_where_all_models_fail_nothing_is_made_up(skill: str) -> None:
    with serving() as first, serving() as second:
        first.replies(Reply(status=404))
        second.replies(Reply(status=404))
        services = _services(_models(first, second))
        if skill == FILTER:
            found = await _filter(services)
        else:
            found = await _write(services)
    assert found.error is not None
    assert (found.error.code, found.error.http_status, found.error.retryable) == ("LLM_ERROR", 503, True)
    assert found.outputs is None


@pytest.mark.acceptance("CH-14", "CH-19")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"trends": []}, "INVALID_INPUT"),
        ({"trends": _trends(1_001)}, "INVALID_INPUT"),
        ({"trends": [{"topic": "x"}]}, "INVALID_INPUT"),
        ({"campaign_goals": []}, "INVALID_INPUT"),
        ({"campaign_goals": ["x"] * 11}, "INVALID_INPUT"),
        ({"campaign_goals": [""]}, "INVALID_GOALS"),
        ({"campaign_goals": ["fashion", "  "]}, "INVALID_GOALS"),
        ({"relevance_threshold": -0.1}, "INVALID_INPUT"),
        ({"relevance_threshold": 1.1}, "INVALID_INPUT"),
        ({"model": "gpt-5"}, "INVALID_INPUT"),
        ({"trends": [{**TREND, "seen_on": "a source's own field"}]}, None),
    ],
)
@pytest.mark.produces("semantic-filter", "INVALID_GOALS")
def test_the_bounds_of_the_filter_hold(given: dict[str, Any], code: str | None) -> None:
    known = {"trends": _trends(1), "campaign_goals": ["fashion"]}
    assert refused_code(FILTER, {**known, **given}) == code


# ---- generate_content ----


async def _write(services: dict[str, Any], **given: Any) -> Any:
    asked = {"trend": TREND, "persona": PERSONA, "platform": "twitter", "media_generation": False, **given}
    return await run_bundled(WRITE, asked, services, key=str(uuid4()))


@pytest.mark.thorough
@pytest.mark.acceptance("CH-21", "CH-25")
@pytest.mark.acceptance("O-17")
async def test_content_is_written_by_templates_where_no_model_is_configured() -> None:
    found = await _write(_services())
    assert found.status.value == "success", found
    content = found.outputs["content"]
    assert (found.outputs["model_used"], content["trend_id"]) == ("local-template", "t-1")
    assert "Cold brew" in content["script"]
    again = await _write(_services())
    assert again.outputs["content"]["script"] == content["script"]
    assert again.outputs["content"]["content_id"] != content["content_id"]


@pytest.mark.acceptance("CH-24", "CH-26")
async def test_what_offends_is_written_again_with_a_safety_instruction() -> None:
    with serving() as model:
        model.replies(_text("What the fuck"), _text("A fine coffee"))
        found = await _write(_services(_models(model)))
    assert found.outputs["content"]["script"] == "A fine coffee"
    systems = [one.json["messages"][0]["content"] for one in model.asked]
    assert ["words that offend" in one for one in systems] == [False, True]


@pytest.mark.thorough
@pytest.mark.acceptance("CH-24", "CH-26")
@pytest.mark.produces("generate-content", "SAFETY_VIOLATION")
async def test_what_still_offends_is_not_given_out() -> None:
    with serving() as model:
        model.replies(_text("What the fuck"))
        found = await _write(_services(_models(model)))
    assert found.error is not None
    assert (found.error.code, found.error.http_status, found.outputs) == ("SAFETY_VIOLATION", 422, None)
    banned = await _write(_services(), persona={**PERSONA, "banned_words": ["cold brew"]})
    assert banned.error is not None
    assert banned.error.code == "SAFETY_VIOLATION"


@pytest.mark.acceptance("CH-22", "CH-26")
@pytest.mark.produces("generate-content", "GENERATION_TIMEOUT")
async def test_where_the_model_is_late_the_templates_text_comes_with_little_confidence() -> None:
    with serving() as model:
        model.replies(Reply(hold=True))
        found = await _write(_services(_models(model), text=0.5))
    assert found.status.value == "partial"
    assert (found.outputs["model_used"], found.outputs["confidence_score"]) == ("local-template", 0.2)
    assert found.warnings[0].startswith("GENERATION_TIMEOUT")


@pytest.mark.acceptance("CH-20", "CH-26")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"persona": {"name": "Nora"}}, "INVALID_PERSONA"),
        ({"persona": {"name": "Nora", "voice": "x" * 501}}, "INVALID_PERSONA"),
        ({"persona": {**PERSONA, "mood": "good"}}, "INVALID_PERSONA"),
        ({"platform": "reddit"}, "INVALID_INPUT"),
        ({"trend": {"topic": "x"}}, "INVALID_INPUT"),
        ({"content_type": "podcast"}, "INVALID_INPUT"),
        ({"media_generation": "yes"}, "INVALID_INPUT"),
        ({}, None),
    ],
)
@pytest.mark.produces("generate-content", "INVALID_PERSONA")
@pytest.mark.acceptance("O-1")
def test_the_bounds_of_writing_hold(given: dict[str, Any], code: str | None) -> None:
    assert refused_code(WRITE, {"trend": TREND, "persona": PERSONA, "platform": "twitter", **given}) == code


@pytest.mark.thorough
@pytest.mark.acceptance("CH-20")
@pytest.mark.parametrize("field", ["trend", "persona", "platform"])
def test_nothing_that_writing_needs_may_be_left_out(field: str) -> None:
    given = {"trend": TREND, "persona": PERSONA, "platform": "twitter"}
    del given[field]
    assert refused_code(WRITE, given) in ("INVALID_INPUT", "INVALID_PERSONA")


# ---- validate_content ----


def _content(script: str = "We tried three coffee shops.", **fields: Any) -> dict[str, Any]:
    return {"content_id": str(uuid4()), "script": script, "platform": "twitter", **fields}


async def _check(services: dict[str, Any], content: dict[str, Any], **rules: bool) -> Any:
    return await run_bundled(CHECK, {"content": content, "validation_rules": rules}, services)


@pytest.mark.acceptance("CH-28", "CH-30")
async def test_an_error_makes_content_invalid_and_a_person_look() -> None:
    good = await _check(_services(), _content())
    assert good.outputs["valid"], good
    assert (good.outputs["confidence_score"], good.outputs["requires_human_review"]) == (1.0, False)
    warned = await _check(_services(), _content("Everybody knows it."))
    assert (warned.outputs["valid"], warned.outputs["requires_human_review"]) == (True, False)
    bad = await _check(_services(), _content("Fuck it."))
    assert (bad.outputs["valid"], bad.outputs["requires_human_review"]) == (False, True)
    off = await _check(_services(), _content("Fuck it."), check_offensive_language=False)
    assert off.outputs["valid"]


@pytest.mark.acceptance("CH-32")
@pytest.mark.produces("validate-content", "SAFETY_CHECK_TIMEOUT")
async def test_a_slow_check_is_never_valid_and_asks_for_a_person() -> None:
    with serving() as model:
        model.replies(Reply(hold=True))
        found = await _check(_services(_models(model), judgement=0.5), _content())
    assert found.status.value == "partial"
    assert (found.outputs["valid"], found.outputs["requires_human_review"]) == (False, True)
    assert found.warnings[0].startswith("SAFETY_CHECK_TIMEOUT")


@pytest.mark.thorough
@pytest.mark.acceptance("CH-32")
@pytest.mark.produces("validate-content", "VALIDATION_ERROR")
async def test_a_check_that_cannot_judge_gives_an_answer_that_is_not_valid() -> None:
    unreadable = await _check(_services(), _content(media_urls=["file:///x.png"]))
    assert not unreadable.outputs["valid"]
    assert unreadable.warnings[0].startswith("VALIDATION_ERROR")
    with serving() as model:
        model.replies(Reply(status=404))
        unjudged = await _check(_services(_models(model)), _content())
    assert not unjudged.outputs["valid"]
    assert unjudged.outputs["issues"][0]["message"].startswith("VALIDATION_ERROR")


@pytest.mark.thorough
async def test_a_model_names_claims_that_mislead() -> None:
    with serving() as model:
        model.replies(completion(json.dumps({"claims": ["Coffee does not make you fly."]})))
        found = await _check(_services(_models(model)), _content("Coffee makes you fly."))
    assert [one["severity"] for one in found.outputs["issues"]] == ["warning"]
    assert found.outputs["confidence_score"] == 0.9


@pytest.mark.thorough
@pytest.mark.acceptance("CH-27", "CH-32")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"content": {"content_id": str(uuid4())}}, "INVALID_CONTENT"),
        ({"content": {"script": "x"}}, "INVALID_CONTENT"),
        ({"content": {**_content(), "mood": "good"}}, "INVALID_CONTENT"),
        ({}, "INVALID_CONTENT"),
        ({"content": _content(), "validation_rules": {"check_spelling": True}}, "INVALID_INPUT"),
        ({"content": _content(), "validation_rules": {"check_copyright": "no"}}, "INVALID_INPUT"),
        ({"content": _content("x" * 10_001)}, "INVALID_CONTENT"),
        ({"content": _content("x" * 10_000)}, None),
    ],
)
@pytest.mark.produces("validate-content", "INVALID_CONTENT")
@pytest.mark.acceptance("O-1")
def test_the_bounds_of_checking_hold(given: dict[str, Any], code: str | None) -> None:
    assert refused_code(CHECK, given) == code


@pytest.mark.acceptance("CH-05", "CH-31")
@pytest.mark.acceptance("X-21")
def test_times_and_kept_answers_are_as_documented() -> None:
    skills = [bundled(name) for name in (FILTER, WRITE, CHECK)]
    assert [one.timeout_ms for one in skills] == [10_000, 45_000, 5_000]
    assert [one.cache_ttl_ms for one in skills] == [1_800_000, 0, 21_600_000]


@pytest.mark.thorough
async def test_the_same_scores_come_without_the_handler() -> None:
    service = ModelService(None)
    found = await ask(service, asker(FILTER), "score", {"trends": [TREND], "goals": ["cold brew"]})
    assert found["scores"][0]["relevance_score"] == 1.0

"""publish_content with real tokens, a real store and a publisher on 127.0.0.1."""

import asyncio
import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from activities.skills.services.publisher_service import PublisherService
from clients.skills.publisher import HttpPublisher
from contracts.skills.content import ContentPackage
from contracts.skills.publishing import ApprovalToken, ApproveContentRequest
from domain.skills.retrying import attempts_allowed
from stores.platform.database import Database
from stores.platform.journal.journal import JournalFilter, count_entries
from stores.platform.projection.atomic_files import FileTree
from stores.platform.secrets.store import open_secret_store
from stores.skills.invocation_rows import AUDIT
from stores.skills.services.approvals import ApprovalRefused, Approvals
from stores.skills.services.publications import HELD_FOR, Publications
from tests.fixtures.bundled_skills import bundled, refused_code, run_bundled
from tests.fixtures.databases import migrated
from tests.fixtures.model_server import Asked, ModelServer, Reply, serving

pytestmark = pytest.mark.anyio

SKILL = "publish-content"
CONTENT: dict[str, Any] = {"content_id": str(uuid4()), "script": "We tried three coffee shops."}
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class Desk:
    """A reviewer's desk and what publishes."""

    def __init__(self, folder: Path, publisher_url: str | None) -> None:
        url = f"sqlite:///{folder / 'store.db'}"
        migrated(url)
        self.database = Database(url)
        self.approvals = Approvals(self.database, open_secret_store(self.database, folder, "file", "test"))
        self.publications = Publications(self.database)
        self.outbox = folder / "outbox"
        publisher = HttpPublisher(publisher_url, lambda: None) if publisher_url is not None else None
        files = FileTree(self.outbox, file_mode=0o600, folder_mode=0o700)
        self.services = {"publisher": PublisherService(self.approvals, self.publications, publisher, files)}

    def approve(
        self, *platforms: str, now: datetime | None = None, ttl: int = 600, **content: Any
    ) -> ApprovalToken:
        request = ApproveContentRequest.model_validate(
            {"content": {**CONTENT, **content}, "platforms": platforms or ("twitter",), "ttl": ttl}
        )
        return self.approvals.approve(request, "alice", None, "test", now or datetime.now(UTC))

    async def publish(self, token: ApprovalToken | str, platform: str = "twitter", **fields: Any) -> Any:
        text = token if isinstance(token, str) else token.approval_token
        run = {name: fields.pop(name) for name in ("owner", "key", "at") if name in fields}
        when = {name: fields.pop(name) for name in ("schedule_time",) if name in fields}
        given = {"content": {**CONTENT, **fields}, "approval_token": text, "platform": platform, **when}
        return await run_bundled(SKILL, given, self.services, **run)

    def audited(self, token: ApprovalToken) -> int:
        with self.database.read() as connection:
            return count_entries(
                connection, JournalFilter(streams=(AUDIT,), aggregate=f"publication/{token.jti}")
            )


@pytest.fixture
def publisher() -> Iterator[ModelServer]:
    with serving() as server:
        server.replies(_post)
        yield server


def _post(asked: Asked) -> Reply:
    """A publisher that knows its keys: one post for each."""
    key = asked.headers["idempotency-key"]
    post = {
        "success": True,
        "post_id": f"post-{key}",
        "post_url": f"https://{asked.json['platform']}.example/{key}",
        "platform": asked.json["platform"],
        "published_at": "2026-11-20T12:00:00Z",
        "engagement_snapshot": {"likes": 0, "comments": 0, "shares": 0},
    }
    return Reply(body=json.dumps(post).encode())


@pytest.fixture
def desk(tmp_path: Path, publisher: ModelServer) -> Iterator[Desk]:
    found = Desk(tmp_path, publisher.url)
    yield found
    found.database.close()


@pytest.mark.thorough
@pytest.mark.acceptance("CH-34", "CH-37")
async def test_approved_content_is_published_and_audited_before_and_after(
    desk: Desk, publisher: ModelServer
) -> None:
    token = desk.approve()
    done = await desk.publish(token)
    assert done.error is None, done
    assert done.outputs == {
        "success": True,
        "platform": "twitter",
        "post_id": f"post-{token.jti}:twitter",
        "post_url": f"https://twitter.example/{token.jti}:twitter",
        "published_at": "2026-11-20T12:00:00Z",
        "engagement_snapshot": {"likes": 0, "comments": 0, "shares": 0},
    }
    assert desk.audited(token) == 2
    assert publisher.asked[0].json["content"]["script"] == CONTENT["script"]


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36")
async def test_content_is_approved_as_it_was_written_whatever_its_line_ends(desk: Desk) -> None:
    written: dict[str, Any] = {"script": "One.\r\nTwo.\tThree.", "hashtags": ["a\x00b"], "captions": ["x\ny"]}
    done = await desk.publish(desk.approve(**written), **written)
    assert done.error is None, done


@pytest.mark.thorough
@pytest.mark.acceptance("CH-35")
@pytest.mark.produces("publish-content", "DUPLICATE_CONTENT")
@pytest.mark.acceptance("X-23")
async def test_the_same_call_again_gets_the_post_that_there_is(desk: Desk, publisher: ModelServer) -> None:
    token = desk.approve()
    first = await desk.publish(token)
    again = await desk.publish(token)
    assert again.outputs == first.outputs
    assert again.warnings[0].startswith("DUPLICATE_CONTENT")
    newer = await desk.publish(desk.approve())
    assert newer.outputs["post_id"] == first.outputs["post_id"]
    assert len(publisher.asked) == 1


@pytest.mark.thorough
@pytest.mark.acceptance("CH-35")
async def test_of_many_calls_at_once_one_publishes(desk: Desk, publisher: ModelServer) -> None:
    token = desk.approve()
    done = await asyncio.gather(*(desk.publish(token) for _ in range(8)))
    assert len({one.outputs["post_id"] for one in done}) == 1
    assert len(publisher.asked) == 1


@pytest.mark.thorough
@pytest.mark.acceptance("CH-35", "CH-01")
async def test_what_was_killed_while_it_published_is_taken_over_under_the_same_key(
    desk: Desk, publisher: ModelServer
) -> None:
    token = desk.approve()
    approval = desk.approvals.verify(
        token.approval_token, "alice", ContentPackage(**CONTENT), "twitter", datetime.now(UTC)
    )
    killed, long_ago = str(uuid4()), datetime.now(UTC) - HELD_FOR
    desk.publications.reserve(approval, ContentPackage(**CONTENT), "twitter", killed, "test", long_ago)
    done = await desk.publish(token)
    assert done.outputs["success"]
    own = await desk.publish(token, key=killed)
    assert own.outputs["post_id"] == done.outputs["post_id"]
    assert [one.headers["idempotency-key"] for one in publisher.asked] == [f"{token.jti}:twitter"]


@pytest.mark.thorough
@pytest.mark.acceptance("CH-38", "CH-63")
@pytest.mark.produces("publish-content", "PUBLISH_FAILED")
async def test_a_publisher_that_refuses_is_tried_four_times_under_one_key(
    desk: Desk, publisher: ModelServer
) -> None:
    publisher.replies(Reply(status=502), Reply(status=502), Reply(status=502), _post)
    token, key = desk.approve(), str(uuid4())
    for _ in range(3):
        failed = await desk.publish(token, key=key)
        assert (failed.error.code, failed.error.http_status, failed.error.retryable) == (
            "PUBLISH_FAILED",
            502,
            True,
        )
    done = await desk.publish(token, key=key)
    assert done.outputs["success"]
    assert {one.headers["idempotency-key"] for one in publisher.asked} == {f"{token.jti}:twitter"}
    assert attempts_allowed(bundled(SKILL), "PUBLISH_FAILED") == 4


@pytest.mark.thorough
@pytest.mark.acceptance("CH-38")
async def test_a_refusal_of_the_request_itself_is_not_tried_again(desk: Desk, publisher: ModelServer) -> None:
    publisher.replies(Reply(status=400))
    failed = await desk.publish(desk.approve())
    assert (failed.error.code, failed.error.retryable) == ("PUBLISH_FAILED", False)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-38")
@pytest.mark.produces("publish-content", "PLATFORM_ERROR")
@pytest.mark.acceptance("X-24")
async def test_only_an_approved_platform_stands_in_for_one_that_is_away(
    desk: Desk, publisher: ModelServer
) -> None:
    publisher.replies(
        lambda asked: Reply(status=503) if asked.json["platform"] == "twitter" else _post(asked)
    )
    alone = await desk.publish(desk.approve(script="alone"), script="alone")
    assert (alone.error.code, alone.error.http_status) == ("PLATFORM_ERROR", 503)
    both = await desk.publish(desk.approve("twitter", "youtube"))
    assert (both.outputs["success"], both.outputs["platform"]) == (True, "youtube")
    assert both.warnings[0].startswith("PLATFORM_ERROR: twitter")


@pytest.mark.acceptance("CH-35", "CH-38")
async def test_a_post_on_a_platform_that_stood_in_is_the_post_of_the_same_call(
    desk: Desk, publisher: ModelServer
) -> None:
    publisher.replies(
        lambda asked: Reply(status=503) if asked.json["platform"] == "twitter" else _post(asked)
    )
    token = desk.approve("twitter", "youtube")
    first = await desk.publish(token)
    again = await desk.publish(token)
    assert again.outputs == first.outputs
    assert (await desk.publish(token, "youtube")).error.code == "INVALID_TOKEN"
    assert len(publisher.asked) == 2


@pytest.mark.thorough
@pytest.mark.acceptance("CH-35")
async def test_two_approvals_of_one_content_at_once_make_one_post(desk: Desk, publisher: ModelServer) -> None:
    done = await asyncio.gather(desk.publish(desk.approve()), desk.publish(desk.approve()))
    assert len({one.outputs["post_id"] for one in done}) == 1
    assert len(publisher.asked) == 1


@pytest.mark.thorough
@pytest.mark.acceptance("CH-34")
@pytest.mark.acceptance("X-22")
async def test_without_a_publisher_content_is_kept_and_not_called_published(tmp_path: Path) -> None:
    desk = Desk(tmp_path, None)
    token = desk.approve()
    done = await desk.publish(token)
    assert (done.status.value, done.outputs["success"]) == ("partial", False)
    assert "post_id" not in done.outputs
    assert done.warnings[0].startswith("NOT_PUBLISHED")
    kept = json.loads(Path(done.outputs["path"]).read_text(encoding="utf-8"))
    assert (kept["content"]["script"], kept["reviewer_id"]) == (CONTENT["script"], "alice")
    again = await desk.publish(token)
    assert again.outputs == done.outputs
    assert len(list((desk.outbox / "publications").iterdir())) == 1
    desk.database.close()


# ---- tokens ----


def _claims(token: ApprovalToken) -> dict[str, Any]:
    return jwt.decode(token.approval_token, options={"verify_signature": False})


def _forged(how: str, token: ApprovalToken) -> str:
    claims, text = _claims(token), token.approval_token
    head, _, rest = text.partition(".")
    match how:
        case "other key":
            return jwt.encode(claims, Ed25519PrivateKey.generate(), algorithm="EdDSA")
        case "HS256":
            return jwt.encode(claims, "public key as a password, long enough for it", algorithm="HS256")
        case "signature":
            return f"{text.rpartition('.')[0]}.AAAA"
        case "no claims":
            return f"{head}..{rest.rpartition('.')[2]}"
        case _:
            none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
            return f"{none}.{rest.partition('.')[0]}."


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36")
@pytest.mark.parametrize("how", ["none", "other key", "HS256", "signature", "no claims"])
@pytest.mark.produces("publish-content", "INVALID_TOKEN")
async def test_a_forged_token_publishes_nothing(desk: Desk, publisher: ModelServer, how: str) -> None:
    token = desk.approve()
    forged = _forged(how, token)
    with pytest.raises(ApprovalRefused) as refused:
        desk.approvals.verify(forged, "alice", ContentPackage(**CONTENT), "twitter", datetime.now(UTC))
    assert refused.value.code == "INVALID_TOKEN"
    if refused_code(SKILL, {"content": CONTENT, "approval_token": forged, "platform": "twitter"}) is None:
        failed = await desk.publish(forged)
        assert (failed.error.code, failed.error.http_status, failed.error.retryable) == (
            "INVALID_TOKEN",
            401,
            False,
        )
    assert publisher.asked == []


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36")
@pytest.mark.parametrize(
    ("fields", "owner", "platform"),
    [
        ({"script": "Something else."}, "alice", "twitter"),
        ({"hashtags": ["new"]}, "alice", "twitter"),
        ({}, "bob", "twitter"),
        ({}, "alice", "youtube"),
    ],
)
@pytest.mark.acceptance("O-4")
async def test_a_token_is_good_for_its_content_user_and_platform_alone(
    desk: Desk, publisher: ModelServer, fields: dict[str, Any], owner: str, platform: str
) -> None:
    failed = await desk.publish(desk.approve(), platform, owner=owner, **fields)
    assert failed.error.code == "INVALID_TOKEN"
    assert publisher.asked == []


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36")
@pytest.mark.produces("publish-content", "TOKEN_EXPIRED")
async def test_a_token_that_is_revoked_or_over_publishes_nothing(desk: Desk, publisher: ModelServer) -> None:
    revoked = desk.approve()
    desk.approvals.revoke(revoked.jti, "alice", "test", datetime.now(UTC))
    assert (await desk.publish(revoked)).error.code == "INVALID_TOKEN"
    over = desk.approve(now=datetime.now(UTC) - timedelta(seconds=601))
    late = await desk.publish(over)
    assert (late.error.code, late.error.http_status, late.error.retryable) == ("TOKEN_EXPIRED", 401, False)
    assert publisher.asked == []


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36")
@pytest.mark.parametrize(
    ("seconds", "code"),
    [(0, None), (599, None), (600, "TOKEN_EXPIRED"), (-60, None), (-61, "INVALID_TOKEN")],
)
def test_a_token_counts_from_a_minute_before_its_issue_to_its_end(
    desk: Desk, seconds: int, code: str | None
) -> None:
    token = desk.approve(now=NOW)
    at = NOW + timedelta(seconds=seconds)
    found = None
    try:
        desk.approvals.verify(token.approval_token, "alice", ContentPackage(**CONTENT), "twitter", at)
    except ApprovalRefused as refused:
        found = refused.code
    assert found == code


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36")
@pytest.mark.acceptance("O-4")
def test_a_life_of_more_than_two_hours_is_not_given(desk: Desk) -> None:
    assert desk.approve(ttl=7_200).expires_at > datetime.now(UTC) + timedelta(seconds=7_190)
    with pytest.raises(ValueError, match="7200"):
        desk.approve(ttl=7_201)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-33")
@pytest.mark.parametrize("field", ["content", "approval_token", "platform"])
def test_nothing_that_publishing_needs_may_be_left_out(field: str) -> None:
    given = {"content": CONTENT, "approval_token": "a.b.c", "platform": "twitter"}
    assert refused_code(SKILL, given) is None
    del given[field]
    assert refused_code(SKILL, given) in ("INVALID_INPUT", "INVALID_TOKEN")


@pytest.mark.acceptance("CH-33", "CH-05")
def test_other_platforms_and_what_is_no_token_are_refused() -> None:
    given = {"content": CONTENT, "approval_token": "a.b.c", "platform": "twitter"}
    assert refused_code(SKILL, {**given, "platform": "reddit"}) == "INVALID_INPUT"
    assert refused_code(SKILL, {**given, "approval_token": "yes"}) == "INVALID_TOKEN"
    assert bundled(SKILL).timeout_ms == 15_000


# ---- later ----

DAY = timedelta(days=1)


@pytest.mark.acceptance("CH-39")
async def test_content_goes_out_when_its_time_has_come_and_not_before(
    desk: Desk, publisher: ModelServer
) -> None:
    token, key, now = desk.approve(), str(uuid4()), datetime.now(UTC)
    due = (now + DAY).isoformat()
    early = await desk.publish(token, key=key, schedule_time=due)
    assert early.error.code == "AWAITING_TIME"
    assert publisher.asked == []
    done = await desk.publish(token, key=key, schedule_time=due, at=now + DAY)
    assert done.outputs["success"], done
    assert len(publisher.asked) == 1


@pytest.mark.thorough
@pytest.mark.acceptance("CH-33", "CH-39")
@pytest.mark.parametrize("ahead", [timedelta(0), -DAY, 30 * DAY + timedelta(minutes=1)])
@pytest.mark.acceptance("X-25")
async def test_a_time_in_the_past_or_beyond_thirty_days_is_refused(
    desk: Desk, publisher: ModelServer, ahead: timedelta
) -> None:
    due = (datetime.now(UTC) + ahead).isoformat()
    failed = await desk.publish(desk.approve(), schedule_time=due)
    assert (failed.error.code, failed.error.http_status) == ("INVALID_INPUT", 400)
    assert failed.error.message.startswith("schedule_time")
    assert publisher.asked == []


@pytest.mark.thorough
@pytest.mark.acceptance("CH-36", "CH-39")
@pytest.mark.acceptance("X-25")
async def test_an_approval_that_is_revoked_before_its_time_publishes_nothing(
    desk: Desk, publisher: ModelServer
) -> None:
    token, key, now = desk.approve(ttl=60), str(uuid4()), datetime.now(UTC)
    due = (now + DAY).isoformat()
    await desk.publish(token, key=key, schedule_time=due)
    desk.approvals.revoke(token.jti, "alice", "test", datetime.now(UTC))
    late = await desk.publish(token, key=key, schedule_time=due, at=now + DAY)
    assert late.error.code == "INVALID_TOKEN"
    assert publisher.asked == []

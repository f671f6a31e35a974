"""``apprentice skills content`` and a publication at a later time, as they are typed."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from cli.platform.output import ExitCode
from cli.platform.run_state import RunState
from tests.cli.conftest import Person


@pytest.mark.acceptance("CH-36", "CH-39")
@pytest.mark.acceptance("O-4")
def test_content_is_shown_approved_published_later_and_given_up(service: RunState) -> None:
    admin = Person(service, service.admin_token)
    content = {"content_id": str(uuid4()), "script": "We tried three coffee shops."}
    approve = ("skills", "content", "approve", json.dumps(content), "--platform", "twitter")
    refused = admin.types(*approve, "--json")
    assert (refused.exit_code, "--yes" in refused.output) == (ExitCode.USAGE, True)
    assert "three coffee shops" in admin.types(*approve, "--yes").stdout
    token = admin.gets(*approve, "--yes")
    shown = admin.types("inbox", "--kind", "approved_content").stdout
    assert "For twitter, once. · We tried three coffee shops." in " ".join(shown.split())
    assert f"apprentice skills content revoke {token['jti']}" in " ".join(shown.split())
    due = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    given = {**{"content": content, "platform": "twitter"}, "approval_token": token["approval_token"]}
    waits = admin.gets("skills", "run", "publish-content", "-i", json.dumps({**given, "schedule_time": due}))
    assert (waits["status"], waits["due_at"][:16]) == ("queued", due[:16])
    given_up = admin.gets("skills", "cancel", waits["invocation_id"])
    assert given_up["status"] == "cancelled"
    assert "revoked" in admin.types("skills", "content", "revoke", token["jti"]).stdout
    items = admin.gets("inbox", "--kind", "approved_content")["items"]
    assert token["jti"] not in [one["item_id"] for one in items]
    late = admin.types("skills", "run", "publish-content", "-i", json.dumps(given))
    assert (late.exit_code, "INVALID_TOKEN" in late.stdout) == (ExitCode.FAILURE, True)


def test_content_that_is_none_is_refused_by_field_before_anybody_is_asked(service: RunState) -> None:
    admin = Person(service, service.admin_token)
    wrong = admin.types("skills", "content", "approve", '{"script": "x"}', "--platform", "twitter", "--yes")
    assert wrong.exit_code == ExitCode.USAGE
    assert "content_id" in wrong.output

"""What tools and skills leave is deleted past its term: calls, approvals, sign-ins, invocations, folders."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from contracts.base import rfc3339
from contracts.maintenance.runs import SweepName, SweepProgress
from stores.maintenance.compaction_sweeps import referred_digests
from stores.mcp.mcp_tables import mcp_call_attempts, mcp_dispatches, mcp_grants, mcp_oauth_flows, mcp_servers
from stores.platform.database import Database
from stores.skills.skill_tables import skill_invocations
from tests.fixtures.past import NOW, Nights, days

INSTANT = timedelta(microseconds=1)
DIGEST = "ab" * 32


def add_call(database: Database, name: str, ended: timedelta | None, *, attempts: int = 1) -> None:
    row = {
        "dispatch_id": name,
        "owner": "ann",
        "status": "running" if ended is None else "completed",
        "server_id": "lines",
        "tool_name": "append_line",
        "version": 1,
        "created_at": rfc3339(NOW - days(400)),
        "updated_at": rfc3339(NOW - (ended or timedelta())),
        "completed_at": None if ended is None else rfc3339(NOW - ended),
        "body": f'{{"arguments_digest":"{DIGEST}"}}',
    }
    made = [
        {"dispatch_id": name, "attempt": number, "stage": "answered", "started_at": rfc3339(NOW)}
        for number in range(1, attempts + 1)
    ]
    with database.write() as connection:
        connection.execute(insert(mcp_dispatches).values(row))
        connection.execute(insert(mcp_call_attempts), made)


def add_grant(database: Database, name: str, expired: timedelta, *, revoked: timedelta | None = None) -> None:
    row = {
        "grant_id": name,
        "owner": "ann",
        "dispatch_id": f"of {name}",
        "server_id": "lines",
        "tool_name": "append_line",
        "scope": "session",
        "scope_ref": "s1",
        "expires_at": rfc3339(NOW - expired),
        "revoked_at": None if revoked is None else rfc3339(NOW - revoked),
        "created_at": rfc3339(NOW - days(400)),
        "body": "{}",
    }
    with database.write() as connection:
        connection.execute(insert(mcp_grants).values(row))


def add_flow(database: Database, name: str, expired: timedelta, *, used: bool) -> None:
    row = {
        "state_digest": f"digest of {name}",
        "challenge_id": name,
        "owner": "ann",
        "server_id": "lines",
        "auth_profile_id": "profile",
        "expires_at": rfc3339(NOW - expired),
        "used_at": rfc3339(NOW - expired) if used else None,
        "body": "{}",
    }
    with database.write() as connection:
        connection.execute(insert(mcp_oauth_flows).values(row))


def add_invocation(database: Database, name: str, ended: timedelta | None) -> None:
    row = {
        "invocation_id": name,
        "owner": "ann",
        "skill": "debit-wallet",
        "status": "running" if ended is None else "success",
        "version": 1,
        "created_at": rfc3339(NOW - days(400)),
        "updated_at": rfc3339(NOW),
        "completed_at": None if ended is None else rfc3339(NOW - ended),
        "body": "{}",
    }
    with database.write() as connection:
        connection.execute(insert(skill_invocations).values(row))


def add_server(database: Database, name: str) -> None:
    row = {
        "server_id": name,
        "owner": "ann",
        "provider": "custom_local",
        "enabled": True,
        "version": 1,
        "created_at": rfc3339(NOW),
        "updated_at": rfc3339(NOW),
        "body": "{}",
    }
    with database.write() as connection:
        connection.execute(insert(mcp_servers).values(row))


def swept(nights: Nights, sweep: SweepName, *, dry_run: bool = False, limit: int = 100) -> SweepProgress:
    return nights.run(sweep, dry_run=dry_run, limit=limit).progress(sweep)


@pytest.mark.parametrize("limit", [1, 100])
def test_a_call_goes_with_its_attempts_90_days_after_its_end(nights: Nights, limit: int) -> None:
    add_call(nights.database, "old", days(90), attempts=2)
    add_call(nights.database, "older", days(300))
    add_call(nights.database, "young", days(90) - INSTANT, attempts=2)
    add_call(nights.database, "going on", None)
    progress = swept(nights, SweepName.REMOVE_TOOL_CALLS, limit=limit)

    assert (progress.done, progress.removed, progress.finished) == (2, 5, True)
    with nights.database.read() as connection:
        assert set(connection.scalars(select(mcp_dispatches.c.dispatch_id))) == {"young", "going on"}
        assert set(connection.scalars(select(mcp_call_attempts.c.dispatch_id))) == {"young", "going on"}


def test_what_a_call_was_asked_is_let_go_with_it(nights: Nights) -> None:
    add_call(nights.database, "old", days(91))
    with nights.database.read() as connection:
        assert referred_digests(connection, {DIGEST}) == {DIGEST}
    swept(nights, SweepName.REMOVE_TOOL_CALLS)

    with nights.database.read() as connection:
        assert referred_digests(connection, {DIGEST}) == set()


def test_a_preview_of_calls_removes_none(nights: Nights) -> None:
    add_call(nights.database, "old", days(91))

    assert swept(nights, SweepName.REMOVE_TOOL_CALLS, dry_run=True).done == 1
    with nights.database.read() as connection:
        assert list(connection.scalars(select(mcp_dispatches.c.dispatch_id))) == ["old"]


def test_an_approval_goes_90_days_after_it_ran_out_or_was_taken_back(nights: Nights) -> None:
    add_grant(nights.database, "ran out", days(90))
    add_grant(nights.database, "taken back", days(80), revoked=days(95))
    add_grant(nights.database, "young", days(90) - INSTANT)
    add_grant(nights.database, "taken back late", days(80), revoked=days(85))
    add_grant(nights.database, "good", -days(1))

    assert swept(nights, SweepName.REMOVE_GRANTS).done == 2
    with nights.database.read() as connection:
        left = set(connection.scalars(select(mcp_grants.c.grant_id)))
    assert left == {"young", "taken back late", "good"}


@pytest.mark.parametrize("used", [True, False])
def test_a_sign_in_under_way_goes_a_day_after_its_time_ran_out(nights: Nights, used: bool) -> None:
    add_flow(nights.database, "over", days(1), used=used)
    add_flow(nights.database, "just over", days(1) - INSTANT, used=used)

    assert swept(nights, SweepName.REMOVE_SIGN_IN_FLOWS).removed == 1
    with nights.database.read() as connection:
        assert list(connection.scalars(select(mcp_oauth_flows.c.challenge_id))) == ["just over"]


@pytest.mark.acceptance("O-23")
def test_an_invocation_goes_30_days_after_its_end_and_never_while_it_runs(nights: Nights) -> None:
    add_invocation(nights.database, "old", days(30))
    add_invocation(nights.database, "young", days(30) - INSTANT)
    add_invocation(nights.database, "running", None)

    assert swept(nights, SweepName.REMOVE_INVOCATIONS).done == 1
    with nights.database.read() as connection:
        assert set(connection.scalars(select(skill_invocations.c.invocation_id))) == {"young", "running"}


@pytest.mark.parametrize("dry_run", [False, True])
def test_the_folder_of_a_deleted_server_goes_when_it_was_not_used_for_a_day(
    nights: Nights, tmp_path: Path, dry_run: bool
) -> None:
    add_server(nights.database, "registered")
    for name, age in {
        "registered": days(9),
        "deleted": days(1),
        "just deleted": days(1) - days(1) / 2,
    }.items():
        folder = tmp_path / "tools" / name
        (folder / "cache").mkdir(parents=True)
        at = (NOW - age).timestamp()
        os.utime(folder, (at, at))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "tools" / "link").symlink_to(elsewhere)

    assert swept(nights, SweepName.REMOVE_TOOL_SERVER_FOLDERS, dry_run=dry_run).sample_ids == ("deleted",)
    left = {place.name for place in (tmp_path / "tools").iterdir()}
    assert left == {"registered", "just deleted", "link"} | ({"deleted"} if dry_run else set())
    assert elsewhere.is_dir()

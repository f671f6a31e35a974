"""The calendar through the API: look-ups, new events, conflicts, files and CalDAV (AM-32…AM-39, AM-48)."""

import asyncio
import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from xml.sax.saxutils import escape
from zoneinfo import ZoneInfo

import pytest

from tests.e2e.skill_calling import ASKER, opened, run
from tests.fixtures.outside import Asked, closed_port, outside_server

pytestmark = pytest.mark.anyio

ZONE = "Europe/Berlin"
TOMORROW = (datetime.now(ZoneInfo(ZONE)) + timedelta(days=1)).date().isoformat()
MEETING = {"action": "create", "title": "Review", "start": f"{TOMORROW}T10:00", "end": f"{TOMORROW}T11:00"}


@pytest.mark.everyday
@pytest.mark.acceptance("AM-33", "AM-34", "AM-36", "AM-39", "AM-48")
@pytest.mark.acceptance("X-8", "X-9")
async def test_free_time_is_looked_up_and_a_meeting_that_conflicts_is_created_and_said_to(
    tmp_path: Path, temporal_address: str
) -> None:
    with outside_server() as gateway:
        async with opened(
            tmp_path, temporal_address, timezone=ZONE, openclaw_gateway_url=gateway.url
        ) as stack:
            alice = stack.learner("alice", ASKER)
            empty = await run(alice, "calendar", {"action": "lookup", "range": "tomorrow"})
            assert (empty["status"], empty["outputs"]["events"]) == ("success", []), empty
            assert empty["message"] == "No events found for tomorrow."
            assert len(empty["outputs"]["free"]) == 1

            waiting = await alice.ok(
                "POST", "/api/skills/calendar_query/invocations", {"input": MEETING}, prefer="wait=30"
            )
            assert waiting["requires_confirmation"]
            made = await run(alice, "calendar_query", {**MEETING, "location": "Room 1", "notes": "a\nb"})
            assert made["status"] == "success", made
            assert made["outputs"]["created"]
            assert made["message"] == 'Done — I\'ve added "Review" to the calendar.'
            assert made["warnings"] == []

            agent = stack.learner("alice", ("read", "call"))
            found = await run(agent, "calendar", {"action": "lookup", "range": TOMORROW}, confirmed=False)
            (event,) = found["outputs"]["events"]
            assert (event["title"], event["start"][:16], event["location"], event["notes"]) == (
                "Review",
                f"{TOMORROW}T10:00",
                "Room 1",
                "a\nb",
            )
            assert [one["start"][11:16] for one in found["outputs"]["free"]] == ["00:00", "11:00"]

            again = await run(alice, "calendar", {**MEETING, "title": "Clash", "start": f"{TOMORROW}T10:30"})
            assert (again["status"], again["outputs"]["created"]) == ("success", True)
            assert [one["title"] for one in again["outputs"]["conflicts"]] == ["Review"]
            assert again["message"].endswith(f"It overlaps with Review ({TOMORROW} 10:00–11:00).")
            assert again["warnings"] == [f"CONFLICT: it overlaps with {TOMORROW} 10:00–11:00 Review"]
            logs = [
                json.loads(line)
                for file in (stack.settings.data_dir / "call_logs").glob("*.jsonl")
                for line in file.read_text(encoding="utf-8").splitlines()
            ]
            assert [entry["type"] for entry in logs] == ["skill.calendar.create"] * 2
            assert set(logs[0]) >= {"title", "start", "end", "output"}
            assert gateway.asked == []
            assert (stack.settings.data_dir / "calendars" / "primary.ics").is_file()


@pytest.mark.acceptance("AM-34", "AM-35", "AM-37", "AM-33")
@pytest.mark.acceptance("O-7")
async def test_what_cannot_be_created_asks_nobody_and_writes_nothing(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address, timezone=ZONE) as stack:
        agent = stack.learner("alice", ("read", "call"))
        path = "/api/skills/calendar/invocations"
        for name in ("title", "start", "end"):
            less = {key: value for key, value in MEETING.items() if key != name}
            refused = await agent.ok("POST", path, {"input": less}, prefer="wait=30")
            assert refused["error"]["message"] == "Missing required fields: title, start, end", refused
            assert refused["message"] == "I need a title, start time, and end time to create an event."
        wrong = (
            {"end": f"{TOMORROW}T10:00"},
            {"start": "soon"},
            {"calendar": None, "end": "2026-02-30T10:00"},
        )
        for change in wrong:
            given = {key: value for key, value in {**MEETING, **change}.items() if value is not None}
            refused = await agent.ok("POST", path, {"input": given}, prefer="wait=30")
            assert (refused["status"], refused["error"]["code"]) == ("failure", "INVALID_INPUT"), refused
        asked = {"input": {"action": "lookup", "range": "yesterday"}}
        refused = await agent.ok("POST", path, asked, prefer="wait=30")
        assert (refused["status"], refused["error"]["code"]) == ("failure", "INVALID_INPUT"), refused
        status, error = await agent.refused("POST", path, {"input": {"action": "explode"}})
        assert (status, error["code"]) == (400, "INVALID_INPUT")
        assert not (stack.settings.data_dir / "calendars").exists()


@pytest.mark.acceptance("AM-39", "AM-34", "AM-38")
@pytest.mark.produces("calendar", "CALENDAR_UNAVAILABLE")
async def test_of_several_calendars_the_primary_one_is_the_default(
    tmp_path: Path, temporal_address: str
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    for name in ("olga", "team"):
        (folder / f"{name}.ics").write_text(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n", encoding="utf-8", newline=""
        )
    async with opened(tmp_path, temporal_address, timezone=ZONE, calendar_file=folder / "olga.ics") as stack:
        alice = stack.learner("alice", ASKER)
        made = await asyncio.gather(
            run(alice, "calendar", MEETING),
            run(alice, "calendar", {**MEETING, "calendar": "team", "title": "T"}),
        )
        assert [one["status"] for one in made] == ["success", "success"], made
        assert "SUMMARY:Review" in (folder / "olga.ics").read_text(encoding="utf-8")
        assert "SUMMARY:T" in (folder / "team.ics").read_text(encoding="utf-8")
        for name in ("../olga", "nobody"):
            refused = await run(alice, "calendar", {"action": "lookup", "calendar": name})
            assert (refused["status"], refused["error"]["code"]) == ("failure", "INVALID_INPUT"), refused
            assert "olga, team" in refused["error"]["message"]
        (folder / "olga.ics").write_text("no calendar", encoding="utf-8")
        trouble = await run(alice, "calendar", {"action": "lookup"})
        assert (trouble["status"], trouble["error"]["code"]) == ("failure", "CALENDAR_UNAVAILABLE"), trouble
        assert trouble["message"] == "I had trouble accessing the calendar. Let me note that for follow-up."
        refused = await run(alice, "calendar", MEETING)
        assert refused["status"] == "failure"
        assert (folder / "olga.ics").read_text(encoding="utf-8") == "no calendar"


def caldav(kept: dict[str, bytes], asked: Asked) -> tuple[int, bytes] | None:
    """A CalDAV server over a dictionary."""
    if asked.method == "PUT":
        if asked.path in kept:
            return 412, b""
        kept[asked.path] = asked.body
        return 201, b""
    folder = asked.path
    found = "".join(
        f"<d:response><d:propstat><d:prop><c:calendar-data>{escape(text.decode())}</c:calendar-data>"
        "</d:prop></d:propstat></d:response>"
        for path, text in kept.items()
        if path.startswith(folder)
    )
    body = f'<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">{found}</d:multistatus>'
    return 207, body.encode()


@pytest.mark.acceptance("AM-33", "AM-34", "AM-38", "AM-39")
async def test_a_caldav_collection_is_looked_up_and_written_to(tmp_path: Path, temporal_address: str) -> None:
    kept: dict[str, bytes] = {}
    password = tmp_path / "password"
    password.write_text("hunter2", encoding="utf-8")
    password.chmod(0o600)
    with outside_server() as server:
        server.answer = lambda asked: caldav(kept, asked)
        async with opened(
            tmp_path,
            temporal_address,
            timezone=ZONE,
            calendar_url=f"{server.url}/olga/main/",
            calendar_user="olga",
            calendar_password_ref=f"file:{password}",
        ) as stack:
            alice = stack.learner("alice", ASKER)
            assert (await run(alice, "calendar", MEETING))["status"] == "success"
            found = await run(alice, "calendar", {"action": "lookup", "range": "tomorrow"})
            assert [one["title"] for one in found["outputs"]["events"]] == ["Review"], found
            clash = await run(alice, "calendar", {**MEETING, "title": "Clash"})
            assert [one["title"] for one in clash["outputs"]["conflicts"]] == ["Review"]
            team = await run(alice, "calendar", {**MEETING, "calendar": "team"})
            assert team["outputs"]["conflicts"] == []
            assert [path.rpartition("/")[0] for path in kept] == ["/olga/main", "/olga/main", "/olga/team"]
            assert all(one.headers["authorization"] == "Basic b2xnYTpodW50ZXIy" for one in server.asked)
            server.answer = lambda asked: (500, b"") if asked.method == "REPORT" else caldav(kept, asked)
            trouble = await run(alice, "calendar", {"action": "lookup"})
            assert (trouble["status"], trouble["error"]["code"]) == ("failure", "CALENDAR_UNAVAILABLE")
            assert len(trouble["attempts"]) == 2
            assert "hunter2" not in json.dumps(trouble)
            server.answer = lambda asked: None if asked.method == "PUT" else caldav(kept, asked)
            lost = await run(alice, "calendar", MEETING)
            assert lost["status"] == "outcome_unknown", lost
            assert len(lost["attempts"]) == 1


@pytest.mark.acceptance("AM-32")
async def test_the_catalog_shows_the_calendar_as_the_document_has_it(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address, calendar_url=f"http://127.0.0.1:{closed_port()}") as stack:
        shown = await stack.learner("alice", ("read",)).ok("GET", "/api/skills/calendar")
    assert (shown["version"], shown["timeout_ms"], shown["function_name"]) == (
        "1.0.0",
        5000,
        "calendar_query",
    )
    assert shown["permissions"] == {
        "local_binaries": ["ical-query"],
        "hosts": [],
        "services": ["calendar"],
        "network": False,
        "telegram": False,
        "openclaw_action": False,
    }
    schema = shown["input_schema"]
    assert schema["required"] == ["action"]
    names = {"action", "range", "title", "start", "end", "calendar", "notes", "location"}
    assert set(schema["properties"]) == names


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.acceptance("AM-31", "AM-38")
async def test_the_documents_own_calendar_folder_loads_unchanged_with_node(
    tmp_path: Path, temporal_address: str
) -> None:
    """Its program is not installed here, which is the trouble that its handler speaks of."""
    amber = Path(__file__).parents[1] / "domain" / "skills" / "amber"
    front = (
        (amber / "calendar.md")
        .read_text(encoding="utf-8")
        .replace("name: calendar\n", "name: amber-calendar\n")
    )
    front = front.replace('"calendar_query"', '"amber_calendar"')
    async with opened(tmp_path, temporal_address) as stack:
        folder = stack.settings.workspace / "skills" / "amber-calendar"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(front, encoding="utf-8")
        shutil.copy(Path(__file__).with_name("amber_calendar_handler.js"), folder / "handler.js")
        root = stack.learner("root", ("admin",))
        await root.ok("POST", "/api/skills/reload", {})
        seen = await root.ok("POST", "/api/skills/amber-calendar/approve", {})
        await root.ok("POST", "/api/skills/amber-calendar/approve", {"digest": seen["skill"]["digest"]})
        done = await run(root, "amber_calendar", {"action": "lookup"})
    assert done["status"] == "failure", done
    assert done["message"] == "I had trouble accessing the calendar. Let me note that for follow-up."

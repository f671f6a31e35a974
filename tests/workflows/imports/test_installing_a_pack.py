"""A pack is installed as a whole or not at all, by the checks and sagas of its members."""

import re
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import anyio.to_thread
import pytest

from contracts.abilities.availability import AbilityLifecycleAction
from contracts.abilities.lifecycle import AbilityOrder
from contracts.imports.pack_install import PackCancel, PackOrder
from contracts.learning.install import SagaStepName
from contracts.platform.commands import CommitKey
from stores.abilities.ability_commands import AbilityLifeStore
from tests.fixtures.failing_installs import failing_at
from tests.fixtures.importing import Importer, zipped
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.recovery import recover_pack_installs

pytestmark = pytest.mark.anyio

PACK = "/api/skills/packs"
REFRESHED_AT = re.compile(rb'"(refreshed_at|snapshot_as_of)": "[^"]*"')

ABOUT = {
    "count-words": "Counts the words of a text file. Use when asked how many words there are.",
    "sort-rows": "Sorts the rows of a CSV file by a column. Use when asked to sort a table.",
    "plot-chart": "Draws a bar chart of a column of numbers. Use when asked for a bar chart.",
}


def skill(name: str, *depends_on: str, body: str = "") -> dict[str, str | bytes]:
    depends = f"depends_on: [{', '.join(depends_on)}]\n" if depends_on else ""
    front = f"---\nname: {name}\ndescription: {ABOUT[name]}\n{depends}---\n"
    return {f"{name}/SKILL.md": f"{front}\n# {name}\n\n1. Do it.\n{body}"}


async def staged(importer: Importer, files: dict[str, str | bytes]) -> Importer:
    one = Importer(importer.learner)
    await one.upload(zipped(files))
    scanned = await one.scan()
    done = await one.act("stage")
    assert done["import_record"]["stage_state"] == "ready_for_review", scanned
    return one


async def put(importer: Importer, *skills: str) -> dict[str, Any]:
    manifest = {"pack_id": "tables", "title": "Tables", "description": "", "skills": list(skills)}
    return await importer.learner.ok("POST", PACK, manifest)


async def begun(importer: Importer, **fields: Any) -> dict[str, Any]:
    seen = await importer.learner.ok("GET", f"{PACK}/tables")
    assert seen["problems"] == []
    body = {"accept_unproved": True, "unproved_digest": seen["unproved_digest"], **fields}
    answer = await importer.learner.ok("POST", f"{PACK}/tables/install", body)
    return answer["install"]


async def ended(stack: Stack, importer: Importer, install: dict[str, Any]) -> dict[str, Any]:
    """The install once its workflow has closed."""
    await stack.client.get_workflow_handle(install["workflow_id"]).result()
    path = f"{PACK}/installs/{install['pack_install_id']}"
    return (await importer.learner.ok("GET", path))["install"]


def steps(install: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["skill"], one["state"]) for one in install["members"]]


def below(folder: Path) -> dict[str, bytes]:
    return {
        one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()
    }


def effects(stack: Stack) -> dict[str, bytes]:
    """What an install may change for agents: the workspace, the installed skills, what is derived of them."""
    root = stack.settings.memory_root / "system"
    found = {f"workspace/{path}": content for path, content in below(stack.settings.workspace).items()}
    for folder in ("learning/installed", "capabilities/manifests", "abilities"):
        found |= {f"{folder}/{path}": content for path, content in below(root / folder).items()}
    # When a derived file was last written is no effect of an install.
    return {path: REFRESHED_AT.sub(b"", content) for path, content in found.items()}


@pytest.fixture
def alice(stack: Stack) -> Importer:
    return Importer(stack.learner())


@pytest.mark.acceptance("skill_import_routes_not_appendix_only")
async def test_a_pack_is_installed_in_the_order_of_its_dependencies_and_what_is_here_stays(
    stack: Stack, alice: Importer
) -> None:
    here = await staged(alice, skill("count-words"))
    await here.act("install-private", accept_unproved=True)
    await put(alice, "plot-chart", "sort-rows", "count-words")
    chart = await staged(alice, skill("plot-chart", "sort-rows"))
    assert await chart.refused("install-private", accept_unproved=True) == (409, "SKILL_DEPENDENCY_MISSING")
    rows = await staged(alice, skill("sort-rows", "count-words"))
    before = await alice.learner.ok("GET", "/api/abilities/imported.count-words")

    status, error = await alice.learner.refused("POST", f"{PACK}/tables/install", {})
    assert (status, error["code"]) == (409, "UNPROVED_NOT_ACCEPTED")
    stale = {"accept_unproved": True, "unproved_digest": "0" * 64}
    assert (await alice.learner.refused("POST", f"{PACK}/tables/install", stale))[0] == 409

    once = {"accept_unproved": True, "client_request_id": "once"}
    install = (await alice.learner.ok("POST", f"{PACK}/tables/install", once))["install"]
    done = await ended(stack, alice, install)
    assert done["state"] == "installed", done
    assert steps(done) == [("count-words", "kept"), ("sort-rows", "installed"), ("plot-chart", "installed")]
    assert (await alice.learner.ok("POST", f"{PACK}/tables/install", once))["install"] == install
    for one in (chart, rows):
        assert await one.state() == "installed_private"
    after = await alice.learner.ok("GET", "/api/abilities/imported.count-words")
    assert after["ability"] == before["ability"]
    assert "skills/plot-chart/SKILL.md" in below(stack.settings.workspace)
    listed = await alice.learner.ok("GET", PACK)
    assert [one["pack_id"] for one in listed["packs"]] == ["tables"]
    assert (listed["total"], listed["schema_version"]) == (1, 1)
    assert (await alice.learner.ok("GET", "/api/skills/import/list"))["total"] == 3
    tested = {"import_id": chart.import_id, "trigger_text": "draw a bar chart"}
    assert (await alice.learner.ok("POST", "/api/skills/trigger-test", tested))["candidate_import_id"]
    again = await ended(stack, alice, await begun(alice))
    assert steps(again) == [(name, "kept") for name in ("plot-chart", "sort-rows", "count-words")]
    cancel = f"{PACK}/installs/{install['pack_install_id']}/cancel"
    status, error = await alice.learner.refused("POST", cancel, {})
    assert (status, error["code"]) == (409, "CONFLICT")
    status, error = await stack.learner("bob").refused("POST", cancel, {})
    assert (status, error["code"]) == (404, "SKILL_PACK_INSTALL_NOT_FOUND")


async def test_a_pack_whose_last_member_fails_leaves_everything_as_it_was_and_is_tried_again(
    tmp_path: Path, temporal_address: str
) -> None:
    broken = {"now": False}
    seen = count(1)
    parts = failing_at(
        SagaStepName.REFRESH_AVAILABILITY,
        after_effect=True,
        when=lambda: broken["now"] and next(seen) == 2,
    )
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, parts) as stack:
        alice = Importer(stack.learner())
        here = await staged(alice, skill("count-words"))
        await here.act("install-private", accept_unproved=True)
        before = effects(stack)
        await put(alice, "count-words", "sort-rows", "plot-chart")
        newer = await staged(alice, skill("count-words", body="2. Say how many.\n"))
        last = await staged(alice, skill("sort-rows"))
        third = await staged(alice, skill("plot-chart", "sort-rows"))
        broken["now"] = True
        failed = await ended(stack, alice, await begun(alice))
        assert failed["state"] == "rolled_back"
        assert failed["error"]
        assert steps(failed) == [
            ("count-words", "rolled_back"),
            ("sort-rows", "failed"),
            ("plot-chart", "pending"),
        ]
        assert effects(stack) == before
        for one in (newer, last, third):
            assert await one.state() == "install_failed"
        ability = await alice.learner.ok("GET", "/api/abilities/imported.count-words/versions")
        assert len(ability["versions"]) == 1
        broken["now"] = False
        done = await ended(stack, alice, await begun(alice))
        assert done["state"] == "installed", done
        assert {state for _, state in steps(done)} == {"installed"}
        assert await third.state() == "installed_private"
        assert (await third.detail())["import_record"]["retry_count"] == 1


async def test_what_was_quarantined_while_its_pack_was_installed_stays_so_when_the_pack_is_undone(
    tmp_path: Path, temporal_address: str
) -> None:
    orders: list[AbilityOrder] = []
    lives: list[AbilityLifeStore] = []

    def quarantined() -> bool:
        for order in orders:
            lives[0].carry_out(order)
        return bool(orders)

    sagas = count(1)
    parts = failing_at(
        SagaStepName.REFRESH_AVAILABILITY,
        after_effect=True,
        when=lambda: bool(orders) and next(sagas) == 2 and quarantined(),
    )
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, parts) as stack:
        alice = Importer(stack.learner())
        await (await staged(alice, skill("count-words"))).act("install-private", accept_unproved=True)
        await put(alice, "count-words", "sort-rows")
        await staged(alice, skill("count-words", body="2. Say how many.\n"))
        await staged(alice, skill("sort-rows"))
        lives.append(AbilityLifeStore(stack.database))
        orders.append(
            AbilityOrder(
                commit_key=_key("stop"),
                correlation_id="test",
                ability_id="imported.count-words",
                action=AbilityLifecycleAction.QUARANTINE,
                reason="it counts wrongly",
                caller_user_id="alice",
            )
        )
        failed = await ended(stack, alice, await begun(alice))
        assert failed["state"] == "rolled_back"

        path = "/api/abilities/imported.count-words"
        shown = await alice.learner.ok("GET", path)
        assert (shown["ability"]["install_lane"], shown["quarantine_reason"]) == (
            "quarantined",
            "it counts wrongly",
        )
        assert below(stack.settings.workspace) == {}
        await alice.learner.ok("POST", f"{path}/unquarantine", {"reason": "the newer one is gone"})
        back = below(stack.settings.workspace)["skills/count-words/SKILL.md"]
        assert b"1. Do it." in back
        assert b"2. Say how many." not in back


async def test_an_install_whose_workflow_temporal_has_lost_goes_on_or_is_undone_where_it_was_given_up(
    stack: Stack, alice: Importer
) -> None:
    rows, chart = await staged(alice, skill("sort-rows")), await staged(alice, skill("plot-chart"))
    await put(alice, "sort-rows", "plot-chart")
    installs = stack.services.imports.pack_installs
    given_up = installs.open(_order(1)).present
    assert await rows.refused("install-private", accept_unproved=True) == (
        409,
        "INVALID_SKILL_IMPORT_TRANSITION",
    )
    cancel = PackCancel(
        pack_install_id=given_up.pack_install_id,
        commit_key=_key("cancel"),
        correlation_id="test",
        at=datetime.now(UTC),
    )
    assert installs.cancel(cancel).present.cancel_asked
    assert await recover_pack_installs(stack.client, stack.settings, stack.database) == 1
    undone = await ended(stack, alice, given_up.model_dump(mode="json"))
    assert (undone["state"], undone["error_code"]) == ("rolled_back", "CANCELLED")
    assert {await rows.state(), await chart.state()} == {"install_failed"}
    assert below(stack.settings.workspace) == {}

    lost = installs.open(_order(2)).present
    assert await recover_pack_installs(stack.client, stack.settings, stack.database) == 1
    done = await ended(stack, alice, lost.model_dump(mode="json"))
    assert done["state"] == "installed", done
    assert {await rows.state(), await chart.state()} == {"installed_private"}
    assert await recover_pack_installs(stack.client, stack.settings, stack.database) == 0


def _key(name: str) -> CommitKey:
    return CommitKey(owner_user_id="alice", key=name, request_digest="0" * 64)


def _order(number: int) -> PackOrder:
    return PackOrder(
        pack_install_id=f"0199aa10-7c00-7000-8000-00000000000{number}",
        pack_id="tables",
        commit_key=_key(f"open-{number}"),
        correlation_id="test",
        at=datetime.now(UTC),
        accept_unproved=True,
    )


async def test_an_install_that_is_given_up_while_it_runs_is_undone(
    tmp_path: Path, temporal_address: str
) -> None:
    reached, go_on = Event(), Event()
    seen = count(1)

    def hold() -> bool:
        """Holds the second member's saga at its last step until the cancel is noted; it fails nothing."""
        if next(seen) == 2:
            reached.set()
            go_on.wait(30)
        return False

    parts = failing_at(SagaStepName.REFRESH_AVAILABILITY, after_effect=False, when=hold)
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, parts) as stack:
        alice = Importer(stack.learner())
        first, second = await staged(alice, skill("sort-rows")), await staged(alice, skill("plot-chart"))
        await put(alice, "sort-rows", "plot-chart")
        install = await begun(alice)
        try:
            assert await anyio.to_thread.run_sync(reached.wait, 30)
            path = f"{PACK}/installs/{install['pack_install_id']}/cancel"
            noted = await alice.learner.ok("POST", path, {"reason": "not now"})
            assert noted["install"]["cancel_asked"] is True
        finally:
            go_on.set()
        done = await ended(stack, alice, install)
        assert (done["state"], done["error_code"]) == ("rolled_back", "CANCELLED")
        # What is left is the list of all abilities, which names none.
        assert [path for path in effects(stack) if not path.startswith("abilities/")] == []
        assert (await alice.learner.ok("GET", "/api/abilities/catalog"))["total"] == 0
        assert {await first.state(), await second.state()} == {"install_failed"}

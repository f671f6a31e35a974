"""Imported skills, walked through the API: packs installed and undone, an import that is validated again."""

from typing import Any

from temporalio.testing import WorkflowEnvironment

from contracts.workflow_ids import import_validation_id
from tests.fixtures.importing import Importer, zipped
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

ABOUT = {
    "sort-rows": "Sorts the rows of a CSV file by a column. Use when asked to sort a table.",
    "plot-chart": "Draws a bar chart of a column of numbers. Use when asked for a bar chart.",
    "count-words": "Counts the words of a text file. Use when asked how many words there are.",
}
ELSEWHERE = '[{"input": "Book dinner Friday evening", "should_trigger": true, "kind": "positive"}]'


async def install_packs(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """A pack that is installed, one that is undone as its last member fails its checks, and a session cancelled."""
    who = stack.learner("packs_installed")
    await _staged(who, "sort-rows")
    await _put(who, "tables", "plot-chart", "sort-rows")
    await _staged(who, "plot-chart", "depends_on: [sort-rows]\n")
    assert (await _installed(who, env, "tables"))["state"] == "installed"
    await _staged(who, "sort-rows", body="2. Say so.\n")
    await _staged(who, "count-words", cases=ELSEWHERE)
    await _put(who, "words", "sort-rows", "count-words")
    assert (await _installed(who, env, "words"))["state"] == "rolled_back"
    for one in (await who.ok("GET", "/api/skills/import/list"))["items"]:
        # What has failed keeps its workflow until it is installed after all.
        if one["stage_state"] == "install_failed":
            await env.client.get_workflow_handle(f"skill-import/{one['import_id']}").terminate()
    await who.create()
    await who.act("cancel", {"reason": "seen enough"})
    return who


async def validate_import_again(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """An installed import, quarantined, validated again and released, and a session cancelled."""
    who = stack.learner("import_validated")
    one = await _staged(who, "sort-rows")
    await one.act("install-private", accept_unproved=True)
    ability, detail = "/api/abilities/imported.sort-rows", await one.detail()
    await who.ok("POST", f"{ability}/quarantine", {"reason": "it looked wrong"})
    begun = await who.ok("POST", f"/api/learn/proposals/{detail['proposal_id']}/validate", {})
    run_id = begun["validation_run"]["validation_run_id"]
    await env.client.get_workflow_handle(import_validation_id(run_id)).result()
    await who.ok("POST", f"{ability}/unquarantine", {})
    await who.create()
    await who.act("cancel", {"reason": "seen enough"})
    return who


async def _staged(who: Learner, name: str, more: str = "", body: str = "", cases: str = "") -> Importer:
    front = f"---\nname: {name}\ndescription: {ABOUT[name]}\n{more}---\n"
    files: dict[str, str | bytes] = {f"{name}/SKILL.md": f"{front}\n# {name}\n\n1. Do it.\n{body}"}
    if cases:
        files[f"{name}/tests/triggers.json"] = cases
    one = Importer(who)
    await one.upload(zipped(files))
    await one.scan()
    await one.act("stage")
    return one


async def _put(who: Learner, pack_id: str, *skills: str) -> None:
    manifest = {"pack_id": pack_id, "title": pack_id, "description": "", "skills": list(skills)}
    await who.ok("POST", "/api/skills/packs", manifest)


async def _installed(who: Learner, env: WorkflowEnvironment, pack_id: str) -> dict[str, Any]:
    path = f"/api/skills/packs/{pack_id}/install"
    opened = (await who.ok("POST", path, {"accept_unproved": True}))["install"]
    await env.client.get_workflow_handle(opened["workflow_id"]).result()
    ended = await who.ok("GET", f"/api/skills/packs/installs/{opened['pack_install_id']}")
    return ended["install"]

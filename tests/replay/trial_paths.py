"""Trials of an ability, walked through the API: one that passes, one that fails, one that is cancelled."""

from temporalio.testing import WorkflowEnvironment

from contracts.workflow_ids import trial_workflow_id
from tests.e2e.test_ability_trial import ended, handed_in
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

WAITS = (("test ! -e wait || sleep 300", ()), ("printf 'x\\n' > made.txt", ("made.txt",)))


async def try_out(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """Passes on an empty folder, fails where a folder stands in the way, is cancelled where it waits."""
    learner = stack.learner("ability_tried")
    await learner.create(allow_private_install=True)
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Make the file"})
    await learner.observe(WAITS)
    await learner.act("stop")
    await learner.propose()
    assert await learner.prove() == "ready_for_review"
    detail = await learner.propose_act("approve")
    path = f"/api/abilities/{detail['proposal']['ability_id']}/trials"
    folders = [stack.settings.data_dir / f"folder-{name}" for name in ("empty", "taken", "waiting")]
    for folder in folders:
        folder.mkdir()
    (folders[1] / "made.txt").mkdir()
    (folders[2] / "wait").touch()
    for folder, state in zip(folders, ("passed", "failed", None), strict=True):
        started = await learner.ok("POST", path, {"folder_ref": await handed_in(learner, folder)})
        if state is not None:
            assert (await ended(learner, started["trial_id"]))["state"] == state
        else:
            await learner.ok("DELETE", f"/api/abilities/trials/{started['trial_id']}")
        await env.client.get_workflow_handle(trial_workflow_id(started["trial_id"])).result()
    return learner

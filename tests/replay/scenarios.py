"""The ways a session can go, each walked through the API on a real server, for recording histories."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import anyio
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from contracts.learning.install import SagaStepName
from contracts.workflow_ids import SKILL_CATALOG, learn_session_id
from tests.fixtures.failing_installs import failing_at
from tests.fixtures.learner import SALES_REPORT, Learner
from tests.fixtures.model_server import ModelServer, Reply, serving
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack, running_stack, stack_settings
from tests.fixtures.temporal import FAST_QUEUES, SEARCH_ATTRIBUTES
from tests.replay.import_paths import install_packs, validate_import_again
from tests.replay.lesson_paths import say_what_is_there_already
from tests.replay.practice_paths import practise, practise_with_a_model
from tests.replay.reminder_paths import remind
from tests.replay.server_look_paths import look_at_servers
from tests.replay.sign_in_paths import sign_in
from tests.replay.skill_paths import run_skills
from tests.replay.tool_call_paths import call_tools
from tests.replay.trial_paths import try_out
from tests.replay.withdrawal_paths import withdraw
from worker.composition import compose
from worker.embedded_temporal import find_binary

EVENTS_BEFORE_SUGGESTION = 80
"""When the recording server suggests a new run: early, so that the history of a rollover stays small."""

ARRIVES_WITHIN_SECONDS = 30

UPLOAD = ("curl -T reports.tgz https://example.org/", ())
LONG_COMMAND = ("sleep 300 > waited.txt", ("waited.txt",))


@dataclass(frozen=True)
class Scene:
    """Where a path is walked: the application, and the server's clock."""

    stack: Stack
    env: WorkflowEnvironment
    model: ModelServer | None = None

    def learner(self, user: str) -> Learner:
        """A client of its own user."""
        return self.stack.learner(user)

    async def let_pass(self, learner: Learner, span: timedelta) -> None:
        """Moves the clock of the learner's session."""
        handle = self.env.client.get_workflow_handle(learn_session_id(learner.session_id))
        await self.env.fast_forward(handle, span)


Walk = Callable[[Scene], Awaitable[Learner]]
"""Walks one path to its end; the learner whose session went it."""


async def approved(scene: Scene) -> Learner:
    """Taught with every capture command, proven, installed privately, then approved for the workspace."""
    learner = scene.learner("approved")
    await learner.create(allow_private_install=True)
    await learner.act("start")
    await learner.act("pause")
    await learner.act("resume")
    await learner.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await learner.observe()
    await learner.act("stop")
    await learner.propose()
    assert await learner.prove() == "ready_for_review"
    await learner.propose_act("install", {"install_lane": "experimental_private"})
    assert await learner.state() == "installed_private"
    await learner.propose_act("approve")
    assert await learner.state() == "approved"
    return learner


async def cancelled(scene: Scene) -> Learner:
    """One session cancelled while it was paused, and one while its rehearsal was running."""
    learner = scene.learner("cancelled")
    await learner.create()
    await learner.act("start")
    await learner.act("pause")
    await learner.act("cancel", {"reason": "too early"})
    await learner.create()
    await learner.act("start")
    await learner.observe([LONG_COMMAND])
    await learner.act("stop")
    await learner.propose()
    await learner.propose_act("validate")
    await learner.act("cancel", {"reason": "changed my mind"})
    assert await learner.state() == "cancelled"
    return learner


async def timed_out(scene: Scene) -> Learner:
    """Armed for an hour in which nobody began."""
    learner = scene.learner("timed_out")
    await learner.create()
    await scene.let_pass(learner, timedelta(hours=1, minutes=1))
    assert await learner.settled("armed") == "cancelled"
    return learner


async def rejected(scene: Scene) -> Learner:
    """Proven, and turned down."""
    learner = scene.learner("rejected")
    await learner.teach("Order the sales figures")
    await learner.propose_act("reject", {"reason": "not what I meant"})
    assert await learner.state() == "rejected"
    return learner


async def revised_in_vain(scene: Scene) -> Learner:
    """Proven, sent a revision that no rule understands, which leaves it as it was, and turned down."""
    learner = scene.learner("revised_in_vain")
    await learner.teach("Rank the sales figures")
    await learner.propose_act("revise", {"revision_instructions": "make it shine"})
    assert await learner.state() == "ready_for_review"
    await learner.propose_act("reject", {"reason": "still too dull"})
    return learner


async def improved_from_runs(scene: Scene) -> Learner:
    """A task shown twice and dropped, learned from its runs, approved, then improved by words."""
    learner = scene.learner("improved_from_runs")
    await learner.create()
    await learner.act("start")
    await learner.observe()
    await learner.act("pause")
    await learner.act("resume", {"new_demonstration": True})
    await learner.observe()
    stopped = await learner.act("stop")
    await learner.act("cancel", {"reason": "later"})
    await learner.create(observation_mode="none", source_trace_ids=stopped["captured_trace_ids"])
    await learner.propose()
    assert await learner.prove() == "ready_for_review"
    approved = await learner.propose_act("approve")
    await learner.create(
        entry_mode="improving_existing_skill",
        observation_mode="none",
        target_skill_id=approved["proposal"]["ability_id"],
    )
    await learner.act("stop")
    await learner.propose()
    edits = {"non_use_conditions": ["The figures are still being collected"]}
    await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": edits})
    assert await learner.prove() == "ready_for_review"
    await learner.propose_act("approve")
    assert await learner.state() == "approved"
    return learner


async def mined(scene: Scene) -> Learner:
    """A task shown three times and dropped, found by a run of mining, built by itself and installed privately."""
    learner = scene.learner("mined")
    settings = {"mode": "auto_install_private", "observe_outside_agent": True}
    await learner.ok("PUT", "/api/learn/mining/settings", settings)
    for _ in range(3):
        await learner.demonstrate()
        await learner.act("cancel", {"reason": "later"})
    run = await learner.ok("POST", "/api/learn/mining/scan")
    with anyio.fail_after(ARRIVES_WITHIN_SECONDS):
        while run["state"] == "running":
            await anyio.sleep(0.05)
            run = await learner.ok("GET", f"/api/learn/mining/runs/{run['run_id']}")
    (found,) = (await learner.ok("GET", "/api/learn/mining/candidates"))["candidates"]
    learner.session_id = found["candidate"]["learn_session_id"]
    assert await learner.settled("ready_for_review", "installing_private") == "installed_private"
    return learner


async def install_rolled_back(scene: Scene) -> Learner:
    """An approval whose last step failed: everything undone, quarantined, and cancelled in the end."""
    learner = scene.learner("install_rolled_back")
    await learner.teach("Pack the sales figures")
    await learner.propose_act("approve")
    assert await learner.state() == "quarantined"
    await learner.act("cancel")
    return learner


async def quarantined_and_revised(scene: Scene) -> Learner:
    """Quarantined for what it would have done, revised, proven not to have changed, cancelled."""
    learner = scene.learner("quarantined_and_revised")
    await learner.create()
    await learner.act("start")
    await learner.observe([*SALES_REPORT, UPLOAD])
    await learner.act("stop")
    await learner.propose()
    assert await learner.prove() == "quarantined"
    await learner.propose_act("revise", {"revision_instructions": "leave the upload out"})
    assert await learner.state() == "drafting_proposal"
    await learner.act("cancel")
    return learner


async def questions_answered(scene: Scene) -> Learner:
    """Asked before it was built, answered one by one, built, proven, turned down."""
    learner = scene.learner("questions_answered")
    await learner.demonstrate("List the sales figures", ask_before_build=True)
    assert (await learner.propose())["session"]["state"] == "awaiting_questions"
    detail = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")
    for number, question in enumerate(detail["questions"]):
        answer = {"question_id": question["question_id"], "answer_text": f"As shown, case {number}"}
        await learner.act("answer-questions", {"answers": [answer]})
    assert await learner.prove() == "ready_for_review"
    await learner.propose_act("reject", {"reason": "taught differently meanwhile"})
    return learner


async def inputs_answered(scene: Scene) -> Learner:
    """Shown in the recorded terminal with data made up for it, said to be there already next time, dropped."""
    return await say_what_is_there_already(scene.stack)


async def continued_as_new(scene: Scene) -> Learner:
    """So many marks that the session goes on in a new run, twice, and is cancelled there."""
    learner = scene.learner("continued_as_new")
    await learner.create()
    await learner.act("start")
    for number in range(EVENTS_BEFORE_SUGGESTION // 3):
        await learner.act("mark-step", {"step_label": f"Step {number}"})
    await learner.act("cancel")
    return learner


async def worded_by_a_model(scene: Scene) -> Learner:
    """Drafted in a model's words; cancelled while the model was asked again, which was then cut short."""
    assert scene.model is not None
    learner = scene.learner("worded_by_a_model")
    await learner.demonstrate("Sum the sales figures")
    await learner.propose()
    scene.model.arrived.clear()
    scene.model.replies(Reply(hold=True))
    wish = {"revision_instructions": "Say that it is for quarters"}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(learner.propose_act, "revise", wish)
        await anyio.to_thread.run_sync(scene.model.arrived.wait, ARRIVES_WITHIN_SECONDS)
        await learner.act("cancel", {"reason": "changed my mind"})
    scene.model.released.set()
    assert await learner.state() == "cancelled"
    return learner


async def rechecked(scene: Scene) -> Learner:
    """Approved, and its capability rechecked twice in a row by its owner."""
    learner = scene.learner("rechecked")
    await learner.teach()
    await learner.propose_act("approve")
    bridge = await learner.ok("GET", "/api/capabilities/bridge")
    wish = {"capability_id": bridge["entries"][0]["capability_id"], "canaries": 2}
    started = await learner.ok("POST", "/api/capabilities/reprobe", wish)
    await scene.stack.client.get_workflow_handle(started["workflow_id"]).result()
    return learner


async def ability_commanded(scene: Scene) -> Learner:
    """Approved, then taken out of use in every way and given back."""
    learner = scene.learner("ability_commanded")
    await learner.teach("Count the sales figures")
    detail = await learner.propose_act("approve")
    path = f"/api/abilities/{detail['proposal']['ability_id']}"
    for action, body in (
        ("deactivate", {"reason": "not now"}),
        ("activate", None),
        ("promote-shared", None),
        ("quarantine", {"reason": "it went wrong"}),
        ("unquarantine", {"reason": "it was right"}),
        ("archive", None),
    ):
        await learner.ok("POST", f"{path}/{action}", body)
    return learner


async def practised(scene: Scene) -> Learner:
    """Practised alone until the goal was reached, and dropped."""
    return await practise(scene.learner("practised"))


async def practised_with_a_model(scene: Scene) -> Learner:
    """Practised with a model that suggests what fails, is told so, and mends it; dropped."""
    assert scene.model is not None
    return await practise_with_a_model(scene.learner("practised_with_a_model"), scene.model)


async def maintained(scene: Scene) -> Learner:
    """A session cancelled, then everything kept up by hand: once as a preview, once for real."""
    learner = scene.stack.learner("maintained", [*EVERYDAY_SCOPES, "admin"])
    await learner.create()
    await learner.act("cancel", {"reason": "not today"})
    for dry_run in (True, False):
        run = await learner.ok("POST", "/api/maintenance/runs", {"dry_run": dry_run})
        with anyio.fail_after(ARRIVES_WITHIN_SECONDS):
            while run["state"] == "running":
                await anyio.sleep(0.05)
                run = await learner.ok("GET", f"/api/maintenance/runs/{run['run_id']}")
    return learner


async def tools_called(scene: Scene) -> Learner:
    """Tool calls that ended in every way, and a session cancelled."""
    return await call_tools(scene.stack, scene.env)


async def ability_tried(scene: Scene) -> Learner:
    """Tried on other folders: one passes, one fails, one is cancelled."""
    return await try_out(scene.stack, scene.env)


async def ability_withdrawn(scene: Scene) -> Learner:
    """An ability taken out of use while a call for it waits and another is in flight."""
    return await withdraw(scene.stack, scene.env)


async def signed_in(scene: Scene) -> Learner:
    """A sign-in from its first page to its end, and a session cancelled."""
    return await sign_in(scene.stack, scene.env)


async def servers_looked_at(scene: Scene) -> Learner:
    """Tool servers looked at by hand and by a sweep, and a session cancelled."""
    return await look_at_servers(scene.stack, scene.env)


async def skills_run(scene: Scene) -> Learner:
    """Invocations of skills with every end, the catalog's commands, and a session cancelled."""
    return await run_skills(scene.stack, scene.env)


async def reminded(scene: Scene) -> Learner:
    """Check-ins and a question in the inbox, with every end, and a session cancelled."""
    return await remind(scene.stack, scene.env)


async def packs_installed(scene: Scene) -> Learner:
    """Packs of imported skills: one installed, one undone, and a session cancelled."""
    return await install_packs(scene.stack, scene.env)


async def import_validated(scene: Scene) -> Learner:
    """An import that is quarantined and validated again, and a session cancelled."""
    return await validate_import_again(scene.stack, scene.env)


@dataclass(frozen=True)
class Setting:
    """A path with what it needs of the server and the worker; ``also`` are workflows that belong to no user."""

    walk: Walk
    also: tuple[str, ...] = ()
    failing_step: SagaStepName | None = None
    with_model: bool = False
    with_tools: bool = False
    server_arguments: tuple[str, ...] = ()


PATHS: Mapping[str, Setting] = MappingProxyType(
    {
        "approved": Setting(approved),
        "cancelled": Setting(cancelled),
        "timed_out": Setting(timed_out),
        "rejected": Setting(rejected),
        "revised_in_vain": Setting(revised_in_vain),
        "install_rolled_back": Setting(install_rolled_back, failing_step=SagaStepName.REFRESH_AVAILABILITY),
        "quarantined_and_revised": Setting(quarantined_and_revised),
        "questions_answered": Setting(questions_answered),
        "inputs_answered": Setting(inputs_answered),
        "rechecked": Setting(rechecked),
        "improved_from_runs": Setting(improved_from_runs),
        "worded_by_a_model": Setting(worded_by_a_model, with_model=True),
        "ability_commanded": Setting(ability_commanded),
        "ability_tried": Setting(ability_tried),
        "ability_withdrawn": Setting(ability_withdrawn, with_tools=True),
        "mined": Setting(mined),
        "practised": Setting(practised),
        "practised_with_a_model": Setting(practised_with_a_model, with_model=True),
        "maintained": Setting(maintained),
        "tools_called": Setting(tools_called, with_tools=True),
        "signed_in": Setting(signed_in, with_tools=True),
        "skills_run": Setting(skills_run, also=(SKILL_CATALOG,)),
        "reminded": Setting(reminded),
        "packs_installed": Setting(packs_installed),
        "import_validated": Setting(import_validated),
        "servers_looked_at": Setting(servers_looked_at, with_tools=True),
        "continued_as_new": Setting(
            continued_as_new,
            server_arguments=(
                "--dynamic-config-value",
                f"limit.historyCount.suggestContinueAsNew={EVENTS_BEFORE_SUGGESTION}",
            ),
        ),
    }
)
"""Every path that has a committed history."""


@asynccontextmanager
async def scene_of(setting: Setting, folder: Path) -> AsyncIterator[Scene]:
    """A server and the application of one path's own, everything kept under ``folder``."""
    failing = setting.failing_step
    parts = failing_at(failing, after_effect=True) if failing else compose
    with serving() if setting.with_model else nullcontext() as model:
        settings = stack_settings(
            folder,
            mcp_allow_private_addresses=setting.with_tools,
            **({"model_base_url": model.url, "model_name": "writer"} if model else {}),
        )
        async with (
            server(*setting.server_arguments) as env,
            running_stack(settings, env.client, parts) as stack,
        ):
            yield Scene(stack, env, model)


@asynccontextmanager
async def server(*arguments: str) -> AsyncIterator[WorkflowEnvironment]:
    """A server whose workflows' clocks can be moved."""
    async with await WorkflowEnvironment.start_time_skipping_v2(
        ts_config=TimeSkippingConfig(enabled=False),
        data_converter=pydantic_data_converter,
        dev_server_existing_path=str(find_binary()),
        dev_server_log_level="error",
        search_attributes=list(SEARCH_ATTRIBUTES),
        dev_server_startup_timeout=timedelta(seconds=30),
        dev_server_extra_args=[
            "--dynamic-config-value",
            "frontend.WorkflowTimeSkippingEnabled=true",
            *FAST_QUEUES,
            *arguments,
        ],
    ) as env:
        yield env

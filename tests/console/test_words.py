"""The modules that turn what the service names into words and marks, run where they run: in the browser."""

from typing import Any

import pytest

from contracts.abilities.availability import (
    AbilityLifecycleAction,
    AbilityState,
    CheckpointHealth,
    InstallLane,
)
from contracts.abilities.capability_health import ActionClass
from contracts.abilities.categories import CategoryItemKind
from contracts.imports.compatibility import FindingSeverity
from contracts.imports.import_record import SkillImportSource, SkillImportState
from contracts.imports.pack_install import PackStepState
from contracts.imports.pack_members import PackMemberState
from contracts.learning.checkpoints import CheckpointProgressStatus
from contracts.learning.install import SagaState, SagaStepName
from contracts.learning.interpretation import ParameterType
from contracts.learning.observation import ToolEffect
from contracts.learning.proposal import DependencyKind
from contracts.learning.responses import HistoryOutcome, PendingAbilityUiState
from contracts.learning.session import LearningEntryMode, LearnSessionState
from contracts.learning.trials import TrialCommandResult, TrialConditionResult, TrialState
from contracts.learning.validation import OFFERED_CHECKS
from contracts.mcp.dispatch import AskFirstStatus, DispatchStatus, GrantScope
from contracts.mcp.health import MCPHealthStatus
from contracts.mcp.policy import MCPInheritedFrom, MCPPolicyMode
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.servers import MCPBadgeState
from contracts.mcp.tools import MCPToolState
from contracts.mining.candidates import CandidateState, MiningGate, MiningMode, TraceSourceMode
from contracts.mining.runs import MiningRunState
from contracts.platform.inbox import InboxKind
from contracts.practice.practice import IdeaSource, PracticeState
from contracts.skills.catalog import SkillState
from contracts.skills.invocation import InvocationStatus, ObservedEffectState
from tests.console.conftest import Console

pytestmark = pytest.mark.anyio


async def test_everything_the_service_names_has_words(console: Console) -> None:
    await console.page.goto(console.url)
    words: dict[str, Any] = await console.page.evaluate(
        """async () => {
            const all = await import("/console/static/wording.js");
            const keys = (name) => Object.keys(all[name]);
            return Object.fromEntries(
                ["STATES", "MODES", "PENDING", "CHECKS", "SAGA_STEPS", "SAGA_STATES", "OUTCOMES", "LANES"]
                    .map((name) => [name, keys(name)]));
        }"""
    )
    for name, named in {
        "STATES": LearnSessionState,
        "MODES": LearningEntryMode,
        "PENDING": PendingAbilityUiState,
        "CHECKS": OFFERED_CHECKS,
        "SAGA_STEPS": SagaStepName,
        "SAGA_STATES": SagaState,
        "OUTCOMES": HistoryOutcome,
        "LANES": InstallLane,
    }.items():
        assert set(words[name]) == {one.value for one in named}, name


async def test_everything_the_gateway_names_has_words(console: Console) -> None:
    await console.page.goto(console.url)
    words: dict[str, Any] = await console.page.evaluate(
        """async () => {
            const all = await import("/console/static/tool_words.js");
            return Object.fromEntries(Object.entries(all).map(([name, words]) => [name, Object.keys(words)]));
        }"""
    )
    for name, named in {
        "BADGES": MCPBadgeState,
        "APPROVALS": AskFirstStatus,
        "ENDS": DispatchStatus,
        "MODES": MCPPolicyMode,
        "CHOICES": MCPPolicyMode,
        "INHERITED": MCPInheritedFrom,
        "TOOL_STATES": MCPToolState,
        "EFFECTS": ToolEffect,
        "ACTION_CLASSES": ActionClass,
        "HEALTH": MCPHealthStatus,
        "PROVIDERS": MCPProvider,
        "TRANSPORTS": MCPTransport,
        "SCOPES": GrantScope,
    }.items():
        assert set(words[name]) == {one.value for one in named}, name


async def test_everything_of_learning_that_the_service_names_has_words(console: Console) -> None:
    await console.page.goto(console.url)
    words: dict[str, Any] = await console.page.evaluate(
        """async () => {
            const all = await import("/console/static/learning_words.js");
            return Object.fromEntries(Object.entries(all).map(([name, words]) => [name, Object.keys(words)]));
        }"""
    )
    named = {
        "PARAMETER_TYPES": ParameterType,
        "DEPENDENCIES": DependencyKind,
        "ABILITY_STATES": AbilityState,
        "ABILITY_ACTIONS": AbilityLifecycleAction,
        "CHECKPOINT_HEALTH": CheckpointHealth,
        "MINING_MODES": MiningMode,
        "CANDIDATES": CandidateState,
        "GATES": MiningGate,
        "MINING_RUNS": MiningRunState,
        "TRACE_SOURCES": TraceSourceMode,
        "PRACTICE": PracticeState,
        "IDEA_SOURCES": IdeaSource,
        "ITEM_KINDS": CategoryItemKind,
        "TRIAL_STATES": TrialState,
        "TRIAL_COMMANDS": TrialCommandResult,
        "TRIAL_CONDITIONS": TrialConditionResult,
    }
    assert {name: set(keys) for name, keys in words.items()} == {
        name: {one.value for one in kinds} for name, kinds in named.items()
    }


async def test_each_checkpoint_says_how_it_stands_and_what_was_reported(console: Console) -> None:
    await console.page.goto(console.url)
    statuses = [status.value for status in CheckpointProgressStatus]
    lines: list[str] = await console.page.evaluate(
        """async (statuses) => {
            const { checkpointProgress } = await import("/console/static/parts/checkpoints.js");
            document.body.append(checkpointProgress(statuses.map((status, index) => ({
                checkpoint_id: "abcd"[index], goal: `goal ${status}`, success_condition: null, order_hint: index,
                status, evidence: status === "not_reached" ? null : `evidence ${status}`, reason: null,
            }))));
            return [...document.querySelectorAll(".checkpoints > li")].map((one) => one.textContent);
        }""",
        statuses,
    )
    assert lines[0].endswith("Not reached yet: goal not_reached")
    for line, status in zip(lines[1:], statuses[1:], strict=True):
        assert f"{status.capitalize()}: goal {status}" in line
        assert f"evidence {status}" in line


async def test_a_frame_of_the_stream_is_read_and_a_comment_is_not(console: Console) -> None:
    await console.page.goto(console.url)
    parsed = await console.page.evaluate(
        """async () => {
            const { parse } = await import("/console/static/stream.js");
            return [parse('id: 7\\nevent: x\\ndata: {"a":"b: c"}'), parse(":keepalive"), parse("retry: 2000")];
        }"""
    )
    assert parsed == [{"id": "7", "event": "x", "data": '{"a":"b: c"}'}, None, None]


async def test_an_attempt_says_whose_idea_it_was_and_why_not_the_models(console: Console) -> None:
    await console.page.goto(console.url)
    text: str = await console.page.evaluate(
        """async () => {
            const { practiceRun } = await import("/console/static/parts/practice.js");
            const attempt = (number, source, note) => ({
                number, actions: [], conditions: [], reached: false, interrupted: false, outcome: "Not so.",
                idea: { steps: [{ command: "sort", source, about: "" }], confidence: 0.5, proposer_note: note },
            });
            const run = {
                state: "asks", goal: "Sort it", note: null, question: null, success_conditions: [], start_files: [],
                allowed_commands: ["sort"], budget: { max_attempts: 3, max_actions: 40, max_minutes: 15 },
                actions_used: 2, started_at: "2026-11-21T10:00:00Z", ends_by: "2026-11-21T10:15:00Z",
                model: "small-writer",
                attempts: [attempt(1, "model", ""), attempt(2, "allowed", "small-writer was asked: HTTP 500.")],
            };
            document.body.append(...practiceRun(run).filter(Boolean));
            return document.body.textContent;
        }"""
    )
    assert "Asks for ideassmall-writer" in text
    assert "The idea came from a model." in text
    assert "The idea came from what was allowed. small-writer was asked: HTTP 500." in text


async def test_everything_the_runtime_of_skills_names_has_words(console: Console) -> None:
    await console.page.goto(console.url)
    words: dict[str, list[str]] = await console.page.evaluate(
        """async () => {
            const all = await import("/console/static/skill_words.js");
            const names = ["SKILL_STATES", "RUN_STATES", "EFFECT_STATES", "INBOX_KINDS"];
            return Object.fromEntries(names.map((name) => [name, Object.keys(all[name])]));
        }"""
    )
    for name, named in {
        "SKILL_STATES": SkillState,
        "RUN_STATES": InvocationStatus,
        "EFFECT_STATES": ObservedEffectState,
        "INBOX_KINDS": InboxKind,
    }.items():
        assert set(words[name]) == {one.value for one in named}, name


async def test_everything_that_an_import_names_has_words(console: Console) -> None:
    await console.page.goto(console.url)
    words: dict[str, list[str]] = await console.page.evaluate(
        """async () => {
            const all = await import("/console/static/import_words.js");
            return Object.fromEntries(Object.entries(all).map(([name, told]) => [name, Object.keys(told)]));
        }"""
    )
    assert set(words["IMPORT_STATES"]) == {one.value for one in SkillImportState}
    assert set(words["IMPORT_SOURCES"]) == {one.value for one in SkillImportSource}
    assert set(words["SEVERITIES"]) == {one.value for one in FindingSeverity}
    assert set(words["PACK_MEMBER_STATES"]) == {one.value for one in PackMemberState}
    assert set(words["PACK_STEPS"]) == {one.value for one in PackStepState}

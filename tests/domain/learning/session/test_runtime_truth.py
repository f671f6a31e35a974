from datetime import UTC, datetime

import pytest

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, InstallLane
from contracts.learning.observation import ObservationAdapterKind, RedactionMode
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.responses import HistoryOutcome, LearningRuntimeSnapshot, PendingAbilityUiState
from contracts.learning.session import LearnSession, LearnSessionState, ObservationMode
from domain.learning.session.account import (
    capture_state,
    history_outcome,
    observation_scope,
    pending_ui_state,
    runtime_snapshot,
)

S = LearnSessionState
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
IDS = [f"01890000-0000-7000-8000-00000000000{n}" for n in range(10)]


def session(**fields: object) -> LearnSession:
    plain: dict[str, object] = {
        "learn_session_id": IDS[0],
        "owner_user_id": "ada",
        "entry_mode": "demonstrating_skill",
        "observation_mode": "mixed",
        "state": "capturing",
        "start_boundary_ref": "boundary-start",
        "target_app_whitelist": ("org.example.terminal",),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return LearnSession.model_validate({**plain, **fields})


def proposal() -> SkillBundleProposal:
    return SkillBundleProposal(
        proposal_id=IDS[1],
        owner_user_id="ada",
        source_trace_ids=(IDS[2],),
        title="Sort receipts",
        proposed_skill_slug="sort-receipts",
        draft_skill_path="SKILL.md",
        draft_manifest_path="capabilities/cap.json",
        content_hash="0" * 64,
        proposal_state=ProposalState.READY_FOR_REVIEW,
        created_at=NOW,
        updated_at=NOW,
    )


def ability(**fields: object) -> AbilityAvailabilityEntry:
    plain: dict[str, object] = {
        "ability_id": "ability-1",
        "owner_user_id": "ada",
        "title": "Sort receipts",
        "family": "files",
        "source": AbilitySource.LEARNED,
        "install_lane": InstallLane.EXPERIMENTAL_PRIVATE,
        "enabled": True,
        "usable_now": True,
    }
    return AbilityAvailabilityEntry.model_validate({**plain, **fields})


def snapshot(
    of: LearnSession,
    *,
    drafted: SkillBundleProposal | None = None,
    entry: AbilityAvailabilityEntry | None = None,
) -> LearningRuntimeSnapshot:
    return runtime_snapshot(
        of,
        proposal=drafted,
        observed_data_classes=["terminal_command", "file_dialog", "terminal_command"],
        latest_receipt_ids=[IDS[5], IDS[4]],
        ability_entry=entry,
        now=NOW,
    )


def test_a_snapshot_before_any_proposal_says_nothing_of_lane_or_ability() -> None:
    now = snapshot(session())

    assert now.state is S.CAPTURING
    assert now.observed_data_classes == ("file_dialog", "terminal_command")
    assert now.latest_receipt_ids == (IDS[5], IDS[4])
    assert now.active_boundary_ref == "boundary-start"
    assert (now.install_lane, now.ability_id, now.ability_usable_now) == (None, None, None)
    assert now.snapshot_as_of == NOW


def test_a_snapshot_of_a_stopped_session_points_at_its_stop() -> None:
    assert snapshot(session(state="stopped", stop_boundary_ref="stop")).active_boundary_ref == "stop"


def test_a_snapshot_takes_the_lane_from_the_proposal_until_there_is_an_ability() -> None:
    reviewed = session(state="ready_for_review", proposal_id=IDS[1])

    assert snapshot(reviewed, drafted=proposal()).install_lane is InstallLane.PENDING
    assert (
        snapshot(reviewed, drafted=proposal(), entry=ability()).install_lane
        is InstallLane.EXPERIMENTAL_PRIVATE
    )


def test_a_snapshot_says_whether_the_learned_ability_is_usable_and_if_not_why() -> None:
    usable = snapshot(session(state="installed_private"), entry=ability())
    unusable = snapshot(session(), entry=ability(usable_now=False, reason_unusable="Deactivated."))

    assert (usable.ability_id, usable.ability_usable_now, usable.reason_unusable) == ("ability-1", True, None)
    assert (unusable.ability_usable_now, unusable.reason_unusable) == (False, "Deactivated.")


def test_an_ability_that_the_availability_does_not_know_is_not_usable() -> None:
    now = snapshot(session(ability_id="ability-9"))

    assert now.ability_usable_now is False
    assert now.reason_unusable == "Not in the availability snapshot yet."


def test_the_scope_of_a_capturing_session_names_adapters_redaction_and_drops() -> None:
    scope = observation_scope(
        session(),
        dropped_off_target=3,
        adapters={
            ObservationAdapterKind.TERMINAL_COMMAND: RedactionMode.MASK_TEXT,
            ObservationAdapterKind.BROWSER_DOM: RedactionMode.HASH_ONLY,
        },
        data_classes=["commands", "commands"],
        started_at=NOW,
    )

    assert scope.adapters_active == ("browser_dom", "terminal_command")
    assert scope.redaction_modes == {"browser_dom": "hash_only", "terminal_command": "mask_text"}
    assert scope.data_classes_observed == ("commands",)
    assert scope.off_target_events_dropped == 3
    assert scope.target_app_whitelist == ("org.example.terminal",)
    assert (scope.capture_state, scope.active_runtime) == ("capturing", "bridge_observer")


@pytest.mark.parametrize("state", [S.ARMED, S.PAUSED, S.STOPPED, S.APPROVED])
def test_nothing_is_observed_unless_the_session_captures(state: LearnSessionState) -> None:
    scope = observation_scope(
        session(state=state),
        dropped_off_target=0,
        adapters={ObservationAdapterKind.TERMINAL_COMMAND: RedactionMode.MASK_TEXT},
        data_classes=(),
        started_at=NOW,
    )

    assert (scope.adapters_active, scope.active_runtime) == ((), "none")
    assert scope.redaction_modes == {"terminal_command": "mask_text"}


@pytest.mark.parametrize(
    ("mode", "runtime"),
    [
        (ObservationMode.NONE, "none"),
        (ObservationMode.INSIDE_AGENT, "openclaw_native"),
        (ObservationMode.OUTSIDE_AGENT, "bridge_observer"),
        (ObservationMode.MIXED, "bridge_observer"),
    ],
)
def test_the_active_runtime_follows_the_observation_mode(mode: ObservationMode, runtime: str) -> None:
    scope = observation_scope(
        session(observation_mode=mode), dropped_off_target=0, adapters={}, data_classes=(), started_at=NOW
    )

    assert scope.active_runtime == runtime


def test_the_capture_is_idle_before_it_running_in_it_and_stopped_after_it() -> None:
    named = {S.IDLE: "idle", S.ARMED: "idle", S.CAPTURING: "capturing", S.PAUSED: "paused"}

    assert {state: capture_state(state) for state in S} == {state: named.get(state, "stopped") for state in S}


P = PendingAbilityUiState
UNDER_PENDING = {
    S.CAPTURING: P.CAPTURING,
    S.PAUSED: P.CAPTURING,
    S.AWAITING_QUESTIONS: P.AWAITING_INPUT,
    S.DRAFTING_PROPOSAL: P.DRAFTING,
    S.TESTING_PROPOSAL: P.TESTING,
    S.READY_FOR_REVIEW: P.READY_FOR_REVIEW,
    S.INSTALLED_PRIVATE: P.PRIVATE_ACTIVE,
    S.REJECTED: P.REVISION_REQUIRED,
    S.QUARANTINED: P.REVISION_REQUIRED,
}


@pytest.mark.parametrize("state", S)
def test_pending_abilities_shows_what_can_still_become_a_skill(state: LearnSessionState) -> None:
    assert pending_ui_state(state, InstallLane.PENDING) is UNDER_PENDING.get(state)


@pytest.mark.parametrize("lane", [None, *InstallLane])
def test_an_approved_ability_is_never_pending(lane: InstallLane | None) -> None:
    assert pending_ui_state(S.APPROVED, lane) is None


def test_an_install_into_the_private_lane_shows_as_privately_active() -> None:
    assert pending_ui_state(S.INSTALLING_PRIVATE, InstallLane.EXPERIMENTAL_PRIVATE) is P.PRIVATE_ACTIVE


def test_the_history_tells_four_ends_and_all_else_is_in_progress() -> None:
    ends = {
        S.APPROVED: HistoryOutcome.APPROVED,
        S.REJECTED: HistoryOutcome.REJECTED,
        S.CANCELLED: HistoryOutcome.CANCELLED,
        S.QUARANTINED: HistoryOutcome.QUARANTINED,
    }

    assert {state: history_outcome(state) for state in S} == {
        state: ends.get(state, HistoryOutcome.IN_PROGRESS) for state in S
    }

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, CheckpointHealth
from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.availability import AbilityState as State
from contracts.abilities.availability import InstallLane as Lane
from contracts.abilities.availability import LifecycleRequester as Requester
from contracts.abilities.capability_manifest import HealthStatus
from contracts.abilities.lifecycle import AbilityQuarantine
from contracts.errors import ErrorCode
from domain.abilities.availability import effective_health, in_service, state_of
from domain.abilities.life import (
    LANES_OF,
    TAKEN_IN,
    WITHOUT_A_PERSON,
    AbilityFacts,
    entry_after,
    entry_rolled_back,
    legal_actions,
    refusal,
    restated,
)
from domain.abilities.matching import is_listed

MakeAbility = Callable[..., AbilityAvailabilityEntry]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
IN_STATE: dict[State, dict[str, object]] = {
    State.ACTIVE: {},
    State.DEACTIVATED: {"enabled": False},
    State.QUARANTINED: {"install_lane": Lane.QUARANTINED},
    State.ARCHIVED: {"enabled": False, "archived_at": NOW},
}
QUARANTINE = AbilityQuarantine(reason="wrong", since=NOW, from_lane=Lane.APPROVED_WORKSPACE)


def facts(make_ability: MakeAbility, state: State, **fields: object) -> AbilityFacts:
    return AbilityFacts(entry=make_ability(**IN_STATE[state], **fields), has_earlier=True)


@pytest.mark.parametrize("state", State)
def test_each_state_is_told_from_the_entry(make_ability: MakeAbility, state: State) -> None:
    assert state_of(make_ability(**IN_STATE[state])) is state


@pytest.mark.parametrize(("state", "action"), list(product(State, Action)))
def test_a_command_is_taken_in_its_states_alone(
    make_ability: MakeAbility, state: State, action: Action
) -> None:
    found = refusal(facts(make_ability, state), action, reason="because")
    assert (found is None) is (state in TAKEN_IN[action])
    if found is not None:
        lane_is_the_matter = action in LANES_OF and state in (State.QUARANTINED, State.ARCHIVED)
        expected = (
            ErrorCode.INSTALL_LANE_DENIED if lane_is_the_matter else ErrorCode.INVALID_LEARN_STATE_TRANSITION
        )
        assert (found.code, found.current_state) == (expected, state)
        assert action not in found.allowed


@pytest.mark.parametrize(
    ("lane", "allowed"),
    [
        (Lane.EXPERIMENTAL_PRIVATE, {Action.PROMOTE_SHARED}),
        (Lane.APPROVED_WORKSPACE, {Action.PROMOTE_SHARED, Action.DEMOTE_PRIVATE}),
        (Lane.SHARED_PROMOTED, {Action.DEMOTE_PRIVATE}),
    ],
)
def test_a_change_of_lane_starts_from_another_lane(
    make_ability: MakeAbility, lane: Lane, allowed: set[Action]
) -> None:
    found = legal_actions(facts(make_ability, State.ACTIVE, install_lane=lane))
    assert set(found) & set(LANES_OF) == allowed


@pytest.mark.parametrize(("requester", "action"), list(product(Requester, Action)))
def test_only_a_person_gives_more_than_there_was(
    make_ability: MakeAbility, requester: Requester, action: Action
) -> None:
    state = State.ACTIVE if State.ACTIVE in TAKEN_IN[action] else next(iter(TAKEN_IN[action]))
    found = refusal(facts(make_ability, state), action, reason="because", requester=requester)
    assert (found is None) is (requester is Requester.USER or action in WITHOUT_A_PERSON)


def test_nothing_is_taken_while_an_install_is_under_way(make_ability: MakeAbility) -> None:
    busy = AbilityFacts(entry=make_ability(), has_earlier=True, installing=True)
    assert legal_actions(busy) == ()
    found = refusal(busy, Action.QUARANTINE, reason="now")
    assert found is not None
    assert found.code is ErrorCode.INSTALL_IN_PROGRESS


def test_a_rollback_needs_another_version(make_ability: MakeAbility) -> None:
    assert Action.ROLLBACK not in legal_actions(AbilityFacts(entry=make_ability()))


@pytest.mark.parametrize(
    ("revalidated", "reason"), list(product((False, True), (None, "", "  ", "it was right")))
)
def test_a_quarantine_is_lifted_for_a_reason_or_after_a_validation(
    make_ability: MakeAbility, revalidated: bool, reason: str | None
) -> None:
    entry = make_ability(install_lane=Lane.QUARANTINED)
    found = refusal(AbilityFacts(entry=entry, revalidated=revalidated), Action.UNQUARANTINE, reason=reason)
    assert (found is None) is (revalidated or reason == "it was right")
    assert found is None or found.code is ErrorCode.VALIDATION_REQUIRED


@given(
    health=st.sampled_from(HealthStatus),
    steps=st.lists(st.sampled_from(Action), max_size=12),
    lane=st.sampled_from([Lane.EXPERIMENTAL_PRIVATE, Lane.APPROVED_WORKSPACE, Lane.SHARED_PROMOTED]),
)
def test_whatever_is_done_only_an_active_ability_is_listed_usable_and_in_the_workspace(
    make_ability: MakeAbility, health: HealthStatus, steps: list[Action], lane: Lane
) -> None:
    entry = restated(make_ability(install_lane=lane), health)
    quarantine: AbilityQuarantine | None = None
    for action in steps:
        if refusal(AbilityFacts(entry=entry, has_earlier=True), action, reason="because") is not None:
            continue
        if action is Action.ROLLBACK:
            entry = entry_rolled_back(entry, make_ability(title="Older"))
        else:
            before = entry
            entry = entry_after(entry, action, now=NOW, capability_health=health, quarantine=quarantine)
            if action is Action.QUARANTINE:
                quarantine = QUARANTINE.changed(from_lane=before.install_lane)
        active = state_of(entry) is State.ACTIVE
        assert in_service(entry) is is_listed(entry) is active
        assert active or not entry.usable_now
        assert entry.usable_now is (entry.reason_unusable is None)
        assert (entry.source is AbilitySource.PROMOTED) is (entry.install_lane is Lane.SHARED_PROMOTED)
        own, _ = effective_health(HealthStatus.HEALTHY, entry)
        assert (own is HealthStatus.HEALTHY) is active


@pytest.mark.parametrize("lane", [Lane.EXPERIMENTAL_PRIVATE, Lane.APPROVED_WORKSPACE, Lane.SHARED_PROMOTED])
def test_a_lifted_quarantine_leaves_the_ability_as_it_was(make_ability: MakeAbility, lane: Lane) -> None:
    before = restated(
        make_ability(install_lane=lane, checkpoint_health=CheckpointHealth.STRONG), HealthStatus.HEALTHY
    )
    held = entry_after(before, Action.QUARANTINE, now=NOW, capability_health=HealthStatus.HEALTHY)
    assert held.checkpoint_health is CheckpointHealth.QUARANTINED
    quarantine = AbilityQuarantine(
        reason="wrong", since=NOW, from_lane=lane, checkpoint_health=CheckpointHealth.STRONG
    )
    lifted = entry_after(
        held,
        Action.UNQUARANTINE,
        now=NOW,
        capability_health=HealthStatus.HEALTHY,
        quarantine=quarantine,
    )
    assert lifted == before


def test_a_quarantine_that_nobody_knows_of_cannot_be_lifted(make_ability: MakeAbility) -> None:
    held = make_ability(install_lane=Lane.QUARANTINED)
    with pytest.raises(ValueError, match="no quarantine to lift"):
        entry_after(held, Action.UNQUARANTINE, now=NOW, capability_health=HealthStatus.HEALTHY)


def test_an_activated_ability_is_usable_only_if_its_capability_works(make_ability: MakeAbility) -> None:
    off = make_ability(enabled=False)
    on = entry_after(off, Action.ACTIVATE, now=NOW, capability_health=HealthStatus.QUARANTINED)
    assert on.enabled
    assert not on.usable_now
    assert "capability is quarantined" in (on.reason_unusable or "")


def test_a_rolled_back_ability_says_what_the_older_version_said(make_ability: MakeAbility) -> None:
    present = make_ability(title="New", trigger_phrases=("new",), install_lane=Lane.SHARED_PROMOTED)
    older = make_ability(title="Old", trigger_phrases=("old",), install_lane=Lane.EXPERIMENTAL_PRIVATE)
    entry = entry_rolled_back(present, older)
    assert (entry.title, entry.trigger_phrases) == ("Old", ("old",))
    assert (entry.install_lane, entry.usable_now) == (Lane.SHARED_PROMOTED, True)

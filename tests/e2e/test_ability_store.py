"""What the store promises of a command on an ability: once, all of it, and never under an install."""

from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.availability import AbilityState, LifecycleRequester
from contracts.abilities.lifecycle import AbilityOrder
from contracts.errors import ErrorCode, Refusal
from contracts.learning.install import SagaState, SagaStepName
from contracts.platform.commands import CommitKey
from stores.abilities.ability_commands import AbilityLifeStore
from stores.platform.journal.journal import JournalFilter, count_entries
from stores.platform.tables import ability_lives, install_sagas
from tests.e2e.ability_owner import WHY, Owner, owner_of_one
from tests.fixtures.failing_installs import failing_at
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


def order(owner: Owner, action: Action, key: str, **fields: object) -> AbilityOrder:
    plain: dict[str, object] = {
        "commit_key": CommitKey(owner_user_id="alice", key=key, request_digest="a" * 64),
        "correlation_id": key,
        "ability_id": owner.ability_id,
        "action": action,
        "caller_user_id": "alice",
    }
    return AbilityOrder.model_validate({**plain, **fields})


def entries(owner: Owner) -> int:
    with owner.stack.database.read() as connection:
        return count_entries(connection, JournalFilter(aggregate=f"ability/{owner.ability_id}"))


async def test_a_command_that_is_tried_again_is_carried_out_once(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    store = AbilityLifeStore(stack.database)
    first = store.carry_out(order(owner, Action.DEACTIVATE, "k"))
    told = entries(owner)
    assert store.carry_out(order(owner, Action.DEACTIVATE, "k")) == first
    assert entries(owner) == told
    with stack.database.read() as connection:
        assert connection.scalar(select(ability_lives.c.change)) == 1


async def test_a_key_that_was_used_for_something_else_is_refused(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    store = AbilityLifeStore(stack.database)
    store.carry_out(order(owner, Action.DEACTIVATE, "k"))
    other = CommitKey(owner_user_id="alice", key="k", request_digest="b" * 64)
    with pytest.raises(Refusal) as refused:
        store.carry_out(order(owner, Action.ACTIVATE, "k", commit_key=other))
    assert refused.value.code is ErrorCode.IDEMPOTENCY_KEY_REUSED


@pytest.mark.parametrize("requester", [LifecycleRequester.SYSTEM, LifecycleRequester.REPAIR])
async def test_the_system_takes_out_of_use_and_gives_nothing_back(
    stack: Stack, requester: LifecycleRequester
) -> None:
    owner = await owner_of_one(stack)
    store = AbilityLifeStore(stack.database)
    receipt = store.carry_out(
        order(owner, Action.QUARANTINE, "q", requested_by=requester, reason="5 failures in 7 days")
    )
    assert receipt.state is AbilityState.QUARANTINED
    with pytest.raises(Refusal) as refused:
        store.carry_out(order(owner, Action.UNQUARANTINE, "u", requested_by=requester, reason="it is fine"))
    assert refused.value.code is ErrorCode.INSTALL_LANE_DENIED


async def test_a_refused_command_writes_nothing(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    before = entries(owner)
    with pytest.raises(Refusal):
        AbilityLifeStore(stack.database).carry_out(order(owner, Action.ACTIVATE, "k"))
    assert entries(owner) == before
    assert AbilityLifeStore(stack.database).recall(order(owner, Action.ACTIVATE, "k").commit_key) is None


async def test_nothing_is_decided_while_the_ability_is_being_installed(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    with stack.database.write() as connection:
        row = connection.execute(select(install_sagas)).mappings().one()
        running = {**row, "saga_id": "another", "state": SagaState.RUNNING.value}
        connection.execute(insert(install_sagas).values(**running))
    status, error = await owner.may_not("quarantine", WHY)
    assert (status, error["code"], error["retryable"]) == (409, "INSTALL_IN_PROGRESS", True)
    assert (await owner.detail())["allowed_actions"] == []
    with stack.database.write() as connection:
        over = update(install_sagas).where(install_sagas.c.saga_id == "another")
        connection.execute(over.values(state=SagaState.ROLLED_BACK.value))
    await owner.does("quarantine", WHY)


async def test_an_install_that_fails_over_a_quarantined_ability_leaves_it_quarantined(
    tmp_path: Path, temporal_address: str
) -> None:
    broken = {"now": False}
    parts = failing_at(SagaStepName.REFRESH_AVAILABILITY, after_effect=True, when=lambda: broken["now"])
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, parts) as stack:
        owner = await owner_of_one(stack)
        await owner.does("quarantine", WHY)
        bridge = owner.bridge()
        await owner.learner.propose_act("revise", {"revision_instructions": "again"})
        assert await owner.learner.prove() == "ready_for_review"
        broken["now"] = True
        await owner.learner.propose_act("approve")
        assert await owner.learner.state() == "quarantined"
        detail = await owner.detail()
        assert (detail["state"], detail["quarantine_reason"], detail["version"]) == (
            "quarantined",
            WHY["reason"],
            1,
        )
        assert owner.bridge() == bridge
        assert owner.file("SKILL.md") is None
        assert not await owner.found_by(owner.learner)
        owner.assert_snapshot_equals_the_store()
        await owner.does("unquarantine", {"reason": "the installed one was right"})
        assert await owner.found_by(owner.learner)

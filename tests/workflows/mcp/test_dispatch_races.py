"""Seeded races about calls that wait, through Temporal: one winner each, and the journal tells all of it.

The store's own part is in ``tests/stores/mcp/dispatch/test_dispatch_races.py``.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from uuid import uuid4

import anyio
import pytest
from temporalio.service import RPCError
from temporalio.testing import TimeSkipper

from contracts.errors import Refusal
from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES, AskFirstDecision, DispatchStatus, DispatchView
from contracts.platform.commands import CommitKey
from stores.mcp.policy.grants import GrantStore
from stores.mcp.receipts import ReceiptContext
from stores.platform.canonical import digest_of
from stores.platform.journal.chains import verify_chains
from tests.fixtures.crowds import ROUNDS, each_crowd
from tests.fixtures.dispatch_arena import OWNER, Arena, arena
from tests.fixtures.loop_reports import nothing_in_the_dark
from tests.fixtures.stack import stack_settings
from tests.fixtures.thoroughness import times

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

RUNS_OF_EACH = times(100)
"""Four hundred in all take minutes: continuous integration has them."""

AT_ONCE = 6
APART_SECONDS = 0.03
"""The most that one starts before the other: about what each takes to get there."""

ONE_BY_ONE = 0.2
"""How often nothing is left to chance."""

EFFECTS = {DispatchStatus.COMPLETED: {1}, DispatchStatus.OUTCOME_UNKNOWN: {0, 1}}
"""How often a call that ended so had its effect; any other had none. Given up once it was sent, it may have had."""

LONG_AFTER_ITS_DEADLINE = timedelta(minutes=31)
APPROVE, DENY = AskFirstDecision.APPROVE_ONCE, AskFirstDecision.DENY

Move = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Races:
    """Where races are run."""

    arena: Arena
    env: TimeSkipper

    async def run(self, race: Callable[["Races", Random], Awaitable[str]]) -> Counter[str]:
        """So many seeded races of a kind, several at once: how often each ended so."""
        ended: Counter[str] = Counter()
        turn = anyio.Semaphore(AT_ONCE)

        async def one(seed: int) -> None:
            async with turn:
                ended[await race(self, Random(seed))] += 1

        async with anyio.create_task_group() as group:
            for seed in range(RUNS_OF_EACH):
                group.start_soon(one, seed)
        assert verify_chains(self.arena.database).intact
        return ended

    async def answer(self, dispatch_id: str, decision: AskFirstDecision) -> str | Refusal:
        """What somebody who answers is told: that it was taken, or why not."""
        try:
            taken = await self.arena.decide(dispatch_id, decision)
        except Refusal as refusal:
            return refusal
        return taken.dispatch.status.value

    async def let_expire(self, dispatch_id: str) -> None:
        """Has the call's own clock go beyond its deadline, unless it has ended."""
        with suppress(RPCError):
            await self.env.fast_forward(self.arena.workflow(dispatch_id), LONG_AFTER_ITS_DEADLINE)

    async def end_of(self, dispatch_id: str, late: int) -> str:
        """How a call ended; its effect, its one decision and its receipts, ``late`` answers too, agree with that."""
        await self.arena.workflow(dispatch_id).result()
        view = self.arena.view(dispatch_id)
        effects = self.arena.tool.effects[dispatch_id]
        told = [receipt.receipt_kind.value for receipt in self.arena.receipts(f"mcp-dispatch/{dispatch_id}")]
        assert effects == (1 if view.status is DispatchStatus.COMPLETED else 0)
        assert told.count("ask_first_late") == late
        counted = [kind for kind in told if kind != "ask_first_late"]
        assert counted == ["ask_first", "ask_first_decision", "dispatch"], told
        return view.status.value


@pytest.fixture
async def races(tmp_path: Path, skipping_env: TimeSkipper):
    """A new store, a worker, and a server whose workflows' clocks can be moved; nothing is left for the loop."""
    with nothing_in_the_dark():
        async with arena(stack_settings(tmp_path), skipping_env.client) as running:
            yield Races(running, skipping_env)


async def raced(seeded: Random, *moves: Move) -> list[object]:
    """What each move came to; which starts first, and by how much, is the seed's.

    Some seeds let one end before the other begins: however busy the machine is, each wins now and then.
    """
    starts = [0.0, seeded.uniform(0, APART_SECONDS)]
    seeded.shuffle(starts)
    if seeded.random() < ONE_BY_ONE:
        ended = {place: await moves[place]() for place in sorted(range(len(moves)), key=starts.__getitem__)}
        return [ended[place] for place in range(len(moves))]

    async def begin(move: Move, after: float) -> object:
        await anyio.sleep(after)
        return await move()

    return list(
        await asyncio.gather(*(begin(move, after) for move, after in zip(moves, starts, strict=True)))
    )


def assert_told_who_won(loser: object, winner: str) -> None:
    """Who came second was refused, and told what was decided and by whom."""
    assert isinstance(loser, Refusal)
    if winner == "expired":
        assert loser.code == "MCP_ASK_FIRST_EXPIRED"
    else:
        assert (loser.code, loser.extra["decision"], loser.extra["decided_by"]) == (
            "MCP_ASK_FIRST_DECIDED",
            winner,
            OWNER,
        )


async def approve_against_expire(races: Races, seeded: Random) -> str:
    call = await races.arena.ask()
    answer, _ = await raced(seeded, lambda: races.answer(call, APPROVE), lambda: races.let_expire(call))
    ended = await races.end_of(call, late=int(isinstance(answer, Refusal)))
    if answer == "approved_once":
        assert ended == "completed"
    else:
        assert ended == "expired"
        assert_told_who_won(answer, "expired")
    return ended


async def approve_against_deny(races: Races, seeded: Random) -> str:
    call = await races.arena.ask()
    answers = await raced(seeded, lambda: races.answer(call, APPROVE), lambda: races.answer(call, DENY))
    ended = await races.end_of(call, late=1)
    taken = [answer for answer in answers if not isinstance(answer, Refusal)]
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert taken == ["approved_once" if ended == "completed" else "denied"]
    assert len(refused) == 1
    assert_told_who_won(refused[0], str(taken[0]))
    return ended


async def two_approvers(races: Races, seeded: Random) -> str:
    call = await races.arena.ask()
    answers = await raced(seeded, lambda: races.answer(call, APPROVE), lambda: races.answer(call, APPROVE))
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert len(refused) == 1
    assert_told_who_won(refused[0], "approved_once")
    assert await races.end_of(call, late=1) == "completed"
    return "first" if answers[0] == "approved_once" else "second"


async def revoke_against_resume(races: Races, seeded: Random) -> str:
    """One call is approved for its session, which lets its sibling go on, while that approval is taken back."""
    session = str(uuid4())
    first = await races.arena.ask(session_ref=session)
    sibling = await races.arena.ask(session_ref=session)
    store = GrantStore(races.arena.database)
    await races.arena.decide(first, AskFirstDecision.APPROVE_FOR_SESSION)
    granted = store.list_for(OWNER, datetime.now(UTC)).grants
    grant_id = next(one.grant_id for one in granted if one.dispatch_id == first)
    if seeded.random() < ONE_BY_ONE:
        await races.arena.workflow(sibling).result()
    else:
        await anyio.sleep(seeded.uniform(0, 3 * APART_SECONDS))
    told = ReceiptContext(f"mcp-grant/{grant_id}", OWNER, str(uuid4()), datetime.now(UTC), OWNER)
    key = CommitKey(owner_user_id=OWNER, key=str(uuid4()), request_digest=digest_of(""))
    revoked = await anyio.to_thread.run_sync(store.revoke, grant_id, key, told)
    # The first call's workflow ends once its siblings have been told.
    await races.arena.workflow(first).result()
    assert [one.receipt_kind.value for one in races.arena.receipts(f"mcp-grant/{grant_id}")] == [
        "grant_revoke"
    ]
    return await _end_of_sibling(races, sibling, revoked.used)


async def _end_of_sibling(races: Races, sibling: str, used: int) -> str:
    """A sibling that was not let go on is denied; the approval that was taken back says how often it was used."""
    while races.arena.view(sibling).status in OPEN_DISPATCH_STATUSES:
        # Let pass and made to wait again, where the approval went between its look and its call.
        if isinstance(await races.answer(sibling, DENY), Refusal):
            await anyio.sleep(APART_SECONDS)
    await races.arena.workflow(sibling).result()
    made = races.arena.view(sibling).status is DispatchStatus.COMPLETED
    assert races.arena.tool.effects[sibling] == (1 if made else 0)
    assert used == (1 if made else 0)
    return "resumed" if made else "revoked"


def told_what_holds(refused: list[Refusal], view: DispatchView) -> bool:
    """Whether everybody who came too late was told the decision that the store has."""
    standing = view.ask_first
    assert standing is not None
    return {one.extra.get("decision") for one in refused} <= {standing.status.value}


@each_crowd
@pytest.mark.usefixtures("many_processes")
async def test_of_a_crowd_that_answers_one_is_taken_and_what_was_approved_is_made(
    races: Races, crowd: int
) -> None:
    for seed in range(ROUNDS):
        seeded = Random(seed)
        call = await races.arena.ask()
        said = [seeded.choice((APPROVE, APPROVE, DENY)) for _ in range(crowd)]
        answers = await asyncio.gather(*(races.answer(call, one) for one in said))
        taken = [one for one in answers if not isinstance(one, Refusal)]
        refused = [one for one in answers if isinstance(one, Refusal)]
        with anyio.fail_after(30):
            ended = await races.end_of(call, late=len(refused))
        assert taken == ["approved_once" if ended == "completed" else "denied"]
        assert told_what_holds(refused, races.arena.view(call))


@each_crowd
@pytest.mark.usefixtures("many_processes")
async def test_a_crowd_that_answers_and_gives_up_leaves_one_end(races: Races, crowd: int) -> None:
    for seed in range(ROUNDS):
        seeded = Random(seed)
        call = await races.arena.ask()

        async def act(move: str, call: str = call) -> object:
            if move == "cancel":
                return await races.arena.cancel(call)
            return await races.answer(call, AskFirstDecision(move))

        moves = ["cancel", *(seeded.choice(("approve_once", "deny", "cancel")) for _ in range(crowd - 1))]
        seeded.shuffle(moves)
        answers = await asyncio.gather(*map(act, moves))
        with anyio.fail_after(30):
            await races.arena.workflow(call).result()
        view = races.arena.view(call)
        assert len([one for one in answers if isinstance(one, str)]) <= 1
        assert view.status not in OPEN_DISPATCH_STATUSES
        assert races.arena.tool.effects[call] in EFFECTS.get(view.status, {0}), view.status
        assert told_what_holds([one for one in answers if isinstance(one, Refusal)], view)


@pytest.mark.parametrize(
    ("race", "ends"),
    [
        (approve_against_expire, {"completed", "expired"}),
        (approve_against_deny, {"completed", "denied"}),
        (two_approvers, {"first", "second"}),
        (revoke_against_resume, {"resumed", "revoked"}),
    ],
)
async def test_one_of_two_wins_and_the_other_is_told_who(
    races: Races, race: Callable[[Races, Random], Awaitable[str]], ends: set[str]
) -> None:
    found = await races.run(race)
    assert set(found) == ends, "each of the two wins now and then"
    assert sum(found.values()) == RUNS_OF_EACH

"""Seeded crowds of commands to one import: of decisions one holds, and a scan under one key is one import."""

from random import Random

import httpx

from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import IMPORT_TRANSITIONS, JournalFilter, read_entries
from tests.fixtures.crowds import CROWDED, FEW_ROUNDS, all_answered, each_crowd
from tests.fixtures.importing import Importer
from tests.fixtures.stack import Stack

pytestmark = [*CROWDED]

DECISIONS = {"approve": "approved", "reject": "rejected", "discard": "discarded"}
REASON = {"reject": {"reason": "as the crowd wants it"}}


def decided(stack: Stack, import_id: str) -> list[str]:
    """The final states that the journal has of an import."""
    wanted = JournalFilter(streams=(IMPORT_TRANSITIONS,), aggregate=f"skill-import/{import_id}")
    with stack.database.read() as connection:
        states = [one.document["to_state"] for one in read_entries(connection, wanted)]
    return [state for state in states if state in DECISIONS.values()]


@each_crowd
async def test_of_a_crowd_that_decides_on_an_import_one_decision_holds(stack: Stack, crowd: int) -> None:
    alice = Importer(stack.learner())
    for seed in range(FEW_ROUNDS):
        await alice.ready()
        import_id = alice.import_id
        verbs = Random(seed).choices(list(DECISIONS), k=crowd)
        asked = [(verb, f"{seed}-{number}") for number, verb in enumerate(verbs)]

        async def send(one: tuple[str, str], import_id: str = import_id) -> httpx.Response:
            verb, key = one
            body = {"import_id": import_id, **REASON.get(verb, {})}
            path = f"/api/skills/import/{verb}"
            return await alice.learner.call("POST", path, body, idempotency_key=key)

        answers = await all_answered(asked, send)
        refused = {one.json()["error"]["code"] for one in answers if not one.is_success}
        taken = [(one, answer) for one, answer in zip(asked, answers, strict=True) if answer.is_success]
        assert refused <= {"INVALID_SKILL_IMPORT_TRANSITION"}
        assert len(taken) == 1
        (((verb, _), first),) = taken
        assert await alice.state() == DECISIONS[verb]
        assert decided(stack, import_id) == [DECISIONS[verb]]
        (again,) = await all_answered([taken[0][0]], send)
        assert again.text == first.text
    assert verify_chains(stack.database).intact


@each_crowd
async def test_of_a_crowd_that_scans_one_upload_each_key_is_one_import(stack: Stack, crowd: int) -> None:
    alice = Importer(stack.learner())
    known = 0
    for seed in range(FEW_ROUNDS):
        await alice.upload()
        body = {"source": "manual_upload", "temp_artifact_ref": alice.upload_ref}
        # Every second one asks under the key of its neighbour, as a client that lost its answer does.
        # The ids of imports follow from these keys, and crowds of other sizes have the same server.
        keys = [f"scan-{crowd}-{seed}-{number // 2}" for number in range(crowd)]

        async def scan(key: str, body: dict[str, str] = body) -> httpx.Response:
            return await alice.learner.call("POST", "/api/skills/import/scan", body, idempotency_key=key)

        answers = await all_answered(keys, scan)
        assert {one.status_code for one in answers} <= {200, 201}, [one.text for one in answers][:1]
        said = dict(zip(keys, (one.text for one in answers), strict=True))
        assert [one.text for one in answers] == [said[key] for key in keys]
        known += len(said)
        assert (await alice.learner.ok("GET", "/api/skills/import/list"))["total"] == known
    assert verify_chains(stack.database).intact

"""A language model decides what may fit, from a lookup of the HTTP API to a real HTTP endpoint and back."""

import json
from pathlib import Path

import pytest

from domain.abilities.fit.deciding import DOES_IT, DOES_OTHER_WORK
from tests.fixtures.agents import agent, agent_token, answer
from tests.fixtures.model_server import ModelServer, completion, rewording
from tests.fixtures.model_stack import KEY, with_model
from tests.fixtures.served import served

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

DOUBTED = "do something about the sales figures"


async def test_what_may_fit_is_decided_in_lookups_explanations_and_for_agents(
    tmp_path: Path, temporal_address: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRITER_KEY", KEY)
    model_server.replies(rewording(title="Summarise the sales figures"))
    async with with_model(tmp_path, temporal_address, model_server.url, find_by_model=True) as stack:
        alice = stack.learner()
        await alice.teach()
        await alice.propose_act("install", {"install_lane": "approved_workspace"})
        model_server.asked.clear()

        model_server.replies(completion(json.dumps({"fits": [1]})))
        found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": DOUBTED})
        (fitting,) = found["fitting"]
        assert (fitting["fit"], fitting["reasons"][-1]) == ("yes", DOES_IT)
        async with served(stack) as address, agent(address, agent_token(stack)) as client:
            told = await answer(client, "find_ability", {"query": DOUBTED})
        assert [one["fits"] for one in told["abilities"]] == [True]
        assert len(model_server.asked) == 1, "the second answer is remembered"
        assert set(model_server.asked[0].data) == {"request", "abilities"}

        model_server.replies(completion(json.dumps({"fits": []})))
        asked = {"user_query": f"{DOUBTED}, please", "ability_id": fitting["ability_id"]}
        why = await alice.ok("POST", "/api/abilities/explain-match", asked)
        assert (why["fit"], why["fit_reasons"]) == ("no", [DOES_OTHER_WORK])

"""A secret that a tool server says again is masked wherever it says it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from clients.mcp.tool_client import EchoedSecrets
from clients.platform.secret_fingerprints import Fingerprints, fingerprints_of
from contracts.mcp.servers import MCPServerCommand
from contracts.mcp.tools import MCPToolDefinition, ToolAnswer, ToolFailure, ToolFailureKind
from tests.fixtures.mcp_servers import registered

REMOTE = registered(transport="remote_http", endpoint_url="https://tools.example/mcp")
TOKEN = "token-0123456789"

words = st.text(alphabet='abc \n"\\{}', max_size=6)
values = st.recursive(
    st.one_of(st.none(), st.integers(), words, st.just(TOKEN), words.map(lambda word: word + TOKEN + word)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(words, st.just(f"a {TOKEN}")), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(words, values, max_size=3))
def test_no_answer_holds_the_token_and_all_else_stays(structured: dict[str, object]) -> None:
    said = ToolAnswer(content=({"type": "text", "text": f"I got {TOKEN}!"},), structured_content=structured)
    masked = EchoedSecrets(REMOTE, TOKEN).masked(said)
    assert TOKEN not in masked.model_dump_json()
    assert masked.content[0]["text"] == "I got [MASKED]!"
    if TOKEN not in json.dumps(structured):
        assert masked.structured_content == structured


def test_an_answer_without_a_secret_is_the_same_one() -> None:
    said = ToolAnswer(structured_content={"a": [1, "b"]})
    assert EchoedSecrets(REMOTE, TOKEN).masked(said) is said
    assert EchoedSecrets(REMOTE, None).masked(said) is said


def test_a_failure_says_no_token_and_keeps_what_else_it_says() -> None:
    failure = ToolFailure(
        kind=ToolFailureKind.AUTH_REQUIRED,
        message=f"HTTP 401: {TOKEN} is not good",
        http_status=401,
        www_authenticate=f'Bearer error="{TOKEN}"',
    )
    masked = EchoedSecrets(REMOTE, TOKEN).masked(failure)
    assert TOKEN not in repr(masked)
    assert masked.http_status == 401
    assert masked.www_authenticate == 'Bearer error="[MASKED]"'


def test_what_is_kept_for_others_is_masked_beside_what_is_given() -> None:
    own = Fingerprints(fingerprints_of(f"{TOKEN}-of-another"))
    said = MCPToolDefinition(tool_name="t", description=f"{TOKEN}-of-another, {TOKEN}, a token")
    assert EchoedSecrets(REMOTE, TOKEN, own=own).masked(said).description == "[MASKED], [MASKED], a token"


def test_a_programs_variables_count_where_their_name_is_a_secrets() -> None:
    command = MCPServerCommand(
        program="files", environment_refs={"TZ": "WORKER_TZ", "API_TOKEN": "A", "X": "FILES_PASSWORD"}
    )
    environ = {
        "WORKER_TZ": "Europe/Berlin",
        "A": TOKEN,
        "FILES_PASSWORD": "correct-horse",
        "HOME": "/home/ann",
    }
    echoed = EchoedSecrets(registered(transport="local_bridge", command=command), None, environ)
    said = MCPToolDefinition(tool_name="t", description=f"{TOKEN} correct-horse Europe/Berlin /home/ann")
    assert echoed.masked(said).description == "[MASKED] [MASKED] Europe/Berlin /home/ann"


def test_a_secret_within_another_leaves_nothing_of_it() -> None:
    command = MCPServerCommand(program="files", environment_refs={"TOKEN": "A"})
    echoed = EchoedSecrets(
        registered(transport="local_bridge", command=command), TOKEN, {"A": f"{TOKEN}-and-more"}
    )
    said = MCPToolDefinition(tool_name="t", description=f"{TOKEN}-and-more")
    assert echoed.masked(said).description == "[MASKED]"

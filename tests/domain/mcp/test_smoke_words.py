"""What a smoke test says: how many tools were left out and why, and no step that was just taken."""

from cli.platform.own_words import own_words
from contracts.mcp.health import MCPHealthStatus
from contracts.mcp.servers import ProbeFindings
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.health import disabled, unknown, verdict, with_next_action
from domain.mcp.tool_definitions import LeftOut, left_out_words
from tests.domain.mcp.server_cards import NOW, health


def findings(**fields: object) -> ProbeFindings:
    usual: dict[str, object] = {
        "server_id": "tickets",
        "started_at": NOW,
        "completed_at": NOW,
        "health": health(),
    }
    return ProbeFindings.model_validate({**usual, **fields})


def test_tools_that_were_left_out_are_counted_and_explained() -> None:
    many = [LeftOut(f"t{n}", "a server may have 500 tools") for n in range(2_500)]
    said = left_out_words([*many, LeftOut("se\u202end", "its name is not printable text")])
    assert said == (
        "2501 left out: t0 and 2499 more (a server may have 500 tools), se\\u202end (its name is not printable text)"
    )
    passed = verdict(findings(tools=500, left_out=said))
    assert "discovery ok (500 tools; 2501 left out: t0" in passed.summary
    assert "discovery ok (1 tool)." in verdict(findings(tools=1)).summary


def test_a_server_that_is_off_is_said_to_be_once_with_the_command_that_switches_it_on() -> None:
    off = with_next_action(disabled(health()))
    assert off.health_status is MCPHealthStatus.DISABLED
    found = verdict(findings(health=off, not_tried="The server is switched off."))
    assert own_words(found.summary) == (
        "The server is switched off. Switch it on: `apprentice mcp servers edit tickets --enable`."
    )


def test_a_smoke_test_that_failed_does_not_tell_to_make_one() -> None:
    new = with_next_action(unknown("tickets"))
    failure = ToolFailure(
        kind=ToolFailureKind.OUTPUT_INVALID, message="the answer is not one of the protocol"
    )
    assert "smoke-test" not in verdict(findings(health=new, failure=failure)).summary

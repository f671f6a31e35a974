"""Which server a call goes to: the list's own fields decide, in one order that is always the same."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.control_surface import ControlSurface as Surface
from contracts.learning.observation import ToolEffect
from contracts.mcp.health import MCPHealthStatus as Health
from contracts.mcp.health import MCPThrottle, MCPToolHealth
from contracts.mcp.policy import MCPPolicyAuthor
from contracts.mcp.policy import MCPPolicyMode as Mode
from contracts.mcp.provider import MCPAuthState, MCPProvider
from contracts.mcp.routing import RouteExplanation
from domain.abilities.capability_plan import surface_choices
from domain.abilities.hybrid_plan import USER_INTERFACE
from domain.mcp.route_scoring import (
    NEVER_LISTED,
    RouteDecision,
    RouteVerdict,
    RouteWanted,
    Standing,
    resolve_route,
    standing_of,
    why_left_out,
)
from tests.domain.abilities.test_bridge import NOW, manifest
from tests.domain.mcp.server_cards import auth, card, health, policy

ANYWHERE = manifest(surface_order=["mcp_connector", "raw_ui", "native_openclaw_browser"])


def tried(found: RouteDecision) -> list[Surface]:
    """The surfaces that a capability which could go any way is explained to be tried on, best first."""
    told = RouteExplanation(decision=found.verdict, next_step="-", policy_version=0, explained_at=NOW)
    return [choice.surface for choice in surface_choices(ANYWHERE, (), told) if choice.available]


@pytest.mark.parametrize(
    ("item", "standing"),
    [
        (card(), Standing.ELIGIBLE),
        (card(at_policy=policy(Mode.ASK_FIRST)), Standing.ASK_FIRST),
        (
            card(at_policy=policy(Mode.ASK_FIRST), at_auth=auth(MCPAuthState.EXPIRED)),
            Standing.AUTH_REQUIRED,
        ),
        (
            card(at_health=health(Health.DEGRADED), at_auth=auth(MCPAuthState.REVOKED)),
            Standing.DEFER_OR_WARN,
        ),
        (card(at_health=health(Health.DEGRADED), enabled=False), Standing.REJECT_DISABLED),
    ],
)
def test_the_standing_follows_the_order_of_the_rule(item, standing: Standing) -> None:
    assert standing_of(item) is standing


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (card("b"), card("a", at_policy=policy(Mode.ASK_FIRST))),
        (card("b", supported_tools=["find"]), card("a")),
        (card("b", endpoint_url="https://project.example.com"), card("a")),
        (card("b"), card("a", at_health=health(Health.UNKNOWN))),
        (
            card("b"),
            card("a", transport="local_bridge", endpoint_url=None, command={"program": "tickets"}),
        ),
        (card("b"), card("a", at_health=health(throttle=MCPThrottle.RATE_LIMITED))),
        (card("b", rate_limit_profile="high"), card("a", rate_limit_profile="low")),
        (card("a"), card("b")),
    ],
    ids=["policy", "tool", "project", "health", "transport", "throttled", "rate", "server_id"],
)
def test_each_step_of_the_score_decides_where_those_before_are_equal(better, worse) -> None:
    project = {better.registry.server_id} if "project" in str(better.registry.endpoint_url) else set()
    tool = "find" if better.registry.supported_tools else None
    wanted = RouteWanted(tool_name=tool, project_servers=frozenset(project))
    for servers in ([better, worse], [worse, better]):
        found = resolve_route(servers, wanted)
        assert found.server_id == better.registry.server_id
        assert [one.server_id for one in found.scores] == [
            better.registry.server_id,
            worse.registry.server_id,
        ]
        assert all(len(one.reasons) == 6 for one in found.scores)


def test_a_tool_that_no_server_is_known_to_have_has_no_way() -> None:
    never_listed, another = card("a"), card("b", supported_tools=["send"])
    wanted = RouteWanted(tool_name="find")
    found = resolve_route([never_listed, another], wanted)
    assert (found.verdict, found.server_id, found.scores) == (RouteVerdict.NO_ROUTE, None, ())
    assert why_left_out(never_listed, wanted) == NEVER_LISTED


def test_a_server_whose_tool_failed_last_comes_after_one_whose_tool_did_not() -> None:
    failed = health().changed(tool_health={"find": MCPToolHealth(ok=False, last_checked_at=NOW)})
    tools = {"supported_tools": ["find"]}
    found = resolve_route(
        [card("a", at_health=failed, **tools), card("b", **tools)], RouteWanted(tool_name="find")
    )
    assert found.server_id == "b"
    assert "healthy, but the tool's last call failed" in found.scores[1].reasons


def test_an_earlier_step_outweighs_all_later_ones() -> None:
    asks = card("a", at_policy=policy(Mode.ASK_FIRST), supported_tools=["find"], rate_limit_profile="high")
    allowed = card("b", at_health=health(Health.UNKNOWN, throttle=MCPThrottle.COOLDOWN))
    wanted = RouteWanted(tool_name="find", project_servers=frozenset({"a"}))
    assert resolve_route([asks, allowed], wanted).server_id == "b"


@given(st.integers(0, 2**32), st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1))
def test_the_decision_does_not_hang_on_the_order_of_the_list(seed: int, ids: list[str]) -> None:
    chance = random.Random(seed)
    servers = [
        card(
            server_id,
            at_policy=policy(chance.choice(list(Mode))),
            at_health=health(chance.choice(list(Health)), throttle=chance.choice(list(MCPThrottle))),
            at_auth=auth(chance.choice(list(MCPAuthState))),
            enabled=chance.random() < 0.8,
        )
        for server_id in ids
    ]
    first = resolve_route(servers, RouteWanted())
    chance.shuffle(servers)
    assert resolve_route(servers, RouteWanted()) == first
    if first.server_id is not None:
        assert first.server_id == first.scores[0].server_id
        assert first.server_id not in first.denied
    assert len(first.scores) + len(first.denied) == len(ids)


def test_a_write_asks_first_by_default_and_goes_where_a_person_allowed_it() -> None:
    wanted = RouteWanted(effect=ToolEffect.SEND)
    by_default = card(at_policy=policy(Mode.ENABLED, MCPPolicyAuthor.SYSTEM))
    assert resolve_route([by_default], wanted).verdict is RouteVerdict.ASK_FIRST
    assert resolve_route([by_default], RouteWanted()).verdict is RouteVerdict.ALLOW
    assert resolve_route([card()], wanted).verdict is RouteVerdict.ALLOW


@pytest.mark.acceptance("9.12-1")
def test_a_healthy_allowed_connector_is_chosen() -> None:
    ill = card("a", at_health=health(Health.DEGRADED))
    found = resolve_route([ill, card("b")], RouteWanted())
    assert (found.verdict, found.server_id) == (RouteVerdict.ALLOW, "b")
    assert tried(found)[0] is Surface.MCP_CONNECTOR


@pytest.mark.acceptance("9.12-2")
def test_a_disabled_connector_falls_back_or_says_so() -> None:
    off, signed_out = card("a", enabled=False), card("b", at_auth=auth(MCPAuthState.EXPIRED))
    asks = card("c", at_policy=policy(Mode.ASK_FIRST))
    assert resolve_route([off, asks], RouteWanted()).server_id == "c"
    alone = resolve_route([off], RouteWanted())
    assert (alone.verdict, alone.server_id, alone.denied) == (RouteVerdict.DENY, None, ("a",))
    honest = resolve_route([off, signed_out], RouteWanted())
    assert (honest.verdict, honest.server_id) == (RouteVerdict.DEGRADED, "b")
    for found in (alone, honest):
        assert Surface.MCP_CONNECTOR not in tried(found)
    assert resolve_route([], RouteWanted()).verdict is RouteVerdict.NO_ROUTE


@pytest.mark.acceptance("9.12-3")
def test_a_browser_does_not_come_before_a_healthy_connector() -> None:
    order = tried(resolve_route([card()], RouteWanted()))
    assert order.index(Surface.MCP_CONNECTOR) < min(
        order.index(one) for one in USER_INTERFACE if one in order
    )


def test_what_the_runtime_may_not_use_is_denied() -> None:
    wanted = RouteWanted(allowed_servers=frozenset({"b"}), ask_first_servers=frozenset({"b"}))
    found = resolve_route([card("a"), card("b")], wanted)
    assert (found.verdict, found.server_id, found.denied) == (RouteVerdict.ASK_FIRST, "b", ("a",))
    assert resolve_route([card(at_policy=policy(Mode.DISABLED))], RouteWanted()).verdict is RouteVerdict.DENY


def test_a_google_server_never_stands_beside_native_mail() -> None:
    gmail = card("gmail", provider=MCPProvider.GMAIL_GOOGLE)
    assert resolve_route([gmail], RouteWanted(native_path=True)).verdict is RouteVerdict.DENY
    assert resolve_route([gmail], RouteWanted()).server_id == "gmail"


def test_a_deferred_server_is_no_candidate() -> None:
    parked = card(active_build_surface=False)
    assert resolve_route([parked], RouteWanted()).verdict is RouteVerdict.NO_ROUTE

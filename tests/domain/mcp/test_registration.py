"""What may be registered: no program the operator did not name, no secret in an address, no inner address."""

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.provider import MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from domain.mcp.registration import RegistrationRules, check_endpoint, check_registration, origin_of
from tests.domain.mcp.server_cards import entry

RULES = RegistrationRules(
    local_programs=("mcp-server-time", "/opt/tools/files"),
    local_environment=("WORKER_TZ", "APPRENTICE_DATABASE_URL"),
)
OPEN = RegistrationRules(allow_private_addresses=True)


def local(**fields: object) -> MCPServerRegistryEntry:
    command = {"program": "mcp-server-time", **fields}
    return entry(transport=MCPTransport.LOCAL_BRIDGE, endpoint_url=None, command=command)


def refused(checked: MCPServerRegistryEntry, rules: RegistrationRules = RULES) -> tuple[ErrorCode, object]:
    with pytest.raises(Refusal) as found:
        check_registration(checked, None, rules)
    return found.value.code, found.value.extra.get("fields")


@pytest.mark.parametrize(
    "url",
    [
        "https://tools.example.com/mcp",
        "https://tools.example.com:8443/v1/mcp?region=eu",
        "https://8.8.8.8/mcp",
        "https://[2606:4700::1111]/mcp",
        "https://tools.example.com/teams/0199aa10-7c00-7000-8000-00000000002a/mcp",
    ],
)
def test_a_public_https_address_passes(url: str) -> None:
    check_registration(entry(endpoint_url=url), None, RULES)


@pytest.mark.parametrize(
    "url",
    [
        "http://tools.example.com/mcp",
        "https://localhost/mcp",
        "https://LOCALHOST./mcp",
        "https://api.localhost/mcp",
        "https://127.0.0.1/mcp",
        "https://127.1/mcp",
        "https://2130706433/mcp",
        "https://0x7f000001/mcp",
        "https://0/mcp",
        "https://10.1.2.3/mcp",
        "https://172.20.0.1/mcp",
        "https://192.168.1.1/mcp",
        "https://169.254.169.254/latest",
        "https://100.64.0.1/mcp",
        "https://[::1]/mcp",
        "https://[fd00::1]/mcp",
        "https://[fe80::1]/mcp",
        "https://[::ffff:127.0.0.1]/mcp",
        "https://printer/mcp",
        "https://nas.local/mcp",
        "https://metadata.google.internal/mcp",
    ],
)
def test_an_inner_or_open_address_passes_only_where_the_operator_allows_it(url: str) -> None:
    registered = entry(endpoint_url=url)
    assert refused(registered) == (ErrorCode.MCP_ADDRESS_REFUSED, None)
    check_registration(registered, None, OPEN)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://tools.example.com/mcp",
        "file:///etc/passwd",
        "https://user@tools.example.com/mcp",
        "https://user:pass@tools.example.com/mcp",
        "https://tools.example.com/mcp#part",
        "https://tools.example.com/mcp#",
        "https://tools.example.com/mcp?api_key=abc123",
        "https://tools.example.com/mcp?access_token=abc123",
        "https://tools.example.com/mcp?q=ghp_" + "a" * 36,
        "https://tools.example.com/" + "a" * 2_000,
    ],
)
def test_an_address_that_holds_a_secret_or_is_none_is_refused_everywhere(url: str) -> None:
    for rules in (RULES, OPEN):
        with pytest.raises(Refusal) as found:
            check_endpoint(url, rules)
        assert found.value.code is ErrorCode.VALIDATION_FAILED
        assert "abc123" not in found.value.message


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"endpoint_url": None}, "endpoint_url"),
        ({"command": {"program": "mcp-server-time"}}, "endpoint_url"),
        ({"transport": "local_bridge"}, "command"),
        (
            {"transport": "local_bridge", "command": {"program": "mcp-server-time"}},
            "command",
        ),
        ({"transport": "provider_native"}, "transport"),
    ],
)
def test_each_transport_has_its_own_way_to_be_reached(fields: dict[str, object], place: str) -> None:
    assert refused(entry(**fields)) == (ErrorCode.VALIDATION_FAILED, [place])


def test_a_provider_native_server_needs_nothing() -> None:
    check_registration(entry(transport="provider_native", endpoint_url=None), None, RULES)


@pytest.mark.parametrize(
    "program",
    [
        "sh",
        "/usr/bin/mcp-server-time",
        "mcp-server-time ",
        "MCP-SERVER-TIME",
        "../mcp-server-time",
        "python3",
    ],
)
def test_a_program_that_the_operator_did_not_name_is_not_registered(program: str) -> None:
    assert refused(local(program=program)) == (ErrorCode.VALIDATION_FAILED, ["command.program"])
    assert refused(local(), RegistrationRules()) == (ErrorCode.VALIDATION_FAILED, ["command.program"])


def test_a_program_that_the_operator_named_is_registered_as_it_is_spelled() -> None:
    check_registration(local(arguments=["--local-timezone", "Europe/Berlin"]), None, RULES)
    check_registration(
        local(program="/opt/tools/files", working_folder="/srv/files", environment_refs={"TZ": "WORKER_TZ"}),
        None,
        RULES,
    )


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"arguments": ["--token", "ghp_" + "a" * 36]}, "command.arguments"),
        ({"arguments": ["--password=hunter2x"]}, "command.arguments"),
        ({"arguments": ["a\nb"]}, "command.arguments"),
        ({"working_folder": "files"}, "command.working_folder"),
        ({"working_folder": "/srv/../etc"}, "command.working_folder"),
        ({"environment_refs": {"A B": "WORKER_TZ"}}, "command.environment_refs"),
        ({"environment_refs": {"KEY": "$(id)"}}, "command.environment_refs"),
        ({"environment_refs": {"KEY": "APPRENTICE_DATABASE_URL"}}, "command.environment_refs"),
        ({"environment_refs": {"KEY": "temporal_api_key"}}, "command.environment_refs"),
        ({"environment_refs": {"KEY": "NOTICE_KEY"}}, "command.environment_refs"),
        ({"environment_refs": {"KEY": "worker_tz"}}, "command.environment_refs"),
    ],
)
def test_a_command_carries_no_secret_and_reaches_for_none_of_ours(
    fields: dict[str, object], place: str
) -> None:
    assert refused(local(**fields)) == (ErrorCode.VALIDATION_FAILED, [place])


def test_addresses_of_one_origin_are_told_from_others() -> None:
    assert origin_of("https://a.example/mcp") == origin_of("https://A.example:443/other")
    assert origin_of("https://a.example/mcp") != origin_of("http://a.example/mcp")
    assert origin_of("https://a.example/mcp") != origin_of("https://b.example/mcp")
    assert origin_of(None) is None

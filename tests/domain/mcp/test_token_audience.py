"""A token goes to the server it was got for."""

import pytest

from domain.mcp.auth_status import is_meant_for

FILES = "https://tools.example.com/files/mcp"


@pytest.mark.parametrize(
    "endpoint",
    [
        FILES,
        f"{FILES}/",
        f"{FILES}/v2",
        "https://TOOLS.example.com:443/files/mcp",
        "https://tools.example.com./files/mcp",
    ],
)
def test_it_may_be_sent_to_its_server_and_below(endpoint: str) -> None:
    assert is_meant_for(FILES, endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://other.example.com/files/mcp",
        "https://tools.example.com.evil.test/files/mcp",
        "https://tools.example.com@evil.test/files/mcp",
        "http://tools.example.com/files/mcp",
        "https://tools.example.com:8443/files/mcp",
    ],
)
def test_it_never_goes_to_another_origin_however_it_is_shared(endpoint: str) -> None:
    assert not is_meant_for(FILES, endpoint)
    assert not is_meant_for(FILES, endpoint, shared=True)


@pytest.mark.parametrize("path", ["/mail/mcp", "/files", "/files/mcp2", "/"])
def test_a_neighbour_gets_it_only_where_the_sign_in_is_shared(path: str) -> None:
    neighbour = f"https://tools.example.com{path}"
    assert not is_meant_for(FILES, neighbour)
    assert is_meant_for(FILES, neighbour, shared=True)


def test_a_token_for_a_whole_origin_is_for_all_of_its_paths() -> None:
    assert is_meant_for("https://tools.example.com", FILES)

import asyncio
import os
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

from worker.embedded_temporal import (
    SEARCH_ATTRIBUTES,
    EmbeddedTemporal,
    EmbeddedTemporalError,
    find_binary,
    free_port,
    server_environment,
    serves,
    wait_until_ready,
)


def temporal_that_says(folder: Path, text: str) -> Path:
    folder.mkdir()
    binary = folder / "temporal"
    binary.write_text(f"#!/bin/sh\necho '{text}'\n", encoding="utf-8")
    binary.chmod(0o755)
    return binary


def test_a_new_enough_command_on_the_search_path_wins(tmp_path: Path) -> None:
    ours = temporal_that_says(tmp_path / "bin", "temporal version 1.10.0 (Server 1.33.0, UI 2.60.0)")
    assert find_binary(str(ours.parent)) == ours


@pytest.mark.parametrize("said", ["temporal version 0.13.2", "temporal version 1.2.0", "what?"])
def test_an_old_command_on_the_search_path_is_passed_over(tmp_path: Path, said: str) -> None:
    old = temporal_that_says(tmp_path / "bin", said)
    assert find_binary(str(old.parent)) != old


def test_without_any_command_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(EmbeddedTemporalError, match=r"apprentice\[embedded\].*TEMPORAL_ADDRESS"):
        find_binary(str(tmp_path))


def test_the_server_is_not_configured_by_the_variables_of_clients() -> None:
    given = {"TEMPORAL_ADDRESS": "elsewhere", "TEMPORAL_TLS": "true", "HOME": "h"}
    assert server_environment(given) == {"HOME": "h", "TEMPORAL_VERSION_CHECK_DISABLED": "1"}


@pytest.mark.anyio
async def test_the_server_keeps_its_database_and_knows_our_search_attributes(tmp_path: Path) -> None:
    server = EmbeddedTemporal(find_binary(), tmp_path / "temporal.db", free_port(), None, "team")
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *server.command(), env=server_environment(os.environ), stdout=log, stderr=log
        )
        try:
            await wait_until_ready(server.address, 60, "team")
            client = await Client.connect(server.address, namespace="team")
            known = await client.operator_service.list_search_attributes(
                ListSearchAttributesRequest(namespace="team")
            )
            assert not await serves(server.address, "missing")
        finally:
            process.terminate()
            assert await process.wait() == 0
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    assert {name: known.custom_attributes[name] for name in SEARCH_ATTRIBUTES} == dict.fromkeys(
        SEARCH_ATTRIBUTES, keyword
    )
    assert (tmp_path / "temporal.db").stat().st_size > 0
    assert not await serves(server.address, "team")


@pytest.mark.anyio
async def test_waiting_for_a_server_that_never_comes_ends_with_its_address() -> None:
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(EmbeddedTemporalError, match=address):
        await wait_until_ready(address, 0.01)

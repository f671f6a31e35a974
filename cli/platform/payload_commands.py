"""``apprentice payload-keys``: the keys that sign and encrypt what is sent through Temporal, and their rotation."""

from collections.abc import Generator
from contextlib import contextmanager

import typer

from cli.platform.output import JsonFlag, fail, write_json, write_line, write_table
from cli.platform.run_state import DataDir, opened
from gateways.platform.payload_signing import payload_keys, rotate_payload_keys
from stores.platform.secrets.key_places import SecretKeysUnavailable

_HELP = "The keys of what is sent through Temporal: status, rotation."
app = typer.Typer(no_args_is_help=True, help=_HELP)


@app.callback(help=_HELP)
def keys() -> None:
    """The keys of what is sent through Temporal: status, rotation."""


@app.command()
def status(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Show which keys there are and which one is used, never a key."""
    with opened(data_dir) as (settings, _), _problems_told():
        found, place = payload_keys(settings.data_dir).kept_ring(), payload_keys(settings.data_dir).place
    rows = [(key_id, key_id == found.current) for key_id in sorted(found.keys)] if found else []
    if as_json:
        listed = [{"key_id": key_id, "current": current} for key_id, current in rows]
        write_json({"keys_in": place, "encryption": settings.payload_encryption, "keys": listed})
        return
    write_line(f"Keys are kept in {place}; payloads are {_kept_how(settings.payload_encryption)}.")
    write_table(("key", "state"), [(key_id, "current" if current else "kept") for key_id, current in rows])


def _kept_how(encrypted: bool) -> str:
    return "signed and encrypted" if encrypted else "signed, and readable in the Temporal UI"


@app.command()
def rotate(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Sign and encrypt with a new key from now on; what older keys signed or encrypted stays readable.

    Processes that run take it within seconds. Keys are kept, since Temporal keeps what they signed.
    """
    with opened(data_dir) as (settings, _), _problems_told():
        ring = rotate_payload_keys(settings.data_dir)
    if as_json:
        write_json({"key_id": ring.current, "keys": sorted(ring.keys)})
    else:
        write_line(f"{ring.current} signs from now on; {len(ring.keys) - 1} older keys are kept.")


@contextmanager
def _problems_told() -> Generator[None]:
    try:
        yield
    except SecretKeysUnavailable as error:
        fail(str(error))

"""``apprentice secrets``: status of the keys that seal stored secrets, and key rotation."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import typer
from sqlalchemy.exc import SQLAlchemyError

from cli.platform.output import JsonFlag, fail, write_json, write_line, write_table
from cli.platform.run_state import DataDir, opened
from config.settings import Settings
from stores.platform.database import Database
from stores.platform.secrets.key_places import SecretKeysUnavailable
from stores.platform.secrets.store import SecretStore, open_secret_store

app = typer.Typer(no_args_is_help=True, help="The keys that seal secrets: status, rotation.")


@app.callback()
def secrets() -> None:
    """The keys that seal secrets: status, rotation."""


@app.command()
def status(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Show which keys seal how many secrets, never a key and never a secret.

    Ends with exit code 1 when a key is lost that is still needed.
    """
    with _store(data_dir) as store:
        uses, place = store.key_uses(), store.keys_place
    lost = [use for use in uses if use.lost]
    if as_json:
        write_json({"keys_in": place, "keys": uses})
    else:
        write_line(f"Keys are kept in {place}.")
        rows = [
            (use.key_id, use.records, "lost" if use.lost else "current" if use.current else "kept")
            for use in uses
        ]
        write_table(("key", "secrets", "state"), rows)
    if lost:
        fail("Put the lost keys back from a backup, or enter those secrets and sign in again.")


@app.command()
def rotate(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Seal every secret with a new key, and forget the old ones. May be repeated and interrupted."""
    with _store(data_dir) as store:
        done = store.rotate_keys()
    if as_json:
        write_json({"rotation": done})
        return
    begun = "finished what was interrupted" if done.resumed else "made a new key"
    write_line(
        f"{done.key_id}: {begun}; {done.resealed} secrets sealed anew, {len(done.dropped)} old keys forgotten."
    )
    if done.left:
        write_line(
            f"{done.left} secrets were left as they are: no key opens them (`apprentice secrets status`)."
        )


def secret_store(settings: Settings, database: Database) -> SecretStore:
    """The secrets of the installation that the settings name.

    Raises:
        SecretKeysUnavailable: a keyring is asked for and there is none that keeps secrets.
    """
    return open_secret_store(
        database, settings.data_dir, settings.secret_key_source, settings.secret_key_service
    )


@contextmanager
def _store(data_dir: Path | None) -> Generator[SecretStore]:
    with opened(data_dir) as (settings, database):
        try:
            yield secret_store(settings, database)
        except SecretKeysUnavailable as error:
            fail(str(error))
        except SQLAlchemyError as error:
            fail(f"the database cannot be used ({type(error).__name__}); `apprentice doctor` says why")

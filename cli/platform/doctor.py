"""``apprentice doctor``: checks what the application needs and says what to do about what is missing."""

import asyncio
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from sqlalchemy import make_url, text
from sqlalchemy.exc import SQLAlchemyError

from cli.platform.output import ExitCode, JsonFlag, write_json, write_line
from cli.platform.run_state import read_run_state
from cli.platform.secret_commands import secret_store
from cli.platform.up import api_is_ready
from clients.platform.key_reference import KeyUnavailable, read_api_key
from config.origins import SettingsError, masked_url, unknown_variables
from config.settings import Settings, load_settings, names_a_cluster, temporal_connect_kwargs
from domain.learning.adapters import ADAPTERS, DEPLOYED
from host.confined_program import confinement
from host.pair_model import pair_model
from host.sentence_model import INSTALL, MODEL, ModelUnavailable, sentence_model
from recorders.running import RECORDERS_FOLDER, running_recorders
from stores.platform.database import Database
from stores.platform.secrets.key_places import SecretKeysUnavailable
from worker.embedded_temporal import EmbeddedTemporalError, cli_version, find_binary, is_listening, serves

_ENOUGH_DISK_BYTES = 1024**3
_OLDEST_SQLITE = (3, 35, 0)
"""The first with RETURNING, which the stores use."""

Status = Literal["ok", "warn", "fail"]


class Finding(NamedTuple):
    """What one check found; ``fix`` says what to do unless all is well."""

    check: str
    status: Status
    detail: str
    fix: str | None = None


def doctor(
    data_dir: Annotated[Path | None, typer.Option(help="Check this data directory.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check what the application needs, and say what to do."""
    findings = list(examine(data_dir))
    healthy = all(finding.status != "fail" for finding in findings)
    if as_json:
        write_json({"healthy": healthy, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            write_line(f"{finding.status:5} {finding.check:10} {finding.detail}")
            if finding.fix:
                write_line(f"{'':16} → {finding.fix}")
    if not healthy:
        raise typer.Exit(ExitCode.FAILURE)


def examine(data_dir: Path | None) -> Iterator[Finding]:
    """Every finding, in the order in which the application would meet the problem."""
    yield _python()
    try:
        settings = load_settings(data_dir=data_dir)
    except SettingsError as error:
        yield Finding("settings", "fail", str(error), "correct the settings named above, then run this again")
        return
    yield _settings()
    checks: tuple[Callable[[Settings], Finding], ...] = (
        _data_dir,
        _database,
        _temporal,
        _service,
        _adapters,
        _secrets,
        _local_programs,
        _meaning,
    )
    for check in checks:
        yield check(settings)
    if settings.model_base_url is not None:
        yield _model(settings)


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _settings() -> Finding:
    unknown = unknown_variables(Settings, os.environ)
    if unknown:
        detail = f"no setting is named by {', '.join(unknown)}"
        return Finding(
            "settings", "warn", detail, "`apprentice config show` lists the settings; unset or correct these"
        )
    return Finding("settings", "ok", "accepted")


def _data_dir(settings: Settings) -> Finding:
    folder = settings.data_dir
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        fix = "make it yours, or choose another with APPRENTICE_DATA_DIR"
        return Finding("data_dir", "fail", f"{folder} cannot be written", fix)
    free = shutil.disk_usage(folder).free
    if free < _ENOUGH_DISK_BYTES:
        return Finding("data_dir", "warn", f"{free // 1024**2} MiB are free on {folder}", "make room")
    return Finding("data_dir", "ok", str(settings.data_dir))


def _database(settings: Settings) -> Finding:
    shown = str(masked_url(settings.database_url))
    if settings.database_url.startswith("sqlite"):
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            return Finding(
                "database",
                "fail",
                f"SQLite {sqlite3.sqlite_version}",
                "use a Python that is built with SQLite 3.35 or newer",
            )
        return Finding("database", "ok", f"{shown} (SQLite {sqlite3.sqlite_version})")
    try:
        database = Database(settings.database_url)
        try:
            with database.read() as connection:
                connection.execute(text("SELECT 1"))
        finally:
            database.close()
    except (SQLAlchemyError, ImportError) as error:
        reason = str(error).partition("\n")[0]
        fix = "start PostgreSQL, or correct database_url; the driver comes with apprentice[postgres]"
        return Finding("database", "fail", f"{shown}: {reason}", fix)
    return Finding("database", "ok", shown)


def _temporal(settings: Settings) -> Finding:
    if names_a_cluster(os.environ):
        arguments = temporal_connect_kwargs(settings)
        address, namespace = arguments.pop("target_host"), arguments.pop("namespace")
        if asyncio.run(serves(address, namespace, **arguments)):
            return Finding("temporal", "ok", f"{address}, namespace {namespace}")
        fix = "start that server or create the namespace, or unset TEMPORAL_ADDRESS to use the embedded one"
        return Finding("temporal", "fail", f"{address} does not answer for namespace {namespace}", fix)
    try:
        binary = find_binary()
    except EmbeddedTemporalError as error:
        return Finding("temporal", "fail", str(error).partition(":")[0], str(error).partition(": ")[2])
    return Finding("temporal", "ok", f"embedded, {binary} {'.'.join(map(str, cli_version(binary)))}")


def _service(settings: Settings) -> Finding:
    running = read_run_state(settings.data_dir)
    if running is None:
        return _free_ports(settings)
    if asyncio.run(api_is_ready(running.api_url)):
        said = "it keeps the settings it was started with, what is said here is of this shell's"
        return Finding("service", "ok", f"ready at {running.api_url}; {said}")
    fix = f"look into {settings.log_dir}, or stop `apprentice up` and start it again"
    return Finding("service", "warn", f"running at {running.api_url}, but not ready", fix)


def _adapters(settings: Settings) -> Finding:
    usable = DEPLOYED.difference(settings.disabled_adapters)
    recording = len(running_recorders(settings.data_dir / RECORDERS_FOLDER))
    detail = f"{len(usable)} of {len(ADAPTERS)} available, {recording} recording on this machine now"
    if usable:
        return Finding("adapters", "ok", detail)
    return Finding(
        "adapters", "warn", detail, "take adapters out of disabled_adapters: nothing can be observed"
    )


def _secrets(settings: Settings) -> Finding:
    file = make_url(settings.database_url).database or ""
    if settings.database_url.startswith("sqlite") and not Path(file).is_file():
        # Opening it would make it.
        return Finding("secrets", "ok", "none yet")
    database = Database(settings.database_url)
    try:
        store = secret_store(settings, database)
        place, lost = store.keys_place, [use for use in store.key_uses() if use.lost]
    except SecretKeysUnavailable as problem:
        message, _, fix = str(problem).partition("; ")
        return Finding("secrets", "fail", message, fix)
    except SQLAlchemyError:
        return Finding("secrets", "ok", "not looked into: the database is not ready")
    finally:
        database.close()
    if not lost:
        return Finding("secrets", "ok", f"their keys are in {place}")
    detail = f"{sum(use.records for use in lost)} cannot be opened: {', '.join(use.key_id for use in lost)}"
    fix = f"put the lost keys back into {place}, or enter those secrets and sign in again"
    return Finding("secrets", "warn", detail, fix)


def _local_programs(settings: Settings) -> Finding:
    confined, said = confinement()
    if not settings.mcp_local_programs:
        return Finding("programs", "ok", f"no local tool server may be registered; {said}")
    if confined:
        return Finding("programs", "ok", said)
    fix = "run the worker on Linux 5.13 or newer with Landlock, or take programs off mcp_local_programs"
    return Finding("programs", "warn", said, fix)


def _meaning(settings: Settings) -> Finding:
    if not settings.find_by_meaning:
        return Finding("meaning", "ok", "off: rules and words alone find abilities")
    try:
        sentence_model()
    except ModelUnavailable as problem:
        return Finding("meaning", "warn", f"rules and words alone find abilities: {problem}", INSTALL)
    try:
        pair_model()
    except ModelUnavailable as problem:
        said = f"requests are not read together with what abilities do: {problem}"
        return Finding("meaning", "warn", said, "install this version of apprentice again")
    return Finding("meaning", "ok", f"abilities are found by meaning too, with {MODEL}")


def _model(settings: Settings) -> Finding:
    detail = f"{settings.model_name} at {settings.model_base_url}"
    try:
        if settings.model_api_key_ref is not None:
            read_api_key(settings.model_api_key_ref)
    except KeyUnavailable as problem:
        fix = "put the key where model_api_key_ref says; until then drafts are written by rules"
        return Finding("model", "warn", f"{detail}: {problem}", fix)
    return Finding("model", "ok", detail)


def _free_ports(settings: Settings) -> Finding:
    names = ["api_port"]
    if not names_a_cluster(os.environ):
        names += ["temporal_port", "temporal_ui_port"]
    ports = {name: getattr(settings, name) for name in names}
    taken = [f"{port} ({name})" for name, port in ports.items() if port and is_listening("127.0.0.1", port)]
    if taken:
        fix = "stop the program that listens there, or give `apprentice up` other ports (0 for a free one)"
        return Finding("service", "warn", f"not running, and in use: {', '.join(taken)}", fix)
    return Finding("service", "ok", "not running; `apprentice up` starts it")

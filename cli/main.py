"""The ``apprentice`` command: composition only.

Each command's module is imported when that command is used, so that help and completion stay quick.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from cli.platform import output
from cli.platform.output import ExitCode
from config.memory import loading


class _Entry(NamedTuple):
    """Where a command lives: a typer app, or a function that is one command.

    ``extended_by`` is a module of another subject whose ``register`` adds commands to the app.
    """

    module: str
    attribute: str
    help: str
    extended_by: str | None = None


COMMANDS = {
    "up": _Entry("cli.platform.up", "up", "Run everything on this machine until Ctrl-C."),
    "demo": _Entry("cli.demo.demo", "demo", "Watch an ability being taught, proved, installed and found."),
    "learn": _Entry(
        "cli.learning.learn_commands",
        "app",
        "Teach an ability: sessions, questions, proposals.",
        extended_by="cli.practice.practice_commands",
    ),
    "record": _Entry("cli.learning.record_commands", "app", "Record a demonstration."),
    "abilities": _Entry(
        "cli.abilities.ability_commands", "app", "See abilities, find one, switch it off, take it back."
    ),
    "categories": _Entry("cli.abilities.category_commands", "app", "Group abilities, proposals and more."),
    "capabilities": _Entry(
        "cli.abilities.capability_commands", "app", "The bridge that agents route by; rechecks."
    ),
    "mcp": _Entry("cli.mcp.mcp_commands", "app", "Tool servers: register, review their tools, see receipts."),
    "skills": _Entry(
        "cli.skills.skill_commands", "app", "Executable skills: list, approve, run, see what they did."
    ),
    "import": _Entry(
        "cli.imports.import_commands", "app", "Bring skill bundles from elsewhere: check, review, decide."
    ),
    "packs": _Entry("cli.imports.pack_commands", "app", "Packs of skills: make, show, install as a whole."),
    "wallets": _Entry(
        "cli.skills.wallet_commands", "app", "Wallets of the local ledger, which skills debit."
    ),
    "agents": _Entry("cli.skills.agent_commands", "app", "Agents that skills work for."),
    "inbox": _Entry(
        "cli.platform.inbox_commands", "inbox", "See what waits for you, and what was sent to you."
    ),
    "memories": _Entry(
        "cli.skills.memories_commands", "app", "What skills remember of you, and their check-ins."
    ),
    "pdf": _Entry(
        "cli.documents.acrobat_commands", "app", "Read PDF documents: text, tables, pictures, redaction."
    ),
    "legal-tables": _Entry(
        "cli.documents.legal_tables_commands", "app", "Defaults for tables in legal briefs."
    ),
    "memory": _Entry("cli.platform.memory_commands", "app", "Check and rebuild the memory tree."),
    "maintenance": _Entry(
        "cli.maintenance.maintenance_commands", "app", "Nightly maintenance: history, run now."
    ),
    "mining": _Entry("cli.mining.mining_commands", "app", "Skills suggested by what you do again and again."),
    "tokens": _Entry("cli.platform.token_commands", "app", "Make, list and revoke access tokens."),
    "secrets": _Entry("cli.platform.secret_commands", "app", "The keys that seal secrets: status, rotation."),
    "payload-keys": _Entry(
        "cli.platform.payload_commands", "app", "The keys of what is sent through Temporal: status, rotation."
    ),
    "config": _Entry("cli.platform.config_commands", "app", "See the settings in effect."),
    "doctor": _Entry(
        "cli.platform.doctor", "doctor", "Check what the application needs, and say what to do."
    ),
    "api": _Entry(
        "cli.platform.service_commands", "api", "Run the API and the console alone (for a cluster)."
    ),
    "worker": _Entry("cli.platform.service_commands", "worker", "Run a worker alone (for a cluster)."),
}

# Typer offers these on every app; they belong to the whole command only.
_ROOT_OPTIONS = {"install_completion", "show_completion"}


@cache
def load_command(name: str) -> Any:
    """The real command; imports its module, once."""
    entry = COMMANDS[name]
    with loading():
        found = getattr(import_module(entry.module), entry.attribute)
    if isinstance(found, typer.Typer):
        app = found
        if entry.extended_by:
            import_module(entry.extended_by).register(app)
    else:
        app = typer.Typer()
        app.command(name, help=found.__doc__)(found)
    command = get_command(app)
    command.name = name
    command.params = [option for option in command.params if option.name not in _ROOT_OPTIONS]
    return command


def _say_plainly(error: Exception) -> None:
    """Puts a value of an option that does not fit into our own words; typer has it checked by pydantic."""
    if type(error.__cause__).__name__ != "ValidationError" or not hasattr(error, "message"):
        return
    # Not before: pydantic is not loaded for every command.
    from pydantic import ValidationError

    from contracts.plain_problems import field_problems

    if isinstance(error.__cause__, ValidationError):
        problem = field_problems(error.__cause__, whole="it")[0].problem
        cast("Any", error).message = problem if problem.endswith(".") else f"{problem}."


class _LazyGroup(TyperGroup):
    """Lists commands without importing them; imports the one that is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = COMMANDS.get(cmd_name)
        return entry and TyperCommand(cmd_name, help=entry.help)

    def invoke(self, ctx: Any) -> Any:
        """As typer's; with ``--json`` a command line that cannot be read, or breaks, is told as JSON too."""
        output.begin([*ctx._protected_args, *ctx.args])
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            _say_plainly(error)
            # The class of usage errors is not typer's public name; what people see of them is.
            said = getattr(error, "format_message", None)
            code = ExitCode.USAGE if said else ExitCode.FAILURE
            output.tell_error(code.name, said() if said else f"{type(error).__name__}: see standard error")
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        self.commands = {name: TyperCommand(name) for name in COMMANDS}  # for "did you mean"
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(str(name)), rest


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # A plain traceback: it ends up in log files, and never shows the values of variables.
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"apprentice {version('apprentice')}")
        raise typer.Exit


@app.callback()
def apprentice(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Teach an AI agent new abilities by showing them, and stay in control of what it does."""


def main() -> None:
    """Runs the command line."""
    app(prog_name="apprentice")


if __name__ == "__main__":
    main()

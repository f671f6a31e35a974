"""What ``apprentice abilities try`` prints of a trial."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from rich.console import Console

from cli.abilities.trial_commands import trial_view
from contracts.learning.trials import TrialCommand, TrialCommandResult, TrialRun, TrialState


def test_a_command_is_printed_as_it_ran() -> None:
    command = r"sed -i \"s/r\['nam'\]/r['name']/\" a.py [bold]"
    now = datetime(2026, 5, 1, tzinfo=UTC)
    run = TrialRun(
        trial_id=str(uuid4()),
        ability_id="a",
        ability_version=1,
        owner_user_id="o",
        state=TrialState.PASSED,
        folder_digest="0" * 64,
        commands=(
            TrialCommand(
                number=1, command=command, working_folder="[x]", result=TrialCommandResult.WORKED, details=""
            ),
        ),
        workflow_id="w",
        correlation_id="c",
        started_at=now,
        updated_at=now,
        expires_at=now,
    )
    console = Console(width=200, record=True)
    console.print(trial_view(run, Path("out")))

    assert f"✓ {command}  (in [x])" in console.export_text()

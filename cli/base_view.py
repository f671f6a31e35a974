"""How the installed skill that a proposal improves is shown."""

from rich.console import Group, RenderableType
from rich.text import Text

from contracts.learning.improvement import BaseStanding


def base_view(standing: BaseStanding) -> RenderableType:
    """The version that is improved, why the proposal is stale, and where a hand's text was kept."""
    base = standing.base
    lines = [Text(f"Improves version {base.version} of {base.skill_slug}.", style="dim")]
    if standing.stale:
        lines += [Text(f"Stale: {reason}", style="yellow") for reason in standing.reasons]
        lines.append(Text("Rebase it with `apprentice learn revise`.", style="dim"))
    for conflict in standing.conflicts:
        lines.append(Text(f"Kept as edited by hand: {conflict.part} of {conflict.path}", style="yellow"))
        lines.append(Text(f"  proposed: {' '.join(conflict.proposed.split())}", style="dim"))
    return Group(*lines)

"""Who sees what was sent and answered: whoever made the call, and whoever may decide about calls."""

from contracts.mcp.dispatch import DispatchView
from contracts.runtime.identity import Principal, Scope

_DECIDING = frozenset({Scope.APPROVE, Scope.ADMIN})


def shown_to(caller: Principal, view: DispatchView) -> DispatchView:
    """The call as this token may see it; without arguments and answers where another token made it."""
    if view.caller.token_id == caller.token_id or caller.scopes & _DECIDING:
        return view
    return view.model_copy(update={"arguments": None, "result": None, "m365": None})

"""As whom a token calls tools: its user, the token itself, and the agent runtime that the lists of policy count."""

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import DispatchCaller
from contracts.runtime.identity import Principal
from domain.mcp.runtime_lists import provider_of


def calling_as(
    caller: Principal, runtime: str | None, turn_ref: str | None = None, session_ref: str | None = None
) -> DispatchCaller:
    """Who makes a call that names this runtime, turn and session.

    Raises:
        Refusal: ``FORBIDDEN`` for another runtime than the token is bound to.
    """
    return DispatchCaller(
        user_id=caller.user_id,
        token_id=caller.token_id,
        runtime=runtime_of(caller, runtime),
        turn_ref=turn_ref,
        session_ref=session_ref,
    )


def runtime_of(caller: Principal, said: str | None, otherwise: str | None = None) -> str | None:
    """The runtime that a token calls as: the one it is bound to, else what it says, else ``otherwise``.

    Another name of the same provider's runtimes is no other runtime: the lists of policy tell them apart no further.

    Raises:
        Refusal: ``FORBIDDEN`` for another provider's runtime than the token is bound to.
    """
    if caller.runtime is None:
        return said or otherwise
    if said and provider_of(said) is not provider_of(caller.runtime):
        raise Refusal(
            ErrorCode.FORBIDDEN,
            f"This token is bound to the runtime {caller.runtime} and calls tools as no other. Leave runtime out, "
            "or use a token of the runtime that you mean.",
        )
    return caller.runtime

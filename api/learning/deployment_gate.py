"""Refuses operations that this deployment cannot carry out, before a workflow is reached (DOC3 §17, §9.20)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from api.platform.dependencies import authenticated
from api.services import Services
from contracts.platform.identity import Principal
from domain.learning.session.deployment import refuse_blocked, refuse_missing_part

SNAPSHOT_WAIT_SECONDS = 10.0
"""How long the files about abilities may be behind the store before nothing is installed; usually it is much less."""


def may_install(services: Services) -> Callable[[], None]:
    """A check for commands that install or share: the snapshot and the bridge are up to date with the store.

    Raises:
        Refusal: the check raises ``PARTIAL_DEPLOYMENT``, after waiting for what is only on its way.
    """

    def check() -> None:
        refuse_blocked(services.pending.settled(SNAPSHOT_WAIT_SECONDS), datetime.now(UTC))

    return check


async def whole_part(caller: Annotated[Principal, Depends(authenticated)], request: Request) -> None:
    """A route's dependency: refuses the operation where its part is not all deployed.

    Raises:
        Refusal: ``PARTIAL_DEPLOYMENT``.
    """
    del caller  # Only authenticated callers learn what is deployed.
    refuse_missing_part(request.scope["route"].operation_id, request.app.state.operations)

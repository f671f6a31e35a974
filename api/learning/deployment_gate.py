"""Refuses operations that this deployment cannot carry out, before a workflow is reached (DOC3 §17, §9.20)."""

from typing import Annotated

from fastapi import Depends, Request

from api.platform.dependencies import authenticated
from contracts.platform.identity import Principal
from domain.learning.session.deployment import refuse_missing_part


async def whole_part(caller: Annotated[Principal, Depends(authenticated)], request: Request) -> None:
    """A route's dependency: refuses the operation where its part is not all deployed.

    Raises:
        Refusal: ``PARTIAL_DEPLOYMENT``.
    """
    del caller  # Only authenticated callers learn what is deployed.
    refuse_missing_part(request.scope["route"].operation_id, request.app.state.operations)

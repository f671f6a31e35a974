"""What a worker makes sure of at Temporal before it polls. Safe to repeat, by any number of workers."""

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from workflows.session_view import KIND_ATTRIBUTE, OWNER_ATTRIBUTE, STATE_ATTRIBUTE

_ATTRIBUTES = (STATE_ATTRIBUTE, OWNER_ATTRIBUTE, KIND_ATTRIBUTE)


async def register_search_attributes(client: Client) -> None:
    """Adds the three search attributes that are missing."""
    known = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    missing = {
        attribute.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        for attribute in _ATTRIBUTES
        if attribute.name not in known.custom_attributes
    }
    if not missing:
        return
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise

"""What is said to the workflows of skills, beside the orders that go on to their activities."""

from contracts.base import Contract, Uuid


class InvocationWait(Contract):
    """Waits until the invocation is over, or waits for a person."""

    invocation_id: Uuid


class CatalogStart(Contract):
    """Opens the workflow of the catalog."""


class CatalogEnd(Contract):
    """The workflow closed, at rest: how many commands it answered."""

    answered: int

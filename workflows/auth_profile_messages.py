"""What is said to an AuthProfileWorkflow beside its orders."""

from pydantic import Field

from contracts.base import Contract, Text120, UtcTime


class AuthProfileStart(Contract):
    """Opens the workflow of a sign-in: when its token is to be renewed, if it is renewed at all."""

    auth_profile_id: Text120
    owner_user_id: Text120
    refresh_at: UtcTime | None = None
    token_version: int = Field(default=0, ge=0)
    failures: int = Field(default=0, ge=0, description="Renewals that failed one after another.")
    renewals_a_run: int = Field(
        default=200, ge=1, description="After so many, another run goes on with a fresh history."
    )


class AuthProfileEnd(Contract):
    """The workflow closed, at rest: nothing waits for a time."""

    answered: int
    renewed: int

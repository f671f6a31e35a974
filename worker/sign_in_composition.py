"""A worker's part for sign-ins: the activities of their workflow, and the broker that gives calls their bearer."""

from dataclasses import dataclass
from functools import partial

from temporalio import activity

from activities.auth_profile_activities import AuthProfileActivities, AuthStores
from activities.token_broker import TokenBroker
from activities.token_exchange import TokenExchange
from api.auth_profile_gateway import AuthProfileGateway
from clients.mcp.address_guard import guarded_client
from config.settings import Settings
from contracts.mcp.auth_work import AuthReceipt, RenewToken
from stores.database import Database
from stores.mcp.auth_profile_changes import AuthProfileChanges
from stores.mcp.auth_profiles import AuthProfileStore
from stores.mcp.sign_ins import SignInStore
from stores.mcp.token_renewals import TokenRenewals
from stores.secret_store import SecretStore


@dataclass(frozen=True)
class SignIns:
    """What a worker has of sign-ins."""

    activities: AuthProfileActivities
    broker: TokenBroker


def sign_ins(settings: Settings, database: Database, secrets: SecretStore) -> SignIns:
    """Puts them together; one broker a worker, so that those who ask at once meet in it."""
    profiles = AuthProfileStore(database)
    renewals = TokenRenewals(database, secrets)
    allow_private = settings.mcp_allow_private_addresses
    open_http = partial(guarded_client, allow_private=allow_private)
    exchange = TokenExchange(database, secrets, open_http, allow_private=allow_private)
    stores = AuthStores(
        profiles, SignInStore(database, secrets), renewals, AuthProfileChanges(database, secrets)
    )

    async def renew(order: RenewToken) -> AuthReceipt:
        gateway = AuthProfileGateway(activity.client(), settings.task_queue, profiles)
        return await gateway.send(order)

    return SignIns(
        activities=AuthProfileActivities(stores, exchange, open_http, allow_private=allow_private),
        broker=TokenBroker(exchange, secrets, renewals, renew),
    )

"""The secret store of this installation, and what is masked wherever others answer."""

from config.settings import Settings
from stores.platform.database import Database
from stores.platform.secrets.store import SecretStore, open_secret_store
from worker.own_secrets import OwnSecrets


def secret_store(settings: Settings, database: Database) -> SecretStore:
    """The secret store, with the keys that the settings name."""
    return open_secret_store(
        database, settings.data_dir, settings.secret_key_source, settings.secret_key_service
    )


def own_secrets(settings: Settings, database: Database) -> OwnSecrets:
    """All that is secret here, by fingerprint."""
    return OwnSecrets(
        settings.data_dir,
        secret_store(settings, database),
        settings.references(),
        settings.mcp_local_environment,
    )

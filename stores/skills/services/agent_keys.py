"""The private keys of agents: one an agent, made when it is first needed, kept in the secret store (CH-59, O-5)."""

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from stores.platform.database import Database, advisory_lock
from stores.platform.secrets.key_places import SecretNotFound
from stores.platform.secrets.store import SecretStore
from stores.skills.skill_tables import AGENTS

_KIND = "skill-agent-key"


class AgentKeys:
    """Signs for agents; a private key never leaves this class. Safe to share between threads and processes."""

    def __init__(self, database: Database, secrets: SecretStore) -> None:
        self._database = database
        self._secrets = secrets

    def public_key(self, agent_id: str, owner: str) -> str | None:
        """The public key of an agent of this owner, as the ``x`` of its JWK; none where there is no such agent.

        The first time, a key is made, and its public part written to the agent.
        """
        with self._database.write() as connection:
            advisory_lock(connection, f"agent-key {agent_id}")
            agent = AGENTS.find(connection, agent_id, owner=owner, lock=True)
            if agent is None:
                return None
            try:
                pem = self._secrets.reveal_within(connection, _ref(agent_id), owner).value
            except SecretNotFound:
                made = Ed25519PrivateKey.generate()
                pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
                self._secrets.put_within(connection, owner, _KIND, pem, ref=_ref(agent_id))
            public = _public(_private(pem))
            if agent.public_key != public:
                AGENTS.put(connection, agent.changed(public_key=public))
            return public

    def sign(self, agent_id: str, owner: str, content: bytes) -> bytes:
        """An Ed25519 signature with the agent's key.

        Raises:
            SecretNotFound: it has none.
        """
        return _private(self._secrets.reveal(_ref(agent_id), owner).value).sign(content)


def _ref(agent_id: str) -> str:
    return f"skill-agent-key-{agent_id}"


def _private(pem: str) -> Ed25519PrivateKey:
    key = load_pem_private_key(pem.encode(), None)
    assert isinstance(key, Ed25519PrivateKey), "the secret is written here alone"
    return key


def _public(key: Ed25519PrivateKey) -> str:
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

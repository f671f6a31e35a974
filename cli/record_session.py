"""What every recorder on this machine needs first: the session, the service, and adapters that can be used."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cli.connection import ADMIN_TOKEN_FILE, find_connection
from cli.invocation import NothingToDo
from clients.api_transport import ApiRefusal, ApiUnreachable, RetryPolicy
from clients.apprentice_api import ApprenticeApi
from config.settings import load_settings
from contracts.errors import ErrorCode
from contracts.learning.observation import ObservationAdapterKind
from contracts.learning.session import LearnSession, LearnSessionState
from recorders.ingest_client import IngestTarget
from recorders.running import RECORDERS_FOLDER

SPOOL_FOLDER = "spool"
"""Under the data directory; what could not be delivered waits there."""

_OBSERVES = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING, LearnSessionState.PAUSED})
_ONCE = RetryPolicy(attempts=1)


@dataclass(frozen=True)
class Recordable:
    """A session that can be recorded, where to report to, and the adapters that may be used."""

    learn_session_id: str
    target: IngestTarget
    data_dir: Path
    adapters: frozenset[ObservationAdapterKind]
    is_paused: bool = False

    @property
    def spool_folder(self) -> Path:
        """Where events wait for delivery."""
        return self.data_dir / SPOOL_FOLDER

    @property
    def presence_folder(self) -> Path:
        """Where running recorders are found."""
        return self.data_dir / RECORDERS_FOLDER


def find_recordable(
    session: str | None,
    api_url: str | None,
    token: str | None,
    needed: ObservationAdapterKind,
    wished: Collection[ObservationAdapterKind] = (),
) -> Recordable:
    """The named session, or the caller's one that is not at rest, if it can be recorded with ``needed``.

    A session that is named is taken on trust while the service is away: what is seen waits in the spool.

    Raises:
        NothingToDo: no token, no session, or one that records no longer.
        ApiFailure: the service refuses, with ``ADAPTER_UNAVAILABLE`` when ``needed`` cannot be used.
    """
    connection = find_connection(api_url, token)
    if connection.token is None:
        raise NothingToDo(
            f"no access token: name one with --token or APPRENTICE_TOKEN (no {ADMIN_TOKEN_FILE} was found)"
        )
    adapters, is_paused = frozenset({needed, *wished}), False
    with ApprenticeApi(connection.api_url, connection.token, retry=_ONCE) as api:
        try:
            observing = _observing(api, session)
            session_id = observing.learn_session_id
            is_paused = observing.state is LearnSessionState.PAUSED
            adapters = frozenset(kind for kind in adapters if _is_usable(api, kind, needed))
        except ApiUnreachable:
            if session is None:
                raise
            session_id = session
    target = IngestTarget(connection.api_url, connection.token)
    return Recordable(session_id, target, load_settings().data_dir, adapters, is_paused)


def _observing(api: ApprenticeApi, session: str | None) -> LearnSession:
    found = api.learn.session(session) if session else api.learn.active_session()
    if found is None:
        raise NothingToDo("you have no session under way; begin one with `apprentice learn create`")
    if found.state not in _OBSERVES:
        raise NothingToDo(f"session {found.learn_session_id} is {found.state.value}: it records no longer")
    return found


def _is_usable(api: ApprenticeApi, kind: ObservationAdapterKind, needed: ObservationAdapterKind) -> bool:
    """Whether the service takes this kind's events; asked by the sign of life that it is to get anyway."""
    try:
        api.learn.adapter_heartbeat(kind)
    except ApiRefusal as refusal:
        if refusal.code != ErrorCode.ADAPTER_UNAVAILABLE or kind is needed:
            raise
        return False
    return True

"""The routes of configuration as typed calls (DOC3 §0.2G, §0C.9C)."""

from clients.api_transport import ApiTransport
from contracts.configuration.intent import (
    ConfigurationIntent,
    ConfigurationIntentResponse,
    ConfigurationListResponse,
    ConfigurationTarget,
)


class ConfigurationApi:
    """What the caller has configured. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def current(self, target: ConfigurationTarget) -> ConfigurationListResponse:
        """Read all that is configured of one kind."""
        return self._http.get("/api/config", ConfigurationListResponse, target=target.value)

    def send(self, intent: ConfigurationIntent) -> ConfigurationIntentResponse:
        """Send one intent; the same one again is answered as the first time."""
        # With nulls: a field that is null in the payload is removed.
        return self._http.write(
            "POST",
            "/api/config/intents",
            ConfigurationIntentResponse,
            intent,
            intent.intent_id,
            with_nulls=True,
        )

"""The routes of the capability bridge as typed calls (DOC3 §0.10A)."""

from clients.api_transport import ApiTransport
from contracts.capabilities.bridge import CapabilityBridgeCurrent
from contracts.capabilities.health import CapabilityHealthCurrent, CapabilityStatsCurrent
from contracts.capabilities.reprobe import ReprobeRequest, ReprobeResponse


class CapabilityApi:
    """Capabilities. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def bridge(self) -> CapabilityBridgeCurrent:
        """Read the compact entries that agent runtimes route by."""
        return self._http.get("/api/capabilities/bridge", CapabilityBridgeCurrent)

    def health(self) -> CapabilityHealthCurrent:
        """Read what is installed, healthy and usable now."""
        return self._http.get("/api/capabilities/health", CapabilityHealthCurrent)

    def stats(self) -> CapabilityStatsCurrent:
        """Read how often each capability was used."""
        return self._http.get("/api/capabilities/stats", CapabilityStatsCurrent)

    def reprobe(self, capability_id: str, *, canaries: int) -> ReprobeResponse:
        """Start a recheck."""
        request = ReprobeRequest(capability_id=capability_id, canaries=canaries)
        return self._http.write("POST", "/api/capabilities/reprobe", ReprobeResponse, request)

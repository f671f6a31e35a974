"""The embedded Temporal server: the Temporal CLI from the package index, run on the loopback interface."""

import asyncio
import re
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

PORT_TAKEN = "bind: address already in use"
"""What the server writes before it ends because another program listens on one of its ports."""

MINIMUM_CLI = (1, 9)
"""The oldest Temporal CLI whose flags below were checked."""

SEARCH_ATTRIBUTES = ("ApprenticeState", "ApprenticeOwner", "ApprenticeKind")
"""The keyword search attributes that every workflow of this application may carry."""

# WAL halves the time of a workflow start; FULL keeps an acknowledged one over a power cut.
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000")

# The queues look for work 20 times a second by default, which costs 50 ms at each step of an activity.
_DYNAMIC_CONFIG = (
    "history.transferProcessorMaxPollRPS=1000",
    "history.timerProcessorMaxPollRPS=1000",
    # Its HTTP API cannot be switched off. It is used by nobody, and answers no name that a browser can be given.
    'frontend.httpAllowedHosts=["nobody.invalid"]',
)

_VERSION = re.compile(r"temporal version (\d+)\.(\d+)")


class EmbeddedTemporalError(Exception):
    """The embedded server cannot be run; the message states why and what to do."""


class EmbeddedTemporal(NamedTuple):
    """How one embedded server is run. Ports must be real ones; ``ui`` None leaves the web pages out.

    Ports that nobody asks for are chosen anew for each start.
    """

    binary: Path
    database_file: Path
    port: int
    ui: tuple[str, int] | None
    """Address and port of the web pages, which answer whoever finds them."""
    namespace: str = "default"
    codec_endpoint: str | None = None
    """Where the web pages have payloads decoded."""

    @property
    def address(self) -> str:
        """Where clients connect."""
        return f"127.0.0.1:{self.port}"

    @property
    def ui_url(self) -> str | None:
        """Where the web pages are, if they are served."""
        return None if self.ui is None else f"http://{self.ui[0]}:{self.ui[1]}"

    def command(self) -> list[str]:
        """The command line of the server; at each call with other ports for HTTP and metrics."""
        pages = ["--headless"]
        if self.ui is not None:
            pages = ["--ui-ip", self.ui[0], "--ui-port", str(self.ui[1]), "--ui-disable-news-fetch"]
            pages += ["--ui-codec-endpoint", self.codec_endpoint] if self.codec_endpoint else []
        return [
            str(self.binary),
            "server",
            "start-dev",
            "--disable-config-file",
            *("--log-level", "warn", "--log-format", "json"),
            *("--ip", "127.0.0.1", "--port", str(self.port), *pages),
            *("--http-port", str(free_port()), "--metrics-port", str(free_port())),
            *("--namespace", self.namespace),
            *("--db-filename", str(self.database_file)),
            *(word for pragma in _PRAGMAS for word in ("--sqlite-pragma", pragma)),
            *(word for entry in _DYNAMIC_CONFIG for word in ("--dynamic-config-value", entry)),
            *(word for name in SEARCH_ATTRIBUTES for word in ("--search-attribute", f"{name}=Keyword")),
        ]


def server_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment to run the server in: ours, without what would configure the CLI as a client."""
    kept = {name: value for name, value in environment.items() if not name.startswith("TEMPORAL_")}
    # The server asks a version service at start otherwise.
    return kept | {"TEMPORAL_VERSION_CHECK_DISABLED": "1"}


def find_binary(search_path: str | None = None) -> Path:
    """The Temporal CLI: one on the search path if it is new enough, else the installed package's.

    ``search_path`` defaults to ``PATH``.

    Raises:
        EmbeddedTemporalError: there is none, or all are older than ``MINIMUM_CLI``.
    """
    on_path = shutil.which("temporal", path=search_path)
    beside_python = shutil.which("temporal", path=str(Path(sys.executable).parent))
    too_old: list[str] = []
    for found in dict.fromkeys(path for path in (on_path, beside_python) if path):
        version = cli_version(Path(found))
        if version >= MINIMUM_CLI:
            return Path(found)
        too_old.append(f"{found} is version {version[0]}.{version[1]}")
    reason = "; ".join(too_old) or "no `temporal` command was found"
    raise EmbeddedTemporalError(
        f"{reason}, and version {MINIMUM_CLI[0]}.{MINIMUM_CLI[1]} or newer is needed: install the package "
        "apprentice[embedded], or set TEMPORAL_ADDRESS to use a Temporal server of your own"
    )


def cli_version(binary: Path) -> tuple[int, int]:
    """Major and minor version of a Temporal CLI; (0, 0) when it does not say."""
    try:
        answer = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=20, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    match = _VERSION.search(answer)
    return (int(match[1]), int(match[2])) if match else (0, 0)


_PORTS = range(15_000, 32_768)
"""Below those from which Linux takes one for each outgoing connection, so that none of these can take it."""

_TRIED_PORTS = 50


def free_port() -> int:
    """A TCP port of the loopback interface that nothing listens on now, chosen at random.

    Programs that choose at the same time hardly choose the same; one that listens may still be first.
    """
    for port in (*(secrets.choice(_PORTS) for _ in range(_TRIED_PORTS)), 0):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return probe.getsockname()[1]
    raise EmbeddedTemporalError(
        "no port of the loopback interface 127.0.0.1 is free; end programs that listen there"
    )


def hidden_address() -> tuple[str, int]:
    """A free address and port of the loopback interface that a page in a browser cannot guess.

    Linux has sixteen million addresses there. Elsewhere there is one, and only the port is unknown.
    """
    numbers = (str(1 + secrets.randbelow(254)) for _ in range(3))
    for host in (".".join(("127", *numbers)), "127.0.0.1"):
        with socket.socket() as probe, suppress(OSError):
            probe.bind((host, 0))
            return host, probe.getsockname()[1]
    raise EmbeddedTemporalError("the loopback interface 127.0.0.1 cannot be used; bring it up")


def is_listening(host: str, port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        with socket.create_connection((host.strip("[]"), port), timeout=1):
            return True
    except OSError:
        return False


async def serves(address: str, namespace: str = "default", **connection: Any) -> bool:
    """Whether a Temporal server answers at ``address`` and knows the namespace.

    ``connection`` holds further arguments of ``Client.connect``, such as ``tls``.
    """
    # Imported here because the SDK is slow to load.
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
    from temporalio.client import Client
    from temporalio.service import RPCError

    host, _, port = address.rpartition(":")
    if not await asyncio.to_thread(is_listening, host, int(port)):
        return False
    try:
        client = await Client.connect(address, namespace=namespace, **connection)
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    except (RPCError, RuntimeError):
        return False
    return True


async def wait_until_ready(address: str, timeout_seconds: float, namespace: str = "default") -> None:
    """Returns once a Temporal server answers at ``address``.

    Raises:
        EmbeddedTemporalError: it did not within the time.
    """
    try:
        async with asyncio.timeout(timeout_seconds):
            while not await serves(address, namespace):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise EmbeddedTemporalError(
            f"no Temporal server answered at {address} within {timeout_seconds:g} s"
        ) from None

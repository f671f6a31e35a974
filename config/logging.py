"""Structured logging: one format for our lines, the web server's and the Temporal SDK's; secrets are masked."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, cast

import structlog
from structlog.typing import Processor

from config.settings import Settings

MASK = "***"

_SECRET_KEY = re.compile(
    r"(?:^|[_\-.])(?:authorization|cookie|password|passwd|secret|token|api[_\-]?key|private[_\-]?key)$",
    re.IGNORECASE,
)
_SECRET_IN_TEXT = (
    # Our own tokens, whatever stands around them.
    (re.compile(r"\bapr_[A-Za-z0-9_\-]{4,}"), "apr_" + MASK),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/\-]{4,}=*", re.IGNORECASE), r"\1 " + MASK),
    # The password of a URL.
    (re.compile(r"(://[^/\s:@]*):[^/\s@]+@"), r"\1:" + MASK + "@"),
    (
        re.compile(
            r"\b((?:access_|refresh_|id_)?token|client_secret|password|api_?key)=[^\s&\"']+", re.IGNORECASE
        ),
        r"\1=" + MASK,
    ),
)


def scrub_text(text: str) -> str:
    """``text`` with everything that looks like a secret masked."""
    for pattern, replacement in _SECRET_IN_TEXT:
        text = pattern.sub(replacement, text)
    return text


def scrub(value: Any) -> Any:
    """``value`` with secrets masked, in nested mappings and sequences too; a copy where it holds any."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, Mapping):
        items = cast(Mapping[Any, Any], value).items()
        return {key: MASK if _names_a_secret(key, held) else scrub(held) for key, held in items}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [scrub(item) for item in cast(Sequence[Any], value)]
    return value


def _names_a_secret(key: object, held: object) -> bool:
    return held is not None and isinstance(key, str) and bool(_SECRET_KEY.search(key))


def configure_logging(settings: Settings, component: str) -> None:
    """Sends every log line of the process to standard error, as JSON lines or for the eye.

    ``log_format = "auto"`` means for the eye on a terminal and JSON elsewhere. ``component`` names the
    process in each line. Call it after any library that configures logging by itself; calling again
    replaces what was there.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        _without_colours,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _named(component),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.StackInfoRenderer(),
                structlog.processors.format_exc_info,
                _scrub_event,
                _renderer(settings),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "temporalio"):
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
    # One line a request is ours to write, with its correlation id; these would double it.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    for chatty in ("httpx", "httpx2", "httpcore", "httpcore2", "alembic.runtime.migration"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # It logs what tool servers sent; what matters of it is in the failures of their calls.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.captureWarnings(True)


def _named(component: str) -> Processor:
    def add(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event.setdefault("component", component)
        return event

    return add


def _without_colours(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    # The web server repeats its message for terminals in an extra field.
    event.pop("color_message", None)
    return event


def _scrub_event(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return scrub(event)


def _renderer(settings: Settings) -> Processor:
    for_the_eye = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    if for_the_eye:
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer(ensure_ascii=False, default=str)

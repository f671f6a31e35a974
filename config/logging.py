"""One log format for every line of a process: ours, the web server's and the Temporal SDK's."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

from config.log_scrubbing import scrub
from config.settings import Settings


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

import json
import logging
from collections.abc import Generator

import pytest
import structlog

from config.logging import configure_logging
from config.settings import Settings


@pytest.fixture(autouse=True)
def restored_logging() -> Generator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    named = [one for one in root.manager.loggerDict.values() if isinstance(one, logging.Logger)]
    levels = {one: one.level for one in named}
    # A web server that an earlier test ran in this process may have made its logger quieter.
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for one in [one for one in root.manager.loggerDict.values() if isinstance(one, logging.Logger)]:
        one.setLevel(levels.get(one, logging.NOTSET))
    logging.captureWarnings(False)
    structlog.reset_defaults()


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().err.splitlines()[-1])


def log_as_json(settings: Settings) -> None:
    configure_logging(settings.model_copy(update={"log_format": "json"}), "api")


def test_our_lines_and_those_of_libraries_have_one_format(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    log_as_json(settings)
    structlog.get_logger("ours").info("session %s armed", "s1", kind="learn")
    ours = last_line(capsys)
    logging.getLogger("temporalio.worker").warning("poll %s", "slow", extra={"queue": "q"})
    theirs = last_line(capsys)
    assert (ours["event"], ours["kind"], ours["level"]) == ("session s1 armed", "learn", "info")
    assert (theirs["event"], theirs["queue"], theirs["level"]) == ("poll slow", "q", "warning")
    assert ours["component"] == theirs["component"] == "api"
    assert str(ours["timestamp"]).endswith("Z")


def test_every_line_of_a_request_carries_its_correlation_id(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    log_as_json(settings)
    with structlog.contextvars.bound_contextvars(correlation_id="c-1"):
        logging.getLogger("uvicorn.error").error("inside")
    assert last_line(capsys)["correlation_id"] == "c-1"
    logging.getLogger("uvicorn.error").error("outside")
    assert "correlation_id" not in last_line(capsys)


def test_a_secret_in_an_exception_is_masked(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    log_as_json(settings)
    try:
        raise ValueError("token apr_0123456789 was refused")
    except ValueError:
        structlog.get_logger("ours").exception("failed", admin_token="apr_0123456789")
    line = last_line(capsys)
    assert "ValueError: token apr_*** was refused" in str(line["exception"])
    assert line["admin_token"] == "***"


def test_the_console_format_is_for_the_eye(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(settings.model_copy(update={"log_format": "console"}), "worker")
    structlog.get_logger("ours").info("ready", port=1)
    line = capsys.readouterr().err
    assert "ready" in line
    assert "port=1" in line
    assert not line.startswith("{")


def test_lines_below_the_level_are_left_out(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(settings.model_copy(update={"log_level": "WARNING", "log_format": "json"}), "worker")
    structlog.get_logger("ours").info("quiet")
    logging.getLogger("temporalio").info("quiet")
    assert capsys.readouterr().err == ""


def test_the_web_servers_second_copy_of_a_message_is_left_out(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    log_as_json(settings)
    logging.getLogger("uvicorn.error").info("Started", extra={"color_message": "\x1b[36mStarted"})
    assert "color_message" not in last_line(capsys)

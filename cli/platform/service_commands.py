"""``apprentice api`` and ``apprentice worker``: the parts as processes of their own, for a cluster."""

from cli.platform.output import ExitCode, fail
from config.memory import loading
from config.origins import SettingsError
from config.settings import Settings, load_settings, prepare_data_dir


def api() -> None:
    """Run the API and the console until SIGTERM; settings come from the environment and the settings file."""
    settings = _settings()
    with loading():
        from api.main import serve

    serve(settings)


def worker() -> None:
    """Run a worker until SIGTERM; settings come from the environment and the settings file."""
    settings = _settings()
    with loading():
        from worker.main import run

    run(settings)


def _settings() -> Settings:
    try:
        settings = load_settings()
        prepare_data_dir(settings)
    except SettingsError as error:
        fail(str(error), ExitCode.USAGE)
    return settings

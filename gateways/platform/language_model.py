"""The language model that the settings name, as worker and API ask it."""

from datetime import timedelta
from functools import partial

from clients.learning.model_endpoint import ModelEndpoint
from clients.platform.key_reference import read_api_key
from config.settings import Settings


def language_model(settings: Settings, within: timedelta | None = None) -> ModelEndpoint | None:
    """The configured language model, if there is one; its API key is read at each use.

    ``within`` is the time for one question, ``model_timeout`` without.
    """
    if settings.model_base_url is None or settings.model_name is None:
        return None
    reference = settings.model_api_key_ref
    return ModelEndpoint(
        settings.model_base_url,
        settings.model_name,
        partial(read_api_key, reference) if reference else lambda: None,
        timeout_seconds=(within or settings.model_timeout).total_seconds(),
        max_output_tokens=settings.model_max_output_tokens,
    )

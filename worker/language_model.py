"""The language model that words drafts and suggests what to practise, as the settings name it."""

from functools import partial

from clients.model_api_key import read_api_key
from clients.model_endpoint import ModelEndpoint
from config.settings import Settings


def language_model(settings: Settings) -> ModelEndpoint | None:
    """The endpoint, or nothing where all is left to the rules. The key is read when it is used."""
    if settings.model_base_url is None or settings.model_name is None:
        return None
    reference = settings.model_api_key_ref
    return ModelEndpoint(
        settings.model_base_url,
        settings.model_name,
        partial(read_api_key, reference) if reference else lambda: None,
        timeout_seconds=settings.model_timeout.total_seconds(),
        max_output_tokens=settings.model_max_output_tokens,
    )

"""What can go wrong when a language model is asked, all of which is an answer and no failure."""

from clients.model_api_key import KeyUnavailable
from clients.model_endpoint import ModelFailure
from contracts.base import clipped
from domain.learning.model_answer import UnusableAnswer
from domain.learning.model_question import PromptTooLarge

MODEL_TROUBLE = (ModelFailure, KeyUnavailable, UnusableAnswer, PromptTooLarge)
"""Told in a note; their texts are for people and hold nothing that a model said."""

NO_MODEL = "This worker's settings name no model."


def told(model: str, problem: object) -> str:
    """The note on a model that was asked in vain."""
    return clipped(f"{model} was asked: {problem}.", 240)

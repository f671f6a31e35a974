"""Asks a language model to word a draft; its failures become a note on the proposal, never an activity failure."""

import asyncio
from contextlib import suppress

from temporalio import activity

from activities.learning.drafting import Drafter
from activities.platform.context import heartbeats
from clients.learning.model_endpoint import ModelEndpoint, ModelFailure
from clients.platform.key_reference import KeyUnavailable
from contracts.base import clipped
from contracts.errors import Refusal
from contracts.learning.aggregate import DraftRequest
from contracts.learning.model_draft import KeptModelEdits, ModelDraftEdits, ModelWording
from contracts.learning.proposal import left_out_commands
from domain.learning.model.answer import UnusableAnswer, read_answer
from domain.learning.model.prompt import ModelQuestion, PromptTooLarge, model_prompt
from stores.learning.drafts import ModelWordingStore
from stores.platform.blobs import BlobNotFoundError

MODEL_TROUBLE = (ModelFailure, KeyUnavailable, UnusableAnswer, PromptTooLarge)
"""Failures that become a note; their texts are for users and hold no output of a model."""

NO_MODEL = "This worker's settings name no model."


def trouble_note(model: str, problem: object) -> str:
    """The note on a model that was asked in vain."""
    return clipped(f"{model} was asked: {problem}.", 240)


class ModelDrafting:
    """An ordinary activity: it waits for seconds. The prompt and the answer stay out of the history."""

    def __init__(self, drafter: Drafter, wordings: ModelWordingStore, endpoint: ModelEndpoint | None) -> None:
        """``endpoint`` is absent where this worker's settings name none."""
        self._drafter = drafter
        self._wordings = wordings
        self._endpoint = endpoint

    @activity.defn
    async def word_draft(self, request: DraftRequest) -> ModelWording:
        """Asks the model and keeps its answer, if it is one. Whether it may be used is seen when it is merged."""
        if self._endpoint is None:
            return ModelWording(model="none", note=NO_MODEL)
        try:
            async with heartbeats():
                return await self._ask(self._endpoint, request)
        except MODEL_TROUBLE as problem:
            activity.logger.warning("the model gave no usable wording", extra={"reason": str(problem)})
            return ModelWording(model=self._endpoint.model, note=trouble_note(self._endpoint.model, problem))
        except Refusal:
            # The draft itself is refused for it, with the right words.
            return ModelWording(model=self._endpoint.model)

    async def _ask(self, endpoint: ModelEndpoint, request: DraftRequest) -> ModelWording:
        read = await asyncio.to_thread(self._drafter.instructed, request)
        is_same_work = left_out_commands(read.request.edits) == left_out_commands(request.edits)
        wished = request.revision_instructions.strip() and not read.not_understood and is_same_work
        if wished and request.wording is not None and request.wording.edits_blob is not None:
            return request.wording
        request = read.request
        question = await asyncio.to_thread(self._question, request)
        answer = await endpoint.ask(question)
        edits = read_answer(answer, ModelDraftEdits)
        kept = KeptModelEdits(edits=edits, wish=request.revision_instructions)
        digest = await asyncio.to_thread(self._wordings.keep, kept, request.now)
        return ModelWording(model=endpoint.model, edits_blob=digest)

    def _question(self, request: DraftRequest) -> ModelQuestion:
        base = self._drafter.deterministic(request)
        return model_prompt(
            base.interpretation,
            base.draft,
            base.steps,
            fixed=base.stated,
            wish=request.revision_instructions,
            present=self._present(request.wording),
        )

    def _present(self, wording: ModelWording | None) -> ModelDraftEdits | None:
        if wording is None or wording.edits_blob is None:
            return None
        with suppress(BlobNotFoundError):
            return self._wordings.read(wording.edits_blob).edits
        return None

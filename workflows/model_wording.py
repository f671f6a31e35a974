"""Asking a model for the wording of a draft, as a workflow does it: one at a time, and never in the way."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.model_drafting import ModelDrafting
    from contracts.learning.aggregate import DraftRequest, LearnSettings
    from contracts.learning.model_draft import ModelWording
    from workflows.presets import MODEL_CALL


class WordingCall:
    """Holds the activity that waits for a model, so that whoever cancels the session need not wait too."""

    def __init__(self) -> None:
        self._running: workflow.ActivityHandle[ModelWording] | None = None
        self._cut_short = False

    async def worded(self, request: DraftRequest, settings: LearnSettings) -> DraftRequest:
        """``request`` with a model's wording, where the session was created under settings that name a model.

        Where nothing new was said but edits, which win anyway, the wording there is stays. An improvement keeps the
        words of the skill it improves. Trouble of any kind is in the wording's note.
        """
        model = settings.drafting_model
        kept = request.wording is not None and request.wording.edits_blob is not None
        news = request.pending_answers or request.revision_instructions.strip()
        if model is None or request.base is not None or (kept and not news):
            return request
        return request.model_copy(update={"wording": await self._ask(request, model)})

    def cut_short(self) -> None:
        """Ends a call that is under way; the draft is then made without it."""
        if self._running is not None:
            self._cut_short = True
            self._running.cancel()

    async def _ask(self, request: DraftRequest, model: str) -> ModelWording:
        self._cut_short = False
        self._running = workflow.start_activity_method(
            ModelDrafting.word_draft,
            request,
            summary=f"{model} words draft r{request.revision}",
            **MODEL_CALL,
        )
        try:
            return await self._running
        except ActivityError:
            how = "was cut short" if self._cut_short else "did not end"
            return ModelWording(model=model, note=f"Asking {model} {how}."[:240])
        finally:
            self._running = None

"""Asking a language model what to try in practice. Whatever goes wrong there is an answer, never a failure."""

import asyncio
from collections.abc import Coroutine

from temporalio import activity

from activities.heartbeats import heartbeats
from activities.model_trouble import MODEL_TROUBLE, NO_MODEL, told
from clients.model_endpoint import ModelEndpoint
from contracts.learning.practice import PracticeRef, StartPracticeRequest
from contracts.learning.practice_model import PracticePlans, PracticeQuestion, PracticeThoughts
from contracts.learning.session import LearnSessionState as S
from domain.learning.model_answer import read_answer
from domain.learning.model_question import ModelQuestion
from domain.learning.practice_bounds import plans_within
from domain.learning.practice_ideas import steps_left
from domain.learning.practice_prompt import practice_question
from stores.practice_knowledge import PracticeKnowledge
from stores.practice_store import PracticeStore
from stores.session_store import SessionStore

_LOOK_EVERY_SECONDS = 0.5


class NotWanted(Exception):
    """There is no need to ask, or no more; the text says why."""


class PracticeThinking:
    """An ordinary activity: it waits for seconds. Only plans within bounds come into the history."""

    def __init__(
        self,
        practices: PracticeStore,
        knowledge: PracticeKnowledge,
        sessions: SessionStore,
        endpoint: ModelEndpoint | None,
    ) -> None:
        """``endpoint`` is absent where this worker's settings name none."""
        self._practices = practices
        self._knowledge = knowledge
        self._sessions = sessions
        self._endpoint = endpoint

    @activity.defn
    async def think_of_plans(self, asked: PracticeQuestion) -> PracticeThoughts:
        """Asks the model, for as long as the session practises and there is time."""
        if self._endpoint is None:
            return PracticeThoughts(model="none", note=NO_MODEL)
        model = self._endpoint.model
        try:
            async with heartbeats(), asyncio.timeout(asked.seconds_left):
                request, question = await asyncio.to_thread(self._question, asked.ref)
                answer = await self._while_it_practises(asked.ref, self._endpoint.ask(question))
            plans, problem = plans_within(read_answer(answer, PracticePlans), request)
        except NotWanted as reason:
            return PracticeThoughts(model=model, note=str(reason))
        except TimeoutError:
            return PracticeThoughts(model=model, note="The time allowed was used up while a model was asked.")
        except MODEL_TROUBLE as trouble:
            plans, problem = (), str(trouble)
        if not plans:
            activity.logger.warning("the model suggested nothing usable", extra={"reason": problem})
            return PracticeThoughts(model=model, note=told(model, problem))
        return PracticeThoughts(model=model, plans=plans)

    def _question(self, ref: PracticeRef) -> tuple[StartPracticeRequest, ModelQuestion]:
        if (state := self._state(ref)) is not S.CAPTURING:
            raise NotWanted(f"The session is {state.value}: no model was asked.")
        run = self._practices.get(ref.learn_session_id)
        request = self._practices.request_of(run)
        most = steps_left(request, run.budget.max_actions - run.actions_used)
        if most < 1:
            raise NotWanted("No model was asked: the actions allowed are used up.")
        known = self._knowledge.of(ref.owner_user_id)
        return request, practice_question(request, known, run.attempts, most)

    async def _while_it_practises(self, ref: PracticeRef, asking: Coroutine[None, None, str]) -> str:
        """The answer, unless the session is cancelled or paused meanwhile: that is noticed within a second."""
        answer = asyncio.create_task(asking)
        try:
            while True:
                done, _ = await asyncio.wait({answer}, timeout=_LOOK_EVERY_SECONDS)
                if done:
                    return answer.result()
                state = await asyncio.to_thread(self._state, ref)
                if state is not S.CAPTURING:
                    raise NotWanted(f"The session is {state.value}: no answer was waited for.")
        finally:
            answer.cancel()
            await asyncio.wait({answer})

    def _state(self, ref: PracticeRef) -> S:
        return self._sessions.owned(ref.learn_session_id, ref.owner_user_id).session.state

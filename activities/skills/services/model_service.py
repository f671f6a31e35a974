"""The service ``model``: scores trends, writes and judges content, sums up texts (CH-14…CH-32, AI-31, AI-38).

Without a configured model the work is done by rules and templates, which give the same for the same input everywhere.
With models configured they are asked, and their failure is never hidden behind the rules (O-17).
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from activities.skills.services.content_models import ContentModels, TooSlow
from activities.skills.services.offered import Asker, Method
from contracts.base import Contract, Text80, Text1000
from contracts.skills.content import ContentIssue, ContentPackage, Persona, Trend, WrittenContent
from domain.skills.content.checks import RULES, check_content, confidence, offensive_words
from domain.skills.content.platform_limits import LIMITS
from domain.skills.content.questions import (
    claims_in,
    content_in,
    judging_question,
    scores_in,
    scoring_question,
    summary_in,
    summing_up_question,
    writing_question,
)
from domain.skills.content.relevance import relevance
from domain.skills.content.writing import LOCAL_MODEL, write_content
from skills.runtime.broker import BrokerRefused
from stores.platform.canonical import canonical_json, digest_of

LOCAL_SCORES = "local-words"
"""What ``model_used`` says of scores that were made by rules."""

Text8000 = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]

BATCH_WITHIN_SECONDS, TEXT_WITHIN_SECONDS, JUDGE_WITHIN_SECONDS = 3.0, 15.0, 3.0
"""How long a model may take for a batch of trends, for a text, and for a judgement (CH-16, CH-22, CH-32)."""

SCORES_KEPT_SECONDS, MOST_SCORES = 1_800.0, 20_000
"""How long a score is kept, and how many (CH-17)."""

CONFIDENT, UNCONFIDENT = {"model": 0.8, "local": 0.6}, 0.2
"""``confidence_score`` of what a model and what the templates wrote, and of what came too late."""


class ScoreRequest(Contract):
    """Asks for the scores of a batch of trends."""

    trends: tuple[Trend, ...] = Field(min_length=1, max_length=100)
    goals: tuple[Text1000, ...] = Field(min_length=1, max_length=10)
    model: Text80 | None = None


class WriteRequest(Contract):
    """Asks for content."""

    trend: Trend
    persona: Persona
    platform: Text80
    content_type: Text80


class SumUpRequest(Contract):
    """Asks for a summary of texts, in their order."""

    texts: tuple[Text8000, ...] = Field(min_length=1, max_length=100)
    sentences: int = Field(default=5, ge=1, le=20)


class JudgeRequest(Contract):
    """Asks what is wrong with content."""

    content: ContentPackage
    rules: dict[str, bool] = Field(default_factory=dict)


Published = Callable[[str], Sequence[tuple[str, str]]]
"""The published posts of an owner: content id and text of each."""


class ModelService:
    """Answers questions about texts; keeps scores in memory for their time."""

    def __init__(
        self,
        models: ContentModels | None,
        published: Published = lambda _: (),
        *,
        clock: Callable[[], float] = time.monotonic,
        seconds: Mapping[str, float] | None = None,
    ) -> None:
        """``seconds`` replaces how long a ``batch``, a ``text`` and a ``judgement`` may take."""
        self._models = models if models is not None and models.names else None
        self._published = published
        self._clock = clock
        known = {
            "batch": BATCH_WITHIN_SECONDS,
            "text": TEXT_WITHIN_SECONDS,
            "judgement": JUDGE_WITHIN_SECONDS,
        }
        self._seconds = {**known, **(seconds or {})}
        self._scores: OrderedDict[str, tuple[float, dict[str, Any]]] = OrderedDict()
        self.methods: Mapping[str, Method] = {
            "score": Method(ScoreRequest, self._score, reads=True),
            "write": Method(WriteRequest, self._write, reads=True),
            "judge": Method(JudgeRequest, self._judge, reads=True),
            "sum_up": Method(SumUpRequest, self._sum_up, reads=True),
        }

    # ---- scores ----

    async def _score(self, asker: Asker, asked: ScoreRequest) -> dict[str, Any]:
        """``{"scores": [{"relevance_score", "reasoning"}], "model_used", "warnings"}``, in the order of the trends."""
        if self._models is None:
            scores = [_scored(*relevance(one, asked.goals)) for one in asked.trends]
            return {"scores": scores, "model_used": LOCAL_SCORES, "warnings": []}
        keys = [
            digest_of(canonical_json([asker.owner, asked.model, sorted(set(asked.goals)), one.model_dump()]))
            for one in asked.trends
        ]
        kept = [self._kept(key) for key in keys]
        new = [index for index, found in enumerate(kept) if found is None]
        used, warnings = asked.model or "", ()
        if new:
            batch = [asked.trends[index] for index in new]
            try:
                found, used, warnings = await self._models.ask(
                    asked.model,
                    scoring_question(batch, asked.goals),
                    lambda answer: scores_in(answer, len(batch)),
                    self._seconds["batch"],
                )
            except TooSlow as slow:
                raise BrokerRefused(
                    "FILTER_TIMEOUT", f"{slow} did not score a batch within {self._seconds['batch']:g} s."
                ) from None
            for index, one in zip(new, found, strict=True):
                kept[index] = self._keep(keys[index], _scored(one.relevance_score, one.reasoning))
        return {"scores": kept, "model_used": used, "warnings": list(warnings)}

    def _kept(self, key: str) -> dict[str, Any] | None:
        until, found = self._scores.get(key, (0.0, None))
        return found if until > self._clock() else None

    def _keep(self, key: str, score: dict[str, Any]) -> dict[str, Any]:
        self._scores[key] = (self._clock() + SCORES_KEPT_SECONDS, score)
        self._scores.move_to_end(key)
        while len(self._scores) > MOST_SCORES:
            self._scores.popitem(last=False)
        return score

    # ---- summaries ----

    async def _sum_up(self, asker: Asker, asked: SumUpRequest) -> dict[str, Any]:
        """``{"summary", "model_used", "warnings"}``; without a configured model there is no summary."""
        del asker
        if self._models is None:
            return {"summary": None, "model_used": None, "warnings": []}
        try:
            summary, used, warnings = await self._models.ask(
                None, summing_up_question(asked.texts, asked.sentences), summary_in, self._seconds["text"]
            )
        except TooSlow as slow:
            text = f"{slow} did not answer within {self._seconds['text']:g} s."
            raise BrokerRefused("TIMEOUT", text, retryable=False) from None
        return {"summary": summary, "model_used": used, "warnings": list(warnings)}

    # ---- content ----

    async def _write(self, asker: Asker, asked: WriteRequest) -> dict[str, Any]:
        """``{"script", "captions", "hashtags", "model_used", "confidence_score", "late", "warnings"}``.

        What offends is written again with a safety instruction, once; what still does is not given out.
        """
        del asker
        if asked.platform not in LIMITS:
            raise BrokerRefused("INVALID_INPUT", "platform: is none that content is written for.")
        warnings = list[str]()
        until = self._clock() + self._seconds["text"]
        for safely in (False, True):
            written, used, sure, late, told = await self._written(asked, until, safely=safely)
            warnings += [one for one in told if one not in warnings]
            if not offensive_words(_text(written), asked.persona.banned_words):
                return {
                    **written.model_dump(mode="json"),
                    "model_used": used,
                    "confidence_score": sure,
                    "late": late,
                    "warnings": warnings,
                }
            warnings.append("SAFETY_VIOLATION: the first text had words that offend; it was written again.")
        raise BrokerRefused("SAFETY_VIOLATION", "The text has words that offend, also when written again.")

    async def _written(
        self, asked: WriteRequest, until: float, *, safely: bool
    ) -> tuple[WrittenContent, str, float, bool, tuple[str, ...]]:
        def local() -> WrittenContent:
            return write_content(
                asked.trend, asked.persona, asked.platform, asked.content_type, safely=safely
            )

        if self._models is None:
            return local(), LOCAL_MODEL, CONFIDENT["local"], False, ()
        question = writing_question(
            asked.trend,
            asked.persona,
            asked.platform,
            asked.content_type,
            LIMITS[asked.platform].caption_chars,
            safely=safely,
        )
        try:
            found, used, warnings = await self._models.ask(
                None, question, content_in, max(until - self._clock(), 0.1)
            )
        except TooSlow as slow:
            told = f"GENERATION_TIMEOUT: {slow} did not answer in time; this is the template's text."
            return local(), LOCAL_MODEL, UNCONFIDENT, True, (told,)
        return found, used, CONFIDENT["model"], False, warnings

    # ---- judgement ----

    async def _judge(self, asker: Asker, asked: JudgeRequest) -> dict[str, Any]:
        """``{"issues", "confidence_score", "late"}``; late where the model did not judge in time."""
        issues = check_content(asked.content, asked.rules, self._published(asker.owner))
        late = False
        if self._models is not None and asked.rules.get(RULES[1], True):
            try:
                claims, used, _ = await self._models.ask(
                    None, judging_question(asked.content), claims_in, self._seconds["judgement"]
                )
                issues += tuple(
                    ContentIssue(rule=RULES[1], severity="warning", message=f"{used}: {claim}"[:500])
                    for claim in claims
                )
            except TooSlow:
                late = True
            except BrokerRefused as refused:
                told = f"VALIDATION_ERROR: claims could not be judged. {refused.message}"[:500]
                issues += (ContentIssue(rule=RULES[1], severity="error", message=told),)
        return {
            "issues": [one.model_dump(mode="json") for one in issues],
            "confidence_score": confidence(issues),
            "late": late,
        }


def _scored(score: float, reasoning: str) -> dict[str, Any]:
    return {"relevance_score": score, "reasoning": reasoning}


def _text(written: WrittenContent) -> str:
    return "\n".join((written.script, *written.captions, *written.hashtags))

"""Client of a language model behind an OpenAI-compatible chat endpoint, whose answers are untrusted.

Every failure is one of::

    ModelFailure
     ├── ModelUnreachable    no connection, or it broke off
     ├── ModelTooSlow        no complete answer within the time
     ├── ModelRefused        an HTTP status other than 200, or a refusal by the model
     └── ModelAnswerUnusable  too large, cut off, or not a chat completion

Their texts are for people and hold neither the key nor anything the endpoint sent.
"""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Literal, cast

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clients.platform.retry_after import retry_after_seconds
from domain.learning.model.prompt import ModelQuestion

MAX_BODY_BYTES = 512 * 1024
"""The most bytes of an answer that are read."""

CONNECT_WITHIN_SECONDS = 10.0
FIRST_RETRY_AFTER_SECONDS = 0.5
"""The pause before the one retry where the endpoint does not name one."""

_RETRIED = frozenset({429, 500, 502, 503, 504})
_NOT_UNDERSTOOD = frozenset({400, 422})
_REFUSED_BECAUSE = {
    401: "the key is wrong or missing",
    403: "the key may not do this",
    404: "no such model or path",
}


class ModelFailure(Exception):
    """The question was not answered."""


class ModelUnreachable(ModelFailure):
    """No connection, or it broke off."""


class ModelTooSlow(ModelFailure):
    """No complete answer within the time."""


class ModelRefused(ModelFailure):
    """An HTTP status other than 200, or a refusal by the model."""


class ModelAnswerUnusable(ModelFailure):
    """Too large, cut off, or not a chat completion."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Message(_Part):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Part):
    message: _Message
    finish_reason: str | None = None


class _Completion(_Part):
    choices: tuple[_Choice, ...] = Field(min_length=1)


class ModelEndpoint:
    """One model at one endpoint. Sends at most two requests a question and follows no redirect.

    Neither proxies nor credentials are taken from the environment; certificates are checked against those of
    the system.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        read_key: Callable[[], str | None],
        *,
        timeout_seconds: float,
        max_output_tokens: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``base_url`` is what stands before ``/chat/completions``; ``timeout_seconds`` covers both requests."""
        self.model = model
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._read_key = read_key
        self._timeout = timeout_seconds
        self._max_output_tokens = max_output_tokens
        self._sleep = sleep

    async def ask(self, asked: ModelQuestion) -> str:
        """The model's answer, requested as JSON of the schema; the caller validates it.

        Raises:
            ModelFailure: see the module.
            KeyUnavailable: the key cannot be read (``clients.platform.key_reference``).
        """
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        if key := self._read_key():
            headers["authorization"] = f"Bearer {key}"
        try:
            async with asyncio.timeout(self._timeout), self._client(headers) as http:
                return _answer_in(await self._two_tries(http, _body(self.model, asked)))
        except TimeoutError:
            raise ModelTooSlow(f"no complete answer within {self._timeout:g} s") from None

    def _client(self, headers: dict[str, str]) -> httpx.AsyncClient:
        # TLS settings are costly to make, and of no use for plain HTTP on the loopback interface.
        verify = ssl.create_default_context() if self._url.startswith("https:") else False
        return httpx.AsyncClient(
            headers=headers,
            verify=verify,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(self._timeout, connect=min(CONNECT_WITHIN_SECONDS, self._timeout)),
        )

    async def _two_tries(self, http: httpx.AsyncClient, question: dict[str, Any]) -> bytes:
        question["max_tokens"] = self._max_output_tokens
        try:
            return await self._post(http, question)
        except _TryAgain as first:
            await self._pause(first.after)
            if first.without:
                question = _simpler(question, first.without)
        try:
            return await self._post(http, question)
        except _TryAgain as second:
            raise second.failure from None

    async def _pause(self, seconds: float) -> None:
        if seconds >= self._timeout:
            raise ModelRefused(f"the endpoint is busy and asks to come back in {seconds:.0f} s")
        if seconds > 0:
            await self._sleep(seconds)

    async def _post(self, http: httpx.AsyncClient, question: dict[str, Any]) -> bytes:
        try:
            async with http.stream("POST", self._url, json=question) as response:
                body = await _bounded(response)
        except httpx.TimeoutException:
            raise ModelTooSlow(f"no complete answer within {self._timeout:g} s") from None
        except httpx.HTTPError as error:
            failure = ModelUnreachable(f"the connection failed ({type(error).__name__})")
            raise _TryAgain(failure, FIRST_RETRY_AFTER_SECONDS) from None
        if response.status_code == 200:
            return body
        raise _refusal(response, body)


class _TryAgain(Exception):
    """The first request failed in a way that a second one may not."""

    def __init__(
        self,
        failure: ModelFailure,
        after: float,
        without: Literal["max_tokens", "response_format"] | None = None,
    ) -> None:
        super().__init__()
        self.failure = failure
        self.after = after
        self.without = without


def _body(model: str, asked: ModelQuestion) -> dict[str, Any]:
    return {
        "model": model,
        "messages": [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}],
        "stream": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": asked.name, "strict": True, "schema": asked.schema},
        },
        **({"seed": asked.seed, "temperature": 0} if asked.seed is not None else {}),
    }


def _simpler(question: dict[str, Any], without: str) -> dict[str, Any]:
    """The question without what the endpoint does not understand; the limit of tokens has two names."""
    left = {name: value for name, value in question.items() if name != without}
    return left | ({"max_completion_tokens": question["max_tokens"]} if without == "max_tokens" else {})


async def _bounded(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ModelAnswerUnusable("the answer is compressed, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ModelAnswerUnusable(f"the answer is larger than {MAX_BODY_BYTES // 1024} KiB")
    return bytes(body)


def _refusal(response: httpx.Response, body: bytes) -> Exception:
    status = response.status_code
    reason = _REFUSED_BECAUSE.get(status, "a redirect, which is not followed" if 300 <= status < 400 else "")
    failure = ModelRefused(f"HTTP {status}" + (f": {reason}" if reason else ""))
    if status in _RETRIED:
        asked = retry_after_seconds(response.headers.get("retry-after", ""))
        return _TryAgain(failure, FIRST_RETRY_AFTER_SECONDS if asked is None else asked)
    if status in _NOT_UNDERSTOOD:
        return _TryAgain(failure, 0, "max_tokens" if _names_max_tokens(body) else "response_format")
    return failure


def _names_max_tokens(body: bytes) -> bool:
    """Whether the error envelope says that ``max_tokens`` is the parameter not understood."""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return False
    error = cast("dict[str, object]", found).get("error") if isinstance(found, dict) else None
    return isinstance(error, dict) and cast("dict[str, object]", error).get("param") == "max_tokens"


def _answer_in(body: bytes) -> str:
    try:
        choice = _Completion.model_validate_json(body).choices[0]
    except (ValidationError, RecursionError):
        raise ModelAnswerUnusable("the answer is no chat completion") from None
    if choice.message.refusal:
        raise ModelRefused("the model declined to answer")
    if choice.finish_reason == "length":
        raise ModelAnswerUnusable("the answer is cut off at its limit of tokens (model_max_output_tokens)")
    if not choice.message.content:
        raise ModelAnswerUnusable("the answer is empty")
    return choice.message.content

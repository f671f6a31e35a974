"""Error codes of skills: HTTP status, whether the runtime may repeat, and what to do (skill_rows.md section 2).

A skill's own manifest may say otherwise for itself (`SkillManifest.errors`): NETWORK_ERROR is repeated where a feed is
read, and not where a balance is.
"""

from pydantic import Field

from contracts.base import Contract, Text120, Text240, Text500

AWAITING_ANSWER = "AWAITING_ANSWER"
"""What ends an attempt whose handler asked its user something: the invocation waits, and is no failure."""

AWAITING_TIME = "AWAITING_TIME"
"""What ends an attempt that a service has wait for a later time: the invocation waits, and is no failure."""

WAITING_CODES = frozenset({AWAITING_ANSWER, AWAITING_TIME})
"""What ends an attempt that has not failed: the next one is made when there is something to do."""


class SkillErrorRule(Contract):
    """What an error code means wherever it is shown.

    ``retries`` is how often the runtime tries again after the first attempt (X-18); none leaves it to the skill's
    number of attempts.
    """

    http_status: int
    retryable: bool = False
    recovery: Text240
    retries: int | None = None
    tells_a_person: bool = Field(
        default=False, description="What ends with it is told to its user in the inbox."
    )


def _rule(
    status: int,
    recovery: str,
    *,
    retryable: bool = False,
    retries: int | None = None,
    tells_a_person: bool = False,
) -> SkillErrorRule:
    return SkillErrorRule(
        http_status=status,
        retryable=retryable,
        recovery=recovery,
        retries=retries,
        tells_a_person=tells_a_person,
    )


SKILL_ERRORS: dict[str, SkillErrorRule] = {
    # 002 (Chimera)
    "PLATFORM_UNAVAILABLE": _rule(
        503, "The next configured source is asked; try again later.", retryable=True
    ),
    "RATE_LIMITED": _rule(
        429, "Wait as long as the source asks for; a person is told.", retryable=True, tells_a_person=True
    ),
    "INVALID_PLATFORM": _rule(400, "Name one of the documented platforms."),
    "VALIDATION_FAILED": _rule(422, "The source's answer is malformed; look at the source."),
    "TIMEOUT": _rule(504, "Try again; the skill took longer than its declared time.", retryable=True),
    "NETWORK_ERROR": _rule(
        503, "Look at the connection and the address; it is tried again.", retryable=True, retries=3
    ),
    "FILTER_TIMEOUT": _rule(
        504, "What was scored until then is in the outputs; ask again with fewer trends."
    ),
    "INVALID_INPUT": _rule(400, "Correct the fields that are named."),
    "INVALID_GOALS": _rule(422, "Give at least one goal that is not empty."),
    "LLM_ERROR": _rule(
        503, "The other configured model is asked; try again later.", retryable=True, retries=2
    ),
    "GENERATION_TIMEOUT": _rule(504, "What was made until then is in the outputs; try again."),
    "INVALID_PERSONA": _rule(400, "Correct the persona's fields that are named."),
    "MEDIA_GENERATION_FAILED": _rule(
        502, "The content comes without media; try again with media_generation.", retryable=True, retries=2
    ),
    "SAFETY_VIOLATION": _rule(
        422, "Change the trend or the persona; what was made is not given out.", retries=1
    ),
    "VALIDATION_ERROR": _rule(422, "A check could not judge the content; a person has to."),
    "SAFETY_CHECK_TIMEOUT": _rule(504, "A person has to look at the content; a check took too long."),
    "INVALID_CONTENT": _rule(400, "Give content with the required fields."),
    "PUBLISH_FAILED": _rule(502, "The publisher refused; it is tried again.", retryable=True, retries=3),
    "INVALID_TOKEN": _rule(401, "Ask a reviewer for an approval of exactly this content and platform."),
    "TOKEN_EXPIRED": _rule(401, "Ask a reviewer for a new approval."),
    "PLATFORM_ERROR": _rule(503, "Only another approved platform is tried.", retryable=True),
    "DUPLICATE_CONTENT": _rule(409, "It is published already; the outputs name the post."),
    "AGENT_NOT_FOUND": _rule(404, "Look at the agent's id; `apprentice agents create` makes one."),
    "UNAVAILABLE": _rule(503, "Try again shortly.", retryable=True, retries=1),
    "CONCURRENCY_ERROR": _rule(409, "Read the agent again and repeat with its current version."),
    "INVALID_STATE_TRANSITION": _rule(
        422, "Choose a status that this one may become, and give the reason it needs."
    ),
    "WALLET_ERROR": _rule(
        500, "A person has to look at the ledger.", retryable=True, retries=2, tells_a_person=True
    ),
    "INVALID_ADDRESS": _rule(400, "Give the address as 0x and 40 hexadecimal digits."),
    "INSUFFICIENT_BALANCE": _rule(402, "Fund the wallet: `apprentice wallets fund`.", tells_a_person=True),
    "TX_FAILED": _rule(
        502,
        "It is tried again with the same key, then a person is told.",
        retryable=True,
        retries=3,
        tells_a_person=True,
    ),
    "REGISTRATION_FAILED": _rule(
        502, "Tried again; the agent goes on unregistered.", retryable=True, retries=3
    ),
    "INVALID_PROFILE": _rule(422, "Complete the profile's fields that are named."),
    # 000 (Amber) and the runtime itself
    "CONFIRMATION_REQUIRED": _rule(409, "Confirm it in the inbox, or with `apprentice skills confirm`."),
    "SKILL_NOT_FOUND": _rule(404, "`apprentice skills list` names the skills there are."),
    "PERMISSION_DENIED": _rule(403, "The skill's manifest does not ask for this permission."),
    "HANDLER_FAILED": _rule(500, "Look at the skill's log under this invocation."),
    "OUTPUT_INVALID": _rule(502, "The handler's answer does not fit its schema; mend the handler."),
    "OUTPUT_TOO_LARGE": _rule(413, "The handler answered more than the limit; have it answer less."),
    "CALENDAR_UNAVAILABLE": _rule(
        503, "Look at the calendar's file or address in the settings.", retryable=True
    ),
    "DELIVERY_FAILED": _rule(502, "It is kept and can be delivered later, once."),
    # 001 (Story 5.4)
    "VOICE_UNREACHABLE": _rule(
        503, "No call was placed: tell the result in the primary channel.", retryable=True
    ),
    "VOICE_TIMEOUT": _rule(504, "It is not known whether it rang: tell the result in the primary channel."),
    "VOICE_REFUSED": _rule(502, "No call was placed: tell the result in the primary channel."),
    "VOICE_BAD_ANSWER": _rule(
        502, "It is not known whether it rang: tell the result in the primary channel."
    ),
    "VOICE_NOT_CONFIGURED": _rule(503, "No call was placed: set voice_app_url, and use the primary channel."),
    "IDENTITY_CONFLICT": _rule(409, "The number belongs to another name; unlink it first."),
    "CONFIG_UNREADABLE": _rule(500, "Mend openclaw.json; it was left as it is."),
    # 003 (AICO)
    "POLICY_DENIED": _rule(
        403, "The rule that is named forbids it; `apprentice skills policy` shows the rules."
    ),
    "BUDGET_EXCEEDED": _rule(429, "Wait until the budget is renewed."),
    "PRECONDITION_UNMET": _rule(409, "Make the named precondition true first."),
    "ISOLATION_UNAVAILABLE": _rule(503, "This host cannot isolate the skill as it demands."),
    # ours
    "IDEMPOTENCY_KEY_REUSED": _rule(422, "Use a new key for another request."),
    "VERSION_RETIRED": _rule(410, "Use one of the versions that are named."),
    "SKILL_QUARANTINED": _rule(403, "It failed too often; see its health before it is used again."),
    "SKILL_CHANGED": _rule(409, "Look at the folder and approve it again: `apprentice skills approve`."),
    AWAITING_ANSWER: _rule(409, "Answer the question in the inbox; the skill goes on then."),
    AWAITING_TIME: _rule(409, "Nothing is to be done: the skill goes on at its time."),
    "MEMORY_FULL": _rule(409, "Erase memories that are no longer wanted: `apprentice memories erase`."),
    "FACT_NOT_FOUND": _rule(404, "Ask for the facts of this subject and name one of them."),
    "EVENT_NOT_FOUND": _rule(404, "Name events that are there: query_relevant_memories finds them."),
    "OUTCOME_UNKNOWN": _rule(409, "It may have happened: look at the far side before it is repeated."),
    "CANCELLED": _rule(409, "Ask again if it is still wanted."),
    "EXPIRED": _rule(409, "Nobody confirmed in time; ask again."),
}
"""Every code of the documents and the runtime's own."""


class SkillField(Contract):
    """One field of an input that was refused: where, and what is wrong, never its value."""

    path: Text120
    problem: Text240


class SkillError(Contract):
    """What went wrong in an invocation, or why the gate refused it."""

    code: str
    message: Text500
    http_status: int
    retryable: bool
    recovery: Text240
    fields: tuple[SkillField, ...] = ()

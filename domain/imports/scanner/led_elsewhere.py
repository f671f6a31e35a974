"""Sentences that give a stranger a copy, obey what stands behind a link, or speak to the agent where nobody looks."""

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.data_flow import GUARDED_PLACES
from domain.imports.scanner.findings import BLOCKS, WARNS
from domain.imports.scanner.known_hosts import SHORTENED
from domain.imports.scanner.rules import rule, sentence

EMAIL = r"\b[\w.+-]{1,64}@(?!example\.(?:com|org|net)\b)(?:[\w-]{1,63}\.)+[a-z]{2,}\b"
"""A mail address of somebody; those of the names that are kept for documentation are of nobody."""

_QUIETLY = (
    r"\b(?:quietly|silently|secretly|covertly|discreetly|unnoticed|without (?:telling|asking|mention\w*))\b"
)
_COPY = r"\b(?:bcc|cc|blind (?:carbon )?cop(?:y|ies)|carbon cop(?:y|ies))\b"
_EACH = r"\b(?:always|each|every|all|any)\b"
_GIVES = r"(?:send|post|upload|transmit|forward|copy|e-?mail|mail|share|submit|push)"
_COPY_WHY = "Has copies of the person's mail sent to a fixed address; ask whose it is."
_COMMENT_WHY = "Gives the agent orders in a comment, which whoever reads the page does not see."
_LINK_WHY = "Makes the agent obey whatever an address says later: it can change after the review."
_SHORT_WHY = "Has orders taken from behind a shortened address, which tells nobody where it leads."

COMMANDS_LED_ELSEWHERE = (
    rule(
        ScanCode.EXFILTRATION,
        rf"(?:\[\s*[\"'](?:bcc|x-bcc)[\"']\s*\]|\b\w*\.bcc|\bbcc)\s*(?:=|:|=>)\s*\[?\s*[\"']{EMAIL}|"
        rf"\.add_header\(\s*[\"']bcc[\"']\s*,\s*[\"']{EMAIL}",
        _COPY_WHY,
        WARNS,
        own_call=True,
    ),
)
"""Looked for in each statement."""

SENTENCES_LED_ELSEWHERE = (
    sentence(
        ScanCode.EXFILTRATION,
        rf"{_QUIETLY}[^\n]{{0,80}}(?:{EMAIL}[^\n]{{0,60}}{_COPY}|{_COPY}[^\n]{{0,60}}{EMAIL})|"
        rf"(?:{EMAIL}[^\n]{{0,60}}{_COPY}|{_COPY}[^\n]{{0,60}}{EMAIL})[^\n]{{0,80}}{_QUIETLY}",
        "Sends something elsewhere unseen.",
    ),
    sentence(
        ScanCode.EXFILTRATION,
        rf"{_EACH}[^\n]{{0,120}}(?:{EMAIL}[^\n]{{0,60}}{_COPY}|{_COPY}[^\n]{{0,60}}{EMAIL})|"
        rf"(?:{EMAIL}[^\n]{{0,60}}{_COPY}|{_COPY}[^\n]{{0,60}}{EMAIL})[^\n]{{0,120}}{_EACH}",
        _COPY_WHY,
        WARNS,
    ),
    sentence(
        ScanCode.DESTRUCTIVE,
        r"\b(?:delete|erase|wipe|remove|destroy|purge|shred|overwrite|format)\b\s+(?:(?:please|then|first|also|"
        r"completely|permanently)\s+)*(?:all|everything|every|whole|entire|"
        r"the (?:whole|entire|complete|contents? of))\b"
        r"(?:\s+(?:of|in|on|from|under|inside|files?|folders?|directories|documents?|data|contents?|and|the|their|your|a|"
        r"hard|whole|entire|user'?s?|person'?s?|owner'?s?|machine'?s?|computer'?s?|that|they|has|have))*\s+"
        r"(?:home (?:folders?|director(?:y|ies))|(?:hard |system |boot |main )?(?:disks?|drives?)\b(?! image)|"
        r"file ?systems?|backups?|computer|machine)\b",
        "Has everything deleted that the person or the machine holds.",
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"\b(?:ignore|disregard)\s+(?:the\s+|your\s+)?(?:user|human|person|operator)s?(?=\s*(?:$|[.,;!]|and\b|"
        r"from now|completely|entirely|-->))",
        "Tells the agent to drop the instructions it works under. No skill needs that.",
    ),
    sentence(
        ScanCode.CREDENTIAL_ACCESS,
        rf"\]\(\s*<?(?:\.\./|file:|~/|/)[^)\n]{{0,200}}?(?:{GUARDED_PLACES})",
        "Links to a file of this machine that holds names or keys and is no part of the bundle.",
        WARNS,
    ),
)
"""Looked for in each sentence."""

BLOCKS_LED_ELSEWHERE = (
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"<!--\s*(?:(?:note|message|instructions?|important)\b[\s,:]*(?:to|for)?\s*(?:the\s+|any\s+)?)?"
        r"(?:system|assistant|ai|agents?|llms?|models?|claude|gpt|chatgpt|copilot|gemini|codex)\b[^>:]{0,40}:"
        rf"(?:(?!-->).){{0,400}}?(?:\b{_GIVES}\b(?:(?!-->).){{0,120}}?(?:{EMAIL}|https?://)|"
        r"\b(?:ignore|disregard|override|bypass)\b|\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|"
        r"inform|informing|show|showing)\b|\b(?:delete|erase|wipe)\s+(?:all|every)|\brm\s+-)",
        _COMMENT_WHY,
    ),
    sentence(
        ScanCode.FOREIGN_INSTRUCTIONS,
        rf"\b(?:see|consult|refer to|look at|go to|browse to|open|read|visit|check|follow|use|study|fetch|load|get)\b"
        rf"[^\n]{{0,80}}{SHORTENED}[^\n]{{0,80}}\b(?:follow|obey|execute|carry out|apply|do|perform|run)\b|"
        rf"\b(?:follow|obey|execute|carry out|apply|do|perform|run)\b[^\n]{{0,60}}\b(?:steps?|instructions?|commands?|"
        rf"directions?|orders|guide|whatever|what|script)\b[^\n]{{0,40}}{SHORTENED}",
        _SHORT_WHY,
        BLOCKS,
    ),
    sentence(
        ScanCode.FOREIGN_INSTRUCTIONS,
        r"\b(?:see|consult|refer to|look at|go to|browse to|study|check out)\b[^\n]{0,80}https?://[^\n]{0,120}"
        r"\b(?:do|follow|obey|execute|carry out|perform)\s+(?:exactly\s+)?(?:what(?:ever)?|everything|anything)\b"
        r"[^\n]{0,20}\b(?:says?|tells?|contains?|orders?|asks?|demands?)\b|"
        r"\b(?:do|follow|obey|execute|carry out|perform)\s+(?:exactly\s+)?(?:what(?:ever)?|everything|anything)\s+"
        r"[^\n]{0,40}https?://[^\n]{0,80}\b(?:says?|tells?|contains?|orders?|asks?|demands?)\b",
        _LINK_WHY,
        WARNS,
    ),
)
"""Looked for in a paragraph or a list as one."""

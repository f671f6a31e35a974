"""Does a passage do or demand what its words say, or does it only name it?

Security documentation, detection rules and tests quote attacks. What is negated, said of attackers, listed under a
heading such as "Red flags", or held as a pattern is named; it is reported as information and blocks nothing. A
sentence that tells the reader to do it takes that excuse away again, whatever stands above it.
"""

import re

from domain.imports.scanner.passages import PROGRAMS, Kind, Passage

_NEGATED = re.compile(
    r"\b(?:never|do not|don't|does not|must not|mustn't|should not|shouldn't|shall not|cannot|can't|may not|avoid|"
    r"refuse[sd]?|reject(?:s|ed)?|forbid(?:s|den)?|prohibit(?:s|ed)?|rather than|instead of|beware|no one should|"
    r"nobody should|nobody needs|advise against)\b"
    r"(?!\s+(?:worry|forget|hesitate|wait|stop|bother|fail|skip|ask|tell|inform|mention|miss|work|function|need)\b)",
    re.IGNORECASE,
)
_CLAUSE_ENDS = re.compile(
    r"[;!?]|\.\s|\b(?:but|instead|however|just|simply)\b|,\s*(?:then|and then)\b", re.IGNORECASE
)
_THREAT = (
    r"attack(?:er|s|ers|ing)?|adversar\w+|malware|malicious\w*|phish\w*|scam\w*|exploit\w*|victims?|hackers?|clickfix|"
    r"prompt[- ]injections?|injections?|jailbreaks?|red[- ]flags?|suspicious|indicators? of|compromis\w+|threats?|"
    r"vulnerab\w+|dangerous|unsafe|insecure|harmful|social engineering|backdoors?|reverse[- ]shells?|exfiltration"
)
_SAID_OF_THREATS = re.compile(
    rf"\b(?:{_THREAT}|detect(?:s|ed|ing|ion|or)?|flag(?:s|ged)?(?= (?:any|every|it|them|as|such|lines))|"
    r"look(?:s|ing)? (?:for|like)|watch for|scan(?:s|ned)? for|warns?(?: the)?|(?:phrases?|strings?|texts?|lines?|"
    r"words|commands?) (?:like|such as)|report such|in one study|studies|researchers)\b",
    re.IGNORECASE,
)
_CONDEMNED_AFTER = re.compile(
    r"\b(?:is|are|was|be)\s+(?:a\s+|very\s+|highly\s+|considered\s+)*(?:dangerous|unsafe|risky|forbidden|prohibited|"
    r"malicious|suspicious|an? attack|not allowed|never (?:safe|allowed|right)|a red flag|"
    r"refused|denied|rejected|blocked|harmful)\b|"
    r"\b(?:must|should|may)(?:n't| not| never) be used\b|\bis how attackers\b|\badvise against\b|"
    r"\bwas enough to change\b|\b(?:report|refuse) (?:it|this|such|them)\b|,\s*refuse\b|\bnever\s*\.?$",
    re.IGNORECASE,
)
_NAMING_HEADING = re.compile(
    rf"\b(?:{_THREAT}|never|don'?ts?|do not|avoid|forbidden|prohibited|not allowed|detect\w*|patterns?|signatures?|"
    r"techniques|anti-?patterns?|bad|wrong|mistakes|warnings? signs?|security (?:checks?|review|rules?|scan\w*)|"
    r"what (?:we|to) (?:block|flag|report|look for)|to look for|findings?|iocs?|refuse|must not)\b|❌|🚫|⛔",
    re.IGNORECASE,
)
_DIRECTS = re.compile(
    r"^\W{0,6}(?:(?:step )?\d+\W+)?(?:(?:then|first|now|please|next|finally|also|just|simply|important|note)\W+){0,2}"
    r"(?:(?:to|on|for|if|before|after|when|at)\b[^.;]{0,80}?[,:]\s*)?(?:you (?:must|should|need to|have to|can)\s+)?"
    r"(?:run|execute|paste|type|copy|launch|start|install|download|set up|use|enter|visit|open|append|add|send|post)\b",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"\b(?:must|should|need to|have to|please|then|now|to (?:continue|activate|install|set ?up|enable|start|begin))\b"
    r"[\s,:]+(?:first\s+)?(?:run|execute|paste|type|launch|use)\b|\b(?:run|execute|use) (?:this|the following|it)\b",
    re.IGNORECASE,
)
_HOLDS_PATTERNS = re.compile(
    r"pattern|signature|rule|regex|suspicious|sensitive|block(?:ed|list)|den(?:y|ied)|forbid|danger|malicious|attack|"
    r"injection|indicator|detect|bad_|_bad|redflag|red_flag|threat|unsafe|banned|disallow|blacklist|exploit|test_?case|"
    r"fixture|example|payload_sample|strings\b|keywords|phrases",
    re.IGNORECASE,
)
_IS_PATTERN = re.compile(
    r"\bre\.(?:compile|search|match|findall|finditer)\(|\bRegExp\(|\br[\"']|pattern(?:-\w+)?\"?\s*[:=]|regex\w*\"?\s*[:=]|"
    r"\.(?:test|match|matchAll|includes|search|startsWith)\(|=~|^\s*-?\s*\"?(?:message|description|summary|title|why|"
    r"reason|help|note|name|id|comment)\"?\s*:|^\s*\$\w+\s*=\s*[\"'{/].*$(?<=[\"'}/a-z])|\bassert\b|\bexpect\(|"
    r"\.(?:refused|blocked|flagged)\b|\bif\b.*\bin\b|^\s*//",
    re.IGNORECASE,
)
_SEARCHES = re.compile(r"(?:^|[|;&(]\s*|\bif\s+!?\s*)(?:e|f|z|git\s+)?(?:grep|rg|ag|ack)\b", re.IGNORECASE)
_PRINTS = re.compile(r"^\s*(?:echo|printf)\s+(?:-\w+\s+)*(?:\"[^\"`$]*\"|'[^']*')\s*$")


def only_named(passage: Passage, start: int, end: int) -> bool:
    """Whether what stands from ``start`` to ``end`` of the passage is spoken of and not done."""
    if passage.kind is Kind.CODE and not (passage.fenced and passage.language == "md"):
        return _held_as_pattern(passage, start) or (passage.fenced and _introduced_as_bad(passage))
    before, after = passage.text[:start], passage.text[end:]
    clause = _CLAUSE_ENDS.split(before)[-1]
    if _NEGATED.search(clause) or _CONDEMNED_AFTER.search(after):
        return True
    if _DIRECTS.match(passage.text) or _DEMANDS.search(before):
        return passage.listed and _introduced_as_bad(passage)
    if _SAID_OF_THREATS.search(before) or _SAID_OF_THREATS.search(after):
        return True
    quoted = passage.listed or before.rstrip().endswith(("`", '"', "'", "“", "(", ":"))
    return quoted and _introduced_as_bad(passage)


def _introduced_as_bad(passage: Passage) -> bool:
    lead = passage.lead
    if lead and not (passage.listed and not lead.rstrip().endswith(":")):
        if _NEGATED.search(lead) or _SAID_OF_THREATS.search(lead):
            return not _DEMANDS.search(lead)
        if _DIRECTS.match(lead) or _DEMANDS.search(lead):
            return False
    return bool(_NAMING_HEADING.search(passage.heading))


def _held_as_pattern(passage: Passage, start: int) -> bool:
    if passage.language == "signatures":
        return True
    text, before = passage.text, passage.text[:start]
    if passage.language in ("sh", "md", "ps", "bat"):
        return bool(_SEARCHES.search(before) or _PRINTS.match(text))
    if passage.language in PROGRAMS or passage.language == "data":
        return bool(_IS_PATTERN.search(text)) or bool(_HOLDS_PATTERNS.search(passage.lead.rsplit(" ", 1)[-1]))
    return False

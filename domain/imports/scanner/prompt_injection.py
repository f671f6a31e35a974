"""Sentences aimed at the agent or the person: overridden instructions, concealment, commands from elsewhere, theft."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.commands import is_run
from domain.imports.scanner.data_flow import GUARDED_PLACES
from domain.imports.scanner.findings import BLOCKS, HINTS, WARNS, Found
from domain.imports.scanner.known_hosts import collector, well_known
from domain.imports.scanner.led_elsewhere import BLOCKS_LED_ELSEWHERE, EMAIL, SENTENCES_LED_ELSEWHERE
from domain.imports.scanner.mentions import only_named
from domain.imports.scanner.passages import Kind, Passage
from domain.imports.scanner.rules import sentence
from domain.imports.scanner.searching import Search, by_words, joined_words

_PERSON = r"(?:the\s+|your\s+|any\s+)?(?:users?|humans?|persons?|operators?|owners?|them|anyone|anybody)\b"
_ORDERS = (
    r"(?:instructions?|prompts?|rules|guidelines|directives?|programming|polic(?:y|ies)|restrictions|constraints|"
    r"guardrails|safeguards|training|requests?|commands|orders|messages?|context)\b"
)
_WHOSE = (
    r"(?:previous|prior|earlier|preceding|above|former|existing|original|initial|system|developer'?s?|your|their|his|"
    r"safety|security|content|user'?s?|users'|operator'?s?|anthropic'?s?|openai'?s?)"
)
_GUARDED_WORDS = (
    r"(?:seed|recovery|secret|mnemonic|backup)\s+(?:phrases?|words)\b|\bmnemonics?\b|\bprivate\s+keys?\b|"
    r"\bmaster\s+password|"
    r"\bkeychain password|\b(?:api|access|secret|ssh)\s+(?:keys?|tokens?)\b|\bpasswords?\b|"
    r"\bcredentials\b|\benvironment variables\b|"
    r"\bcookies\b"
)
_OWNED = (
    r"(?:conversations?|chat (?:history|log)s?|transcripts?|user(?:'s)? (?:messages?|files?|data|prompts?|"
    r"input|documents?|emails?)|"
    r"each user message|every file|all (?:the )?files|all files|workspace|system prompt|source code|"
    r"memory|file contents?|inbox|clipboard)"
)
_GIVES = (
    r"(?:send|sends|post|upload|transmit|forward|copy|report|exfiltrate|leak|submit|push|transfer|include|"
    r"share|append|deliver|mail|email|beacon|sync)"
)
_QUIETLY = (
    r"(?:quietly|silently|secretly|covertly|discreetly|in the background|without (?:telling|asking|"
    r"informing|notifying|mention\w*|the user)|unnoticed|hidden from)"
)
_ADDRESS = r"https?://[^\s\"'`<>)]+"
_ELSEWHERE = rf"(?:{_ADDRESS}|@\w{{3,}}|\b(?:telegram|discord|pastebin|rentry|glot\.io|gist)\b)"
_ASKED = re.compile(
    r"\b(?:after (?:they|the user|asking)|if (?:the user|they|you are asked)|when (?:the user|they|asked)|"
    r"only if|with (?:the user's|their) (?:consent|permission|approval)|"
    r"the user (?:asks|asked|wants|confirms|agrees|chooses)|once (?:they|the user) (?:confirm|agree|"
    r"approve)|has set)\b",
    re.IGNORECASE,
)


_OVERRIDES = "Tells the agent to drop the instructions it works under. No skill needs that."
_HIDES = "Tells the agent to keep what it does from the person."
_ELSEWHERES = (
    "Has commands fetched from somewhere else and run: what they are is not in this bundle and cannot be "
    "reviewed."
)
_OBEYS = "Makes the agent obey whatever an address says later: it can change after the review."

_SENTENCES = (
    sentence(
        ScanCode.PROMPT_INJECTION,
        rf"\b(?:ignore|disregard|forget|override|overrule|bypass|discard|violate|drop)\b\s+(?:(?:all|any|every|"
        rf"each|of|the|these|those|about|and|first|must)\s+){{0,5}}"
        rf"(?:{_WHOSE}\s+){{1,3}}(?:(?:and|or|set of|given|safety)\s+)*{_ORDERS}",
        _OVERRIDES,
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"\b(?:ignore|disregard|forget)\b\s+(?:everything|anything|all(?: of)?(?: that)?|"
        r"what(?:ever)?)\s+(?:\w+\s+){0,4}?(?:above|before|previously|earlier|the user|you (?:were|"
        r"have been|know)|said|says)\b",
        _OVERRIDES,
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"\b(?:comply with|obey|follow) (?:every|all|any) instructions? (?:in|from|of) (?:the )?(?:tool|web|"
        r"page|file|document|e-?mail)\w*",
        _OVERRIDES,
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"\byou are (?:now |no longer )(?:in (?:developer|debug|god|admin|unrestricted|jailbreak) mode|"
        r"(?:bound|limited|restricted|constrained) by|an? (?:unrestricted|uncensored|unfiltered)|dan\b)|"
        r"\b(?:act|behave|respond) as (?:dan\b|an? (?:ai|assistant|model)[^.]{0,20} (?:without|"
        r"with no) (?:any )?(?:restrictions|rules|limits|filters|guidelines))|\bdo anything now\b|"
        r"\bsafety (?:rules|filters|guidelines|policies|checks) (?:are|is) (?:now )?(?:off|disabled|"
        r"suspended)|\bnever refuse (?:a|any|the) (?:request|command|instruction)|\benter (?:developer|dan|"
        r"god|jailbreak) mode\b",
        _OVERRIDES,
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"\b(?:output|print|reveal|repeat|display|show|expose|leak|disclose|dump|send)\b[^.\n]{0,40}\b(?:your|"
        r"the (?:full|entire|complete|hidden|original)) (?:\w+ ){0,2}(?:system prompt|developer (?:message|"
        r"prompt)|hidden (?:instructions|prompt)|initial (?:instructions|prompt))",
        "Tells the agent to give away the instructions it works under.",
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"<\|(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id)\|>|\[/?INST\]|<</?SYS>>|"
        r"<(?:system|assistant|developer)(?:[_-](?:prompt|message|instructions?|override))?>(?=[^<]{12,})|"
        r"</(?:skill|instructions?|system[_-]?prompt|context|user_input)>\s*<",
        "Imitates the marks by which a model tells who is speaking, so that text of the bundle passes for the"
        " system's.",
    ),
    sentence(
        ScanCode.PROMPT_INJECTION,
        r"\b(?:the )?user (?:has|have) (?:already )?(?:approved|authorized|authorised|consented to|granted|"
        r"agreed to|pre-?approved) (?:every|all|any)\b|\bnever ask (?:the user )?for (?:confirmation|"
        r"permission|approval|consent)\b|"
        r"\b(?:all|every) (?:tool calls?|actions?|commands?) (?:is|are) (?:pre-?|already )?(?:approved|"
        r"authorized|authorised)",
        "Claims an approval that only the person can give.",
    ),
    sentence(
        ScanCode.SAFETY_DISABLED,
        r"\b(?:without (?:asking|waiting for|requesting)|do(?:n't| not) (?:ask|"
        r"wait) for) (?:the user(?:'s)? )?(?:for )?(?:confirmation|permission|approval|consent)",
        "Has the agent act without asking.",
        HINTS,
        negates=True,
    ),
    sentence(
        ScanCode.CONCEALMENT,
        rf"\b(?:hide|conceal)\s+(?:\w+\s+){{1,6}}?from\s+{_PERSON}|\bkeep\s+(?:this|that|it|these|"
        rf"the following)(?:\s+\w+){{0,4}}?\s+(?:secret|hidden|confidential)\s+from\s+{_PERSON}",
        _HIDES,
    ),
    sentence(
        ScanCode.CONCEALMENT,
        rf"(?:\b(?:do not|don't|never|must not|without)\b)\s+(?:ever\s+)?(?:tell|inform|mention|mentioning|"
        rf"reveal|revealing|disclos\w+|notify\w*|alert|telling|informing|showing|show|let)\b"
        rf"(?:\s+(?:this|that|it|these|the\s+(?:above|step|action|upload|transfer|file|command|skill|request|"
        rf"call)s?)(?:\s+\w+){{0,3}}?\s+to\s+{_PERSON}|\s+{_PERSON}(?=\s*(?:$|[.,;!]|about (?:this|it|these)|"
        rf"that (?:you|this)|what you)))",
        _HIDES,
        WARNS,
        negates=True,
    ),
    sentence(
        ScanCode.SAFETY_DISABLED,
        r"\b(?:disable|turn off|turning off|switch off|deactivate|bypass|circumvent|"
        r"remove)\b\s+(?:\w+[ -]){0,5}?(?:(?:approval|confirmation|permission|consent|security|safety|"
        r"guard ?rails?|sandbox\w*|anti-?virus|firewall|gatekeeper|defender|content[- ]filter\w*|"
        r"safeguards?)\b)"
        r"[^.]{0,40}?\b(?:prompts?|warnings?|checks?|sandbox|protections?|filters?|rules|settings?|software|"
        r"first|before|gatekeeper|defender|safeguards|guardrails|dialogs?)\b",
        "Switches off what protects the person and the machine.",
    ),
    sentence(
        ScanCode.SAFETY_DISABLED,
        r"\b(?:every|all) (?:tools?|commands?|calls?|actions?|requests?) (?:is|are|be|"
        r"gets?) auto-?(?:matically )?-?(?:approved|accepted|allowed)\b",
        "Lets an agent act without asking the person.",
    ),
    sentence(
        ScanCode.CREDENTIAL_THEFT,
        r"\b(?:ask|request|prompt|tell|have|get|require|make)\b[^.]{0,60}(?:user|them|person|"
        r"customer)[^.]{0,60}(?:seed|recovery|mnemonic)\s+(?:phrase|words)",
        "Asks for the words from which a wallet is rebuilt: whoever has them owns it.",
    ),
    sentence(
        ScanCode.CREDENTIAL_THEFT,
        rf"\b(?:ask|request|collect|gather|prompt|enter|read|open|find|get|take|"
        rf"extract)\b[^.]{{0,120}}(?:{_GUARDED_WORDS})[^.]{{0,120}}\b{_GIVES}\b[^.]{{0,100}}(?:{_ELSEWHERE}|"
        rf"\bserver\b|\bservice\b|\bendpoint\b)",
        "Has secrets of the person read and given to somebody else.",
    ),
    sentence(
        ScanCode.CREDENTIAL_THEFT,
        rf"(?:{GUARDED_PLACES})[^\n]{{0,200}}\b{_GIVES}\b[^\n]{{0,160}}{_ADDRESS}|"
        rf"\b{_GIVES}\b[^\n]{{0,120}}(?:{GUARDED_PLACES})[^\n]{{0,160}}\bto\b[^\n]{{0,60}}{_ADDRESS}",
        "Has secrets of the person read and given to somebody else.",
    ),
    sentence(
        ScanCode.EXFILTRATION,
        rf"\b{_QUIETLY}\b[^.]{{0,80}}\b{_GIVES}\b[^\n]{{0,160}}{_ADDRESS}|"
        rf"\b{_GIVES}\b[^\n]{{0,200}}{_ADDRESS}[^\n]{{0,80}}\b{_QUIETLY}",
        "Sends something elsewhere unseen.",
    ),
    sentence(
        ScanCode.EXFILTRATION,
        r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\n]{0,200}(?:<[^>\n)]{0,120}|\{[^}\n)]{0,120}|"
        r"\[[^\]\n)]{0,120})\b(?:summary|messages?|conversation|user|data|context|secrets?|keys?|e-?mail|"
        r"contents?|history|answer|prompt|token)",
        "Puts what the person said into the address of a picture, which is fetched from somebody else's server.",
    ),
    sentence(
        ScanCode.FOREIGN_COMMANDS,
        r"\b(?:win(?:dows)?(?: key)?|⊞)\s*\+\s*r\b[^\n]{0,160}\b(?:ctrl|cmd|control)\s*\+\s*v\b",
        _ELSEWHERES,
    ),
    sentence(
        ScanCode.FOREIGN_COMMANDS,
        r"\b(?:run|execute|eval|evaluate|paste|type|use)\b[^.\n]{0,40}\b(?:commands?|scripts?|"
        r"codes?)\b[^.\n]{0,20}\b(?:they|he|she|it|support|the (?:page|server|site|response|bot|"
        r"chat))\s+(?:gives?|sends?|shows?|displays?|provides?|returns?|says?)\b",
        _ELSEWHERES,
    ),
    sentence(
        ScanCode.FOREIGN_COMMANDS,
        r"\b(?:response|reply|answer|server|page|file)\b[^.\n]{0,30}\b(?:contains?|returns?|holds?|includes?|"
        r"is)\b[^.\n]{0,30}\b(?:shell )?(?:commands?|scripts?|code)\b[^.\n]{0,12}\b(?:run|execute|eval)\b",
        _ELSEWHERES,
    ),
    sentence(
        ScanCode.FOREIGN_COMMANDS,
        rf"(?:{_ADDRESS}|\[[^\]\n]+\]\()[^\n]{{0,160}}(?:\bpass(?:word|code)?\b\s*(?:is|:|"
        rf"=)?\s*[`\"'][^`\"'\s]{{2,40}}[`\"'])[^\n]{{0,200}}\b(?:run|launch|execute|open|start|install|"
        rf"extract)\b|"
        rf"\b(?:download|get)\b[^\n]{{0,200}}{_ADDRESS}[^\n]{{0,160}}\b(?:extract|unzip|"
        rf"unpack)\b[^\n]{{0,60}}\bpass(?:word|code)?\b\s*(?:is|:|=)?\s*[`\"'][^`\"'\s]{{2,40}}",
        "Has a locked archive fetched and what is in it run: the lock keeps scanners out.",
    ),
)
_BLOCKS_OF_TEXT = (
    sentence(
        ScanCode.FOREIGN_COMMANDS,
        rf"\b(?:visit|go to|open|navigate to|head to|browse to|from|see|load|"
        rf"copy)\b[^\n]{{0,80}}{_ELSEWHERE}[^\n]{{0,200}}\b(?:copy|paste|run|execute|"
        rf"enter)\b[^\n]{{0,80}}\b(?:terminal|console|command(?: line| prompt)?|powershell|shell|script|cmd)\b|"
        rf"\bcopy\b[^\n]{{0,60}}\b(?:command|script|code)\b[^\n]{{0,60}}{_ELSEWHERE}[^\n]{{0,120}}\b(?:paste|"
        rf"run|execute)\b",
        _ELSEWHERES,
    ),
    sentence(
        ScanCode.FOREIGN_COMMANDS,
        rf"\b(?:does(?: not|n't) work without|will not work|won't work|requires?|required|needs?|must|"
        rf"prerequisites?|before (?:using|you|running|the)|important|mandatory)\b[^\n]{{0,240}}\b(?:download|"
        rf"get|fetch|grab)\b[^\n]{{0,160}}{_ADDRESS}[^\n]{{0,160}}\b(?:run|running|launch|execute|start|open|"
        rf"install)\b",
        "Has a program fetched from an address and run before anything else works: it is not in this bundle a"
        "nd cannot be reviewed.",
    ),
    sentence(
        ScanCode.FOREIGN_INSTRUCTIONS,
        rf"\b(?:fetch|load|download|get|read|open|retrieve|check|poll|visit|pull|"
        rf"curl)\b[^\n]{{0,60}}{_ADDRESS}[^\n]{{0,80}}\b(?:follow|obey|execute|carry out|apply|do|treat|"
        rf"perform|run)\b[^\n]{{0,60}}\b(?:steps?|instructions?|commands?|directions?|orders|whatever|"
        rf"tells? you|it (?:says|contains)|contents?)\b",
        _OBEYS,
        WARNS,
    ),
    sentence(
        ScanCode.PERSISTENCE,
        r"\b(?:append|add|write|insert|put|save|copy|inject)\b[^\n]{0,120}(?:~|\$HOME|user'?s|"
        r"home)[^\n]{0,40}\b(?:(?:CLAUDE|AGENTS|SOUL|MEMORY|IDENTITY|GEMINI|HEARTBEAT|TOOLS|USER|"
        r"copilot-instructions)\.md\b|\.cursorrules\b)|"
        r"\b(?:append|add|write|insert|put|save|copy|inject)\b[^\n]{0,120}\b(?:CLAUDE|AGENTS|SOUL|MEMORY|"
        r"IDENTITY|GEMINI|HEARTBEAT)\.md\b[^\n]{0,160}\b(?:all future|every (?:future )?session|survives?|"
        r"persist\w*|always (?:load|run|obey|use)|never remove|permanent\w*)",
        "Writes orders into the files that the agent reads in every session: they outlive the skill.",
    ),
)
_sentence_rules = by_words((*_SENTENCES, *SENTENCES_LED_ELSEWHERE))
_block_rules = by_words((*_BLOCKS_OF_TEXT, *BLOCKS_LED_ELSEWHERE))
_MAY_BE_ASKED_FOR = (ScanCode.EXFILTRATION, ScanCode.DESTRUCTIVE)
_MOST_OF_A_BLOCK = 20_000
"""Characters of a paragraph or a list that are looked at as one."""

_AGAIN = re.compile(
    r"\b(?:every|each) (?:\d+ )?(?:session|hours?|minutes?|days?|time|run|start|morning|request|task)\b|"
    r"\bat the start of\b|\bperiodically\b|\bheartbeat\b|\bexactly\b|\bwhatever\b|"
    r"\bas your (?:new )?instructions\b|\bexecute the commands\b",
    re.IGNORECASE,
)
_ACTS = re.compile(
    rf"\b(?:{_GIVES}|delete|remove|run|execute|install|download|upload|fetch|write|overwrite|buy|pay|approve)\b",
    re.IGNORECASE,
)
_GIVEN = Search(
    rf"\b{_GIVES}\b[^\n]{{0,120}}?{_OWNED}[^\n]{{0,120}}?({_ADDRESS}|{EMAIL})|"
    rf"\b{_GIVES}\b[^\n]{{0,80}}({_ADDRESS}|{EMAIL})[^\n]{{0,80}}{_OWNED}",
)


def suspicious_wording(passages: Iterable[Passage]) -> Iterator[Found]:
    """What the prose and the comments of one file ask for."""
    for _, group in groupby(passages, key=lambda one: one.block):
        block = list(group)
        for passage in block:
            if passage.words:
                yield from _of_sentence(passage)
        told = [one for one in block if one.kind is not Kind.CODE]
        if any(one.words for one in told):
            yield from _of_block(told)


def _of_sentence(passage: Passage) -> Iterator[Found]:
    code = passage.kind is Kind.CODE
    text = passage.text
    for rule in _sentence_rules(passage.words):
        match = rule.pattern.search(passage)
        if match is None:
            continue
        found = Found(rule.code, rule.weight, passage.line, text, rule.why, match.start())
        if code and passage.language != "md" and not is_run(passage) and passage.language != "data":
            yield found.named()
        elif _ASKED.search(text) and rule.code in _MAY_BE_ASKED_FOR:
            continue
        else:
            yield found.named() if only_named(passage, match.start(), match.end()) else found
    if not code:
        yield from _given_away(passage)


def _given_away(passage: Passage) -> Iterator[Found]:
    match = _GIVEN.search(passage)
    if match is None or _ASKED.search(passage.text):
        return
    weight = BLOCKS if collector(match[1] or match[2]) else WARNS
    found = Found(
        ScanCode.EXFILTRATION,
        weight,
        passage.line,
        passage.text,
        "Sends what the person says or owns to an address, and nothing says that the person asked for it.",
        match.start(),
    )
    yield found.named() if only_named(passage, match.start(), match.end()) else found


def _of_block(block: list[Passage]) -> Iterator[Found]:
    whole = " ".join(one.text for one in block)[:_MOST_OF_A_BLOCK]
    joined = block[0] if len(block) == 1 else replace(block[0], text=whole, words=joined_words(block, whole))
    for rule in _block_rules(joined.words):
        match = rule.pattern.search(joined)
        if match is None:
            continue
        place, within = _place_of(block, match.start())
        weight = rule.weight
        if rule.code is ScanCode.FOREIGN_INSTRUCTIONS and _AGAIN.search(whole):
            weight = BLOCKS
        if rule.code is ScanCode.FOREIGN_COMMANDS and weight is BLOCKS and well_known(match[0]):
            weight = WARNS
        found = Found(rule.code, weight, place.line, whole, rule.why, match.start())
        named = only_named(place, within, min(len(place.text), within + len(match[0])))
        yield found.named() if named else found
    yield from _hidden_acts(block, whole)


def _hidden_acts(block: list[Passage], whole: str) -> Iterator[Found]:
    """Concealment beside an act: what is kept from the person is something that is done."""
    rule = next(one for one in _SENTENCES if one.code is ScanCode.CONCEALMENT and one.negates)
    for passage in block:
        match = rule.pattern.search(passage)
        if match is None or only_named(passage, match.start(), match.end()):
            continue
        rest = whole.replace(match[0], " ")
        if _ACTS.search(rest):
            yield Found(
                rule.code,
                BLOCKS,
                passage.line,
                passage.text,
                rule.why + " Beside it stands what is done.",
                match.start(),
            )
            return


def _place_of(block: list[Passage], at: int) -> tuple[Passage, int]:
    begin = 0
    for passage in block:
        if at <= begin + len(passage.text):
            return passage, max(0, at - begin)
        begin += len(passage.text) + 1
    return block[-1], 0

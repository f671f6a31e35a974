"""summarise_conversation_segment: a summary by a model, else the most telling sentences, as they were said."""

import re
from collections import Counter
from typing import Any

_BREAK = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[^\W_]+")
_MOST_LIKE = 0.6
_SMALL_LIST = """
    a an and are as at be because been but by can could did do does for from had has have he her
    his how i if in into is it its just me my no not of ok okay on or our out she so some than that
    the their them then there they this to too up us was we well were what when where which who
    will with would yes you your thanks thank hello hi hey please really very oh um uh like know
    think get got go going good
"""
_SMALL = frozenset(_SMALL_LIST.split())


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    chosen = summary_of(params["turns"], params["max_sentences"])
    if chosen:
        texts = [f"{turn['speaker']}: {turn['text']}" for turn in params["turns"]]
        told = await context.model.sum_up(texts=texts, sentences=params["max_sentences"])
        if told["summary"] is not None:
            result = {
                "summary": told["summary"],
                "sentences": chosen,
                "method": "model",
                "model_used": told["model_used"],
            }
            words = told["summary"][:900]
            return {"success": True, "result": result, "message": words, "warnings": told["warnings"]}
    result = {
        "summary": " ".join(one["text"] for one in chosen)[:4000],
        "sentences": chosen,
        "method": "extractive",
        "model_used": "local-extract",
    }
    if not chosen:
        words = "There is no sentence to take over."
        return {"success": True, "status": "partial", "result": result, "message": words, "warnings": [words]}
    return {"success": True, "result": result, "message": f"{len(chosen)} sentence(s) of the segment."}


def summary_of(turns: list[dict[str, str]], most: int) -> list[dict[str, Any]]:
    """The most telling sentences, in the order in which they were said."""
    sentences: list[dict[str, Any]] = [
        {"turn": number, "speaker": turn["speaker"], "text": text}
        for number, turn in enumerate(turns)
        for text in sentences_of(turn["text"])
    ]
    about = Counter(word for one in sentences for word in set(words_of(one["text"])))
    chosen: list[int] = []
    order = sorted(range(len(sentences)), key=lambda at: (-_weight(sentences[at]["text"], about), at))
    for at in order:
        if len(chosen) == most:
            break
        words = set(words_of(sentences[at]["text"]))
        if words and all(
            _likeness(words, set(words_of(sentences[one]["text"]))) < _MOST_LIKE for one in chosen
        ):
            chosen.append(at)
    return [sentences[at] for at in sorted(chosen)]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each a part of it."""
    return [part for piece in _BREAK.split(text) if piece and (part := piece.strip())]


def words_of(text: str) -> list[str]:
    """The words that say something."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _SMALL]


def _weight(text: str, about: Counter[str]) -> float:
    words = set(words_of(text))
    # What a word shares with other sentences counts, its own occurrence a little; long sentences do not win by length.
    shared = sum(about[word] - 0.5 for word in words)
    return shared / (len(words) + 3) ** 0.5 if words else 0.0


def _likeness(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(min(len(one), len(other)), 1)

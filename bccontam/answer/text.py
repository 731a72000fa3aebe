"""Raw model output -> the text that holds the answer.

Takes away what is not the model's answer: terminal sequences, invisible characters, events around a
message, reasoning blocks. It finds no paths. Every step is one pass over a bounded text.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

MAX_TEXT = 2**18
"""Characters read of one answer, some 64,000 tokens. Of a longer text the two ends and the last list that starts
between them are read: an answer stands at an end, after the reasoning or before the explanation."""

_HALF = MAX_TEXT // 2
_SEAM = 2**15  # how far a cut may move to fall on a comma or a line break

_TERMINAL = re.compile(
    r"(?:\x1b[\]PX^_]|\x9d)[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # titles, links: ESC ] ... BEL
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor: ESC [ ... letter
    r"|\x1b[ -/]*[0-~]?"
    r"|(?:\^\[|\\(?:u001b|x1b|033|e))?\[\d{1,3}(?:;\d{1,3}){0,8}m"  # a colour whose ESC became text or was lost
)
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_REASONING = (
    "(?:think|thinking|thoughts?|reasoning|scratch_?pad|analysis|reflection|(?:inner_)?monologue|deliberation"
    "|discussion)"
)
_ANSWER = "(?:answer|final|final_answer|response|output|result)"
_REASONING_TAG = re.compile(
    # An opening tag begins a line or follows a bracket: a sentence may speak of one.
    rf"(?P<open>(?:^[ \t]*|(?<=[>\]}}]))(?:<(?:\w+:)?{_REASONING}(?:\s[^<>]{{0,200}})?>|\[THINK\]|◁think▷))"
    rf"|(?P<close></(?:\w+:)?{_REASONING}\s*>|\[/THINK\]|◁/think▷|\.\.\.done thinking\.)"
    rf"|(?P<answer><{_ANSWER}\s*>)",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER_TAG = re.compile(rf"<(/?){_ANSWER}\s*>", re.IGNORECASE)
_ANSWER_SEAM = re.compile(rf"</{_ANSWER}\s*>\s*<{_ANSWER}\s*>", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>(\w{1,20})[^<]{0,100}<\|message\|>")
_SPECIAL_TOKEN = re.compile(r"<\|[^|<>\n]{0,40}\|>|</?s>")

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_QUOTE_ENTITY = re.compile(r"&(?:quot|apos|lsqb|lbrack|#34|#39|#91|#x22|#x27|#x5b);", re.IGNORECASE)
_LOGGED_QUOTE = re.compile(r"\\([\"'\\/])|\\[nrt](?=[\s\"'\[\]{}\\]|$)")
_WIDE = str.maketrans(
    {"［": "[", "］": "]", "【": "[", "】": "]", "｛": "{", "｝": "}", "＂": '"', "：": ":"}
)

_REPLY_KEYS = (
    *("choices", "message", "content", "text", "result", "response"),
    *("output_text", "raw_output", "completion", "output", "answer"),
)
"""Where an API reply holds its text."""

_REFUSALS = (
    r"\b(?:i|we)\s+(?:can(?:not|\s+not|'?t)|could(?:\s+not|n'?t)|won'?t|would\s+need|need\s+more)",
    r"\b(?:i|we)\s+(?:(?:do|did)(?:\s+not|n'?t)\s+have|have\s+no\s+(?:access|way|information))",
    r"\b(?:i\s+am|i'm|i\s+was|we\s+are)\s+(?:unable|not\s+able|sorry|afraid)",
    r"\b(?:cannot|can't)\s+(?:be\s+)?(?:determine|tell|identif|say|know|help|assist)",
    r"\b(?:unable|impossible|not\s+possible)\s+to\b",
    r"^[^\w\n]*sorry\b",
    r"\bas\s+an\s+ai\b",
    r"\bno\s+access\s+to\b",
    r"\bplease\s+(?:provide|share|give)\b",
    r"\b(?:not\s+enough|insufficient|more)\s+(?:\w+\s+){0,3}(?:information|context|details?|code|access)\b",
    r"\bwithout\s+(?:more|further|access|seeing)\b",
    r"\b(?:kann|konnte)\b[^.\n]{0,60}\bnicht\b|\bleider\b",
    r"\bje\s+ne\s+(?:peux|sais)\b|\bdésolée?\b",
    r"\bno\s+(?:puedo|sé)\b|\blo\s+siento\b",
    r"\bnon\s+(?:posso|riesco)\b|\bmi\s+dispiace\b",
    r"\bnão\s+(?:posso|consigo)\b|\bdesculpe\b",
    r"\b(?:kan|kunne|kunde)\b[^.\n]{0,40}\b(?:ikke|inte|niet)\b",
    r"\bnie\s+mogę\b",
    r"\bне\s+(?:могу|знаю)\b|к\s+сожалению",
    r"无法|無法|不能|抱歉",
    r"できません|わかりません|申し訳",
    r"없습니다|죄송",
)
_REFUSAL = re.compile("|".join(_REFUSALS), re.IGNORECASE | re.MULTILINE)


def words(text: str) -> frozenset[str]:
    """The blank-separated words of a long constant, as a set."""
    return frozenset(text.split())


def bounded(text: str) -> str:
    """`text`, or of one above `MAX_TEXT` its beginning and end and the last list that starts between.

    The cuts fall on a comma or a line break where there is one near, so that a long list stays a list.
    """
    if len(text) <= MAX_TEXT:
        return text
    head_end = max(text.rfind(mark, _HALF - _SEAM, _HALF) for mark in ",\n") + 1 or _HALF
    tail_from = len(text) - _HALF
    seams = [found for mark in ",\n" if (found := text.find(mark, tail_from, tail_from + _SEAM)) >= 0]
    tail_from = min(seams, default=tail_from - 1) + 1
    return text[:head_end] + _last_list(text, head_end, tail_from) + text[tail_from:]


def _last_list(text: str, start: int, end: int) -> str:
    opening = max(text.rfind(mark, start, end) for mark in ('["', "['", "[\n", "[\r\n"))
    closing = text.find("]", opening, min(opening + _SEAM, end)) if opening >= 0 else -1
    return f"\n{text[opening : closing + 1]}\n" if closing >= 0 else ""


def plain_text(text: str) -> str:
    """`text` without terminal sequences, control and invisible characters, and with `\\n` line breaks.

    Every Unicode space becomes an ASCII one; surrogates are joined, a lone one becomes U+FFFD, so that the
    result can be written as UTF-8.
    """
    text = _TERMINAL.sub("", text)
    text = _CONTROL.sub("", _LINE_BREAK.sub("\n", text))
    if text.isascii():
        return text
    return repair_surrogates(_SPACE.sub(" ", _INVISIBLE.sub("", text)))


def repair_surrogates(text: str) -> str:
    """Surrogate pairs joined to their character, a lone surrogate replaced by U+FFFD."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unescape_entities(text: str) -> str:
    """HTML entities that end in a semicolon, decoded once (`&copy` alone may be part of a name)."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text) if "&" in text else text


def event_message(text: str) -> str | None:
    """The model's message out of a stream of events, one JSON object a line; None when it is no stream.

    Reads the events of the Copilot CLI (`assistant.message`, or its deltas) and of agents that end with a
    `result`. Empty when the stream holds no message. The user's own message, with our example in it, and
    messages before a tool call are not the answer.
    """
    if not text.lstrip().startswith("{") or '"type"' not in text:
        return None
    message, deltas, seen = "", [], False
    for event in _json_lines(text):
        kind, data = event.get("type"), event.get("data")
        content: object = None
        if kind == "result":
            content = event.get("result")
        elif isinstance(kind, str) and isinstance(data, dict):
            content = data.get("content") if kind == "assistant.message" else None
            if kind.startswith("assistant.message") and isinstance(data.get("deltaContent"), str):
                deltas.append(data["deltaContent"])
        else:
            continue
        seen = True
        if isinstance(content, str) and content.strip():
            message = content
    return (message or "".join(deltas)) if seen else None


def _json_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if line.lstrip().startswith("{"):
            value = _json_or_none(line)
            if isinstance(value, dict):
                yield value


def _json_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # ValueError: not JSON, or an integer of more than 4,300 digits
        return None


def without_reasoning(text: str) -> tuple[str, bool]:
    """The text outside reasoning blocks, and whether the last block was never closed (the answer was cut).

    A closing tag without an opening one ends a block that began in the prompt: what stands before it is
    reasoning. Tags in the strings of an answer that is valid JSON as a whole are left alone.
    """
    text, cut = _final_channel(text)
    if "<" not in text and "THINK]" not in text and "think" not in text:
        return text, cut
    if text.lstrip()[:1] in ("[", "{") and _json_or_none(text) is not None:
        return text, cut
    kept: list[str] = []
    start, inside = 0, False
    for tag in _REASONING_TAG.finditer(text):
        if tag["close"] is not None:
            if not inside:
                kept.clear()
            start, inside = tag.end(), False
        elif tag["open"] is not None and not inside:
            kept.append(text[start : tag.start()])
            inside = True
        elif tag["answer"] is not None and inside:
            start, inside = tag.start(), False
    if not inside:
        kept.append(text[start:])
    return "\n".join(kept), cut or inside


def _final_channel(text: str) -> tuple[str, bool]:
    """Of an answer with channels (`<|channel|>final<|message|>`) the last final one; no final one: cut."""
    if "<|" not in text and "s>" not in text:
        return text, False
    channels = list(_CHANNEL.finditer(text))
    finals = [channel for channel in channels if channel[1].lower() == "final"]
    if finals:
        text = text[finals[-1].end() :]
    elif channels:
        return text[: channels[0].start()], True
    return _SPECIAL_TOKEN.sub("\n", text), False


def answer_block(text: str) -> str:
    """The inside of the last `<answer>` (or `<response>`, `<output>`, ...) block, else the whole text."""
    if "<" not in text:
        return text
    text = _ANSWER_SEAM.sub("\n", text)
    tags = list(_ANSWER_TAG.finditer(text))
    for index in range(len(tags) - 1, -1, -1):
        if not tags[index][1]:
            end = tags[index + 1].start() if index + 1 < len(tags) else len(text)
            inside = text[tags[index].end() : end]
            return inside if inside.strip() else text
    return text


def reply_text(text: str) -> str | None:
    """The answer inside an API reply or a JSON string that is the whole text; None when it is neither.

    Empty for a reply without content (a content filter) and for an error object: there is no answer then.
    """
    start = text.lstrip()[:1]
    if start not in ("{", '"'):
        return None
    reply = whole = _json_or_none(text)
    for _ in range(8):
        if isinstance(reply, list):
            reply = reply[-1] if reply else None
        elif isinstance(reply, dict):
            reply = next((reply[key] for key in _REPLY_KEYS if reply.get(key)), None)
    if isinstance(reply, str):
        return reply
    return "" if isinstance(whole, dict) and ("choices" in whole or whole.get("error")) else None


def other_readings(text: str) -> Iterator[str]:
    """The text as it was before somebody quoted it, if it looks quoted.

    Escaped as in a log or encoded twice (`[\\"a.al\\"]`), HTML entities for quotes, wide brackets, and a
    list whose opening bracket is missing (it may stand in the prompt).
    """
    logged = text
    for _ in range(3):
        if '\\"' not in logged and "\\'" not in logged:
            break
        logged = _LOGGED_QUOTE.sub(lambda escape: escape[1] or "\n", logged)
        yield logged
    if _QUOTE_ENTITY.search(text):
        yield unescape_entities(text)
    if not text.isascii() and (wide := text.translate(_WIDE)) != text:
        yield wide
    if (start := text.lstrip())[:1] in ('"', "'", "“"):
        yield f"[{start}" if "]" in start[-20:] else f"[{start}\n]"


def is_refusal(text: str) -> bool:
    """Whether a text without paths says that it cannot answer, in one of a dozen languages."""
    return _REFUSAL.search(text[:4000].replace("’", "'")) is not None

from __future__ import annotations

import json

import pytest

from bccontam.answer import EXAMPLE_PATHS, Prediction, parse_prediction
from bccontam.answer.text import MAX_TEXT
from tests.support.answers import ANSWER, BILLING, BOTH, ECHO, ORDER, SHOP


def dumped(value: object) -> str:
    return json.dumps(value)


def read(text: str) -> Prediction:
    return parse_prediction(text)


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        f"[Note] by the [Shopify] tag:\n{ANSWER}",
        f"The files [see the report] are {ANSWER}.",
        f"{ANSWER}\n\n[1] see [the docs](https://example.invalid/al), or [^2]: none",
        f"[Note: a bracket that never closes\n{ANSWER}",
        f"[I don't know, it's \"hard]\n{ANSWER}",
        f"\ufeff{ANSWER}",
        ANSWER.replace(" ", "\r\n\t"),
        f"`{ANSWER}`",
        f"{ANSWER}\n\nTotal usage est: 1 request\n  some-model 13.7k input [est. 1]\n",
        f"{ANSWER}\n::error::x\n@everyone <img src=x>",
        f'{ANSWER}\n\nKeywords: ["shopify", "orders"]',
    ],
)
def test_an_array_is_found_in_prose(text: str) -> None:
    assert read(text) == BOTH


@pytest.mark.parametrize("info", ["", "json", "JSONC", "json5", "text", 'json title="a [b]"'])
def test_any_fence_around_an_array_is_ignored(info: str) -> None:
    assert read(f"```{info}\n{ANSWER}\n```\nSee [x].") == BOTH
    assert read(f"```{info}\n{ANSWER}") == BOTH
    assert read(f"~~~{info}\n{ANSWER}\n~~~") == BOTH
    assert read(f"````{info}\n```\n{ANSWER}\n```\n````") == BOTH


@pytest.mark.parametrize(
    "text",
    [
        f'First thought: ["src/Draft.al"]\nOn reflection:\n{ANSWER}',
        f'```json\n["src/Draft.al"]\n```\nbetter\n```json\n{ANSWER}\n```',
        f'["src/Draft.al"]{ANSWER}',
        f'{{"files": ["src/Draft.al"]}} or rather {{"files": {ANSWER}}}',
    ],
)
def test_the_last_of_several_lists_is_the_answer(text: str) -> None:
    assert read(text) == BOTH


@pytest.mark.parametrize("gap", ["\n", ",\n", ", ", "\n\n", "\n- "])
def test_lists_one_below_another_are_one_list(gap: str) -> None:
    assert read(f'["{ORDER}"]{gap}["{SHOP}"]') == BOTH
    assert read(f'{{"path": "{ORDER}"}}{gap}{{"path": "{SHOP}"}}') == BOTH


@pytest.mark.parametrize(
    "text",
    [
        f"['{ORDER}', \"{SHOP}\"]",
        f'["{ORDER}",, "{SHOP}",,]',
        f'["{ORDER}" "{SHOP}"]',
        f'["{ORDER}"\n"{SHOP}"]',
        f'["{ORDER}"; "{SHOP}"]',
        f"[{ORDER}, {SHOP}]",
        f"[\n  {ORDER}, # the table\n  {SHOP}\n]",
        f"[`{ORDER}`, `{SHOP}`]",
        f'["{ORDER}" (the table), "{SHOP}"]',
        f'["{ORDER}, "{SHOP}"]',
        f'["{ORDER}", {SHOP}"]',
        f'[\n"{ORDER},\n"{SHOP}"\n]',
        f'["{ORDER}", "{SHOP}"}}',
        f'{{"files": ["{ORDER}", "{SHOP}"}}',
        f'["src/Ap["{ORDER}", "{SHOP}"]',
        f'[// a [note]\n"{ORDER}", /* "x.al" */ "{SHOP}" # end]\n]',
        f'["{ORDER}", /* never closed\n"{SHOP}"]',
        f'("{ORDER}", "{SHOP}")',
        f'{{"{ORDER}", "{SHOP}"}}',
        f"files = set([r'{ORDER}', Path(\"{SHOP}\")])",
        f'[NaN, -Infinity, {"9" * 5000}, null, true, "{ORDER}", {{"x": 1}}, "", " ", [], "n/a", "{SHOP}"]',
        f"［“{ORDER}”，“{SHOP}”］",
        f'{ANSWER[1:]}',
        f'"{ORDER}",\n"{SHOP}"\n',
    ],
)  # fmt: skip
def test_broken_json_still_gives_its_items(text: str) -> None:
    assert read(text) == BOTH


@pytest.mark.parametrize("quotes", ["“”", "„“", "”“", "«»", "»«", "‘’", "‹›", "「」"])
def test_typographic_quotes_are_quotes(quotes: str) -> None:
    items = [f"{quotes[0]}{path}{quotes[1]}" for path in (ORDER, SHOP)]
    assert read(f"[{', '.join(items)}]") == BOTH


@pytest.mark.parametrize(
    "key",
    ["path", "file", "filename", "file_name", "filePath", "FilePath", "file-path", "FILE", "location", "name",
     "relative_path", "fullPath", "uri", "source_file", "target", "module", "value", "al_file"],
)  # fmt: skip
def test_the_path_of_an_object_is_found_under_any_reasonable_key(key: str) -> None:
    rows = [{key: ORDER, "reason": "as [1] says, see src/x.al", "confidence": 0.9}, {key: SHOP, "line": 3}]
    assert read(dumped(rows)) == BOTH
    assert read(dumped({"predictions": rows, "confidence": "high"})) == BOTH


@pytest.mark.parametrize(
    "value",
    [
        {"files": [ORDER, SHOP], "reasoning": "orders [1] then shop [2]", "rejected": ["src/x.al"]},
        {"result": {"answer": {"files": [ORDER, SHOP]}}},
        {"primary": [ORDER], "secondary": [SHOP]},
        {"1": ORDER, "2": SHOP},
        {"most_likely": ORDER, "alternative": SHOP},
        {ORDER: 0.9, SHOP: {"confidence": 0.2}},
        {"files": f"{ORDER}, {SHOP}"},
        {"files": f"{ORDER}\n{SHOP}"},
        {"files": ANSWER},
        {"content": f"```json\n{ANSWER}\n```"},
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}}], "model": "gpt-4.1"},
        {"content": [{"type": "text", "text": ANSWER}], "model": "claude-4.5"},
        {"type": "result", "subtype": "success", "result": ANSWER},
        [[ORDER], [SHOP]],
        [[ORDER, 0.9], [SHOP, 0.1]],
        [{"path": "src/Apps/W1/Shopify/App/src/Orders", "file": "ShpfyOrder.Table.al"}, {"path": SHOP}],
        [{"name": "Order", "path": ORDER, "type": "Table"}, {"file": "ShpfyShop.Page.al", "path": SHOP}],
        [{"location": {"path": ORDER, "line": 1}}, {"location": {"path": SHOP}}],
    ],
)
def test_objects_and_nested_lists_give_their_paths(value: object) -> None:
    assert read(dumped(value)) == BOTH
    assert read(f"Here it is:\n```json\n{json.dumps(value, indent=2)}\n```\nDone.") == BOTH


def test_a_single_object_is_an_answer() -> None:
    assert read(f'{{"path": "{ORDER}"}}') == Prediction((ORDER,), "ok")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ANSWER),
        json.dumps(json.dumps(ANSWER)),
        json.dumps(ANSWER)[1:-1],
        json.dumps(json.dumps([ORDER, SHOP], indent=2))[1:-1],
        json.dumps([ORDER, SHOP], indent=2).replace("\n", "\\n"),
        ANSWER.replace('"', "&quot;"),
        ANSWER.replace('"', "&#34;"),
    ],
)
def test_an_answer_that_was_quoted_by_somebody_is_unquoted(text: str) -> None:
    assert read(text) == BOTH


@pytest.mark.parametrize(
    "tag", ["think", "thinking", "Reasoning", "scratchpad", "THOUGHT", "analysis", "seed:think"]
)
def test_drafts_in_a_reasoning_block_are_not_the_answer(tag: str) -> None:
    draft = 'maybe ["src/Draft.al"], `src/x.al` [hm]\n'
    assert read(f"<{tag}>\n{draft}</{tag}>\n{ANSWER}") == BOTH
    assert read(f"{draft}</{tag}>{ANSWER}") == BOTH
    assert read(f"<{tag}>a <{tag}>{draft}</{tag}> b {draft}</{tag}>{ANSWER}") == BOTH
    assert read(f"{ANSWER}\n<{tag}>{draft}</{tag}>") == BOTH
    assert read(f"<{tag}>\n{draft}") == Prediction((), "truncated")
    assert read(f"<{tag}>\n{draft}</{tag}>\n") == Prediction((), "unparsed")


@pytest.mark.parametrize(
    "text",
    [
        f'<|channel|>analysis<|message|>["src/x.al"]<|end|><|channel|>final<|message|>{ANSWER}<|return|>',
        f'◁think▷["src/x.al"]◁/think▷{ANSWER}',
        f'[THINK]["src/x.al"][/THINK]{ANSWER}',
        f'Thinking...\n["src/x.al"]\n...done thinking.\n\n{ANSWER}',
        f"<response>Here is my answer.</response>\n{ANSWER}",
        f'<thinking>["src/x.al"]</thinking><answer>{ANSWER}</answer> not ["src/y.al"]',
        f"<think>hm <answer>{ANSWER}</answer>",
        f"<answer>\n{ORDER}\n{SHOP}\n</answer>",
        f"<answer>{ORDER}</answer>\n<answer>{SHOP}</answer>",
        f"<discussion>`src/x.al` [y]</discussion>\n<response>\n{ORDER}\n{SHOP}\n</response>",
        json.dumps({"files": [ORDER, SHOP], "reason": "the <think> tag and </think>"}),
        f"{ANSWER}<|im_end|>",
    ],
)
def test_channels_and_answer_blocks_are_understood(text: str) -> None:
    assert read(text) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        f'\x1b[32m["{ORDER}",\x1b[0m \x1b[1m"{SHOP}"]\x1b[0m',
        f"\x1b[38;5;196m{ANSWER}\x1b[0m",
        f"\x1b[?2004h\x1b]0;copilot [x]\x07{ANSWER}\x1b]0;done\x1b\\",
        f"\x1b]0;never closed [x\n{ANSWER}",
        f'["\x1b]8;;file:///x\x07{ORDER}\x1b]8;;\x07", "{SHOP}"]',
        f"^[[32m{ANSWER}^[[0m",
        f'["{ORDER}",[0m [1m"{SHOP}"][0m',
        f"\\u001b[32m{ANSWER}\\u001b[0m",
        f"⠋ Thinking...\r⠙ Thinking...\r{ANSWER}",
        f"\x9b32m{ANSWER}\x9b0m",
    ],
)
def test_terminal_sequences_are_no_brackets(text: str) -> None:
    assert read(text) == BOTH


def test_of_a_stream_of_events_the_last_message_of_the_model_counts() -> None:
    events = [
        {"type": "user.message", "data": {"content": f"... {ECHO} src/asked.al"}},
        {"type": "assistant.message", "data": {"content": '["src/Draft.al"]'}},
        {"type": "assistant.message", "data": {"content": ANSWER}},
        {"type": "result", "exitCode": 0, "usage": {}},
    ]
    lines = [json.dumps(event) for event in events]
    assert read("\n".join(lines)) == BOTH
    assert read("\n".join([lines[0], lines[3]])) == Prediction((), "error")
    deltas = [
        {"type": "assistant.message_delta", "data": {"deltaContent": part}}
        for part in (ANSWER[:9], ANSWER[9:])
    ]
    assert read("\n".join(map(json.dumps, deltas))) == BOTH


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (f'["{ORDER}", "{SHOP}", "src/Ba', (ORDER, SHOP)),
        (f'["{ORDER}", "{SHOP}"', (ORDER, SHOP)),
        (f'["{ORDER}", "{SHOP}",', (ORDER, SHOP)),
        (f"['{ORDER}', 'src/Ba", (ORDER,)),
        (f"[“{ORDER}”, “src/Ba", (ORDER,)),
        (f"[{ORDER}, src/Ba", (ORDER,)),
        (f'["{ORDER}", "src\\', (ORDER,)),
        (f'```json\n["{ORDER}",\n```', (ORDER,)),
        (f'{{"files": ["{ORDER}", "src/[legacy]/x.al", "src/tr', (ORDER, "src/[legacy]/x.al")),
        (f'[{{"path": "{ORDER}", "reason": "a"}}, {{"path": "{SHOP}", "reason": "be', (ORDER, SHOP)),
        (f'[{{"path": "{ORDER}"}}, {{"path": "src/tr', (ORDER,)),
        (f'Draft: ["src/x.al"]\n\nFinal:\n["{ORDER}", "src/B', (ORDER,)),
        (json.dumps(json.dumps([ORDER, SHOP, "x/y.al"]))[:-12], (ORDER, SHOP)),
        ('["src/tr', ()),
        ('{"files": [', ()),
        ("[", ()),
        ('<|channel|>analysis<|message|>["src/x.al"]', ()),
    ],
)
def test_a_truncated_answer_keeps_its_complete_items(text: str, paths: tuple[str, ...]) -> None:
    assert read(text) == Prediction(paths, "truncated")


@pytest.mark.parametrize(
    "text",
    ["[]", "```json\n[]\n```", "[ \n ]", "[]\n\nI cannot tell.", '[""]', "[null]", '["", " "]', "[[]]", '"[]"',
     "Answer: `[]`", '{"files": []}', '{"files": null, "confidence": 0.1}',
     '{"files": [], "reason": "not known"}', '{"content": "[]"}', "<answer>[]</answer>"],
)  # fmt: skip
def test_a_valid_empty_list_is_empty_and_no_error(text: str) -> None:
    assert read(text) == Prediction((), "empty")


@pytest.mark.parametrize(
    "text",
    [None, "", "\n  \n", "\ufeff\u200b", "\u00a0", "\x1b[0m\x1b[?25h", '""', '{"error": {"message": "overloaded"}}',
     '{"choices": [{"message": {"content": null}}]}'],
)  # fmt: skip
def test_no_text_at_all_is_an_error(text: str | None) -> None:
    assert parse_prediction(text) == Prediction((), "error")


@pytest.mark.parametrize(
    "text",
    ["I cannot determine the files from this report.", "I can’t help with that.", "I'm sorry, but I can't assist.",
     "I would need [more information] about the [repository layout] first.", "Unable to determine.",
     "I don't have access to the repository.", "As an AI language model, I have no code.", "Sorry, no.",
     "There is insufficient context to answer.", "Please provide the source code.", '{"answer": "I cannot tell."}',
     "Leider kann ich die Datei nicht bestimmen.", "Je ne peux pas répondre.", "Lo siento, no puedo.",
     "抱歉，我无法确定。", "申し訳ありませんが、わかりません。"],
)  # fmt: skip
def test_a_text_without_paths_that_declines_is_a_refusal(text: str) -> None:
    assert read(text) == Prediction((), "refusal")


def test_a_reluctant_answer_with_a_path_is_no_refusal() -> None:
    assert read(f"I cannot be sure.\n{ANSWER}\nI have no access to the code.") == BOTH


@pytest.mark.parametrize(
    "text",
    [ECHO, f"```json\n{ECHO}\n```", json.dumps(EXAMPLE_PATHS[::-1]), json.dumps({"files": EXAMPLE_PATHS}),
     "\n".join(EXAMPLE_PATHS), f"{ECHO}\nI cannot tell.", r'["src\\App\\Foo.Table.al", "src\\App\\Bar.Codeunit.al"]'],
)  # fmt: skip
def test_the_example_of_the_prompt_alone_is_an_echo(text: str) -> None:
    for top_k in (1, 3):
        assert parse_prediction(text, top_k) == Prediction((), "echo")


@pytest.mark.parametrize(
    "text",
    [f"Form: {ECHO}\n\n{ANSWER}", f"{ECHO}\n{ANSWER}", f"{ANSWER}\n\n(as in {ECHO})",
     f"{ECHO}\n\n- `{ORDER}`\n- `{SHOP}`", json.dumps([*EXAMPLE_PATHS, ORDER, SHOP])],
)  # fmt: skip
def test_an_answer_beside_the_echoed_example_counts(text: str) -> None:
    assert read(text) == BOTH


def test_one_of_the_two_example_names_may_be_a_guess() -> None:
    assert read('["src/App/Foo.Table.al"]') == Prediction(("src/App/Foo.Table.al",), "ok")


def test_junk_and_duplicates_take_no_place_among_the_top_k() -> None:
    items = [
        "",
        None,
        "N/A",
        ORDER,
        f"./{ORDER}",
        ORDER.replace("/", "\\"),
        f"{ORDER}:12",
        SHOP,
        BILLING,
        "d.al",
    ]
    assert read(dumped(items)) == Prediction((ORDER, SHOP, BILLING), "ok")


@pytest.mark.parametrize(("top_k", "count"), [(-1, 0), (0, 0), (1, 1), (2, 2), (9, 2)])
def test_at_most_top_k_paths_are_kept(top_k: int, count: int) -> None:
    assert parse_prediction(ANSWER, top_k) == Prediction(BOTH.paths[:count], "ok")


def test_names_without_extension_or_directory_count_only_in_a_list_that_stands_alone() -> None:
    assert read('["Makefile", "Dockerfile"]').paths == ("Makefile", "Dockerfile")
    assert read('It says ["Sales"] in the title.') == Prediction((), "unparsed")


def test_an_answer_is_found_at_either_end_and_in_the_middle_of_a_long_text() -> None:
    filler = "words and more words, " * (MAX_TEXT // 10)
    for text in (f"{ANSWER}\n{filler}", f"{filler}\n{ANSWER}", f"{filler}\n{ANSWER}\n{filler}"):
        assert read(text) == BOTH


def test_a_list_longer_than_the_limit_is_still_one_list() -> None:
    rows = [f"src/App/m{number:06d}/File.al" for number in range(MAX_TEXT // 10)]
    assert read(dumped(rows)) == Prediction(tuple(rows[:3]), "ok")

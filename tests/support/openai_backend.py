"""One question asked of the `openai` backend at a URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bccontam.models.base import Answer, ModelError, Question
from bccontam.models.openai import OpenAIModel

KEY = "sk-test-4f9a0c7d1e"
QUESTION = Question("e-1", "acme/widgets", "It fails.", "You are terse.", "Which files?", 3)


@contextmanager
def model_at(url: str, key: str = KEY, **options: Any) -> Iterator[OpenAIModel]:
    model = OpenAIModel(url, key, "test-model", **options)
    try:
        yield model
    finally:
        model.close()


def ask(
    url: str, key: str = KEY, *, question: Question = QUESTION, timeout: float = 20.0, **options: Any
) -> Answer:
    with model_at(url, key, **options) as model:
        return model.ask(question, timeout)


def failure(url: str, key: str = KEY, *, timeout: float = 20.0) -> ModelError:
    with pytest.raises(ModelError) as raised:
        ask(url, key, timeout=timeout)
    return raised.value

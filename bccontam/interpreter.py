"""How both front doors set up the interpreter: less work at the start, at the end and for many objects.

Nothing here changes a result. Import it before anything that imports pydantic.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def lean_interpreter() -> Iterator[None]:
    """For the whole life of a process."""
    # pydantic looks for plugins in the metadata of every installed package. There are none, and the module that
    # reads metadata alone takes 40 ms to import.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _put_off_metadata()
    # A report on many results is made of many small objects and hardly a cycle: to look for cycles after every
    # 700 of them takes a fifth of its time.
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        # Without this the interpreter searches all it holds for cycles once more, 30 ms, to free what ends anyway.
        gc.freeze()


def _put_off_metadata() -> None:
    """Let `importlib.metadata` be a stand-in, until something is wanted of it.

    pydantic imports its function `entry_points`, and calls it only to look for plugins.
    """
    name = "importlib.metadata"
    if name in sys.modules:
        return
    stand_in = ModuleType(name)

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    def entry_points(**wanted: Any) -> Any:
        return load("entry_points")(**wanted)

    places = [f"{folder}/metadata" for folder in importlib.__path__]
    vars(stand_in).update(__getattr__=load, __path__=places, entry_points=entry_points)
    sys.modules[name] = stand_in
    vars(importlib)["metadata"] = stand_in

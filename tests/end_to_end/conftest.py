"""The images of this checkout, built once for a session, and a job that runs a step in one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.container import ContainerRunner, build, docker
from tests.support.paths import ROOT

DEMO = ROOT / "bccontam" / "demo"


@pytest.fixture(scope="session")
def full_image() -> str:
    docker()
    return build("full")


@pytest.fixture(scope="session")
def slim_image(full_image: str) -> str:
    return build("slim")


@pytest.fixture
def job(full_image: str, tmp_path: Path) -> Iterator[ContainerRunner]:
    """A job with the sample benchmark in its workspace, and no network."""
    made = ContainerRunner(full_image, tmp_path)
    shutil.copy(DEMO / "dataset.jsonl", made.workspace)
    shutil.copy(DEMO / "answers.jsonl", made.workspace)
    yield made
    made.take_back()

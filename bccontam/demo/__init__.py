"""A sample benchmark to see the whole way with: invented entries, stored answers of an invented model.

Every repository, report and patch in it is made up. The model is one that has memorised the entries created
before the cutoff, so that a newcomer sees a signal.
"""

from __future__ import annotations

from pathlib import Path

from bccontam.settings import Settings, make_settings

_FOLDER = Path(__file__).parent


def demo_settings(results_dir: str) -> Settings:
    """Settings of the demonstration run; results, the report and its page go to `results_dir`."""
    return make_settings(
        {
            "mode": "run",
            "dataset": str(_FOLDER / "dataset.jsonl"),
            "backend": "replay",
            "model": "harbour-memory-1",
            "answers": str(_FOLDER / "answers.jsonl"),
            "cutoff": "2024-06-01",
            "results-dir": results_dir,
            "html-file": str(Path(results_dir) / "report.html"),
        }
    )

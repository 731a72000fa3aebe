"""What the naming floor finds on a benchmark, what its statements leak, and how long both take.

    python -m bench.naming DATASET [--convention al|generic] [--file-list FILE] [--paths 50000]

Prints basename hit rates at 1, 3 and 10 and exact hit rates, the leakage grades, and milliseconds an entry;
then the same times on a hostile statement of 100 kB and for a search over made-up paths. It asserts nothing.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bccontam.datasets import load_entries
from bccontam.entry import Entry
from bccontam.leakage import copied_from_question, leakage_grade
from bccontam.models.naming import FileIndex, propose_files
from bccontam.score import score_prediction

TOP_K = (1, 3, 10)
HOSTILE = (
    "post.codeunit.al ",
    "Sales Invoice ",
    "table ",
    "(table 1)",
    " line",
    ".py",
    "a/",
    "a.b.",
    "A-",
    '"',
)
Propose = Callable[[str, int], Sequence[str]]


def main() -> None:
    arguments = parse_arguments()
    entries = [entry for entry in load_entries(arguments.dataset) if not entry.unscorable]
    print(f"{arguments.dataset}: {len(entries)} entries")
    print_leakage(entries)

    def by_name(statement: str, top_k: int) -> Sequence[str]:
        return propose_files(statement, top_k, convention=arguments.convention)

    print_hits(f"naming, {arguments.convention}", entries, by_name)
    if arguments.file_list:
        lines = Path(arguments.file_list).read_text(encoding="utf-8", errors="replace").split("\n")
        index = FileIndex.from_lines(lines)
        print_hits(f"file list of {len(index):,} paths", entries, index.search)
    print_hostile(by_name)
    print_made_up_paths(entries, arguments.paths)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("--convention", choices=("al", "generic"), default="al")
    parser.add_argument("--file-list")
    parser.add_argument("--paths", type=int, default=50_000, help="made-up paths for the search")
    return parser.parse_args()


def gold_of(entry: Entry) -> list[str]:
    return [file.path for file in entry.gold_files]


def print_leakage(entries: Sequence[Entry]) -> None:
    gold = [gold_of(entry) for entry in entries]
    start = time.perf_counter()
    pairs = zip(entries, gold, strict=True)
    grades = Counter(leakage_grade(entry.problem_statement, paths) for entry, paths in pairs)
    taken = time.perf_counter() - start
    print("leakage:", ", ".join(f"{grade} {count}" for grade, count in grades.most_common()))
    print(f"  {taken / len(entries) * 1e3:.3f} ms an entry")


def print_hits(title: str, entries: Sequence[Entry], propose: Propose) -> None:
    start = time.perf_counter()
    proposed = [propose(entry.problem_statement, max(TOP_K)) for entry in entries]
    taken = time.perf_counter() - start
    print(f"{title}:")
    for top_k in TOP_K:
        scores = [
            score_prediction(paths[:top_k], gold_of(entry))
            for entry, paths in zip(entries, proposed, strict=True)
        ]
        basename = sum(score.basename_hit for score in scores)
        exact = sum(score.exact_hit for score in scores)
        rates = (
            f"basename {basename / len(scores):.1%} ({basename}), exact {exact / len(scores):.1%} ({exact})"
        )
        print(f"  hit@{top_k:<2} {rates}")
    print(f"  {taken / len(entries) * 1e3:.3f} ms an entry")


def print_hostile(propose: Propose) -> None:
    print("hostile statements of 100 kB, milliseconds (naming; leakage and copied answer):")
    for unit in HOSTILE:
        statement = unit * (100_000 // len(unit))
        naming = milliseconds(partial(propose, statement, 3))
        leakage = milliseconds(partial(leakage_grade, statement, ["a/Post.Codeunit.al"]))
        copied = milliseconds(partial(copied_from_question, ["a/Nowhere.Page.al"], statement))
        print(f"  {unit!r:22} {naming:8.1f} {leakage + copied:8.1f}")


def print_made_up_paths(entries: Sequence[Entry], count: int) -> None:
    """A list of paths made of the statements' own words, the worst kind of list for a keyword search."""
    seeded = random.Random(1)
    words = sorted({word for entry in entries for word in entry.problem_statement.split() if word.isalpha()})
    words = [word.capitalize() for word in words if len(word) > 3][:2_000]
    lines = [
        f"src/{seeded.choice(words)}/{''.join(seeded.choices(words, k=3))}{number}.al"
        for number in range(count)
    ]
    start = time.perf_counter()
    index = FileIndex.from_lines(lines)
    built = time.perf_counter() - start
    start = time.perf_counter()
    for entry in entries:
        index.search(entry.problem_statement, 3)
    taken = time.perf_counter() - start
    each = taken / len(entries) * 1e3
    print(f"search in {len(index):,} made-up paths: built in {built:.2f} s, {each:.2f} ms a question")


def milliseconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()

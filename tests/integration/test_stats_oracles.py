"""Our statistics beside SciPy's and statsmodels', over all small tables and many random ones."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from bccontam import stats
from bccontam.stats.resampling import _outwards

Table = tuple[int, int, int, int]

BOSCHLOO_TOLERANCE = 1e-3


@pytest.fixture(autouse=True)
def _oracles_may_warn() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def small_tables(largest: int) -> list[Table]:
    sizes = range(1, largest + 1)
    return [(k1, n1, k2, n2) for n1 in sizes for n2 in sizes for k1 in range(n1 + 1) for k2 in range(n2 + 1)]


def random_tables(count: int, largest: int, seed: int) -> list[Table]:
    rng = random.Random(seed)
    tables = []
    for _ in range(count):
        n1, n2 = rng.randint(1, largest), rng.randint(1, largest)
        tables.append((rng.randint(0, n1), n1, rng.randint(0, n2), n2))
    return tables


def scipy_boschloo(table: Table) -> float:
    k1, n1, k2, n2 = table
    result = scipy.stats.boschloo_exact([[k1, k2], [n1 - k1, n2 - k2]], alternative="greater")
    return min(1.0, float(result.pvalue))


def assert_boschloo_agrees(table: Table) -> None:
    ours, theirs = stats.boschloo(*table), scipy_boschloo(table)
    assert ours is not None
    assert theirs - BOSCHLOO_TOLERANCE <= ours <= theirs + BOSCHLOO_TOLERANCE, table


def test_wilson_agrees_with_statsmodels() -> None:
    for confidence in (0.8, 0.95, 0.99):
        for n in (*range(1, 40), 89, 101, 500, 2294, 100_000):
            counts = np.unique(np.linspace(0, n, 60).round(3))
            lows, highs = proportion_confint(counts, n, alpha=1 - confidence, method="wilson")
            ours = np.array([stats.wilson_interval(float(k), n, confidence) for k in counts])
            np.testing.assert_allclose(ours, np.column_stack([lows, highs]), rtol=0, atol=1e-12)


def test_newcombe_agrees_with_statsmodels() -> None:
    for table in [*small_tables(5), *random_tables(1500, 300, seed=1), *random_tables(100, 100_000, seed=2)]:
        theirs = confint_proportions_2indep(*table, compare="diff", method="newcomb")
        assert stats.newcombe_interval(*table) == pytest.approx(theirs, rel=0, abs=1e-12)


def test_fisher_and_midp_agree_with_scipy() -> None:
    tables = np.array(
        [*small_tables(8), *random_tables(3000, 120, seed=3), *random_tables(300, 3000, seed=4)]
    )
    k1, n1, k2, n2 = tables.T
    given = k1, n1 + n2, k1 + k2, n1
    above, at = scipy.stats.hypergeom.sf(*given), scipy.stats.hypergeom.pmf(*given)
    ours = np.array([stats.fisher(*map(int, table)) for table in tables])
    halved = np.array([stats.fisher_midp(*map(int, table)) for table in tables])
    np.testing.assert_allclose(ours, above + at, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours, above + at, rtol=0, atol=1e-10)
    np.testing.assert_allclose(halved, above + at / 2, rtol=0, atol=1e-10)


def test_fisher_agrees_with_the_test_scipy_offers() -> None:
    for k1, n1, k2, n2 in random_tables(200, 90, seed=5):
        theirs = scipy.stats.fisher_exact([[k1, k2], [n1 - k1, n2 - k2]], alternative="greater").pvalue
        assert stats.fisher(k1, n1, k2, n2) == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("n1", range(1, 7))
def test_boschloo_agrees_with_scipy_on_every_small_table(n1: int) -> None:
    for table in small_tables(6):
        if table[1] == n1:
            assert_boschloo_agrees(table)


def test_boschloo_agrees_with_scipy_on_random_tables() -> None:
    for table in random_tables(250, 60, seed=6):
        assert_boschloo_agrees(table)


@pytest.mark.parametrize(
    "table",
    [(60, 89, 3, 12), (12, 89, 0, 12), (20, 74, 3, 27), (9, 64, 1, 37), (25, 50, 16, 50), (30, 200, 7, 100)],
)
def test_boschloo_agrees_with_scipy_at_the_sizes_of_the_benchmark(table: Table) -> None:
    assert_boschloo_agrees(table)


@pytest.mark.parametrize("table", [(260, 500, 240, 500), (30, 500, 16, 480), (499, 500, 495, 500)])
def test_boschloo_agrees_with_scipy_at_its_limit(table: Table) -> None:
    assert_boschloo_agrees(table)


def test_power_agrees_with_the_tables_scipy_rejects() -> None:
    n1, n2 = 14, 6
    chances = [
        [scipy.stats.binom.pmf(np.arange(n + 1), n, rate) for n, rate in ((n1, p1), (n2, p2))]
        for p1, p2 in ((0.9, 0.3), (0.4, 0.4))
    ]
    rejected = [
        (k1, k2) for k1 in range(n1 + 1) for k2 in range(n2 + 1) if scipy_boschloo((k1, n1, k2, n2)) <= 0.05
    ]
    for (p1, p2), (first, second) in zip(((0.9, 0.3), (0.4, 0.4)), chances, strict=True):
        expected = sum(first[k1] * second[k2] for k1, k2 in rejected)
        assert stats.power(n1, n2, p1, p2) == pytest.approx(expected, abs=1e-12)


def test_hypergeometric_masses_agree_with_scipy_in_large_groups() -> None:
    for population, marked, sample in [
        (2000, 300, 1500),
        (100_000, 30_000, 90_000),
        (100_000, 50_000, 50_000),
    ]:
        masses = dict(_outwards(population, marked, sample))
        theirs = scipy.stats.hypergeom.pmf(list(masses), population, marked, sample)
        np.testing.assert_allclose(list(masses.values()), theirs, rtol=1e-6, atol=1e-13)
        assert sum(masses.values()) == pytest.approx(1, abs=1e-8)


def test_permutation_p_agrees_with_scipy() -> None:
    rng = np.random.default_rng(8)
    pre, control = rng.integers(0, 6, 60) / 5, rng.integers(0, 6, 15) / 5
    theirs = scipy.stats.permutation_test(
        (pre, control),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        vectorized=True,
        alternative="greater",
        n_resamples=9_999,
        rng=rng,
    )
    ours = stats.permutation_test(pre.tolist(), control.tolist())
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.03)

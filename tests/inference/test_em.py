"""The EM loop, the choice of the number of components, patterns of missing values."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coview.inference import best_em_run, choose_n_components, missingness_patterns, run_em, warn_unless_converged


def halve(x, iteration):
    return x / 2, -x * x


def negative_square(x):
    return -x * x


@pytest.mark.parametrize("max_iter", [0, 1, 5])
def test_exactly_max_iter_iterations_from_the_start(max_iter):
    run = run_em(halve, negative_square, 1.0, tol=1e9, max_iter=max_iter)
    assert run.n_iter == max_iter
    assert run.parameters == 0.5**max_iter
    np.testing.assert_allclose(run.trace, [-(0.25**k) for k in range(max_iter + 1)])
    assert not run.converged


def test_convergence_is_not_looked_for_on_the_first_plateau():
    run = run_em(lambda x, k: (x, -1.0), lambda x: -1.0, 0.0, tol=1e-6, max_iter=100, plateau=7)
    assert run.converged
    assert run.n_iter == 8


def test_relative_tolerance_divides_by_the_objective():
    run = run_em(lambda x, k: (x + 1, 1000.0 + x), lambda x: 1000.0 + x, 0, tol=1e-2, max_iter=50, relative=True)
    assert run.converged


def test_a_step_is_told_the_iteration():
    seen = []
    run_em(lambda x, k: (seen.append(k) or x, float(k)), lambda x: 0.0, 0, tol=0.0, max_iter=3)
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_highest_run_wins_and_a_failed_one_never_does(n_jobs):
    def run(start):
        return run_em(lambda x, k: (x, x), lambda x: x, start, tol=0.0, max_iter=1)

    assert best_em_run(run, [1.0, np.nan, 3.0, 3.0], n_jobs=n_jobs).parameters == 3.0


def test_the_warning_says_what_stopped_and_what_to_raise():
    run = run_em(halve, negative_square, 1.0, tol=1e-9, max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"Mixture stopped after 3 iterations.*Raise max_iter"):
        warn_unless_converged(run, tol=1e-9, name="Mixture")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_converged(run_em(halve, negative_square, 0.0, tol=0.0, max_iter=50), tol=0.0, name="Mixture")


def test_the_number_of_components_is_looked_for_no_further_than_patience():
    tried = []
    best, values = choose_n_components(lambda k: tried.append(k) or k, lambda k: abs(k - 2), largest=50, patience=3)
    assert best == 2
    assert tried == list(values) == [1, 2, 3, 4, 5]


def test_patterns_hold_every_row_once():
    observed = np.random.default_rng(0).random((200, 11)) < 0.8
    patterns = missingness_patterns(observed)
    np.testing.assert_array_equal(np.sort(np.concatenate([pattern.rows for pattern in patterns])), np.arange(200))
    assert len(patterns) == len(np.unique(observed, axis=0))
    for pattern in patterns:
        assert (np.diff(pattern.rows) > 0).all()
        for row in pattern.rows:
            np.testing.assert_array_equal(np.flatnonzero(observed[row]), pattern.observed)
            np.testing.assert_array_equal(np.flatnonzero(~observed[row]), pattern.missing)
    assert [pattern.rows[0] for pattern in patterns] == sorted(pattern.rows[0] for pattern in patterns)


def test_values_of_a_complete_table_are_not_copied():
    table = np.ones((4, 3))
    (pattern,) = missingness_patterns(np.isfinite(table))
    assert pattern.values(table) is table


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_patterns_of_nothing(shape):
    patterns = missingness_patterns(np.ones(shape, dtype=bool))
    assert sum(len(pattern.rows) for pattern in patterns) == shape[0]


def test_an_objective_without_bound_is_no_convergence_and_no_warning_of_numpy():
    run = run_em(lambda x, k: (x, np.float64(-np.inf)), lambda x: -np.inf, 0, tol=1e-3, max_iter=20)
    assert not run.converged
    assert run.n_iter == 20
    with pytest.warns(ConvergenceWarning, match="changed by nan"):
        warn_unless_converged(run, tol=1e-3, name="Mixture")

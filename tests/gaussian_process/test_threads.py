"""Many small factorizations run on one BLAS thread; few large ones keep theirs."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from coview.gaussian_process._fits import blas_threads
from coview.gaussian_process._setting import Setting


def blas_thread_counts():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [([Setting(n_components=5)] * 2, {1}), ([Setting(n_components=5)], {2}), ([Setting()] * 2, {2})],
    ids=["many low-rank settings", "one setting", "exact kernels"],
)
def test_blas_threads_follow_the_size_of_the_matrices(settings, expected):
    with threadpool_limits(2, user_api="blas"):
        before = blas_thread_counts()
        with blas_threads(settings):
            inside = blas_thread_counts()
        assert blas_thread_counts() == before
    if before == {2}:  # a library built for one thread cannot show more
        assert inside == expected
    else:
        assert inside <= before

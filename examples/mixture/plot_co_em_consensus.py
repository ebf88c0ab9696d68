"""
How much should views agree?
============================

Two views of short documents, twelve words in each, from three topics. Co-EM fits a mixture to each view, and lets every
view learn from the posteriors of the other with the weight ``consensus``: 0 is EM in each view, 1 leaves the word to the
other view alone. Here the impurity of the clusters against that weight, fixed and annealed to zero, over 16 problems.
After Bickel and Scheffer, "Estimation of mixture models using co-EM", 2005, figure 2, on drawn documents.
"""

# %%
# Documents of three topics
# -------------------------

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coview.metrics import cluster_entropy
from coview.mixture import CoEMMixture

N_PROBLEMS, N_DOCUMENTS, N_WORDS, N_TOPICS = 16, 200, 30, 3


def draw(seed):
    """Topic of each document, and its words in two views."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, N_TOPICS, N_DOCUMENTS)
    words = [rng.dirichlet(np.full(N_WORDS, 0.7), N_TOPICS) for _ in range(2)]
    return topic, [np.array([rng.multinomial(12, view[k]) for k in topic]) for view in words]


def impurity(seed, views=None, **options):
    """Average cluster entropy, in bits, after one random start."""
    topic, X = draw(seed)
    model = CoEMMixture(
        N_TOPICS, distributions="multinomial", smoothing=0.1, init="random", n_init=1, random_state=seed, **options
    )
    return cluster_entropy(topic, model.fit(X if views is None else views(X)).labels_)


def mean_and_error(values):
    """Mean over the problems, and its standard error."""
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))


# %%
# Fixed weights, and weights that fall to zero
# --------------------------------------------
# Fixed at eta, or falling linearly from eta to zero within 20 sweeps and EM from there on.

weights = [0.0, 0.1, 0.25, 0.5, 1.0]
curves = {
    "fixed": [mean_and_error([impurity(s, consensus=w) for s in range(N_PROBLEMS)]) for w in weights],
    "annealed": [mean_and_error([impurity(s, consensus=w, anneal=20) for s in range(N_PROBLEMS)]) for w in weights],
}
together = mean_and_error([impurity(s, views=lambda X: np.hstack(X)) for s in range(N_PROBLEMS)])
for name, points in curves.items():
    print(f"{name:9s}", "  ".join(f"{w:.2f}: {mean:.3f}" for w, (mean, _) in zip(weights, points, strict=True)))
print(f"EM on both views side by side: {together[0]:.3f}")

# %%
# Sweep by sweep
# --------------
# ``max_iter=k`` stops after k sweeps, which the fit says with a warning.

sweeps = [0, 1, 2, 4, 8, 16, 24, 32]
settings = {"eta = 1": {}, "eta = 1 to 0 in 20 sweeps": {"anneal": 20}, "eta = 0": {"consensus": 0.0}}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    paths = {
        name: [np.mean([impurity(s, max_iter=k, tol=0.0, **options) for s in range(N_PROBLEMS)]) for k in sweeps]
        for name, options in settings.items()
    }

# %%
# Without consensus each view ends at a local maximum of its own, and component numbers of the two views part: their
# product confuses topics. Half of the weight for the other view mends that, more does no harm, and annealing keeps what
# the views had agreed on. These views are independent given the topic, so EM on both side by side, whose model that is,
# does as well; co-EM is for views that are not.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
for (name, points), marker in zip(curves.items(), "os", strict=True):
    means, errors = np.transpose(points)
    left.errorbar(weights, means, errors, marker=marker, capsize=2, label=name)
left.axhline(together[0], color="0.5", ls=":", label="EM, views side by side")
left.set(xlabel="consensus (at the first sweep)", ylabel="average cluster entropy (bits)", ylim=(0, None))
left.legend(frameon=False)
for name, path in paths.items():
    right.plot(sweeps, path, marker=".", label=name)
right.set(xlabel="sweeps", ylim=(0, None), title="on the way")
left.set_title("at the end")
right.legend(frameon=False)
plt.show()

"""
Side by side, or one model per view?
====================================

Early fusion puts the columns of all views side by side and fits one model; late fusion fits one per view and averages what
they say; stacking learns from held-out labels how much each view is worth. Which is better depends on the number of labels and
on how much the views differ in worth: here one view of two columns tells the classes apart, and one of forty columns hardly
does. A third of the samples lacks the good view.
"""

# %%
# A good view of two columns, a poor one of forty
# ------------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from coview import Views
from coview.compose import ConcatenateViews
from coview.ensemble import ViewVotingClassifier


def draw(n_samples, rng):
    """Two classes; the good view is missing for a third of the samples."""
    y = np.arange(n_samples) % 2
    sign = 2.0 * y - 1.0
    good = 0.9 * sign[:, None] + rng.normal(size=(n_samples, 2))
    poor = 0.1 * sign[:, None] + rng.normal(size=(n_samples, 40))
    good[rng.random(n_samples) < 1 / 3] = np.nan
    return Views({"good": good, "poor": poor}), y


# %%
# Three ways to use both views
# ----------------------------
# Early fusion has to fill the missing view with something, here with means; late fusion leaves it out.

logistic = LogisticRegression(max_iter=1000)
methods = {
    "early fusion": make_pipeline(ConcatenateViews(), SimpleImputer(), logistic),
    "late fusion, mean": ViewVotingClassifier(logistic),
    "late fusion, stacking": ViewVotingClassifier(logistic, voting="stacking", random_state=0),
}
test, truth = draw(4000, np.random.default_rng(99))
counts, n_draws = [20, 40, 80, 160, 320], 10
losses = {name: np.empty((len(counts), n_draws)) for name in methods}
for column in range(n_draws):
    rng = np.random.default_rng(column)
    for row, count in enumerate(counts):
        views, y = draw(count, rng)
        for name, method in methods.items():
            losses[name][row, column] = log_loss(truth, method.fit(views, y).predict_proba(test))

# %%
# What they come to
# -----------------

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, values), style in zip(losses.items(), ["o-", "s--", "^:"], strict=True):
    axes.errorbar(counts, values.mean(axis=1), values.std(axis=1) / np.sqrt(n_draws), fmt=style, capsize=3, label=name)
axes.axhline(np.log(2), color="gray", linewidth=0.8)
axes.set_xscale("log")
axes.set_xticks(counts, [str(count) for count in counts])
axes.minorticks_off()
axes.set_xlabel("labeled samples")
axes.set_ylabel("log loss of 4,000 new samples")
axes.legend()
plt.show()

# %%
# The mean lets the poor view speak as loudly as the good one. Stacking learns what the views are worth, here from twenty labels
# on, because they differ so much. Early fusion is sure of what it has learned by heart from forty columns until labels are many.

for name, values in losses.items():
    print(f"{name:24s}" + "".join(f"{value:8.3f}" for value in values.mean(axis=1)))

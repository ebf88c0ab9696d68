"""
Which unions of views to ask, and what choosing pretends
========================================================

Four views of sixty samples in three classes, of which one view says nothing. Every union of views gets a classifier: fifteen of
them. The first picture has their errors by leave-one-out and on new samples. The second adds unions one by one, by the
error on left-out samples or on half of the new ones, beside what comes on samples that had no say. After Okun and Priisalu,
"Multiple Views in Ensembles of Nearest Neighbor Classifiers", 2005, on drawn samples.
"""

# %%
# Fifteen unions
# --------------
# Hyperplane neighbors leave each training sample out by themselves, so the ensemble asks for no folds.

import matplotlib.pyplot as plt
import numpy as np

from coview import Views
from coview.ensemble import ViewEnsembleClassifier
from coview.neighbors import HyperplaneKNeighborsClassifier

SIZES = {"a": 1.4, "b": 1.1, "c": 0.9, "d": 0.0}
N_TRAIN, N_NEW, N_CLASSES, N_DRAWS = 60, 100, 3, 10


def draw(seed):
    """Training and new samples with their classes; classes differ in a view by its size."""
    rng = np.random.default_rng(seed)
    classes = np.arange(N_TRAIN + N_NEW) % N_CLASSES
    views = Views(
        {name: size * np.eye(N_CLASSES)[classes] + rng.normal(size=(len(classes), 3)) for name, size in SIZES.items()}
    )
    return views[:N_TRAIN], classes[:N_TRAIN], views[N_TRAIN:], classes[N_TRAIN:]


base = HyperplaneKNeighborsClassifier(3)
left_out, new_errors = [], []
for seed in range(N_DRAWS):
    views, y, new, truth = draw(seed)
    model = ViewEnsembleClassifier(base, selection=None, combination="weighted").fit(views, y)
    left_out.append(model.cv_errors_)
    new_errors.append((model.predict_per_subset(new) != truth[:, None]).mean(axis=0))
names = ["".join(subset) for subset in model.subsets_]
order = np.argsort(np.mean(left_out, axis=0))

figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
axis.plot(100 * np.mean(left_out, axis=0)[order], "o", label="left-out training samples")
axis.plot(100 * np.mean(new_errors, axis=0)[order], "s", label="new samples")
axis.set(
    xticks=range(len(names)), xticklabels=[names[m] for m in order], xlabel="union of views", ylabel="error, percent"
)
axis.legend(frameon=False)

# %%
# What the selection saw, and what came
# -------------------------------------
# Bars: the error that the selection reached, and the error on new samples that it did not see. Chosen by the new samples
# themselves, nothing is left to tell how good the choice is; half of them tell.

ways = ["left-out samples", "half of the new"]
seen, came = {way: [] for way in ways}, {way: [] for way in ways}
for seed in range(N_DRAWS):
    views, y, new, truth = draw(seed)
    model = ViewEnsembleClassifier(base, selection="forward").fit(views, y)
    seen[ways[0]].append(model.selection_errors_[-1])
    came[ways[0]].append((model.predict(new) != truth).mean())
    half = np.arange(N_NEW) < N_NEW // 2
    model = ViewEnsembleClassifier(base, selection="forward").fit(views, y, validation=(new[half], truth[half]))
    seen[ways[1]].append(model.selection_errors_[-1])
    came[ways[1]].append((model.predict(new[~half]) != truth[~half]).mean())

figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
places = np.arange(len(ways))
axis.bar(places - 0.2, [100 * np.mean(seen[way]) for way in ways], 0.38, label="seen by the selection")
axis.bar(places + 0.2, [100 * np.mean(came[way]) for way in ways], 0.38, label="new samples not seen")
axis.set(xticks=places, xticklabels=[f"chosen by\n{way}" for way in ways], ylabel="error, percent", ylim=(0, 36))
axis.legend(frameon=False)

# %%
# The paper's table adds views by the test error itself and prints that error. Its fall is the left bar's, not the right one's.

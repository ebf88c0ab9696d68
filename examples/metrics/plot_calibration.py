"""
Are the probabilities right?
============================

A model that says "80 %" should be right eight times in ten. Here for 220 breast tumors of which 22 have a label, over three
draws of the labels: coview beside imputation and logistic regression.
"""

# %%
# Predict the same tumors with both methods
# -----------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from coview.datasets import load_breast_tcga
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.metrics import probability_scores, reliability_table
from coview.model_selection import baseline_estimators, hide_labels, label_draws

data = load_breast_tcga()
truth = data.target.to_numpy()
usual = "mean imputation + LR"
methods = {"coview": BayesianCoTrainingClassifier(random_state=0), usual: baseline_estimators(data.views)[usual]}

predicted = {name: [] for name in methods}
truths = []
for labeled in label_draws(truth, 22, n_draws=3, random_state=0):
    unlabeled = np.setdiff1d(np.arange(len(truth)), labeled)
    truths.append(truth[unlabeled])
    for name, method in methods.items():
        method.fit(data.views, hide_labels(truth, labeled))
        predicted[name].append(method.label_distributions_[unlabeled])
truths = np.concatenate(truths)
predicted = {name: np.concatenate(rows) for name, rows in predicted.items()}

for name, probabilities in predicted.items():
    scores = probability_scores(truths, probabilities, classes=data.target_names)
    print(f"{name}: accuracy {scores['accuracy']:.3f}, log loss {scores['log_loss']:.3f}")

# %%
# Claimed and true
# ----------------
# Each point: predictions with about that probability, and how many of them were right. Points above the line claim less
# than they keep, points below it more.

figure, axis = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
axis.plot([0.3, 1], [0.3, 1], color="0.6", ls="--")
for (name, probabilities), marker in zip(predicted.items(), "os", strict=True):
    table = reliability_table(truths, probabilities, classes=data.target_names)
    axis.plot(table["confidence"], table["accuracy"], marker=marker, label=name)
axis.set(xlabel="probability claimed for the predicted class", ylabel="share that was right", title="calibration")
axis.legend(frameon=False)
plt.show()

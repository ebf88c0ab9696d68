"""
Labels from the other view: co-training and co-EM, round by round
=================================================================

Documents with two views, say the words of a page and those of links to it, three topics, one label per topic. Co-training lets
the classifier of each view label those documents of which it is surest, a few per round and for good. Co-EM lets it weigh all of
them, pass by pass, by how probable each topic is. Both rest on views that err apart from each other; the second picture takes
that away. After Blum and Mitchell, "Combining labeled and unlabeled data with co-training", 1998, and Nigam and Ghani,
"Analyzing the effectiveness and applicability of co-training", 2000, on drawn documents.
"""

# %%
# Documents
# ---------
# A third of the documents is untypical in a view: its words there come from two topics alike. ``together`` is the share of
# these that are untypical of the same topic in both views, so that the views err together.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import MultinomialNB

from coview.semi_supervised import CoEMClassifier, CoTrainingClassifier

N_PROBLEMS, N_DOCUMENTS, N_WORDS, N_TOPICS, LENGTH, UNTYPICAL = 10, 240, 30, 3, 20, 1 / 3


def draw(seed, together=0.0):
    """Words in two views, the topic of each document, and the labels: -1 but for one document per topic."""
    rng = np.random.default_rng(seed)
    topic = np.arange(N_DOCUMENTS) % N_TOPICS
    joint = rng.random(N_DOCUMENTS) < together
    other = rng.integers(1, N_TOPICS, N_DOCUMENTS)
    untypical = rng.random(N_DOCUMENTS) < UNTYPICAL
    views = []
    for _ in range(2):
        words = rng.dirichlet(np.full(N_WORDS, 0.5), N_TOPICS)
        mine = np.where(joint, other, rng.integers(1, N_TOPICS, N_DOCUMENTS))
        mixed = np.where(joint, untypical, rng.random(N_DOCUMENTS) < UNTYPICAL)
        mixed[:N_TOPICS] = False  # the labeled ones
        share = 0.5 * mixed[:, None]
        rows = (1.0 - share) * words[topic] + share * words[(topic + mine) % N_TOPICS]
        views.append(np.array([rng.multinomial(LENGTH, row) for row in rows], dtype=float))
    return views, topic, np.where(np.arange(N_DOCUMENTS) < N_TOPICS, topic, -1)


def error(model, seed, together=0.0):
    """Share of the documents without label that get a wrong one."""
    views, topic, labels = draw(seed, together)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.fit(views, labels).transduction_
    return (found != topic)[labels < 0].mean()


def mean_error(model, together=0.0):
    """Over all problems, in percent."""
    return 100 * np.mean([error(model, seed, together) for seed in range(N_PROBLEMS)])


# %%
# Round by round
# --------------
# ``n_rounds`` and ``max_iter`` stop on the way. A round of co-training labels up to six documents here, a pass of co-EM
# weighs all 237.

rounds, passes = [0, 1, 2, 4, 8, 16, 32, 64], [0, 1, 2, 4, 8, 16]
by_round = [mean_error(CoTrainingClassifier(MultinomialNB(), n_rounds=k)) for k in rounds]
by_pass = [mean_error(CoEMClassifier(MultinomialNB(), max_iter=k)) for k in passes]
print("co-training", dict(zip(rounds, np.round(by_round, 1).tolist(), strict=True)))
print("co-EM      ", dict(zip(passes, np.round(by_pass, 1).tolist(), strict=True)))

# %%
# Views that err together
# -----------------------

shares = [0.0, 0.25, 0.5, 0.75, 1.0]
models = {
    "labels alone": CoEMClassifier(MultinomialNB(), max_iter=0),
    "co-training": CoTrainingClassifier(MultinomialNB(), n_rounds=1000),
    "co-EM": CoEMClassifier(MultinomialNB()),
}
curves = {name: [mean_error(model, share) for share in shares] for name, model in models.items()}
for name, curve in curves.items():
    print(f"{name:12s}", np.round(curve, 1).tolist())

# %%
# What a view was sure of is news to the other one as long as they err apart: half of the errors go. The more they err together,
# the less there is to learn.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained", sharey=True)
left.plot(rounds, by_round, marker="o", label="co-training, rounds")
left.plot(passes, by_pass, marker="s", label="co-EM, passes")
left.set_xscale("symlog", linthresh=1)
left.set(xlabel="rounds or passes", ylabel="wrong topics (%)", ylim=(0, None), title="views that err apart")
left.legend(frameon=False)
for name, curve in curves.items():
    right.plot(shares, curve, marker=".", label=name)
right.set(xlabel="share of documents on which they err together", title="at the end")
right.legend(frameon=False)
plt.show()

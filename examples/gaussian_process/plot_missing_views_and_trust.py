"""
Missing views, and how far each view is to be trusted
=====================================================

Three views of 300 samples: a good one that is missing for half of them, a weak one that all have, and one of pure noise.
30 samples have a label. How right are the predictions with and without the good view, and does the model find out which
view is worth what?
"""

# %%
# The data, whose best answer is known
# ------------------------------------
# Two classes; the distance of the class means, in standard deviations, says what a view is worth.

import matplotlib.pyplot as plt
import numpy as np

from coview.datasets import make_multiview_classification
from coview.gaussian_process import BayesianCoTrainingClassifier

views, truth = make_multiview_classification(
    300, n_features=(5, 5, 5), class_sep=(2.0, 0.8, 0.0), missing=(0.5, 0.0, 0.0), random_state=0
)
names = {"view_0": "good, half missing", "view_1": "weak", "view_2": "noise"}
is_labeled = np.random.default_rng(0).permutation(300) < 30
y = np.where(is_labeled, truth, np.nan)
print(views)

# %%
# One fit for all of them
# -----------------------
# Nothing is filled in for a missing view: a prediction rests on the views that are there.

model = BayesianCoTrainingClassifier(random_state=0).fit(views, y)
has_good = views.presence[:, 0]
for words, rows in (("with the good view", has_good), ("without it", ~has_good)):
    chosen = rows & ~is_labeled
    accuracy = (model.transduction_[chosen] == truth[chosen]).mean()
    print(f"{words}: {accuracy:.1%} of {chosen.sum()} right")

# %%
# Trust, and how sure the predictions are
# ---------------------------------------
# Left: the share of each view in what the model rests on, with its interval; thirty labels leave it wide. Right: the
# probability given to the predicted class. Samples that lack the good view get more cautious predictions.

trust = model.view_trust_.rename(names)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
share = trust["share"].to_numpy()
left.errorbar(share, range(3), xerr=[share - trust["lower"], trust["upper"] - share], fmt="o", capsize=4)
left.set_yticks(range(3), trust.index)
left.invert_yaxis()
left.set(xlim=(-0.02, 1.02), xlabel="share", title="trust in each view")

sure = model.label_distributions_.max(axis=1)
bins = np.linspace(0.5, 1.0, 11)
right.hist([sure[has_good & ~is_labeled], sure[~has_good & ~is_labeled]], bins, label=["has the good view", "lacks it"])
right.set(xlabel="probability of the predicted class", ylabel="samples", title="how sure")
right.legend(frameon=False)
plt.show()

# %%
# A prediction, view by view
# --------------------------
# The latent score of a sample is an exact sum of what each view says and a constant.

print(model.explain(views[:3]).to_string())

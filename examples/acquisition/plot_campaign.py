"""
A campaign: measurements and labels on one budget
=================================================

Two views of 80 samples: a cheap one that tells the classes apart in part, and a dear one that does so well, known of a third of
the samples. Twelve samples have a label. A measurement of the dear view costs 4, a label 3, and there are 90 to spend. Three
campaigns spend them: on views alone, on labels alone, on whatever tells most per cost. Which is best depends on what is scarce;
the campaign also says what each answer was expected to gain, and what it gained.
"""

# %%
# What is known
# -------------

import warnings

import matplotlib.pyplot as plt
import numpy as np

from coview import Views
from coview.acquisition import Campaign, Costs
from coview.gaussian_process import BayesianCoTrainingClassifier

warnings.filterwarnings("ignore", "View .* is outside what was seen", UserWarning)
COSTS, BUDGET = Costs({"dear": 4.0}, label=3.0), 90.0
rng = np.random.default_rng(1)


def draw(n):
    """Both views of n samples, and their classes."""
    y = np.arange(n) % 2
    return {"cheap": rng.normal(size=(n, 2)) + 0.8 * y[:, None], "dear": rng.normal(size=(n, 2)) + 2.0 * y[:, None]}, y


(complete, y), (new, y_new) = draw(80), draw(1000)
presence = np.ones((80, 2), dtype=bool)
presence[:, 1] = rng.random(80) < 1 / 3
start = Views(complete, presence=presence)
labels = np.where(np.arange(80) < 12, y, -1)
model = BayesianCoTrainingClassifier()


# %%
# Ask, book, tell
# ---------------
# In life weeks lie between the two loops, and answers come in any order; here they are looked up.


def spend(kind):
    """A campaign that asks for six things at a time until nothing fits the budget; what it spent and how wrong it was."""
    campaign = Campaign(model, start, labels, costs=COSTS, budget=BUDGET, random_state=0)
    curve = []
    while True:
        error = 100 * (campaign.model.predict(new) != y_new).mean()
        curve.append((campaign.status()["spent"], error, campaign.total_entropy()))
        table = campaign.ask(6, kind=kind)
        if table.empty:
            return campaign, np.array(curve)
        for sample, view in zip(table["sample"], table["view"], strict=True):
            campaign.book(sample, view)  # a view of None is the label
        for sample, view in zip(table["sample"], table["view"], strict=True):
            if view is None:
                campaign.tell(sample, label=int(y[sample]))
            else:
                campaign.tell(sample, view=view, values=complete[view][sample])


done = {kind: spend(kind) for kind in ("views", "labels", "both")}
for kind, (campaign, curve) in done.items():
    counts = campaign.history["action"].value_counts()
    told = f"{counts.get('returned', 0)} views and {counts.get('labeled', 0)} labels"
    print(f"{kind}: {told} for {curve[-1, 0]:g}; entropy {curve[0, 2]:.1f} -> {curve[-1, 2]:.1f} nats")

# %%
# Entropy and errors along the money
# ----------------------------------
# This is one draw; ``simulate`` tells from many which criterion is worth it.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for kind, (_, curve) in done.items():
    axes[0].plot(curve[:, 0], curve[:, 2], marker="o", label=kind)
    axes[1].plot(curve[:, 0], curve[:, 1], marker="o", label=kind)
axes[0].set(xlabel="spent", ylabel="total entropy without label (nats)")
axes[1].set(xlabel="spent", ylabel="errors on new samples (%)")
axes[0].legend(title="asked for")

# %%
# Expected and gained
# -------------------
# Forecasts are means over what a view may hold. Single answers scatter about them; what all were expected to gain and gained can
# be compared.

gains = done["views"][0].gains()
print(gains[["expected", "realized"]].sum())
figure, axis = plt.subplots(figsize=(4.5, 4), layout="constrained")
axis.axline((0, 0), slope=1, color="0.8")
axis.scatter(gains["expected"], gains["realized"], s=18)
axis.set(xlabel="expected gain (nats)", ylabel="fall of the total entropy (nats)")
plt.show()

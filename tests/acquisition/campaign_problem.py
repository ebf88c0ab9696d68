"""A small campaign: six samples, three views, costs with a group."""

import numpy as np
import pandas as pd

from coview import Views
from coview.acquisition import Campaign, Costs
from coview.gaussian_process import BayesianCoTrainingClassifier

SAMPLES = ["p1", "p2", "p3", "p4", "p5", "p6"]
VIEWS = ["mri", "lab", "genes"]
COSTS = Costs(
    {"mri": 100.0, "lab": 10.0, "genes": 50.0},
    pairs={("p2", "mri"): 70.0},
    groups={"visit": (["lab", "genes"], 5.0)},
    excluded=[("p6", "mri")],
    label=1.0,
)


def tables():
    """Complete values, from which the views at the start are cut."""
    rng = np.random.default_rng(3)
    return {
        "mri": pd.DataFrame(rng.standard_normal((6, 2)), index=SAMPLES, columns=["volume", "contrast"]),
        "lab": pd.DataFrame(rng.standard_normal((6, 1)), index=SAMPLES, columns=["crp"]),
        "genes": pd.DataFrame(rng.standard_normal((6, 2)), index=SAMPLES, columns=["g1", "g2"]),
    }


PRESENCE = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=bool)
LABELS = ["ill", None, "well", None, "ill", None]


def views():
    return Views(tables(), presence=PRESENCE)


def model():
    return BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")


def campaign(path=None, **changes):
    settings = {"criterion": "random", "costs": COSTS, "path": path} | changes
    return Campaign(model(), views(), LABELS, **settings)

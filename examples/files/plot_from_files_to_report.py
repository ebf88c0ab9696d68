"""
From CSV files to predictions and a report
==========================================

The same steps as the commands ``coview check``, ``fit``, ``predict`` and ``report``, from Python.
"""

# %%
# Files, as a user has them
# -------------------------
# One table per view, matched by sample id; a ``coview.toml`` beside them says which is what.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.pipeline import Pipeline

from coview.compose import TableEncoder
from coview.datasets import load_two_view_toy, write_csv
from coview.files import TableOptions, read_table_set
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.inspection import prediction_table
from coview.model_selection import cross_validate_methods
from coview.views import find_problems, presence_summary

folder = TemporaryDirectory()
for file in write_csv(load_two_view_toy(), folder.name):
    print(file.name)

# %%
# Read and check
# --------------

data = read_table_set(TableOptions(data=(folder.name,)))
print(presence_summary(data.tables))
for finding in (*data.findings, *find_problems(data.tables, data.labels)):
    print(f"{finding.level}: {finding.message}")

# %%
# Is the model worth anything?
# ----------------------------
# Scores of labeled samples that were not in training. The encoder learns on training rows only.

method = BayesianCoTrainingClassifier(random_state=0)
y = data.labels.to_numpy()
evaluation = cross_validate_methods(
    {"bayesian-co-training": method}, data, y, n_splits=4, task="classification", views_alone_of="bayesian-co-training"
)
scores = evaluation.scores[evaluation.scores["metric"] == "log_loss"].iloc[::-1]
figure, axis = plt.subplots(figsize=(7, 2.6), layout="constrained")
axis.errorbar(scores["mean"], scores["method"], xerr=2 * scores["se"], fmt="o", capsize=4)
axis.set(xlabel="log loss (lower is better), mean and two standard errors")
plt.show()

# %%
# Fit, predict
# ------------

model = Pipeline([("encode", TableEncoder()), ("model", method)]).fit(data, y)
print(prediction_table(model, data.tables).head())

# %%
# Save, and report
# ----------------
# `coview.report.model_report` makes the page that ``coview report`` writes, from a saved model and data.

from coview.persistence import load_model, save_model
from coview.report import model_report, render_report

path = Path(folder.name, "toy.coview")
record = {"schema_version": 1, "task": "classification", "method": "bayesian-co-training", "target": data.target}
save_model(model, path, record=record)
page = render_report(model_report(load_model(path), data))
print(f"{len(page) // 1024} KiB of HTML")
folder.cleanup()

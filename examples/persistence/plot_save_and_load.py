"""
Save a model, and open it elsewhere
===================================

A model file holds the fitted pipeline with its encoder, and what is needed to check both. Opening one runs no code, so a
file that somebody sent you is safe to open.
"""

# %%
# Fit and save
# ------------

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.pipeline import Pipeline

from coview.compose import TableEncoder
from coview.datasets import load_two_view_toy
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.persistence import ModelFileError, load_model, read_manifest, save_model

toy = load_two_view_toy()
y = toy.views.align(toy.target).to_numpy()
model = Pipeline([("encode", TableEncoder()), ("model", BayesianCoTrainingClassifier(random_state=0))])
model.fit(toy.views, y)

folder = TemporaryDirectory()
path = Path(folder.name, "toy.coview")
save_model(model, path)
print(f"{path.stat().st_size // 1024} KiB")

# %%
# What is in it
# -------------
# The manifest is read and checked without loading anything of the model.

manifest = read_manifest(path)
print(sorted(manifest))

# %%
# Open it
# -------
# The same predictions to the last digit, also for samples with one view only.

loaded = load_model(path).model
before, after = model.predict_proba(toy.views)[:, 1], loaded.predict_proba(toy.views)[:, 1]
figure, axis = plt.subplots(figsize=(4, 3.8), layout="constrained")
axis.plot(before, after, ".")
axis.set(
    xlabel="probability before saving", ylabel="after loading", title=f"largest difference {abs(before - after).max()}"
)
plt.show()

# %%
# A damaged file is refused
# -------------------------
# So are files of other programs, of newer versions, and files that name anything outside the list of trusted types.

content = bytearray(path.read_bytes())
content[len(content) // 2] ^= 1
path.write_bytes(content)
try:
    load_model(path)
except ModelFileError as error:
    print(error)
folder.cleanup()

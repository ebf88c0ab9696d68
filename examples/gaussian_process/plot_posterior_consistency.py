"""
Views whose posteriors agree, and what that costs
=================================================

Two views of sixty samples with one feature each. A Gaussian process per view explains the labels; the dearer a nat of divergence
between their posteriors, the more alike they become, until neither says anything. A fifth of the samples is recorded wrongly
in the second view: asking for agreement on the consistent set only leaves most of them out.
"""

# %%
# The data
# --------
# The label is the sign of a smooth function of the first feature. The second feature is the first one bent, but for some
# samples it is noise.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview.gaussian_process import PosteriorConsistencyGPClassifier

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(-3.0, 3.0, 60))
y = np.where(np.sin(1.5 * x) + 0.2 * rng.normal(size=60) > 0.0, 1, -1)
wrong = rng.random(60) < 0.2
second = np.where(wrong, rng.uniform(-3.0, 3.0, 60), x + 0.3 * np.sin(2.0 * x))
views = {"first": x[:, None], "second": second[:, None]}
kernel = ConstantKernel(1.0) * RBF(1.0, (0.5, 10.0))

# %%
# Three prices of divergence
# --------------------------
# The penalty is counted in hundreds of nats, the evidence in dozens: a small price does much already. ``jitter`` keeps the
# divergence finite; it belongs to the model.

prices = (0.0, 0.03, 1.0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # that b = 1 is too dear
    models = {b: PosteriorConsistencyGPClassifier(kernel, consistency=b, jitter=0.01).fit(views, y) for b in prices}
selective = PosteriorConsistencyGPClassifier(kernel, consistency=0.03, jitter=0.01, selective=True).fit(views, y)

for b, model in models.items():
    amplitudes = [f"{kernel.k1.constant_value:.2g}" for kernel in model.kernels_]
    print(f"b = {b:g}: log evidences {model.log_marginal_likelihoods_.round(1)}, amplitudes {amplitudes}")
print(
    f"consistent: {len(selective.consistent_set_)} of 60, of them {wrong[selective.consistent_set_].sum()} recorded wrongly"
)

# %%
# The functions of both views
# ---------------------------
# Posterior means at the samples, in the order of the first feature.

figure, axes = plt.subplots(1, 4, figsize=(12, 3), sharey=True, layout="constrained")
shown = [*(("all samples", b, model) for b, model in models.items()), ("consistent set", 0.03, selective)]
for axis, (words, b, model) in zip(axes, shown, strict=True):
    for mean, name in zip(model.latent_means_, views, strict=True):
        axis.plot(x, mean, ".-", label=name, linewidth=0.7)
    axis.scatter(x, 1.3 * y, c=np.where(wrong, "tab:red", "tab:gray"), s=8)
    axis.set_title(f"b = {b:g}, {words}")
    axis.set_xlabel("first feature")
axes[2].legend(title="posterior mean by", loc="upper center", bbox_to_anchor=(0.5, 0.9))
axes[0].set_ylabel("function (dots: labels)")
plt.show()

# %%
# At b = 1 both views agree by saying nothing: their amplitudes went to zero, and a warning says so. Cross-validation would
# not choose it: :class:`~coview.gaussian_process.PosteriorConsistencyGPClassifierCV`.

"""
Latent classes: even and odd digits
===================================

Even and odd digits have ten shapes, not two, so one weight vector for each cannot separate them. In this model each
of the two classes has five weight vectors. The choice among the five is a *latent variable*: no label says whether an
even digit is a 0, 2, 4, 6 or 8. Training alternates between guessing these latent classes and training a structural
SVM that treats the guesses as known (Yu and Joachims, ICML 2009).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from structsvm import StructuralSVM
from structsvm.estimators import LatentStructuralSVM
from structsvm.losses import LatentLoss
from structsvm.plots import STYLE

plt.style.use(STYLE)

CLASSES = 5


class Parity(LatentLoss):
    """y is 0 for even and 1 for odd digits; h is one of five latent classes. First guess: k-means in each class."""

    def __init__(self, X, y):
        self.means = [KMeans(CLASSES, n_init=1, random_state=0).fit(X[y == each]) for each in (0, 1)]

    def joint_feature(self, x, y, h):
        psi = np.zeros((2, CLASSES, len(x)))
        psi[y, h] = x
        return psi.ravel()

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def initial(self, x, y):
        return int(self.means[y].predict(x[None])[0])

    def complete(self, x, y, w):
        return int(np.argmax(self.values(x, w)[y]))

    def argmax(self, x, w):
        return self.best(self.values(x, w))

    def loss_augmented_argmax(self, x, y, w):
        values = self.values(x, w)
        values[1 - y] += 1.0
        return self.best(values)

    def values(self, x, w):
        return w.reshape(2, CLASSES, len(x)) @ x

    def best(self, values):
        y, h = divmod(int(np.argmax(values)), CLASSES)
        return y, h


digits = load_digits()
X, y = np.column_stack([digits.data / 16.0, np.ones(len(digits.data))]), digits.target % 2
train, test = slice(0, 500), slice(500, None)
plain = StructuralSVM("multiclass", C=100.0).fit(X[train], y[train])
latent = LatentStructuralSVM(Parity(X[train], y[train]), C=100.0).fit(list(X[train]), y[train].tolist())
print(f"accuracy: {plain.score(X[test], y[test]):.3f} with one weight vector per class")
print(f"accuracy: {latent.score(list(X[test]), y[test].tolist()):.3f} with five, after {len(latent.rounds_)} rounds")

# %%
# The ten weight vectors as pictures: blue pixels are evidence for a latent class, red pixels against it.

weights = latent.coef_.reshape(2, CLASSES, -1)[:, :, :-1]
limit = np.abs(weights).max()
figure, panels = plt.subplots(2, CLASSES, figsize=(7.0, 3.2), layout="constrained")
for (row, h), axes in np.ndenumerate(panels):
    axes.imshow(weights[row, h].reshape(8, 8), cmap="RdBu", vmin=-limit, vmax=limit)
    axes.set(xticks=[], yticks=[], xlabel=f"latent class {h + 1}")
    axes.grid(visible=False)
for axes, name in zip(panels[:, 0], ("even", "odd"), strict=True):
    axes.set_ylabel(name)

# %%
# The table shows the digits in each latent class, on new images. Most latent classes consist of one or two digits,
# although no label names them.

found = latent.predict_latent(list(X[test]))
counts = np.zeros((2 * CLASSES, 10), dtype=int)
for (guess, h), digit in zip(found, digits.target[test], strict=True):
    counts[guess * CLASSES + h, digit] += 1
figure, axes = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
axes.imshow(counts, cmap="Blues")
for (row, digit), count in np.ndenumerate(counts):
    if count:
        axes.text(digit, row, count, ha="center", va="center", color="white" if count > counts.max() / 2 else "black")
axes.set_xticks(range(10))
axes.set_yticks(range(2 * CLASSES), labels=[f"{name} {h + 1}" for name in ("even", "odd") for h in range(CLASSES)])
axes.set(xlabel="digit", ylabel="predicted class", title="Number of images")
axes.grid(visible=False)

# %%
# :doc:`/howto/latent_variables` explains the objective, and why another first guess may lead to another result.

"""
Cells tracked by an integer program
===================================

motile tracks cells by an integer program: choose detections and links between frames, with at most one link into and
out of each detection. Here `PartHamming` over a `Program` learns the costs of its parts from one annotated film, and
proves that they are optimal.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.inference.sets import Program
from structsvm.losses import PartHamming
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# Eight detections have a frame, a position and a score. Links join detections of neighboring frames.

frame = np.array([0, 0, 1, 1, 1, 2, 2, 2])
position = np.array([1, 25, 0, 14, 30, 1, 12, 29])
score = np.array([0.8, 0.1, 0.3, 0.4, 0.9, 0.2, 0.5, 0.8])
pairs = [(u, v) for u in range(8) for v in range(8) if frame[v] == frame[u] + 1]
links = [(u, v) for u, v in pairs if abs(position[u] - position[v]) <= 15]

# %%
# The variables are the detections, the links, and the detections at which a track appears.

E, eye, zeros = len(links), np.eye(8), np.zeros((8, 8))
leaves = np.array([[v == first for first, _ in links] for v in range(8)], dtype=float)
enters = np.array([[v == last for _, last in links] for v in range(8)], dtype=float)
A = np.vstack(
    [
        np.hstack([-leaves.T, np.eye(E), np.zeros((E, 8))]),  # a link needs both ends
        np.hstack([-enters.T, np.eye(E), np.zeros((E, 8))]),
        np.hstack([zeros, leaves, zeros]),  # at most one link out, and one in
        np.hstack([zeros, enters, zeros]),
        np.hstack([eye, -enters, -eye]),  # a detection without a link into it appears
    ]
)
tracks = Program((A, np.repeat([0, 1, 0], [2 * E, 16, 8])))

# %%
# A detection has its score and a constant as features, a link its length and a constant, and an appearance a constant.

features = np.zeros((16 + E, 5))
features[:8, 0], features[:8, 1] = score, 1
features[8 : 8 + E, 2] = [abs(position[u] - position[v]) for u, v in links]
features[8 : 8 + E, 3], features[8 + E :, 4] = 1, 1

chosen = [link in {(0, 2), (2, 5), (1, 4), (4, 7)} for link in links]  # two tracks
truth = np.concatenate([eye[[0, 1, 2, 4, 5, 7]].sum(axis=0), chosen, eye[[0, 1]].sum(axis=0)])
model = StructuralSVM(PartHamming(tracks), C=1000, tol=1e-4).fit([features], [truth])
(output,) = model.predict([features])
print(model.result_.status.value)
print("weights:", model.coef_.round(2), "all parts right:", bool((output == truth).all()))

# %%
# Gray lines are possible links, and blue lines the links of the output.

figure, axes = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
for part, (u, v) in enumerate(links):
    axes.plot(frame[[u, v]], position[[u, v]], color=COLORS[0] if output[8 + part] else "0.85", zorder=output[8 + part])
axes.scatter(frame, position, s=100 * score, color=COLORS[4], zorder=2)
axes.set(xlabel="frame", ylabel="position", xticks=[0, 1, 2])

# %%
# :doc:`/howto/declare_outputs` has other kinds of outputs.

"""
Words from letters: read letters in context
===========================================

A scanned letter may be an *i* or an *l*, a *c* or an *e*. The neighbors help: *th* is followed by *e* more often than
by *c*. A chain scores each letter by its pixels and each pair of neighbors by a weight, and reads the word as a
whole.

The script draws the words with a pixel font and then damages them. If the environment variable ``STRUCTSVM_DATA``
names a folder with ``structured/letters.npz``, it reads the handwritten words of Taskar, Guestrin and Koller instead.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from structsvm import StructuralSVM
from structsvm.losses import ChainHamming
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)
# sphinx_gallery_thumbnail_number = 1

COMMON = """the of and to in is you that it he was for on are as with his they at be this have from or one had by word
but not what all were we when your can said there use an each which she do how their if will up other about out many
then them these so some her would make like him into time has look two more write go see number no way could people my
than first water been call who oil its now find long down day did get come made may part"""
HEIGHT, WIDTH = 12, 8
rng = np.random.default_rng(0)


def draw(letter):
    """Draw a letter at one of four positions, then flip each pixel with a probability of 7 %."""
    image = Image.new("1", (WIDTH, HEIGHT))
    ImageDraw.Draw(image).text(rng.integers(0, 2, 2).tolist(), letter, fill=1, font=ImageFont.load_default())
    return np.ravel(np.array(image) ^ (rng.random((HEIGHT, WIDTH)) < 0.07)).astype(float)


def drawn_words(n):
    words = rng.choice(COMMON.split(), n)
    return [np.array([draw(letter) for letter in word]) for word in words], [list(word) for word in words]


def handwritten_words(file):
    """Return the words of fold 1, and 300 others."""
    data = np.load(file)
    pixels = np.unpackbits(data["pixels"], axis=1).astype(float)
    ends = np.cumsum(data["lengths"])[:-1]
    xs = np.split(pixels, ends)
    ys = [[chr(97 + label) for label in word] for word in np.split(data["labels"], ends)]
    train, test = np.flatnonzero(data["folds"] == 1), np.flatnonzero(data["folds"] != 1)[::20]
    return *([each[i] for i in train] for each in (xs, ys)), *([each[i] for i in test] for each in (xs, ys))


file = Path(os.environ.get("STRUCTSVM_DATA", "."), "structured", "letters.npz")
if file.is_file():
    HEIGHT, WIDTH = 16, 8
    xs, ys, new_xs, new_ys = handwritten_words(file)
else:
    (xs, ys), (new_xs, new_ys) = drawn_words(200), drawn_words(200)

# %%
# Train one model that reads words, and one that reads each letter separately, with the same features.

words = StructuralSVM(ChainHamming(ends=True), C=30.0).fit(xs, ys)
letters = StructuralSVM("multiclass", C=30.0).fit(np.concatenate(xs), np.concatenate(ys))
read = words.predict(new_xs)
alone = [letters.predict(x) for x in new_xs]


def right(found):
    return np.mean(np.concatenate(found) == np.concatenate(new_ys))


print(f"right letters: {right(read):.3f} as words, {right(alone):.3f} read separately")
print(words.result_.status.value)

# %%
# The figure shows the six new words with the most letters corrected by their neighbors. Wrong letters are orange.

mistakes = [
    np.sum(np.array(y) != found) - np.sum(np.array(y) != word)
    for y, found, word in zip(new_ys, alone, read, strict=True)
]
figure, panels = plt.subplots(3, 2, figsize=(7.0, 4.6), layout="constrained")
for axes, i in zip(panels.flat, np.argsort(mistakes)[::-1], strict=False):
    picture = np.hstack([pixels.reshape(HEIGHT, WIDTH) for pixels in new_xs[i]])
    axes.imshow(1 - picture, cmap="gray")
    for row, found in enumerate((alone[i], read[i])):
        for place, (letter, true) in enumerate(zip(found, new_ys[i], strict=True)):
            color = COLORS[0] if letter == true else COLORS[1]
            at = (place * WIDTH + WIDTH / 2, HEIGHT + 3 + 5 * row)
            axes.text(*at, letter, color=color, ha="center", va="center", weight="bold")
    axes.set_yticks([HEIGHT + 3, HEIGHT + 8], labels=["letters", "word"])
    axes.set(xticks=[], ylim=(HEIGHT + 11, -1), title="".join(new_ys[i]))
    axes.grid(visible=False)
for axes in panels[-1]:
    axes.set_xlabel("pixels")

# %%
# The next figure shows the weights of pairs of neighbors: blue pairs are frequent; red pairs never occur, or only as
# misreadings.

states = words.loss_.states
K, d = len(states), xs[0].shape[1]
pairs = words.coef_[K * d : K * d + K * K].reshape(K, K)
figure, axes = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
limit = np.abs(pairs).max()
shown = axes.imshow(pairs, cmap="RdBu", vmin=-limit, vmax=limit)
axes.set_xticks(range(K), labels=states)
axes.set_yticks(range(K), labels=states)
axes.set(xlabel="next letter", ylabel="letter", title="Weights of neighbors")
axes.grid(visible=False)
figure.colorbar(shown, label="weight")

# %%
# :doc:`/sequences` explains the model, its options and the choice of C.

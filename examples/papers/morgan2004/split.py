"""Random splits of the documents of a topic into training, validation and test documents."""

from typing import NamedTuple

import numpy as np

from structsvm.foundation.types import BoolVector, IntVector

FEWEST = 8
"""Documents of which a quarter has room for a relevant one and another one."""

FEWEST_OF_A_KIND = 3
"""Relevant documents, and others: one for each part."""


class Split(NamedTuple):
    """Numbers of documents, in random order: a quarter, a quarter, and the rest.

    Parameters
    ----------
    train : documents to choose terms on and to learn weights from.
    validation : documents to choose hyper-parameters and the length of the query.
    test : all other documents.
    """

    train: IntVector
    validation: IntVector
    test: IntVector


def draw_split(relevant: BoolVector, rng: np.random.Generator) -> Split:
    """Split documents into 25% to train, 25% to validate and 50% to test on.

    Every split in which each part has a relevant document and another one is as likely as any other: one that has
    not is drawn again. The parts are not stratified.

    Parameters
    ----------
    relevant : whether each document is, shape (n,); `FEWEST_OF_A_KIND` are and are not, and there are `FEWEST`.
    rng : draws.
    """
    quarter = len(relevant) // 4
    while True:
        order = rng.permutation(len(relevant))
        split = Split(order[:quarter], order[quarter : 2 * quarter], order[2 * quarter :])
        if all(relevant[part].any() and not relevant[part].all() for part in split):
            return split

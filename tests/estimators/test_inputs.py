"""Messages of `StructuralSVM` about inputs that are matrices, one per example, with wrong shapes."""

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import StructuralSVM
from structsvm.exceptions import InputError
from structsvm.losses import AveragePrecision, Multiclass


@pytest.fixture(scope="module")
def chains():
    rng = np.random.default_rng(0)
    xs = [rng.standard_normal((T, 4)) for T in (8, 3, 5)]
    return xs, [x[:, :3].argmax(axis=1).tolist() for x in xs]


@pytest.fixture(scope="module")
def tagger(chains):
    return StructuralSVM("chain_hamming").fit(*chains)


def test_another_number_of_features(tagger, chains):
    xs, ys = chains
    few = [x[:, :3] for x in xs]
    with pytest.raises(InputError, match=r"X\[0\] has 3 features, but StructuralSVM is expecting 4"):
        tagger.predict(few)
    with pytest.raises(InputError, match=r"X\[0\] has 3 features, but StructuralSVM is expecting 4"):
        tagger.score([sp.csr_array(x) for x in few], ys)
    with pytest.raises(InputError, match="different numbers of features: example 0 has 4, example 2 has 3"):
        tagger.predict([*xs[:2], few[2]])
    with pytest.raises(InputError, match="different numbers of features: example 0 has 4, example 2 has 3"):
        StructuralSVM("chain_hamming").fit([*xs[:2], few[2]], ys)


def test_words_in_a_matrix_are_an_error(tagger, chains):
    xs, ys = chains
    for use in (tagger.predict, lambda X: StructuralSVM("chain_hamming").fit(X, ys)):
        with pytest.raises(
            InputError, match=r"input of example 1 must be a matrix of numbers, with a row .*: could not conv"
        ):
            use([xs[0], ["the", "cat", "sat"], xs[2]])
        with pytest.raises(InputError, match="input of example 1 must be a matrix of numbers"):
            use([xs[0], [[1.0, 2.0], [3.0]], xs[2]])
    with pytest.raises(InputError, match=r"input of example 0 has shape \(1, 8, 4\): it must be a matrix"):
        tagger.predict([xs[0][None]])


def test_one_sequence_that_is_not_in_a_list(tagger, chains):
    x = chains[0][0]
    for single in (x, sp.csr_array(x)):
        with pytest.raises(InputError, match=r"X is a single matrix, of shape \(8, 4\), .* as in predict\(\[x\]\)"):
            tagger.predict(single)
    with pytest.raises(InputError, match=r"X\[0\] has shape \(4,\), .* predict\(\[x\]\)"):
        tagger.predict(x.tolist())
    assert len(tagger.predict([x])[0]) == 8
    assert len(tagger.predict([x.tolist()])[0]) == 8
    assert [len(path) for path in tagger.predict(np.stack([x, x]))] == [8, 8]


def test_inputs_outside_of_a_list_are_an_error(tagger, chains):
    with pytest.raises(InputError, match="X must be a list of inputs, or a matrix with one per row, got generator"):
        tagger.predict(x for x in chains[0])
    with pytest.raises(InputError, match="X must be a list of inputs"):
        StructuralSVM("chain_hamming").fit((x for x in chains[0]), chains[1])
    with pytest.raises(InputError, match="no input to predict an output for"):
        tagger.predict([])


@pytest.mark.parametrize("example", [0, 2])
def test_a_label_is_missing(chains, example):
    xs, ys = chains
    short = [y[:-1] if i == example else y for i, y in enumerate(ys)]
    with pytest.raises(InputError, match=f"example {example} has {len(xs[example])} rows and {len(ys[example]) - 1} l"):
        StructuralSVM("chain_hamming").fit(xs, short)
    with pytest.raises(InputError, match=f"example {example} has {len(xs[example])} rows and {len(ys[example]) - 1} l"):
        StructuralSVM(AveragePrecision()).fit(xs, [np.array(y) > 0 for y in short])


def test_vectors_are_inputs_where_they_were_learned_from(chains):
    rows = np.concatenate(chains[0])
    labels = [[label] for y in chains[1] for label in y]
    for X in (rows, list(rows)):
        svm = StructuralSVM("chain_hamming", C=10.0).fit(X, labels)
        assert svm.predict(rows) == svm.predict(list(rows))
        with pytest.raises(InputError, match="has 3 features, but StructuralSVM is expecting 4"):
            svm.predict(rows[:, :3])
        with pytest.raises(InputError, match=r"X\[0\] has 3 features"):
            svm.predict(list(rows[:, :3]))


def test_the_file_keeps_what_the_inputs_are(tagger, chains, tmp_path):
    tagger.save(tmp_path / "model.npz")
    loaded = StructuralSVM.load(tmp_path / "model.npz")
    with pytest.raises(InputError, match="is expecting 4"):
        loaded.predict([x[:, :3] for x in chains[0]])
    with pytest.raises(InputError, match="X is a single matrix"):
        loaded.predict(chains[0][0])


class Tokens(Multiclass):
    """Reads lists of token numbers, of any length, as counts of two kinds of token."""

    per_row = False

    def examples(self, xs, ys, intercept=0.0):
        return super().examples(self._counted(xs), ys, intercept)

    def predict(self, xs, w, intercept=0.0):
        return super().predict(self._counted(xs), w, intercept)

    def _counted(self, xs):
        return np.array([[sum(token < 3 for token in x), sum(token >= 3 for token in x)] for x in xs], dtype=float)


def test_inputs_that_the_loss_parses_may_have_any_length():
    svm = StructuralSVM(Tokens()).fit([[1, 2, 1], [4, 5], [2], [3, 3, 5]], [0, 1, 0, 1])
    assert list(svm.predict([[1, 2, 2, 1, 1, 2], [5]])) == [0, 1]

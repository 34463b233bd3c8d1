import numpy as np
import pytest
from attrs import evolve, field, frozen

from structsvm import StructuralSVM
from structsvm.exceptions import InputError
from structsvm.losses import Loss, Multiclass, SlackRescaled
from structsvm.registry import losses
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers.qp import OSQP
from tests.slow import slow


@frozen
class Own(Loss):
    """Crammer and Singer's joint features, written out; the classes are learned."""

    classes: tuple[str, ...] = field(default=(), converter=tuple)

    def bind(self, ys):
        return evolve(self, classes=sorted(set(ys)))

    def joint_feature(self, x, y):
        return np.outer(np.eye(len(self.classes))[self.classes.index(y)], x).ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def loss_augmented_argmax(self, x, y, w):
        wrong = np.array(self.classes) != y
        return self.classes[int(np.argmax(w.reshape(len(self.classes), -1) @ x + wrong))]

    def argmax(self, x, w):
        return self.classes[int(np.argmax(w.reshape(len(self.classes), -1) @ x))]

    def slack_rescaled_argmax(self, x, y, w):
        scores = w.reshape(len(self.classes), -1) @ x
        wrong = np.array(self.classes) != y
        return self.classes[int(np.argmax(wrong * (1.0 + scores - scores[self.classes.index(y)])))]


class Table(Multiclass):
    pass


def saved_and_loaded(svm, folder):
    svm.save(folder / "model.npz")
    return StructuralSVM.load(folder / "model.npz")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    return X, X.argmax(axis=1)


@pytest.mark.parametrize("names", [np.array(["c", "a", "b"]), np.array([7, 3, 5]), np.array([5.0, 15.0, -2.0])])
def test_classes_come_back(rows, names, tmp_path):
    X, y = rows
    svm = StructuralSVM(C=20.0, solver=OneSlack(), tol=1e-2, fit_intercept=True, intercept_scaling=2.0).fit(X, names[y])
    loaded = saved_and_loaded(svm, tmp_path)
    assert loaded.get_params() == svm.get_params()
    assert loaded.loss_ == svm.loss_
    assert loaded.n_features_in_ == 3
    assert loaded.predict(X).dtype == svm.predict(X).dtype
    np.testing.assert_array_equal(loaded.predict(X), svm.predict(X))
    assert loaded.score(X, names[y]) == svm.score(X, names[y])
    assert loaded.result_.history == svm.result_.history
    np.testing.assert_array_equal(loaded.fit(X, names[y]).coef_, svm.coef_)


def test_costs_and_names_of_features_come_back(rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(rows[0], columns=["x", "y", "z"]), rows[1]
    loss = Multiclass(cost=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    svm = StructuralSVM(loss, solver=NSlack(backend=OSQP(eps=1e-7)), warm_start=True).fit(X, y)
    loaded = saved_and_loaded(svm, tmp_path)
    assert loaded.get_params() == svm.get_params()
    assert loaded.loss_ == svm.loss_
    assert loaded.feature_names_in_.tolist() == ["x", "y", "z"]
    np.testing.assert_array_equal(loaded.predict(X), svm.predict(X))


def test_a_loss_of_ones_own_is_given_back(rows, tmp_path):
    xs, ys = list(rows[0]), ["abc"[k] for k in rows[1]]
    svm = StructuralSVM(Own(), C=20.0).fit(xs, ys)
    loaded = saved_and_loaded(svm, tmp_path)
    for use in (lambda: loaded.predict(xs), lambda: loaded.score(xs, ys), lambda: loaded.most_violated(xs[0], ys[0])):
        with pytest.raises(InputError, match=r"trained with the loss Own, .* set_params\(loss=Own\(...\)\)"):
            use()
    again = saved_and_loaded(loaded, tmp_path)
    with pytest.raises(InputError, match=r"set_params\(loss=Own"):
        again.set_params(loss=Multiclass()).predict(xs)
    again.set_params(loss=Own())
    assert again.predict(xs) == svm.predict(xs)
    assert again.score(xs, ys) == svm.score(xs, ys)
    assert again.fit(xs, ys).loss_ == svm.loss_


def test_the_inner_loss_of_a_wrapper_is_given_back(rows, tmp_path):
    xs, ys = list(rows[0]), ["abc"[k] for k in rows[1]]
    svm = StructuralSVM(SlackRescaled(Own()), C=20.0).fit(xs, ys)
    loaded = saved_and_loaded(saved_and_loaded(svm, tmp_path), tmp_path)
    with pytest.raises(InputError, match=r"trained with the loss SlackRescaled, .* set_params\(loss=Slack"):
        loaded.predict(xs)
    assert loaded.set_params(loss=SlackRescaled(Own())).predict(xs) == svm.predict(xs)


def _queries():
    rng = np.random.default_rng(2)
    return list(rng.standard_normal((6, 5, 3))), [rng.permutation([0.0, 0.0, 1.0, 2.0, 2.0]) for _ in range(6)]


def _chains():
    xs, ys = _queries()
    return xs, [np.array(["noun", "verb", "other"])[y.astype(int)].tolist() for y in ys]


def _graphs():
    xs, ys = _chains()
    return [(x, [[0, 1], [1, 2], [2, 0], [3, 4]]) for x in xs], ys


def _indicators():
    xs, _ = _queries()
    return np.concatenate(xs), (np.concatenate(xs) @ np.eye(3) > 0.0).astype(int)


def _two():
    xs, _ = _queries()
    return np.concatenate(xs), np.where(np.concatenate(xs)[:, 0] > 0.0, "spam", "ham")


DATA = {
    "multiclass": _two,
    "zero_one": _two,
    "chain_hamming": _chains,
    "graph_hamming": _graphs,
    "multilabel_hamming": _indicators,
}


def _rescaled():
    for name in losses.names():
        try:
            yield SlackRescaled(name)
        except InputError:
            continue


@pytest.mark.parametrize(
    "loss",
    [
        *DATA,
        "map",
        "ndcg",
        *slow(*(name for name in losses.names() if name not in {*DATA, "map", "ndcg"}), *_rescaled()),
    ],
    ids=repr,
)
def test_models_of_built_in_losses_predict_after_loading(loss, tmp_path):
    name = loss if isinstance(loss, str) else losses.name_of(type(loss.inner))
    X, y = DATA.get(name, _queries)()
    svm = StructuralSVM(loss, C=5.0, tol=1e-2).fit(X, y)
    loaded = saved_and_loaded(svm, tmp_path)
    assert loaded.loss_ == svm.loss_
    assert np.array_equal(np.array(loaded.predict(X)), np.array(svm.predict(X)))
    assert loaded.score(X, y) == svm.score(X, y)
    assert loaded.fit(X, y).result_.primal == svm.result_.primal


def test_a_loss_derived_from_one_of_ours_is_given_back(rows, tmp_path):
    X, y = rows
    svm = StructuralSVM(Table(), C=20.0).fit(X, y)
    loaded = saved_and_loaded(svm, tmp_path).set_params(loss=Table())
    np.testing.assert_array_equal(loaded.predict(X), svm.predict(X))


def test_a_class_that_has_changed_is_told(rows, tmp_path):
    X, y = rows
    loaded = saved_and_loaded(StructuralSVM(Table()).fit(X, y), tmp_path)

    @frozen
    class Changed(Own):
        pass

    Changed.__name__ = "Table"
    with pytest.raises(InputError, match=r"the class Table changed after this model was trained: .*cost"):
        loaded.set_params(loss=Changed()).predict(X)

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.exceptions import InputError, OneClassWarning
from structsvm.losses import AveragePrecision, ChainHamming, Loss, Multiclass, ScoreLoss, SlackRescaled
from structsvm.testing import check_loss


class Toy(Loss):
    """Crammer and Singer's joint features, written out."""

    def joint_feature(self, x, y):
        return np.outer(np.eye(3)[y], x).ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def loss_augmented_argmax(self, x, y, w):
        return int(np.argmax(w.reshape(3, -1) @ x + (np.arange(3) != y)))

    def argmax(self, x, w):
        return int(np.argmax(w.reshape(3, -1) @ x))


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X / X.std(axis=0), y


def test_a_generic_loss_reaches_the_optimum_of_the_compiled_one(iris):
    X, y = iris
    generic = StructuralSVM(Toy(), C=20.0, tol=1e-4).fit(list(X), y.tolist())
    compiled = StructuralSVM(C=20.0, tol=1e-4).fit(X, y)
    assert abs(generic.result_.primal - compiled.result_.primal) <= 1e-4 * 20.0
    assert generic.score(list(X), y.tolist()) == pytest.approx(compiled.score(X, y), abs=0.03)
    assert isinstance(generic.predict(list(X)), list)


class Sparse(Toy):
    """Joint features as a sparse vector."""

    def joint_feature(self, x, y):
        return sp.csr_array(super().joint_feature(x, y)[None])


def test_sparse_joint_features(iris):
    X, y = iris
    dense, sparse = (StructuralSVM(loss, C=3.0, tol=1e-5).fit(X, y) for loss in (Toy(), Sparse()))
    assert sparse.coef_ == pytest.approx(dense.coef_, abs=1e-9)  # sums have another order
    check_loss(Sparse(), [(X[0], y[0]), (X[60], y[60])])

    class Column(Toy):
        def joint_feature(self, x, y):
            return sp.csr_array(super().joint_feature(x, y)[:, None])

    with pytest.raises(InputError, match="Column.joint_feature returned a csr_array that is not a vector"):
        StructuralSVM(Column()).fit(X, y)


def test_classes_of_any_kind(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    svm = StructuralSVM(C=100.0).fit(X, names)
    assert svm.loss_.classes == ("setosa", "versicolor", "virginica")
    assert svm.score(X, names) > 0.9
    assert svm.predict(X[:1])[0] == "setosa"


def test_intercept_is_one_more_feature(iris):
    X, y = iris
    svm = StructuralSVM(C=100.0, tol=1e-5, fit_intercept=True, intercept_scaling=3.0).fit(X, y)
    padded = np.column_stack([X, np.full(len(X), 3.0)])
    problem = Problem.from_examples(padded, y, loss=Multiclass(), C=100.0)
    point = problem.at(svm.coef_)
    assert problem.primal(problem.planes(point), point) == pytest.approx(svm.result_.primal)
    with pytest.raises(InputError, match="makes its own joint features"):
        StructuralSVM(Toy(), fit_intercept=True).fit(list(X), y.tolist())


def test_queries_as_examples():
    rng = np.random.default_rng(0)
    xs = [rng.standard_normal((m, 3)) for m in (4, 6, 5)]
    ys = [(x[:, 0] > 0.2).astype(float) for x in xs]
    svm = StructuralSVM(AveragePrecision(), C=100.0).fit(xs, ys)
    assert svm.score(xs, ys) == 1.0
    seen = svm.most_violated(xs[0], ys[0])
    assert seen.output.shape == (4,)


def test_bad_input(iris):
    X, y = iris
    with pytest.raises(InputError, match="150 inputs and 149 outputs"):
        StructuralSVM(Toy()).fit(list(X), y[:-1].tolist())
    with pytest.raises(InputError, match="0 inputs and 0 outputs"):
        StructuralSVM(Toy()).fit([], [])
    with pytest.raises(InputError, match="is not among the classes"):
        StructuralSVM(Multiclass(classes=(0, 1))).fit(X, y)
    weights = np.arange(150.0)
    for given, said in (
        (-weights, "not negative: 149 of 150 are not, the first is -1 at example 1"),
        (0 * weights, "zero at every example: some weights must be above 0"),
        (weights[1:], r"one weight per example, shape \(150,\), got shape \(149,\)"),
    ):
        with pytest.raises(InputError, match=f"sample_weight .*{said}"):
            StructuralSVM().fit(X, y, sample_weight=given)
    with pytest.raises(InputError, match="requires y"):
        StructuralSVM().fit(X, None)


def test_encode_of_the_wrong_length_is_named():
    class Short(Multiclass):
        kernel = None

        def encode(self, y_hat, y):
            return super().encode(y_hat, y)[:-1]

    with pytest.raises(InputError, match=r"example 0 has 3 scores, but Short encodes its true output in shape \(2,\)"):
        StructuralSVM(Short()).fit(np.eye(3), [0, 1, 2])


TWO_CLASSES = [(0, 1), (-1, 1), (1, 2), (-3.0, 0.0), (False, True), ("ham", "spam"), ((0, 1), (1, 0))]


@pytest.mark.parametrize("classes", TWO_CLASSES, ids=repr)
@pytest.mark.parametrize("loss", ["zero_one", SlackRescaled("zero_one"), "multiclass"], ids=repr)
def test_two_classes_of_any_kind_are_predicted_as_given(tmp_path, loss, classes):
    X = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    y = np.array([None] * 4, dtype=object)
    y[:2], y[2:] = [classes[1]] * 2, [classes[0]] * 2
    expected = StructuralSVM(loss, C=10.0, tol=1e-8).fit(X, [1, 1, -1, -1])
    svm = StructuralSVM(loss, C=10.0, tol=1e-8).fit(X, y if isinstance(classes[0], tuple) else np.array(y.tolist()))
    assert svm.result_.primal == pytest.approx(expected.result_.primal, abs=1e-6)
    svm.save(tmp_path / "m.npz")
    for model in (svm, StructuralSVM.load(tmp_path / "m.npz")):
        assert model.predict(X).tolist() == y.tolist()
        assert model.classes_.tolist() == list(classes)
        assert model.score(X, y) == 1.0


def test_zero_one_rejects_three_classes():
    with pytest.raises(
        InputError, match=r"zero_one separates two classes, but there are 3: 0, 1, 3\. Use the loss mult"
    ):
        StructuralSVM("zero_one").fit(np.eye(4), [3, 1, 0, 0])


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.ZeroWeightsWarning")
@pytest.mark.parametrize(
    "fit", [StructuralSVM("zero_one").fit, StructuralSVM("multiclass").fit, Ranker("zero_one").fit]
)
def test_a_single_class_is_a_warning(fit):
    labels = [1, 2] if fit.__self__.__class__ is Ranker else [2, 2]
    with pytest.warns(OneClassWarning, match="all 2 labels y belong to one class"):
        model = fit(np.eye(2), labels)
    if fit.__self__.__class__ is StructuralSVM:
        assert model.predict(np.eye(2)).tolist() == [2, 2]


class Tagging(ScoreLoss):
    """A sign for each row, with an attribute ``classes`` that is not a setting of classes of examples."""

    classes = ("in", "out")

    def encode(self, y_hat, y):
        return np.array(y_hat) / 2.0

    def loss(self, y, y_hat):
        return float(sum(one != other for one, other in zip(y, y_hat, strict=True)))

    def loss_augmented_argmax(self, scores, y):
        return np.where(scores - np.array(y) > 0.0, 1, -1).tolist()

    def argmax(self, scores):
        return np.where(scores > 0.0, 1, -1).tolist()


def test_outputs_of_a_loss_with_an_attribute_classes_may_be_lists():
    model = StructuralSVM(Tagging()).fit([[[1.0], [-2.0]], [[3.0], [-1.0]]], [[1, -1], [1, -1]])
    assert model.predict([[[5.0], [-5.0]]]) == [[1, -1]]


@pytest.mark.parametrize("loss", ["zero_one", "multiclass"])
@pytest.mark.parametrize("y", [[0.5, 1.0], np.array([0.5, 1.5], dtype=np.float32), [np.float64(1e-9), 1.0]])
def test_measurements_are_not_classes(loss, y):
    with pytest.raises(InputError, match=r"labels must be classes, but .* is a fraction"):
        StructuralSVM(loss).fit(np.eye(2), y)
    if loss == "multiclass":
        assert StructuralSVM(Multiclass(classes=(0.5, 1.0))).fit(np.eye(2), [0.5, 1.0]).classes_.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("loss", "truth", "score"),
    [
        (Multiclass(), ["a", "c"], 0.5),
        (Multiclass(cost=[[0.0, 1.0], [3.0, 0.0]]), ["a", "c"], -0.5),
        (ChainHamming(), [["a", "b"], ["b", "c"]], 0.75),
    ],
)
def test_a_label_that_training_never_saw_counts_as_wrong(loss, truth, score):
    chains = isinstance(loss, ChainHamming)
    X = [np.eye(2), np.eye(2)[::-1]] if chains else np.eye(2)
    svm = StructuralSVM(loss, C=100.0).fit(X, [["a", "b"], ["b", "a"]] if chains else ["a", "b"])
    assert svm.score(X, truth) == score


@pytest.mark.parametrize("loss", ["multiclass", "zero_one"])
def test_labels_of_rows_must_not_be_nan(iris, loss):
    X, y = iris[0], np.minimum(iris[1], 1)
    hole = np.where(np.arange(150) == 4, np.nan, y)
    with pytest.raises(InputError, match="NaN or infinity, first in row 4"):
        StructuralSVM(loss).fit(X, hole)
    with pytest.raises(InputError, match="NaN or infinity, first in row 4"):
        StructuralSVM(loss).fit(X, y).score(X, hole)

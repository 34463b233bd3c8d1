"""Topics ranked in one call, and the same by hand: retrieve, pool, map the features, fit, predict."""

import numpy as np
import pytest
from sklearn.base import clone

from structsvm import Ranker
from structsvm.data import Qrels, Run, Topic, join_runs, load_qrels, pool_runs, read_documents, read_topics
from structsvm.exceptions import DataFormatError, InputError, ModelFileError, UnknownNameError
from structsvm.metrics import AP, NDCG
from structsvm.protocols import AsGiven, FeatureMap, Indicators, Scores
from structsvm.rankers import RankBoost
from structsvm.text import Analyzer, Index, TextRanker, retrieve
from structsvm.text.functions.tf_idf import Okapi
from structsvm.text.letor import RELEASED, letor_features
from tests.real_data import CRANFIELD, needs

WORDS = np.array(["wings", "heat", "flows", "flow", "plates", "shock", "jets", "the", "layers", "layer"])
FUNCTIONS = ["okapi", "lm_dirichlet(mu=50)", "cosine"]
DEPTH = 12


def synthetic(seed):
    """60 documents of ten words, 12 topics of two of them, and judgments by the share of the topic's words."""
    random = np.random.default_rng(seed)
    documents = [
        (f"d{k}", {"title": str(random.choice(WORDS)), "text": " ".join(random.choice(WORDS, random.integers(4, 20)))})
        for k in range(60)
    ]
    topics = [Topic(str(k), {"title": " ".join(random.choice(WORDS[:-1], 2, replace=False))}) for k in range(1, 13)]
    rows = []
    for topic in topics:
        wanted = set(topic.query().split())
        for name, fields in documents:
            share = np.mean([word in wanted for word in fields["text"].split()])
            if random.random() < 0.5:
                rows.append((topic.id, name, int(share + 0.1 * random.standard_normal() > 0.25)))
    return documents, topics, Qrels.from_grades(*zip(*rows, strict=True))


DOCUMENTS, TOPICS, QRELS = synthetic(0)
TRAIN, NEW = TOPICS[:8], TOPICS[8:]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = [tmp_path_factory.mktemp("indexes") / name for name in ("plain", "stems")]
    for folder, analyzer in zip(made, [Analyzer(None, None), Analyzer("porter", ("the",))], strict=True):
        Index.build(DOCUMENTS, analyzer).save(folder)
    return made


@pytest.fixture(scope="module")
def trained(folders):
    return TextRanker(folders, FUNCTIONS, depth=DEPTH, features=Indicators(5)).fit(TRAIN, QRELS)


def runs_by_hand(folders, topics):
    return [
        retrieve(Index.load(folder), topics, function, top=DEPTH, name=f"{folder.name}.{function}")
        for folder in folders
        for function in FUNCTIONS
    ]


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("qid", "doc_ids", "scores"))


@pytest.mark.parametrize(
    ("features", "ranker"),
    [
        (None, None),
        (Indicators(5), Ranker("map", C=10.0)),
        (Indicators(5, "percentiles"), Ranker("roc_area")),
        (Scores(), Ranker("map", C=30.0, measure="ndcg@5")),
        (AsGiven(), RankBoost(3)),
    ],
)
def test_the_same_as_by_hand(folders, features, ranker):
    made = TextRanker(folders, FUNCTIONS, depth=DEPTH, features=features, ranker=ranker).fit(TRAIN, QRELS)
    by_map = features or Indicators(50)
    pool = pool_runs(runs_by_hand(folders, TRAIN), QRELS, depth=DEPTH, topics=[topic.id for topic in TRAIN])
    assert np.isnan(pool.X).any()
    transformer = by_map.transformer()
    X = transformer.fit_transform(by_map.within_queries(pool.X, pool.qid))
    fitted = clone(ranker or Ranker("map")).fit(X, pool.y, qid=pool.qid)
    joined = join_runs(runs_by_hand(folders, NEW), depth=DEPTH)
    scores = fitted.predict(transformer.transform(by_map.within_queries(joined.X, joined.qid)))
    expected = Run.from_scores("by hand", joined.qid, joined.doc_ids, scores)
    run = made.rank(NEW)
    assert len(np.unique(run.scores)) > 3
    assert same(run, expected)
    assert run.name == type(fitted).__name__
    assert made.column_names_ == pool.run_names
    measure = NDCG(k=5) if getattr(ranker, "measure", None) else AP()
    labels = QRELS.labels(run.qid, run.doc_ids)
    assert made.score(NEW, QRELS) == measure.mean(run.scores, labels, run.qid, judged=QRELS.judged)


def test_letor_features_by_hand(folders):
    index = Index.load(folders[1])
    made = TextRanker(index, FUNCTIONS, depth=DEPTH, letor=["released", "tfidf"], fields=["text"]).fit(TRAIN, QRELS)
    runs = [retrieve(index, TOPICS, function, top=DEPTH, name=function) for function in FUNCTIONS]
    pool = pool_runs(runs, QRELS, depth=DEPTH, topics=[topic.id for topic in TRAIN])
    train = letor_features(index, TRAIN, pool, QRELS, features=["released", "tfidf"], fields=["text"])
    fitted = Ranker("map").fit(train.X, train.y, qid=train.qid)
    joined = join_runs(runs, depth=DEPTH, topics=[topic.id for topic in NEW])
    new = letor_features(index, NEW, joined, features=["released", "tfidf"], fields=["text"])
    assert same(made.rank(NEW), Run.from_scores("by hand", new.qid, new.doc_ids, fitted.predict(new.X)))
    assert made.column_names_ == train.feature_names


def test_a_topic_is_ranked_alone_as_among_others(trained):
    together = trained.rank(NEW)
    for topic in NEW:
        rows = together.qid == topic.id
        alone = trained.rank({topic.id: topic.query()})
        assert (alone.doc_ids.tolist(), alone.scores.tolist()) == (
            together.doc_ids[rows].tolist(),
            together.scores[rows].tolist(),
        )


def test_topics_without_known_terms(trained):
    run = trained.rank({"1": "zzz qqq", "2": "heat shock", "3": ""})
    assert set(run.qid.tolist()) == {"2"}
    with pytest.raises(InputError, match="no document has a term of any of 1 topics"):
        trained.rank({"1": "zzz"})
    # "the" is a stop word of one index, whose functions then have nothing
    assert len(trained.rank({"1": "the"}).qid) > 0


def test_topics_that_cannot_be_learned_from(folders):
    judged = Qrels.from_grades(["1", "2", "3", "9"], ["d1", "nowhere", "d1", "d2"], [0, 1, 1, 1])
    topics = {"1": "heat", "2": "heat", "3": " ".join(WORDS), "4": "flow", "5": "zzz"}
    made = TextRanker(folders[0], "okapi", depth=60, features=Scores()).fit(topics, judged)
    assert made.left_out_ == {
        "1": "no document is judged relevant",
        "2": "no run retrieved any of the 1 documents judged relevant",
        "4": "it is not judged",
        "5": "no run has it and it is not judged",
    }
    with pytest.raises(InputError, match="the pool has no topics: 1, because no document is judged relevant"):
        TextRanker(folders[0], "okapi").fit({"1": "heat"}, judged)


def test_score_counts_what_was_not_retrieved():
    index = Index.build(
        [("a", {"text": "heat"}), ("b", {"text": "heat flow"}), ("c", {"text": "jets"})], Analyzer(None, None)
    )
    judged = Qrels.from_grades(["1", "1", "1", "2", "3"], ["a", "b", "c", "c", "a"], [1, 0, 1, 1, 1])
    made = TextRanker(index, ["okapi", "cosine"], features=Scores()).fit({"1": "heat"}, judged)
    assert made.rank({"1": "heat"}).doc_ids.tolist() == ["a", "b"]
    assert made.score({"1": "heat"}, judged) == 0.5  # of two relevant ones, one is not retrieved
    assert made.score({"1": "heat", "2": "zzz", "77": "not judged"}, judged) == 0.25
    with pytest.raises(InputError, match="no judgments for the 1 topics: the first topic is '8'"):
        made.score({"8": "heat"}, judged)


def test_parameters_stay_as_they_are(folders):
    indexes, functions, ranker = list(folders), tuple(FUNCTIONS), Ranker("map", C=3.0)
    made = TextRanker(indexes, functions, depth=DEPTH, ranker=ranker)
    before = made.get_params(deep=False)
    assert made.fit(TRAIN, QRELS) is made
    after = made.get_params(deep=False)
    assert all(after[name] is value for name, value in before.items())
    assert not hasattr(ranker, "coef_")
    assert made.get_params()["ranker__C"] == 3.0
    assert repr(TextRanker("stems", "okapi")) == "TextRanker(functions='okapi', indexes='stems')"
    expected = made.rank(NEW)
    made.set_params(depth=1, ranker__C=1e-9, query="nothing")
    assert same(made.rank(NEW), expected)  # they wait for the next fit
    other = clone(made).set_params(depth=DEPTH, ranker__C=3.0, query=None)
    assert same(other.fit(TRAIN, QRELS).rank(NEW), expected)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"features": Scores("percentiles"), "ranker": Ranker("roc_area", fit_intercept=False)},
        {"features": AsGiven(), "letor": ("L1", "L8", "okapi"), "fields": ["title", "text"]},
        {"letor": "released", "features": Indicators(4, "min-max"), "query": "title"},
        {"functions": [Okapi(b=0.3), "cosine"], "ranker": Ranker("ndcg@5", C=7.0, measure="ndcg@5")},
    ],
)
def test_saved_and_loaded(folders, tmp_path, settings):
    made = TextRanker(**{"indexes": folders, "functions": FUNCTIONS, "depth": DEPTH, **settings}).fit(TRAIN, QRELS)
    made.save(tmp_path / "model.npz")
    loaded = TextRanker.load(tmp_path / "model.npz")
    expected = made.rank(NEW)
    assert same(loaded.rank(NEW), expected)
    assert loaded.score(NEW, QRELS) == made.score(NEW, QRELS)
    assert (loaded.column_names_, loaded.left_out_) == (made.column_names_, made.left_out_)
    assert same(loaded.fit(TRAIN, QRELS).rank(NEW), expected)
    loaded.save(tmp_path / "again.npz")
    assert same(TextRanker.load(tmp_path / "again.npz").rank(NEW), expected)
    assert np.array_equal(Ranker.load(tmp_path / "model.npz").coef_, made.ranker_.coef_)


def test_indexes_may_move_and_no_other_is_taken(folders, tmp_path):
    index = Index.load(folders[0])
    index.save(tmp_path / "here")
    made = TextRanker(tmp_path / "here", FUNCTIONS, depth=DEPTH).fit(TRAIN, QRELS)
    path = tmp_path / "model.npz"
    made.save(path)
    expected = made.rank(NEW)
    (tmp_path / "here").rename(tmp_path / "there")
    with pytest.raises(InputError, match=r"the index .*here, with which .* was trained, does not exist"):
        TextRanker.load(path)
    for indexes in (tmp_path / "there", [str(tmp_path / "there")]):
        assert same(TextRanker.load(path, indexes=indexes).rank(NEW), expected)
    with pytest.raises(InputError, match="a file for each of the 1 indexes of .*, got 2"):
        TextRanker.load(path, indexes=folders)
    with pytest.raises(InputError, match="indexes must be the file of an index, or a list of files, got 3"):
        TextRanker.load(path, indexes=3)
    with pytest.raises(InputError, match=r"the index .*stems differs from the index that .*model.npz was trained with"):
        TextRanker.load(path, indexes=folders[1])
    Index.build([*DOCUMENTS[:-1], ("d59", {"text": "heat"})], Analyzer(None, None)).save(tmp_path / "here")
    with pytest.raises(InputError, match="differs from the index"):
        TextRanker.load(path)
    with pytest.raises(DataFormatError, match="it is not an index"):
        TextRanker.load(path, indexes=path)


class Doubled(FeatureMap):
    def transformer(self):
        return AsGiven().transformer()


def test_unsaveable_settings_are_errors(folders, tmp_path):
    path = tmp_path / "model.npz"
    settings = {"indexes": folders[0], "functions": "okapi", "depth": DEPTH}
    for changed, said in [
        ({"ranker": RankBoost(2)}, "the file of a TextRanker stores a Ranker, got a RankBoost"),
        ({"indexes": Index.load(folders[0])}, r"indexes\[0\] is an object.*index.save\(path\)"),
        ({"features": Doubled()}, "features must be one of Indicators, Scores, AsGiven to be saved"),
        ({"letor": [RELEASED[0]]}, "LETOR's features by name: name the feature 'L1' instead"),
    ]:
        made = TextRanker(**settings | changed).fit(TRAIN, QRELS)
        with pytest.raises(InputError, match=said):
            made.save(path)
        assert not path.exists()


def test_other_files_are_refused(trained, tmp_path):
    trained.ranker_.save(tmp_path / "ranker.npz")
    with pytest.raises(ModelFileError, match="the file contains a Ranker: read it with structsvm.load"):
        TextRanker.load(tmp_path / "ranker.npz")
    (tmp_path / "text.npz").write_text("nonsense")
    with pytest.raises(ModelFileError, match="is not a model file, or it is damaged"):
        TextRanker.load(tmp_path / "text.npz")
    with pytest.raises(ModelFileError, match="does not exist"):
        TextRanker.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"thresholds":[[', '"thresholds":[[1e9,', "do not ascend"),
        ('"thresholds":[[', '"thresholds":[[NaN,', "finite"),
        ('"thresholds":[[', '"thresholds":[[1.0],[', "7 columns instead of 6"),
        ('"format":1', '"format":9', "wrote it .format 9"),
        ('"features":"Indicators"', '"features":"Thing"', "unknown map of features 'Thing'"),
        ('"bins":5', '"bins":-5', "bins"),
        ('"bins":5', '"nbins":5', "nbins"),
        ('"depth":12', '"depth":"x"', "depth"),
        ('"depth":12', '"other":12', "depth"),
        ('"features":"Indicators"', '"features":"Scores"', "bins"),
    ],
)
def test_a_damaged_file_is_refused(trained, tmp_path, old, new, said):
    from structsvm.foundation.storage.files import write_archive

    trained.save(tmp_path / "right.npz")
    with np.load(tmp_path / "right.npz") as file:
        arrays = {name: file[name] for name in file.files if name != "sha256"}
    text = str(arrays["text_ranker"])
    assert old in text
    write_archive(tmp_path / "wrong.npz", arrays | {"text_ranker": np.array(text.replace(old, new))})
    with pytest.raises(ModelFileError, match=said):
        TextRanker.load(tmp_path / "wrong.npz")


def test_invalid_arguments_are_errors(folders):
    for settings, error, said in [
        ({"indexes": []}, InputError, "indexes is empty"),
        ({"indexes": 3}, InputError, "indexes must be an index, its file, or a list of indexes and files, got 3"),
        ({"indexes": [3]}, InputError, "indexes must be an index, its file, or a list of indexes and files, got 3"),
        ({"functions": []}, InputError, "functions is empty"),
        ({"functions": ["okapi", "okapi()"]}, InputError, "the function okapi is given twice"),
        ({"functions": "okapy"}, UnknownNameError, "Did you mean 'okapi'"),
        ({"depth": 0}, InputError, "depth must be"),
        ({"fields": ["text"]}, InputError, "fields needs letor="),
        ({"fields": "text", "letor": "released"}, InputError, r"fields must be a list of names, such as \['text'\]"),
        ({"letor": "L99"}, UnknownNameError, "L99"),
        ({"features": "bins"}, InputError, "features must be a map of features"),
        ({"ranker": Ranker}, InputError, "Ranker is a class"),
        ({"ranker": "map"}, InputError, "ranker must have fit, predict and get_params"),
        ({"query": "narrative"}, InputError, "topic '1' has no part 'narrative'"),
    ]:
        with pytest.raises(error, match=said):
            TextRanker(**{"indexes": folders, "functions": "okapi", **settings}).fit(TRAIN, QRELS)
    with pytest.raises(InputError, match="qrels must be Qrels"):
        TextRanker(folders).fit(TRAIN, "qrels.txt")
    with pytest.raises(InputError, match="two topics have the id '1'"):
        TextRanker(folders).fit([TOPICS[0], TOPICS[0]], QRELS)
    for method in ("rank", "save"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(TextRanker(folders), method)("x")


def test_indexes_of_one_name(folders, tmp_path):
    index = Index.load(folders[0])
    index.save(tmp_path / "stems")
    made = TextRanker([folders[1], tmp_path / "stems", index], "okapi", depth=DEPTH).fit(TRAIN, QRELS)
    assert made.column_names_ == ("1.okapi", "2.okapi", "3.okapi")


@pytest.mark.slow
@needs(CRANFIELD)
def test_half_of_cranfield_ranks_the_other(tmp_path):
    """It is level with the best of its base functions, as docs/text/ranking.md says."""
    documents = list(read_documents(CRANFIELD / "cran.all.1400"))
    folders = {
        "words": Analyzer(None, None),
        "porter": Analyzer("porter", None),
        "stopped": Analyzer("porter", "glasgow"),
    }
    for name, analyzer in folders.items():
        Index.build(documents, analyzer).save(tmp_path / name)
    every = read_topics(CRANFIELD / "cran.qry", numbering="position")
    judged = load_qrels(CRANFIELD / "cranqrel", {1: 4, 2: 3, 3: 2, 4: 1, -1: 0})
    shuffled = [every[k] for k in np.random.default_rng(0).permutation(len(every))]
    training, test = shuffled[:112], shuffled[112:]
    made = TextRanker([tmp_path / name for name in folders], depth=100, ranker=Ranker("map", C=1e-3))
    best = retrieve(Index.load(tmp_path / "stopped"), test, "okapi")
    labels = judged.labels(best.qid, best.doc_ids)
    alone = AP().mean(best.scores, labels, best.qid, judged=judged.judged)
    assert alone == pytest.approx(0.3217, abs=5e-5)
    assert made.fit(training, judged).score(test, judged) == pytest.approx(0.3304, abs=5e-4)

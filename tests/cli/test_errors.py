"""Invalid command lines: exit code 2, a message on standard error alone, and no file written."""

import shlex

import pytest

from structsvm import Ranker
from structsvm.data import load_letor
from structsvm.rankers import RankBoost
from structsvm.text import Analyzer, Index
from tests.cli.conftest import write_letor
from tests.cli.test_paths import contents
from tests.cli.test_train_bounds import TABLE

FILES = {
    "bad.txt": "1 qid:1 1:2\n0 qid:1 1:x\n",
    "alike.txt": "0 qid:1 1:2\n0 qid:1 1:3\n",
    "none.txt": "0 qid:7 1:2 4:1\n0 qid:7 1:3\n0 qid:8 2:1\n",
    "wide.txt": "1 qid:90 6:1\n0 qid:90 1:1\n",
    "t.csv": TABLE,
    "ids.txt": "1 qid:100 1:1 #docid = d0\n0 qid:100 1:2 #docid = d1\n",
    "runs/e0": "7 Q0 A 1 3 e0\n7 Q0 B 2 2 e0\n8 Q0 A 1 3 e0\n",
    "runs/e1": "7 Q0 B 1 3 e1\n7 Q0 A 2 2 e1\n",
    "same": "7 Q0 A 1 3 same\n8 Q0 A 1 3 same\n",
    "tree": "tree\nversion=v4\n",
    "other": "99 Q0 A 1 1 other\n",
    "nowhere": "7 Q0 C 1 3 nowhere\n",
    "qrels": "7 0 A 1\n7 0 B 0\n8 0 A 1\n",
    "docs.jsonl": '{"id": "A", "text": "wing flow", "title": "wings"}\n{"id": "B", "text": "heat"}\n',
    "signs.jsonl": '{"id": "a", "text": "..."}\n',
    "topics": "7\twing flow\n",
    "empty/.keep": "",
    "results/results.json": "{}",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with a file of each kind that a command reads."""
    folder = tmp_path_factory.mktemp("inputs")
    write_letor(folder / "train.txt", queries=9, documents=12, features=4)
    write_letor(folder / "test.txt", queries=5, documents=12, features=4, first_qid=100, seed=1)
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (folder / "empty/.keep").unlink()
    (folder / "linked").symlink_to("runs/e1")
    data = load_letor(folder / "train.txt")
    Ranker(C=1.0, tol=1e-3).fit(data.X, data.y, data.qid).save(folder / "m.npz")
    RankBoost(2).fit(data.X, data.y, data.qid).save(folder / "boost.npz")
    Index.build([("A", {"text": "wing flow"}), ("B", {"text": "heat"})], Analyzer(None, None)).save(folder / "idx")
    return folder


def check(inputs, monkeypatch, run, line, message):
    monkeypatch.chdir(inputs)
    before = contents()
    done = run(*shlex.split(line), code=2)
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert contents() == before


TRAIN = "train train.txt --model new "
GRID = "train train.txt --model new --C-grid 1:10 "
START = "train train.txt --model new --warm-start m.npz "
COMPARE = "compare train.txt "
FEATURES = "features idx topics --format tsv --qrels qrels --out new "
PLAN = "plan --qrels qrels runs/e0 "


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train", "Missing argument 'DATA...'"),
        ("predict", "Missing argument"),
        ("bogus", "No such command 'bogus'"),
        ("show --typo", "No such option"),
        (TRAIN + "-c 20", "No such option '-c'. Did you mean '-C'?"),
        (TRAIN + "--loss maap", "unknown loss 'maap'. Did you mean 'map'?"),
        (TRAIN + "--loss lambdarank", "lambdarank is the ranker LambdaMART (train --ranker lambda_mart)"),
        (TRAIN + "--loss osqp", "'osqp' is a QP backend, for --backend of a solver"),
        (TRAIN + "--measure zero_one", "'zero_one' is a loss, for --loss; a measure is needed here."),
        (TRAIN + "--ranker map", "'map' is a loss"),
        (TRAIN + "-C 0", "Invalid value for '-C': it must be a positive finite number, got 0"),
        (TRAIN + "-C ten", "is not a number"),
        (TRAIN + "--max-iter 0", "'--max-iter'"),
        (TRAIN + "--time-limit 0", "Invalid value for '--time-limit': it must be a positive finite number, got 0"),
        (TRAIN + "--jobs 0", "must be a number of threads, -1 for all processors or -2 for all but one, got 0"),
        (TRAIN + "--loss multiclass", "--loss multiclass does not score single documents, so it cannot rank"),
        (TRAIN + "--solver 'one-slack(tol=0.02)' --tol 1", "already sets tol: give it once"),
        (TRAIN + "--ranker 'rank_svm(C=1)' -C 2", "already sets C: give it once"),
        (TRAIN + "--normalize mean", "unknown scaling 'mean'; choose none, query-min-max, query-z-score, standard"),
        ("train - --model new --validation - --C-grid 1:10", "two inputs cannot both be standard input"),
        ("train train.txt --model -", "'-' is not supported here: give the name of a file (./- for one of that name)"),
        ("train train.txt --model no/m", "no/m cannot be written: there is no folder no"),
        ("train train.txt --model train.txt/m", "train.txt/m cannot be written: there is no folder train.txt"),
        ("train train.txt --model /dev/null", "/dev/null cannot be written: it is not a regular file"),
        (TRAIN + "--checkpoint no/c", "no/c cannot be written: there is no folder no"),
        (TRAIN + "--checkpoint .", "it is a folder"),
        (GRID + "--folds 2 --checkpoint .", "is a folder"),
        *(
            (f"{TRAIN} --folds 2 --C-grid {grid}", "is not low:high or low:high:count")
            for grid in ("1", "1:0.1", "0:1", "a:b", "1:10:1", "1:10:2:3", "1:inf", "1:10:1000")
        ),
        (GRID, "--C-grid needs queries to choose a value on"),
        (GRID + "--folds 2 -C 1", "-C is one value and --C-grid several: leave one out"),
        (GRID + "--folds 2 --validation test.txt", "--validation and --folds both choose"),
        (GRID + "--folds 1", "Invalid value for '--folds'"),
        (TRAIN + "--folds 3", "validation needs several values of C to choose from: add --C-grid, such as 0.1:100"),
        (GRID + "--folds 2 --warm-start m.npz", "leave --warm-start out"),
        (START + "--ranker rank_boost", "--warm-start does not apply to RankBoost: leave it out"),
        (TRAIN + "--ranker rank_boost --time-limit 3", "--time-limit does not apply to RankBoost: leave it out."),
        (TRAIN + "--ranker rank_boost --loss map", "--loss does not apply to RankBoost: leave it out. Its settings"),
        (TRAIN + "--ranker rank_boost -C 2", "-C does not apply to RankBoost"),
        (TRAIN + "--ranker rank_net --backend osqp", "--backend does not apply to RankNet"),
        (TRAIN + "--ranker rank_net --normalize standard", "--normalize does not apply to RankNet"),
        (TRAIN + "--ranker rank_net --checkpoint c.npz", "--checkpoint does not apply to RankNet"),
        (GRID + "--ranker weight_search --folds 2", "--C-grid does not apply to WeightSearch"),
        (TRAIN + "--ranker rank_svm --fit-intercept", "--fit-intercept does not apply to RankSVM"),
        (TRAIN + "--ranker rank_svm --bounds 0:", "--bounds does not apply to RankSVM: leave it out"),
        (TRAIN + "--bounds 3", "'3' is not a bound: write LOW:HIGH for all weights"),
        (TRAIN + "--bounds nan:1", "'nan:1': the smallest weights must not be NaN"),
        (TRAIN + "--bounds inf:", "'inf:': the weight of 'every feature' would have to be from inf to inf"),
        (TRAIN + "--bounds 1:0", "'1:0': low 1 is above high 0 of the weight of 'every feature': exchange them"),
        (TRAIN + "--bounds 0:,1:", "LOW:HIGH is given twice: leave one out"),
        (TRAIN + "--bounds 2:0:1,2:1:2", "2 is given twice: leave one out"),
        (TRAIN + "--monotonic-cst 3", "'3' is not FEATURE:SIGN, such as 3:+1"),
        (TRAIN + "--monotonic-cst 3:2", "'3:2' is not FEATURE:SIGN"),
        ("train t.csv train.txt --model new", "t.csv is a table by its name, but train.txt is not"),
        ("train t.csv --model new --cache c", "--cache is for files in LETOR's format, not for tables"),
        ("train t.csv --model new --groups g", "--groups is for files in LETOR's format, not for tables"),
        (COMPARE + "--solver one-slack,n-slak", "unknown solver 'n-slak'. Did you mean 'n-slack'?"),
        (COMPARE + "--loss multiclass", "--loss multiclass does not score single documents, so it cannot rank"),
        (COMPARE + "--solver ''", "'' has an empty entry: write it as a,b,c"),
        (COMPARE + "--solver one-slack,one-slack", "'one-slack' is given twice: leave one out"),
        (COMPARE + "--solver one-slack --solver one_slack", "'one-slack' and 'one_slack' are the same solver"),
        (COMPARE + "--backend auto,active-set", "'auto' and 'active-set' are the same QP backend: leave one out"),
        (COMPARE + "-C 1,-3", "it must be a positive finite number, got -3"),
        (COMPARE + "-C '1;10'", "'1;10' is not a number; several are written as 1,10,100"),
        (COMPARE + "-C 1,1.0", "1.0 is given twice"),
        (COMPARE + "--csv a.txt --json ./a.txt", "--csv a.txt and --json a.txt are the same file: each output needs"),
        (COMPARE + "--plot gaps.csv", "gaps.csv cannot be written: choose a name that ends in ."),
        ("compare t -C 1_0", "not a number"),
        ("train t -m m --C-grid 1:\u0663", "not low:high"),
        ("train t -m m --bounds 0:\uff11", "not a bound"),
    ],
)
def test_an_error_in_a_command_line_is_found_before_data_are_read(inputs, monkeypatch, run, line, message):
    monkeypatch.setattr("structsvm.data.load_letor", lambda *args, **settings: pytest.fail("data were read"))
    check(inputs, monkeypatch, run, line, message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train bad.txt --model new", "structsvm: error: bad.txt, line 2: "),
        ("train alike.txt --model new", "cannot learn from any of the 1 queries"),
        ("train missing --model new", "there is no file missing"),
        ("train train.txt train.txt --model new", "9 queries, such as 1, may be in one file only, but train.txt and"),
        (
            GRID + "--validation none.txt",
            "--validation none.txt cannot choose a value of --C-grid: map is undefined on",
        ),
        (GRID + "--validation wide.txt", "wide.txt, line 1: there is a feature beyond the 4 of the training files"),
        (GRID + "--folds 10", "10 folds need at least 10 queries, got 9: use fewer folds"),
        (START + "--loss roc_area", "m.npz was trained with loss map, not roc_area: use loss map"),
        (START + "--normalize standard", "m.npz was trained with normalize None, not standard"),
        (START + "wide.txt", "m.npz has 4 features, but the data have 6 or other names"),
        (
            TRAIN + "--warm-start boost.npz",
            "boost.npz holds a RankBoost, from which training of a Ranker cannot start:",
        ),
        ("train t.csv -m new --bounds 4:0:", "'--bounds': the data have no feature '4': they are numbered 1 to 3, the"),
        ("train t.csv -m new --monotonic-cst agee:1", "'--monotonic-cst': the data have no feature 'agee'"),
        ("train t.csv -m new --monotonic-cst match:1,1:1", "'match' and '1' are the same feature"),
        (
            "train t.csv -m new --bounds :-1 --monotonic-cst 2:+1",
            "the weight of 'age:days' cannot be between 0 and -1",
        ),
        (COMPARE + "--bounds 9:0:", "the data have no feature '9': they are numbered 1 to 4"),
        ("predict none.npz test.txt", "none.npz does not exist"),
        ("predict tree test.txt", "tree is damaged, or from an unknown version: 'trees' is cut short"),
        ("evaluate train.txt test.txt", "train.txt is not a model file, or it is damaged. To measure TREC runs, give"),
        (
            "predict m.npz wide.txt",
            "wide.txt, line 1: there is a feature beyond the 4 that the model m.npz was trained",
        ),
        ("predict m.npz test.txt --output no/s", "no/s cannot be written: there is no folder no"),
        ("predict m.npz test.txt --format trec", "test.txt, line 1: there is no comment '#docid = ...'"),
        ("predict m.npz test.txt --probabilities", "m.npz has scores but no probabilities: add a curve with structsvm"),
        ("predict m.npz test.txt --probabilities --format trec", "--probabilities excludes --format trec"),
        ("predict - test.txt", "'-' is not supported"),
        ("predict m.npz test.txt --output -", "'-' is not supported"),
        (
            "calibrate m.npz test.txt --output new",
            "too few queries to calibrate on: 5 with a weight above 0, but 10 are",
        ),
        ("evaluate m.npz test.txt --measure mapp", "Did you mean 'map'?"),
        ("evaluate m.npz test.txt --measure p", "p needs a cut-off"),
        ("evaluate m.npz test.txt --measure map,", "'map,' has an empty entry: write it as a,b,c"),
        ("evaluate m.npz test.txt --measure ndcg_cut_", "lacks its number"),
        ("evaluate m.npz none.txt --empty skip", "map(empty=skip) has no mean: it is undefined for every query. Give"),
        ("evaluate m.npz", "give a model and the data files to measure it on, or --qrels and TREC runs"),
        ("evaluate m.npz test.txt --baseline m.npz", "the baseline 'm.npz' is the only model: give another model"),
        ("evaluate m.npz m.npz test.txt", "m.npz is given twice: leave one out"),
        ("evaluate m.npz - --baseline boost.npz", "each model reads the data, which standard input allows only once"),
        ("evaluate - test.txt", "a model cannot come from standard input: name its file"),
        ("evaluate m.npz test.txt --grades 1=1", "--grades has no effect without --qrels"),
        ("evaluate --qrels - /dev/stdin", "two inputs cannot both be standard input"),
        ("evaluate --qrels runs/e0 qrels", "runs/e0, line 1: there are 6 columns in '7 Q0 A 1 3 e0'"),
        ("evaluate --qrels qrels m.npz", "With --qrels the files are runs, not a model and its data"),
        ("evaluate --qrels qrels runs/e0 --baseline runs/e0", "the baseline 'e0' is the only run: give another run to"),
        ("evaluate --qrels qrels runs/e0 --baseline other", "other by qrels: no topic of the run 'other' is judged"),
        ("evaluate --qrels qrels runs/e0 --confidence 95", "is not in the range 0<x<1"),
        (PLAN + "--level 0", "0.0 is not in the range 0<x<1"),
        ("evaluate --qrels qrels runs/e0 --plot runs/e0", "--plot runs/e0 would replace the input runs/e0"),
        ("evaluate --qrels qrels runs/e0 --baseline runs/e1 --measure num_q", "num_q is a sum over topics, but tests"),
        ("explain m.npz ids.txt --query 7", "ids.txt has no query '7'; it has 100"),
        ("explain m.npz ids.txt --documents d1 G", "query 100 has no document 'G'; it has d0, d1"),
        ("explain m.npz ids.txt --documents d1 d1", "--documents d1 d1 names the same document twice"),
        ("explain m.npz test.txt --documents 1 13", "query 100 has no line '13'; it has 1, 2, 3, 4, 5, ..."),
        ("show train.txt", "train.txt is not a model file"),
        ("show m.npz --plot m.npz", "m.npz would replace the input"),
        ("show m.npz --json m.npz", "would replace the input m.npz"),
        ("export m.npz --format solr -o new", "--feature-names FILE"),
        ("export boost.npz --format json -o new", "but this RankBoost has trees: export it as lightgbm or onnx"),
        ("select train.txt --step 1.5", "it must be a whole number, or a share below 1, got 1.5"),
        ("select train.txt --min-features 9", "and X has 4"),
        ("importance m.npz test.txt --measure num_ret", "measure must be a mean over queries"),
        ("plan --queries 50", "give --sd, or --qrels and one or two runs"),
        ("plan --sd 0.2 --qrels qrels runs/e0", "--sd replaces the runs and --qrels: leave one out"),
        (PLAN + "runs/e1 other", "at most two runs, got 3"),
        ("plan --sd 0.2", "give --queries for the detectable difference"),
        ("plan --sd 0.2 --queries 50 --correlation 0.5", "--correlation applies to one run only"),
        (PLAN + "--measure num_q", "num_q is a sum over queries"),
        (PLAN + "same", "the two runs have the same values"),
        ("fuse", "Missing argument 'RUNS...'"),
        ("fuse runs/e0 runs", "runs is a directory"),
        ("fuse runs/e0 runs/../runs/e0", "runs/e0 and runs/../runs/e0 are the same file"),
        ("fuse runs/e0 runs/e1 -o linked", "--output linked would replace the input runs/e1, which is"),
        ("fuse runs -o runs/fused", "--output runs/fused is in the input folder runs"),
        ("fuse train.txt", "train.txt, line 1"),
        ("fuse runs --tag 'a b' -o new", "the name 'a b' must not be empty or contain a blank"),
        ("fuse runs --method borda --normalize query-z-score", "'borda' has no setting normalize"),
        ("fuse runs --normalize rank", "'rank' is not one of"),
        ("fuse runs --method weighted-comb-sum", "name judgments of training topics with --qrels"),
        ("fuse runs --method rrf --qrels runs/e0", "rrf does not use judgments: leave --qrels out"),
        ("fuse runs --method borda -o new --plot w.svg", "learns no weights that --plot could draw: leave --plot out"),
        ("fuse runs --json -", "both go to standard output"),
        ("index docs.jsonl --out qrels", "qrels is not an index and would be replaced"),
        ("index docs.jsonl --out qrels/idx", "/qrels is not a folder"),
        (
            "index docs.jsonl --out new/idx --fields body",
            "no document of docs.jsonl has the field 'body'; their fields:",
        ),
        ("index runs --out runs/idx", "--out runs/idx is in the input folder runs"),
        ("index empty --out new", "the folder empty has no files"),
        ("index signs.jsonl --out new", "no document of 1 has a term: check the format"),
        ("index docs.jsonl --out new --stemmer lovins", "unknown stemmer 'lovins'; known: none, porter, porter2"),
        ("index docs.jsonl --out new --stop-words glasgo", "'glasgo' is neither a file nor the name of a list; known:"),
        ("retrieve none topics --out new", "there is no index none: make it with structsvm index"),
        ("retrieve topics idx --out new", "topics is not an index: indexes come first, topics last"),
        ("retrieve idx ./idx topics --out new", "two runs would have the name idx.bm25"),
        ("retrieve idx topics --out new --function okapy", "Did you mean 'okapi'?"),
        ("retrieve idx topics --out new --function 'okapi,okapi(b=0.75)'", "are the same"),
        ("retrieve idx topics --out topics", "is a file"),
        ("retrieve idx topics --format tsv --out new --query title", "has no part 'title'"),
        ("retrieve idx topics --format tsv --out new --field txet", "unknown index field 'txet'. Did you mean 'text'?"),
        (FEATURES + "--judged --top 3", "--judged chooses the candidates"),
        (FEATURES + "--candidates nowhere --function okapi", "leave one out"),
        (FEATURES + "--features L11", "unknown feature 'L11'"),
        (FEATURES + "--fields text,text", "given twice"),
        (FEATURES + "--folds 2", "2 is not in the range"),
        (FEATURES + "--folds 10", "too few for 10 folds"),
        (FEATURES + "--candidates nowhere", "'C', a candidate for topic '7', is not in the index"),
        (FEATURES + "--candidates runs --out runs/x", "is in the input folder runs"),
        ("report runs", "there is no file runs/results.json"),
        ("report results", "does not hold the results of an experiment"),
        ("compile multiclass", "multiclass is not a ranking loss"),
    ],
)
def test_an_error_names_its_cause(inputs, monkeypatch, run, line, message):
    check(inputs, monkeypatch, run, line, message)

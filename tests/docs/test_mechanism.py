"""A page with a wrong block fails, and a page with right ones does not."""

from pathlib import Path

import pytest

from tests.docs.pages import Page, PageError, refresh


def run(folder: Path, text: str, data: Path | None = None) -> Page:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    empty = folder / "empty"
    empty.mkdir()
    page = Page(path, empty, folder / "no data" if data is None else data)
    page.run()
    return page


def fence(language: str, source: str) -> str:
    return f"```{language}\n{source}\n```\n\n"


@pytest.mark.parametrize(
    "text",
    [
        fence("python", "x = 2") + "A sentence.\n\n" + fence("python", ">>> x\n2\n>>> y = x") + fence("python", "y"),
        fence("python", "print(1.25, 's')") + fence("text", "7 s"),
        fence("python", "open('a', 'w').close()") + fence("console", "$ ls\na"),
        fence("console", "$ echo a  b\na b\n$ true\n$ echo \\\n  c\nc"),
        fence("console", "$ echo version 0.1.0\nversion 0.2.0.dev1"),
        fence("console", "$ echo 8 passes, 0.06 s, and 8.94 s of compilation\n8 passes, 0.04 s"),
        fence("console", "$ seq 5\n1\n[...]\n5"),
        fence("python", "print('a\\n  b\\n  c')") + fence("text", "a\n  [...]"),
        fence("python", ">>> 0.123456\n0.1235"),
        "<!-- test: varies -->\n" + fence("console", "$ echo 12 of 34\n1 of 2"),
        "<!-- test: needs numpy, within 20% -->\n" + fence("console", "$ echo 1.11\n1.0"),
        fence("console", "$ make nothing-like-it\n$ git clone nowhere && cd nowhere"),
        fence("bash", "# a comment\necho a > b\ntest -f b"),
        "<!-- test: exit 3 -->\n" + fence("console", "$ true\n$ echo no; exit 3\nno"),
        "<!-- test: exit 2 -->\n"
        + fence("console", "$ structsvm predict m.npz x.txt\nstructsvm: error: m.npz does not exist"),
        "<!-- test: needs a_missing_package -->\n" + fence("python", "import a_missing_package"),
        fence("python", "open('two words', 'w').close()")
        + "<!-- test: exit 2 -->\n"
        + fence("console", "$ structsvm train 'two words' --model m.npz\n[...]"),
        "<!-- test: as page.md -->\n" + fence("console", "$ echo a\n[...]") + fence("console", "$ echo a\na"),
        "1. In a list:\n\n   ```python\n   assert True\n   ```\n",
    ],
)
def test_right_pages_pass(tmp_path, text):
    run(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (fence("python", "1 / 0"), ZeroDivisionError, "division"),
        (fence("python", "assert 1 == 2"), AssertionError, None),
        (fence("python", "x = 2") + fence("python", ">>> x\n3"), PageError, "Expected:\n *3\nGot:\n *2"),
        (fence("python", "print(1)") + fence("text", "2"), PageError, "line 1: the page shows 2 for 1"),
        (fence("console", "$ echo a\nb"), PageError, "Expected"),
        (fence("console", "$ echo 0.451\n0.467"), PageError, "the page shows 0.467 for 0.451"),
        (fence("console", "$ echo 12 documents\n13 documents"), PageError, "the page shows 13 for 12"),
        (fence("console", "$ seq 5\n1\n[...]\n6"), PageError, "the page shows 6 for 5"),
        ("\n" + fence("console", "$ false"), PageError, "line 2: [$] false\nended with exit code 1"),
        (fence("console", "$ no-such-command"), PageError, "exit code 127"),
        (fence("bash", "true\nfalse"), PageError, "exit code 1"),
        ("<!-- test: exit 2 -->\n" + fence("console", "$ true"), PageError, "exit code 0"),
        (
            "<!-- test: as page.md -->\n" + fence("console", "$ echo a\nb") + fence("console", "$ echo a\na"),
            PageError,
            "line 2: no block of",
        ),
        ("<!-- test: never -->\n" + fence("console", "$ true"), PageError, "no directive 'never'"),
        (fence("pyhton", "x = 1"), PageError, "a block's language is"),
    ],
)
def test_wrong_pages_fail(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        run(tmp_path, text)


def test_blocks_that_need_data_run_where_it_is(tmp_path):
    text = "<!-- test: data -->\n" + fence("console", "$ cat set/file\n7")
    assert run(tmp_path, text).left_out == [2]
    (tmp_path / "empty").rmdir()
    (tmp_path / "data" / "set").mkdir(parents=True)
    (tmp_path / "data" / "set" / "file").write_text("7\n")
    assert run(tmp_path, text, tmp_path / "data").left_out == []
    (tmp_path / "data" / "set" / "file").write_text("8\n")
    for entry in (tmp_path / "empty").iterdir():
        entry.unlink()
    (tmp_path / "empty").rmdir()
    with pytest.raises(PageError, match="the page shows 7 for 8"):
        run(tmp_path, text, tmp_path / "data")


def test_refreshed_pages_show_the_present_numbers(tmp_path):
    page = tmp_path / "page.md"
    text = "2 is not it.\n\n" + fence("python", "print(0.25, 'of', 2)") + fence("text", "{}   of {}")
    page.write_text(text.format("0.24", "1") + fence("console", "$ seq 3\n0\n[...]\n4"))
    refresh(page)
    assert page.read_text() == text.format("0.25", "2").replace("   ", " ") + fence("console", "$ seq 3\n1\n[...]\n3")

"""The site as it is built: no example is a quotation, formulas are drawn, copy buttons copy what runs."""

import ast
import html
import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

import page_hook
from places import ROOT

BLOCK = (
    '<div class="language-pycon highlight"><pre><span></span><code><span class="gp">&gt;&gt;&gt; </span>{}</code></pre>\n</div>'
)


SESSION = """\
>>> def twice(x):
...     return 2 * x
...
>>> twice(2)  # doctest: +ELLIPSIS
4
>>> 1 / 0
Traceback (most recent call last):
    ...
ZeroDivisionError: division by zero
"""


def test_what_is_copied_of_a_session():
    assert page_hook.runnable(SESSION) == "def twice(x):\n    return 2 * x\ntwice(2)\n1 / 0"
    assert page_hook.runnable("$ hockeystick --help\n$ pip install '.[all]'\n") == "hockeystick --help\npip install '.[all]'"
    assert page_hook.runnable("neighbours = 'add-or-remove'") is None


def test_a_block_carries_what_is_copied():
    made = page_hook.on_page_content(BLOCK.format('x = <span class="s2">&quot;a&quot;</span>\n<span class="go">out</span>'))
    (copied,) = re.findall(r'data-copy="([^"]*)"', made)
    assert html.unescape(copied) == 'x = "a"'
    assert made.count("<div") == 1


def test_a_formula_keeps_its_comma():
    assert page_hook.on_page_content("<math><mi>x</mi></math>, and") == '<span class="kept"><math><mi>x</mi></math>,</span> and'


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ("<blockquote>\n<blockquote>\n<p>sorted(data)</p></blockquote></blockquote>", "quotation"),
        ("<p>&gt;&gt;&gt; sorted(data)</p>", "outside a block"),
        (r'<span class="arithmatex">\(x\)</span>', "not drawn"),
        (BLOCK.format("x = (\n"), "does not run"),
    ],
)
def test_what_stops_the_build(page, what):
    pytest.importorskip("mkdocs")
    from types import SimpleNamespace

    with pytest.raises(Exception, match=what):
        page_hook.on_page_content(page, page=SimpleNamespace(file=SimpleNamespace(src_uri="a.md")))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for needed in ("mkdocs", "mkdocstrings", "material", "latex2mathml"):
        if find_spec(needed) is None:
            pytest.skip(f"the site needs {needed}; make docs installs it")
    folder = tmp_path_factory.mktemp("site")
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}


@pytest.mark.slow
def test_the_site_as_it_is_built(site):
    """As `make docs` does, with --strict: no warning, every link and every anchor leads somewhere."""
    assert len(site) > 25
    copied = 0
    for name, page in site.items():
        content = page.partition('<article class="md-content__inner')[2].partition("</article>")[0]
        assert page_hook.faults(content) == [], name
        assert "<blockquote" not in content
        assert "arithmatex" not in content
        assert not re.search(r"<(?:link|script|img|iframe)[^>]*https?://", content)  # no other host is asked
        for source in map(html.unescape, re.findall(r'data-copy="([^"]*)"', content)):
            copied += 1
            assert ">>>" not in source
            assert not source.startswith("$")
            if not source.startswith(("hockeystick ", "pip ")):
                ast.parse(source)
    assert copied > 180
    api = site["api/index.html"]
    assert api.count('class="gp"') > 200  # prompts, in blocks of code
    for stem in re.findall(r": mathematics/([\w-]+)\.md\n", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")):
        content = site[f"mathematics/{stem}/index.html"].partition("<article")[2].partition("</article>")[0]
        assert content.count("<math") > 3
        assert "$" not in content
        assert "<script" not in content
    accuracy = site["accuracy/index.html"]
    assert accuracy.index("<table>") < accuracy.index("<h2")  # it begins with the results

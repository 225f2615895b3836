"""Reports: what they say is what the run says, in every form."""

import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import jsonschema
import pytest

import hockeystick as hs
from hockeystick.report.methods import _GROUPS, _THEOREMS, SOURCES, steps
from hockeystick.report.numbers import down_text, rounded_up, up_text
from hockeystick.report.words import FAMILIES
from hockeystick.sampling.support import THEOREMS
from places import ROOT

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))

RUNS = [
    hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510,
    hs.Gaussian(sigma=2.0) * 3,
    hs.ApproxDP(epsilon=0.1, delta=1e-8) * 10,
    hs.PureDP(epsilon=0.5),
    hs.RDP(curve=lambda order: 0.05 * order),
    hs.compose([]),
    hs.dpsgd(examples=1000, batch=10, epochs=3, sigma=4.0, sampler="shuffle", neighbours="zero-out"),
]


@pytest.fixture(scope="module")
def reports():
    return [(run, run.report(delta=1e-6)) for run in RUNS]


@pytest.mark.parametrize("name", range(len(RUNS)))
def test_json_follows_the_published_schema(reports, name):
    _, report = reports[name]
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(report.to_json()), SCHEMA)


@pytest.mark.parametrize("name", range(len(RUNS)))
def test_the_numbers_are_the_answers(reports, name):
    run, report = reports[name]
    data = report.to_dict()
    assert data["neighbours"] == run.stated
    bounds = run.epsilon_bounds(1e-6)
    assert (data["epsilon"]["lower"], data["epsilon"]["upper"]) == (bounds.lower, bounds.upper)
    stated = data["delta"]["epsilon"]
    assert stated >= bounds.upper
    assert data["delta"]["upper"] == run.delta(stated) <= 1e-6
    for point, high in zip(data["profile"]["epsilon"], data["profile"]["upper"], strict=True):
        assert high == pytest.approx(run.delta(point), rel=1e-10)
    if "refused" not in data["attacks"]:
        assert data["attacks"]["tpr"][1] == pytest.approx(run.tpr(1e-3), rel=1e-12)
        assert data["attacks"]["advantage"] == run.advantage()
    if "refused" not in data["renyi"]:
        assert data["renyi"]["epsilon"] >= bounds.lower
    if data["described"] is not None:
        assert hs.from_json(json.dumps(data["described"])) == run


@pytest.mark.parametrize("name", range(len(RUNS)))
def test_every_form(reports, name):
    _, report = reports[name]
    for width in (40, 88, 200):
        assert max(len(line) for line in report.to_text(width).splitlines()) <= width
    assert str(report) == report.to_text()
    assert report.to_markdown().startswith("# Privacy report\n")
    shown = report._repr_html_()
    assert shown == report.to_html()
    Balanced().feed(shown)
    latex = report.to_latex()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}")
    assert latex.isascii()
    assert "usepackage" not in latex
    for form in (report.to_text(), report.to_markdown(), shown):
        assert not re.search(r"\bnan\b", form, re.IGNORECASE)


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag != "wbr":  # it has no end
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_mu_of_a_sampled_run_is_never_bare(reports):
    _, report = reports[0]
    assert report.mu["delta"] == 1e-10
    assert report.mu["upper"] < 1.0 < 50.0 < report.mu["everywhere"]
    assert "unsampled" in report.mu["reason"]
    text = " ".join(report.to_text().split())
    assert "regret" in text
    assert "mu up to delta = 1e-10" in text
    assert "keeps the tail of the unsampled noise" in text


def test_the_statement(reports):
    _, report = reports[0]
    words = report.statement
    assert "ε = 1.31" in words
    for part in ("δ = 1e-06", "3,510 uses", "Poisson sample", "add-or-remove", f"hockeystick {hs.__version__}", "regret"):
        assert part in words
    stated = float(re.search(r"ε = ([\d.]+)", words)[1])
    assert stated >= report.epsilon["upper"]


def test_training_notes_and_relation_are_told():
    run = hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="poisson")
    report = run.report(delta=1e-5)
    assert set(run.notes) <= set(report.assumptions)
    assert report.neighbours == "add-or-remove"
    assert run.report(delta=1e-5, neighbours="remove").neighbours == "remove"


def test_groups_and_sensitivities_are_told():
    sampled = (hs.Gaussian(sigma=4.0).poisson(rate=0.01) * 100).group(3)
    claimed = hs.ApproxDP(epsilon=0.1, delta=1e-12).group(2)
    for run, size in ((sampled, 3), (claimed, 2)):
        report = run.report(delta=1e-6)
        assert f"a group of up to {size} together" in " ".join(report.assumptions)
        words = steps(run, "add-or-remove")[0].words
        assert f"groups of {size} records" in words
    jsonschema.validate(json.loads(report.to_json()), SCHEMA)
    assert f"a group of up to {size} together" in report.statement
    assert "sensitivity of 3" in hs.Gaussian(sigma=4.0).group(3).report(delta=1e-6).statement


def test_no_epsilon():
    report = hs.ApproxDP(epsilon=0.1, delta=1e-3).report(delta=1e-6)
    assert math.isinf(report.epsilon["upper"])
    assert report.statement.startswith("No epsilon")
    jsonschema.validate(json.loads(report.to_json()), SCHEMA)
    assert "infinity" in report.to_text()


def test_bad_input():
    for delta in (-1.0, 1.0, 2.0, math.nan):
        with pytest.raises(hs.BadValue, match="delta"):
            hs.Gaussian(sigma=1.0).report(delta=delta)
    with pytest.raises(hs.BadValue, match="neighbours"):
        hs.Gaussian(sigma=1.0).report(delta=1e-5, neighbours="friends")


def test_sources_are_those_of_the_bibliography():
    page = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    for key, text in SOURCES.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| [{key}] |"))
        for number in re.findall(r"arXiv:[\d.]+\d", text):
            assert number in row


CITING = [
    *RUNS,
    hs.ApproxDP(epsilon=0.1, delta=1e-3),
    hs.Laplace(scale=3.0),
    hs.DiscreteLaplace(scale=3.0) + hs.RandomizedResponse(epsilon=0.3) + hs.GDP(mu=0.1),
    hs.ApproxDP(epsilon=0.1, delta=1e-12).group(2),
]


@pytest.mark.parametrize("run", CITING, ids=range(len(CITING)))
def test_what_is_cited_is_listed(run):
    report = run.report(delta=1e-6)
    for form in (report.to_text(2000), report.to_markdown(), report.to_html(), report.to_json()):
        named = set(re.findall(r"\[([A-Za-z]+\d*)\]", form))
        assert named <= set(report.citations), form
        assert not re.search(r"\(?(paper )?\b[AGS], (section|Theorem|Lemma|Corollary)|\bpaper [AGS]\b", form), form
        assert "mathematics section" not in form  # of which book?
    for key, source in report.citations.items():
        assert re.match(r"[A-Zh][\w ,.]+\.", source), key
        assert f"[{key}]" in report.to_json()


def test_every_key_is_a_source():
    texts = [*THEOREMS.values(), *_THEOREMS.values(), _GROUPS]
    assert _THEOREMS.keys() == FAMILIES.keys()
    named = {key for text in texts for key in re.findall(r"\[([A-Za-z]+\d*)\]", text)}
    assert named <= set(SOURCES)
    assert not any("mathematics section" in text for text in texts)


@pytest.mark.parametrize("value", [1.13286332187, 0.1, 1e-300, 123456789.123, 2.0, 9.9999999e-7, 5e-324, 1e22])
def test_rounding_is_to_the_safe_side(value):
    for digits in (1, 3, 6, 10):
        assert float(up_text(value, digits)) >= value * (1 - 1e-16)
        assert float(down_text(value, digits)) <= value * (1 + 1e-16)
        assert rounded_up(value, digits) >= value
        assert up_text(value, digits)[0] != "-"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
@pytest.mark.parametrize("name", range(len(RUNS)))
def test_latex_compiles(tmp_path, reports, name):
    body = reports[name][1].to_latex()
    page = f"\\documentclass{{article}}\\begin{{document}}\n{body}\n\\end{{document}}"
    (tmp_path / "page.tex").write_text(page, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


EVIL = "<script>alert(1)</script> [x](javascript:a) &lt; *b* `c` | d"


def test_what_people_say_is_shown_and_not_obeyed():
    """Of markup in a title, a name, a note and the rest nothing is left that a reader of the form would act on."""
    run = hs.Gaussian(sigma=2.0)
    entries = [hs.Entry(run, name=EVIL, purpose=EVIL, notes=[EVIL])]
    report = run.report(delta=1e-5, about=hs.About(*[EVIL] * 5, "2026-11-19", EVIL, [EVIL, "# 1", "12. x", "* y"], entries))
    for text in (report.to_markdown(), report.to_model_card()):
        assert "<script" not in text
        assert "](javascript" not in text
        assert "*b*" not in text
        assert "`c`" not in text
        assert "c\\` \\| d" in text
    assert "\n* \\# 1\n* 12\\. x\n* \\* y\n" in report.to_markdown()
    for text in (report.to_html(), report.to_page()):
        assert "<script" not in text
        assert "&lt;script&gt;" in text
    assert "<script>" not in report.to_latex()
    assert json.loads(re.search(r"^    name: (.*)$", report.to_registry(), re.MULTILINE)[1]) == EVIL


def test_parameters_are_printed_as_they_are():
    """Rounded, 1.999999999 would be less noise, said to be more."""
    near = 1.999999999
    run = hs.Gaussian(sigma=near, sensitivity=1.0000001).poisson(rate=0.1234567891) + hs.ApproxDP(
        epsilon=near, delta=1.23456789e-7
    )
    run += hs.Laplace(scale=near) + hs.ZCDP(rho=0.012345678)
    report = run.report(delta=1.23456789e-5)
    for text in (report.to_text(1000), report.to_markdown(), report.to_model_card(), report.to_registry(), report.to_latex()):
        text = text.replace("\\allowbreak{}", "").replace("$", "")
        for given in ("deviation 1.999999999 on a sensitivity of 1.0000001", "rate 0.1234567891", "noise of scale 1.999999999"):
            assert given in text
        assert "anything 0.012345678-zCDP" in text
    assert "anything (1.999999999, 1.23456789e-07)-DP" in report.statement
    assert "= 1.23456789e-05" in report.statement


def test_simple_numbers_stay_simple():
    """Exactly 1/2 is not rounded up to 0.5001; and where nothing is released, nothing is more likely."""
    assert "with μ = 0.5 (" in hs.Gaussian(sigma=2.0).report(delta=1e-5).statement
    assert "with μ = 1 (" in hs.Gaussian(sigma=2.0).report(delta=1e-5, neighbours="replace").statement
    assert "with μ = 0.3334 (" in hs.Gaussian(sigma=3.0).report(delta=1e-5).statement
    assert "with μ = 0.625 (" in (hs.GDP(mu=0.375) + hs.Gaussian(sigma=2.0)).report(delta=1e-5).statement
    nothing = (hs.Gaussian(sigma=2.0) * 0).report(delta=1e-5)
    assert "e^epsilon = 1 times" in nothing.meaning[0]
    assert "The exact ε is 0, and is attained." in nothing.statement


def test_delta_is_no_bound_on_how_often_a_likelihood_ratio_is_larger():
    """The definition speaks of sets of outputs: with Gaussian noise the ratio exceeds e^epsilon more often."""
    run = hs.Gaussian(sigma=2.0)
    loss = run.loss(neighbours="remove")
    assert loss.tail(run.epsilon(delta=1e-5)).lower > 1e-5
    assert run.report(delta=1e-5).meaning[0] == (
        "Any set of outputs is at most e^epsilon = 7.339 times as probable with a record as without it, or without it as "
        "with it, plus a probability of 1e-05."
    )
    assert hs.Laplace(scale=2.0).report(delta=0.0).meaning[0].endswith("without it as with it.")

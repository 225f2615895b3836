"""The documents that others take: a page to print, a record for the registry, a block of a model card, LaTeX with any letters."""

import json
import re
import shlex
from datetime import date
from html.parser import HTMLParser

import jsonschema
import pytest

import hockeystick as hs
from hockeystick.report.latex import escaped
from places import ROOT

yaml = pytest.importorskip("yaml")

REGISTRY = json.loads((ROOT / "tests" / "data" / "opendp_registry.schema.json").read_text(encoding="utf-8"))
MONTHS, AGES = hs.Gaussian(sigma=20.0) * 12, hs.Laplace(scale=50.0)
ABOUT = hs.About(
    title="Visits in 2025: Zürich <1 & 2>",
    dataset="hospital visits, 2025",
    unit="one patient with all visits",
    author="Ada Lovelace",
    date=date(2026, 11, 19),
    purpose="planning of beds",
    notes=["Published with the annual report."],
    entries=(
        hs.Entry(MONTHS, name="Visits by month", purpose="seasons"),
        hs.Entry(AGES, name="Mean age", notes=["clipped at 100"]),
    ),
)
SAMPLED = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510
FORMS = ("text", "json", "html", "markdown", "latex", "page", "registry", "model_card")


@pytest.fixture(scope="module")
def told():
    return (MONTHS + AGES).report(delta=1e-6, about=ABOUT)


@pytest.fixture(scope="module")
def bare():
    return SAMPLED.report(delta=1.23456789e-5)


@pytest.fixture
def run_shell(capsys):
    from hockeystick.cli import main

    def call(line):
        with pytest.raises(SystemExit) as done:
            main(shlex.split(line))
        assert done.value.code == 0
        return capsys.readouterr().out

    return call


def form(report, name):
    """As one line, without the marks of LaTeX and HTML."""
    text = getattr(report, f"to_{name}")()
    if name == "text":
        text = report.to_text(10_000)
    if name in ("html", "page"):
        text = text.replace("<wbr>", "")
    if name == "latex":
        text = text.replace("\\allowbreak{}", "").replace("$", "").replace("\\", "")
    return " ".join(text.split())


@pytest.mark.parametrize("name", FORMS)
def test_every_form_has_what_was_said(told, name):
    text = form(told, name)
    for said in ("hospital visits, 2025", "one patient with all visits", "Ada Lovelace", "2026-11-19", "planning of beds"):
        assert said in text, said
    if name != "model_card":
        assert "Visits by month" in text
        assert "Mean age" in text


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("which", ["told", "bare"])
def test_no_epsilon_goes_without_delta_unit_relation_and_sampler(request, which, name):
    report = request.getfixturevalue(which)
    text = form(report, name)
    sampler = "none, every release uses all records" if which == "told" else "a Poisson sample of rate 0.004266666666666667"
    unit = "one patient with all visits" if which == "told" else "not stated"
    delta = r"1e-06|10\^\{-6\}|1\.0e-06" if which == "told" else r"1\.23456789e-05|1\.23456789cdot ?10\^\{-5\}"
    for what in ("add-or-remove", re.escape(sampler), unit, delta):
        assert re.search(what, text), (what, text[:500])
    assert report.epsilon["upper"] <= float(re.search(r"ε = ([\d.]+)", report.statement)[1])


def test_the_command_that_computes_it_again_does(bare, run_shell):
    from hockeystick.report.render import provenance

    words = dict(row[:2] for row in provenance(bare))["again"]
    assert "--delta 0.0000123456789 " in words
    found = json.loads(run_shell(words.removeprefix("hockeystick ") + " --json"))
    assert found["epsilon"]["upper"] == bare.epsilon["upper"]
    assert found["epsilon"]["delta"] == bare.at
    assert "-{}-delta" in bare.to_latex().replace("\\allowbreak{}", "")  # no dash


def test_the_delta_that_is_printed_is_the_delta_that_was_proved(bare):
    """Rounded to six digits it would be smaller, which is another claim."""
    assert "δ = 1.23456789e-05" in bare.statement
    assert "at δ = 1.23456789e-05" in bare.to_page()


def test_the_unit_is_asked_for_if_it_was_not_stated(bare):
    assert "not stated" in bare.statement
    assert "unit of privacy: not stated (one record)" in bare.basis


def test_plain_words_are_those_of_explain(told, run_shell):
    words = json.loads(run_shell("explain 'Gaussian(sigma=20.0) * 12 + Laplace(scale=50.0)' --delta 1e-6 --json"))["words"]
    assert told.meaning[:6] == words[1:]
    assert len(words) == 7


class Checked(HTMLParser):
    VOID = ("meta", "img", "wbr")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.loads = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone(told):
    page = told.to_page()
    read = Checked()
    read.feed(page)
    assert read.open == []
    assert read.seen.count("img") == 2
    assert all(one.startswith("data:image/svg+xml;base64,") for one in read.loads)
    assert "script" not in read.seen
    assert "<h1>Visits in 2025: Zürich &lt;1 &amp; 2&gt;</h1>" in page
    assert "@media print" in page
    assert "@page" in page
    assert page == told.to_page()  # the same bytes each time
    order = [
        page.index(words) for words in ("<h1>", 'class="facts"', 'class="guarantee"', "What it means", "Assumptions", "Sources")
    ]
    assert order == sorted(order)


def test_what_cannot_be_drawn_is_told(told, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = told.to_page()
    assert "Not drawn: figures are drawn with matplotlib" in page
    assert "<img" not in page


def test_the_releases_stand_in_rows_with_name_and_purpose(told):
    from hockeystick.report.render import releases

    (first, second) = releases(told)
    assert first[0] == "Visits by month"
    assert "12 uses of Gaussian noise" in first[1]
    assert first[2].startswith("seasons. ")
    assert "[S22] Corollary 8" in first[2]
    assert second[0] == "Mean age"
    assert second[2].startswith("clipped at 100. ")


def faults(record):
    checker = jsonschema.Draft7Validator(REGISTRY, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    return sorted(error.message for error in checker.iter_errors(record))


def answered(text):
    """Every question answered with its example."""
    return re.sub(r"#\? ([a-z_]+:.*?)  # .*", r"\1", text)


def test_the_record_of_the_registry(told):
    text = told.to_registry()
    record = yaml.safe_load(text)
    assert faults(record) == [
        f"'{name}' is a required property" for name in ("data_curators", "data_product_region", "data_product_type")
    ]
    for name in ("data_curators", "data_product_region", "data_product_type"):
        assert re.search(rf"^ +#\? {name}: .*  # .*\?$", text, re.MULTILINE)  # the question stands in its place
    deployment = record["deployment"]
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert told.epsilon["upper"] <= parameters["epsilon"] <= 1.01 * told.epsilon["upper"]
    assert parameters["delta"] == 1e-6
    assert deployment["privacy_loss"]["privacy_unit"] == "one patient with all visits"
    assert "add-or-remove" in deployment["privacy_loss"]["privacy_unit_details"]
    assert deployment["basic"]["publication_date"] == "2026-11-19"
    assert deployment["basic"]["description"] == "Visits by month, Mean age; from hospital visits, 2025"
    assert record["url_slug"] == "visits-in-2025-zurich-1-2"
    assert deployment["administrative"]["registry_authors"] == ["Ada Lovelace"]
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_with_every_question_answered_the_record_is_valid(told, bare, delta):
    pure = hs.Laplace(scale=2.0).report(delta=delta, about=hs.About(title='A "quoted": title # 1'))
    never = hs.ApproxDP(epsilon=1.0, delta=0.1).report(delta=1e-6)
    shuffled = hs.Shuffled(hs.RandomizedResponse(epsilon=1.0), count=1000).report(delta=1e-6, neighbours="replace")
    for report in (told, bare, pure, never, shuffled):
        text = answered(report.to_registry())
        record = yaml.safe_load(text)
        assert faults(record) == []
        order = list(record["deployment"])
        assert order == [name for name in REGISTRY["properties"]["deployment"]["properties"] if name in order]
        for room, fields in record["deployment"].items():
            known = list(REGISTRY["properties"]["deployment"]["properties"][room]["properties"])
            assert list(fields) == [name for name in known if name in fields]
    assert "privacy_parameters:" not in never.to_registry().replace("no privacy_parameters", "")
    assert ("delta" in yaml.safe_load(pure.to_registry())["deployment"]["privacy_loss"]["privacy_parameters"]) == (delta > 0.0)
    assert yaml.safe_load(pure.to_registry())["deployment"]["basic"]["name"] == 'A "quoted": title # 1'
    assert "    model_name: Shuffle" in shuffled.to_registry()


def test_the_registry_would_refuse_something_else(told):
    record = yaml.safe_load(answered(told.to_registry()))
    record["deployment"]["surprise"] = 1
    record["deployment"]["basic"]["publication_date"] = "1/1/2026"
    assert len(faults(record)) == 2


def test_the_block_of_a_model_card(told, bare):
    card = bare.to_model_card()
    assert card.splitlines()[1] == "## Differential privacy"
    assert "| Epsilon | 1.12, rounded up |" in card or re.search(r"\| Epsilon \| [\d.]+, rounded up \|", card)
    assert all(line.count("|") - line.count("\\|") == 3 for line in card.splitlines() if line.startswith("| "))
    assert "none is finite" in hs.ApproxDP(epsilon=1.0, delta=0.1).report(delta=1e-6).to_model_card()
    assert "hospital visits" in told.to_model_card()


def test_letters_for_latex():
    assert escaped("Zürich, Łódź – “so” ñ") == "Z\\\"{u}rich, \\L{}\\'{o}d\\'{z} -- ``so'' \\~{n}"
    assert escaped("漢") == "漢"

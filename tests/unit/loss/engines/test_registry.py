"""The order in which engines are asked, and each engine alone against the interval that all of them prove."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.engines.closed import has_closed
from hockeystick.loss.engines.driver import epsilon_proof, log_delta_proof, prove
from hockeystick.loss.engines.engine import Proof, Question
from hockeystick.loss.engines.fallbacks import BigJump, Lattice
from hockeystick.loss.engines.first import ClosedForm, epsilon_question
from hockeystick.loss.engines.last import BoundedPart
from hockeystick.loss.engines.registry import ENGINES, FIRST, LAST, fallbacks
from hockeystick.loss.protocol import Care, Inconclusive
from hockeystick.report.methods import SOURCES, cited
from places import ROOT

DELTA = 1e-6
SPARSE = hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 10_000
RUNS = {
    "dense": hs.Gaussian(sigma=1.1).poisson(rate=0.05) * 1000,
    "sparse": SPARSE,
    "sparse-mixed": SPARSE + hs.Laplace(scale=5.0) * 3,
    "closed": hs.Gaussian(sigma=2.0) * 7,
    "few-laplace": hs.Laplace(scale=1.0) * 5,
    "mixed": hs.Gaussian(sigma=3.0) * 4 + hs.Laplace(scale=5.0) * 20,
    "responses": hs.RandomizedResponse(epsilon=0.5) * 30 + hs.RandomizedResponse(epsilon=0.3) * 10,
    "categories": hs.RandomizedResponse(epsilon=0.8, categories=5) * 12,
    "drawn-atoms": hs.PureDP(epsilon=1.0).poisson(rate=0.01) * 200,
    "lattice": hs.DiscreteGaussian(sigma=3.0, sensitivity=2) * 100,
    "bounded-beside": hs.Gaussian(sigma=2.0) * 3 + hs.RandomizedResponse(epsilon=0.1) * 4,
}


def names(steps) -> list[str]:
    return ["|".join(engine.name for engine in step.engines) for step in steps]


def single(release: hs.Gaussian):
    return release._run("add-or-remove").ordered_pairs()[0]


def test_what_is_asked_first():
    contours = "contour|unsampled run"
    assert names(FIRST["epsilon"]) == ["elementary bounds", "compiled core", f"closed form|{contours}"]
    assert names(FIRST["log delta"]) == ["compiled core", "elementary bounds", "closed form", contours]


def test_what_is_asked_last():
    assert names(LAST["epsilon"]) == ["contour|unsampled run", "bounded part", "unallocated run", "single steps", "Rényi curve"]
    assert names(LAST["log delta"]) == ["unallocated run", "inversion", "single steps", "bounded part", "Rényi curve"]


@pytest.mark.parametrize(
    ("name", "care", "order"),
    [
        ("sparse", Care.ONE, ["big jump", "lattice", "conditional jump", "two-point sums"]),
        ("sparse", Care.MANY, ["big jump", "lattice", "two-point sums"]),
        ("mixed", Care.ONE, ["lattice", "conditional jump", "two-point sums"]),
        ("mixed", Care.CURVE, ["lattice", "two-point sums"]),
        (
            "categories",
            Care.ONE,
            ["meet in the middle", "lattice", *("big jump of atoms", "smoothing", "conditional jump", "two-point sums")],
        ),
        (
            "lattice",
            Care.ONE,
            ["lattice", "big jump of atoms", "smoothing", "meet in the middle", "conditional jump", "two-point sums"],
        ),
        ("drawn-atoms", Care.MANY, ["lattice", "meet in the middle", "big jump of atoms", "smoothing", "two-point sums"]),
    ],
)
def test_the_order_of_the_fallbacks(name, care, order):
    question = epsilon_question(math.log(DELTA))._replace(care=care)
    assert names(fallbacks(single(RUNS[name]), question)) == [*order, *names(LAST["epsilon"])]


def test_engines_are_for_the_runs_that_they_say():
    question = epsilon_question(math.log(DELTA))
    for name, release in RUNS.items():
        run = single(release)
        assert ClosedForm().applies(run, question) is has_closed(run) is (name in ("closed", "few-laplace"))
        assert BigJump().applies(run, question) is ("sparse" in name or name == "dense")
        assert Lattice().applies(run, question)
        assert BoundedPart().applies(run, question) is ("beside" in name or name in ("mixed", "sparse-mixed"))


def test_where_a_floor_is_given_the_bounded_part_comes_first():
    question = epsilon_question(math.log(DELTA))._replace(floor=1.0)
    assert names(fallbacks(single(RUNS["bounded-beside"]), question))[0] == "bounded part"


def test_the_order_depends_on_the_run_and_the_question_only():
    run, question = single(RUNS["mixed"]), Question("log delta", 1.0, care=Care.ONE)
    before = names(fallbacks(run, question))
    log_delta_proof(run, 1.0, Care.ONE)
    assert names(fallbacks(run, question)) == before


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_each_engine_alone_holds_the_truth(engine, name):
    """Whatever it proves agrees with what all of them prove: of epsilon, and of log delta there and elsewhere."""
    run = RUNS[name]._run("add-or-remove")
    runs = [run] if engine.joint else run.ordered_pairs()
    for one in runs:
        known = epsilon_proof(one, DELTA)
        assert known.high - known.low < 1e-6 * known.high
        questions = [(epsilon_question(math.log(DELTA))._replace(delta=DELTA), known)]
        questions += [
            (Question("log delta", at, care=Care.ONE), log_delta_proof(one, at, Care.ONE))
            for at in (known.high, 0.3 * known.high)
        ]
        for question, truth in questions:
            if not engine.applies(one, question):
                continue
            start = Proof(0.0, one.ceiling) if question.asks == "epsilon" else Proof(-math.inf, 0.0)
            try:
                found = prove(engine, one, question, start)
            except Inconclusive:
                continue
            if found is not None:
                assert found.low <= truth.high, (question, found, truth)
                assert truth.low <= found.high, (question, found, truth)


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        *(("contour", name) for name in ("dense", "mixed", "bounded-beside")),
        *(("lattice", name) for name in ("dense", "mixed", "lattice", "categories", "drawn-atoms")),
        *(("big jump", "sparse"), ("big jump", "sparse-mixed"), ("closed form", "closed"), ("closed form", "few-laplace")),
        *(("meet in the middle", "categories"), ("two-point sums", "responses"), ("smoothing", "categories")),
    ],
)
def test_an_engine_alone_is_close_on_the_runs_that_it_is_for(engine, name):
    run = single(RUNS[name])
    question = epsilon_question(math.log(DELTA))._replace(delta=DELTA)
    found = prove(ENGINES[engine], run, question, Proof(0.0, run.ceiling))
    assert found is not None
    assert found.high - found.low < 1e-5 * found.high
    assert found.high_by == (engine,)


def test_every_engine_says_what_it_does_and_by_which_source():
    pages = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    for name, engine in ENGINES.items():
        assert engine.name == name
        assert engine.method
        assert engine.needs
        for key in cited(engine.method):
            assert key in SOURCES
        if "[mathematics] section" in engine.method:
            section = engine.method.split("[mathematics] section")[1].lstrip("s ").split()[0].rstrip(";,)")
            assert f"[section-{section}]" in pages, (name, section)


def test_the_page_lists_the_engines_of_the_registry():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("| engine | method |\n|---|---|\n")
    rows = [line.strip("| ").split(" | ") for line in rest.partition("\n\n")[0].splitlines()]
    assert rows == [[engine.name, engine.method] for engine in ENGINES.values()]

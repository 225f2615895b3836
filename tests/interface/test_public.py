"""The public names, and the facts that a release of the package states in several places."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

import hockeystick as hs
from hockeystick import conversion
from places import ROOT

GAUSSIAN = hs.Gaussian(sigma=2.0)
RELEASES = (
    GAUSSIAN,
    hs.Laplace(scale=2.0),
    hs.DiscreteGaussian(sigma=2.0),
    hs.DiscreteLaplace(scale=2.0),
    hs.DiscreteGaussianVector(sigma=2.0, squared_norm=4),
    hs.GaussianMixture(sigma=2.0, moves=(0, 1), weights=(0.5, 0.5)),
    hs.RandomizedResponse(epsilon=1.0),
    hs.MatrixMechanism(hs.Strategy.tree(8), sigma=2.0, participations=2),
    hs.Exponential(epsilon=1.0),
    hs.PureDP(epsilon=1.0),
    hs.ApproxDP(epsilon=1.0, delta=1e-6),
    hs.GDP(mu=1.0),
    hs.ZCDP(rho=0.1),
    hs.RDP(orders=(2.0,), values=(0.1,)),
    hs.Profile(claims=((1.0, 1e-6),)),
    hs.Pair(("1/2", "1/2"), ("1/4", "3/4")),
    GAUSSIAN * 2,
    GAUSSIAN.poisson(rate=0.1),
    GAUSSIAN.truncated_poisson(rate=0.1, cap=2, examples=10),
    GAUSSIAN.without_replacement(batch=1, examples=10),
    GAUSSIAN.with_replacement(draws=1, examples=10),
    GAUSSIAN.full_pass(by="id"),
    GAUSSIAN.allocated(steps=4),
    GAUSSIAN.poisson(rate=0.1).banded(bands=2, iterations=10),
    GAUSSIAN.poisson(rate=0.1).group(2),
    GAUSSIAN.without_replacement(batch=1, examples=10).group(2),
    hs.Shuffled(hs.RandomizedResponse(epsilon=1.0), count=10),
    hs.dpsgd(examples=100, batch=10, sigma=1.0, steps=2, sampler="poisson"),
)
QUESTIONS = {
    *("epsilon", "delta", "mu", "regret", "tradeoff", "tpr", "bayes_risk"),
    *("epsilon_bounds", "delta_bounds", "mu_bounds", "regret_bounds", "tradeoff_bounds", "tpr_bounds", "bayes_risk_bounds"),
    *(
        "log_delta_bounds",
        "plot",
        "profile",
        "advantage",
        "rdp",
        "rho",
        "loss",
        "gdp",
        "head_mu",
        "gdp_transform",
        "posterior",
        "report",
        "to_json",
        "release",
    ),
    *("poisson", "truncated_poisson", "without_replacement", "with_replacement", "full_pass", "allocated", "banded", "group"),
}
ATTRIBUTES = {  # parameters whose names are those of questions, and what a run of training says of itself
    "RandomizedResponse": {"one_epsilon"},
    "Exponential": {"one_epsilon"},
    "PureDP": {"claimed_epsilon"},
    "ApproxDP": {"claimed_epsilon", "claimed_delta"},
    "GDP": {"claimed_mu"},
    "Pair": {"outcomes", "reverse", "hockey_stick", "renyi", "chi", "f_divergence", "best_test", "decomposition"},
    "ZCDP": {"claimed_rho"},
    "Profile": {"from_claims", "from_rule"},
    "Shuffled": {"base", "reports"},
    "GroupedRun": {"statement"},
    "Poisson": {"sample"},
    "TruncatedPoisson": {"sample"},
    "WithoutReplacement": {"sample"},
    "WithReplacement": {"sample"},
    "Training": {"statement"},
}


def test_the_public_names():
    assert hs.__all__ == [
        "GDP",
        "RDP",
        "ZCDP",
        "About",
        "Allocated",
        "ApproxDP",
        "BadType",
        "BadValue",
        "Banded",
        "Bounds",
        "DiscreteGaussian",
        "DiscreteGaussianVector",
        "DiscreteLaplace",
        "EdgeOrder",
        "Entry",
        "Exponential",
        "FullPass",
        "Gaussian",
        "GaussianMixture",
        "HockeystickError",
        "InsecureSeed",
        "Laplace",
        "LargeDelta",
        "Ledger",
        "MatrixMechanism",
        "MissingExtra",
        "NotRead",
        "OverBudget",
        "Pair",
        "Poisson",
        "Profile",
        "PureDP",
        "RDPAccountant",
        "RandomizedResponse",
        "Shuffled",
        "Strategy",
        "Tampered",
        "TruncatedPoisson",
        "Unavailable",
        "Unreachable",
        "Unsupported",
        "WithReplacement",
        "WithoutReplacement",
        "about",
        "calibrate",
        "compose",
        "conversion",
        "dpsgd",
        "filters",
        "from_json",
        "permute_and_flip",
        "poisson_claim",
        "recipes",
        "remaining",
        "rounds",
        "split",
        "sweep",
    ]


def test_samplers_are_classes_that_the_methods_make():
    step = hs.Gaussian(sigma=2.0)
    assert hs.Poisson(step, rate=0.1) == step.poisson(rate=0.1)
    assert hs.TruncatedPoisson(step, rate=0.1, cap=2, examples=10) == step.truncated_poisson(rate=0.1, cap=2, examples=10)
    assert hs.WithoutReplacement(step, batch=1, examples=10) == step.without_replacement(batch=1, examples=10)
    assert hs.WithReplacement(step, draws=1, examples=10) == step.with_replacement(draws=1, examples=10)
    assert hs.FullPass(step, by="id") == step.full_pass(by="id")
    assert hs.Allocated(step, steps=4) == step.allocated(steps=4)
    assert hs.Banded(step, bands=2, iterations=4) == step.banded(bands=2, iterations=4)


def test_every_public_name_is_there_and_documented():
    for name in hs.__all__:
        assert getattr(hs, name).__doc__


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: type(release).__name__)
def test_completion_shows_questions_and_parameters_only(release):
    shown = {name for name in dir(release) if not name.startswith("_")}
    own = set(inspect.signature(type(release)).parameters) | ATTRIBUTES.get(type(release).__name__, set())
    assert shown >= QUESTIONS
    assert shown - QUESTIONS <= own | {"parts", "stated"}


def test_the_page_of_the_api_groups_all_formulas():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    formulas = re.findall(r"^::: (hockeystick\.conversion\.[\w.]+)$", page, re.MULTILINE)
    homes = {f"{getattr(conversion, name).__module__}.{name}" for name in conversion.__all__}
    assert len(formulas) == len(homes)
    assert set(formulas) == homes


def test_the_version_is_stated_once_for_all():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert hs.__version__ == project["version"] == "0.1.0"


def test_nothing_large_is_downloaded_unless_asked():
    """Opacus needs torch, of which a bare index offers a build of some gigabytes."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name in ("test", "all", "docs", "cli", "plot"):
        assert not [one for one in extras[name] if re.match(r"hockeystick\[.*opacus|opacus|torch", one)], name


def test_the_package_is_typed():
    assert (Path(hs.__file__).parent / "py.typed").is_file()


def test_errors_are_the_nearest_builtins():
    nearest = {
        hs.BadValue: ValueError,
        hs.BadType: TypeError,
        hs.Unsupported: ValueError,
        hs.Unreachable: ValueError,
        hs.OverBudget: ValueError,
        hs.MissingExtra: ImportError,
        hs.Tampered: ValueError,
        hs.NotRead: RuntimeError,
        hs.Unavailable: OSError,
    }
    for error, builtin in nearest.items():
        assert issubclass(error, hs.HockeystickError)
        assert issubclass(error, builtin)

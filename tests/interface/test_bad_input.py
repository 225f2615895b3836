"""Bad input is refused with one of the library's errors, which names the parameter, the value and what is allowed."""

import json
import math
import pickle

import numpy as np
import pytest

import hockeystick as hs

GAUSSIAN = hs.Gaussian(sigma=2.0)
RUN = GAUSSIAN.poisson(rate=0.1) * 10 + hs.Laplace(scale=3.0)

NOT_NUMBERS = ["1.0", None, 1 + 0j, True, np.True_, [1.0], {"a": 1}, object, b"1"]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64("nan")]


def refused(call, error: type[Exception], *words: str) -> str:
    """The message, after it was checked to hold all the words."""
    with pytest.raises(hs.HockeystickError) as caught:
        call()
    assert isinstance(caught.value, error), repr(caught.value)
    message = str(caught.value)
    for word in words:
        assert word in message
    return message


PARAMETERS = {
    "sigma": lambda value: hs.Gaussian(sigma=value),
    "scale": lambda value: hs.Laplace(scale=value),
    "mu": lambda value: hs.GDP(mu=value),
    "sensitivity": lambda value: hs.Gaussian(sigma=1.0, sensitivity=value),
    "replace_sensitivity": lambda value: hs.Laplace(scale=1.0, replace_sensitivity=value),
    "rate": lambda value: GAUSSIAN.poisson(rate=value),
    "count": lambda value: GAUSSIAN * value,
    "epsilon": lambda value: RUN.delta(epsilon=value),
    "delta": lambda value: RUN.epsilon(delta=value),
    "order": lambda value: RUN.rdp(order=value),
    "examples": lambda value: hs.dpsgd(sigma=1.0, sampler="poisson", examples=value, batch=1, steps=5),
    "batch": lambda value: hs.dpsgd(sigma=1.0, sampler="poisson", examples=100, batch=value, steps=5),
    "epochs": lambda value: hs.dpsgd(sigma=1.0, sampler="poisson", rate=0.1, epochs=value),
    "steps": lambda value: hs.dpsgd(sigma=1.0, sampler="poisson", rate=0.1, steps=value),
}
OPTIONAL = {"replace_sensitivity", "examples", "batch", "epochs", "steps"}  # None means that it is not given
ASKED_OF_ARRAYS = {"epsilon", "delta", "order"}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_what_is_not_a_number(name, value):
    if (value is None and name in OPTIONAL) or (isinstance(value, list) and name in ASKED_OF_ARRAYS):
        return
    refused(lambda: PARAMETERS[name](value), TypeError, name, repr(value), "allowed")


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("value", NOT_FINITE, ids=repr)
def test_what_is_not_finite(name, value):
    if name == "order" and value == math.inf:
        assert RUN.rdp(order=value) == math.inf
        return
    refused(lambda: PARAMETERS[name](value), ValueError, name, str(float(value)), "allowed")


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name != "epsilon"])
@pytest.mark.parametrize("value", [-1, -1.0, -1e-300, np.float64(-2.0)])
def test_what_is_negative(name, value):
    refused(lambda: PARAMETERS[name](value), ValueError, name, "-", "allowed")


@pytest.mark.parametrize("name", ["sigma", "scale", "sensitivity", "replace_sensitivity", "examples"])
@pytest.mark.parametrize("value", [0, 0.0, -0.0])
def test_what_must_not_be_zero(name, value):
    refused(lambda: PARAMETERS[name](value), ValueError, name, "0", "allowed")


@pytest.mark.parametrize("value", [1.0000000000000002, 1.5, 2, 100.0])
def test_a_rate_above_one(value):
    refused(lambda: GAUSSIAN.poisson(rate=value), ValueError, "rate", str(value), "allowed", "0 to 1")
    refused(lambda: hs.dpsgd(sigma=1.0, sampler="poisson", rate=value, steps=3), ValueError, "rate", str(value))


@pytest.mark.parametrize("name", ["count", "examples", "batch", "steps"])
@pytest.mark.parametrize("value", [0.5, 1.5, 1e-300, 1e300, 2**53 + 1, 10**30], ids=str)
def test_counts_are_whole_and_not_huge(name, value):
    refused(lambda: PARAMETERS[name](value), ValueError, name, str(value), "allowed", "whole number")


def test_a_count_too_long_to_print():
    refused(lambda: GAUSSIAN * 10**5000, ValueError, "count", "allowed")


def test_counts_that_add_up_to_too_many():
    half = GAUSSIAN * 2**52
    refused(lambda: half + half + half, ValueError, "count", "allowed")
    refused(lambda: half * 4, ValueError, "count", "allowed")


@pytest.mark.parametrize("name", ["sigma", "epsilon", "delta", "order", "rate"])
def test_integers_beyond_doubles(name):
    refused(lambda: PARAMETERS[name](10**400), ValueError, name, "allowed")


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0 - 1e-16])
def test_orders_below_one(order):
    refused(lambda: RUN.rdp(order=order), ValueError, "order", str(order), "allowed")


def test_quotients_out_of_reach():
    refused(lambda: hs.Gaussian(sigma=1e-200), ValueError, "sigma", "1e-200", "allowed")
    refused(lambda: hs.Gaussian(sigma=1e200), ValueError, "sigma", "1e+200", "allowed")
    refused(lambda: hs.Gaussian(sigma=1e-300, sensitivity=1e300), ValueError, "sensitivity / sigma", "allowed")
    refused(lambda: hs.GDP(mu=1e200), ValueError, "mu", "1e+200", "allowed")


def test_replacing_cannot_move_more_than_twice_as_far():
    refused(lambda: hs.Gaussian(sigma=1.0, replace_sensitivity=2.5), ValueError, "replace_sensitivity", "2.5", "allowed")


# relations


@pytest.mark.parametrize("relation", ["", "ADD", "add_or_remove", "swap", "remove "])
def test_unknown_relations(relation):
    refused(lambda: RUN.epsilon(1e-5, neighbours=relation), ValueError, "neighbours", repr(relation), "add-or-remove")
    refused(lambda: hs.GDP(mu=1.0, neighbours=relation), ValueError, "neighbours", repr(relation), "add-or-remove")


@pytest.mark.parametrize("relation", [None, 1, ("add",), b"add"])
def test_relations_that_are_not_text(relation):
    refused(lambda: RUN.delta(1.0, neighbours=relation), TypeError, "neighbours", repr(relation), "add-or-remove")


QUESTIONS = {
    "epsilon": lambda release, relation: release.epsilon(1e-5, neighbours=relation),
    "epsilon_bounds": lambda release, relation: release.epsilon_bounds(1e-5, neighbours=relation),
    "delta": lambda release, relation: release.delta(1.0, neighbours=relation),
    "delta_bounds": lambda release, relation: release.delta_bounds(1.0, neighbours=relation),
    "log_delta_bounds": lambda release, relation: release.log_delta_bounds(1.0, neighbours=relation),
    "profile": lambda release, relation: release.profile([1.0], neighbours=relation),
    "advantage": lambda release, relation: release.advantage(neighbours=relation),
    "rdp": lambda release, relation: release.rdp(2.0, neighbours=relation),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_relations_without_a_theorem(question):
    for release in (GAUSSIAN.full_pass(by="shuffle"), GAUSSIAN.full_pass(by="position")):
        message = refused(lambda release=release: question(release, "add"), hs.Unsupported, "zero-out")
        assert "not accounted for" in message
    claimed = hs.GDP(mu=1.0, neighbours="replace")
    refused(lambda: question(claimed, "add"), hs.Unsupported, "replace", "mu=1.0")


def test_claims_are_for_one_relation():
    refused(lambda: hs.GDP(mu=1.0, neighbours="add"), ValueError, "neighbours", "'add'", "allowed")
    refused(lambda: hs.GDP(mu=1.0, neighbours="remove"), ValueError, "neighbours", "'remove'", "allowed")
    for claim in (
        hs.GDP(1.0, "zero-out"),
        hs.PureDP(1.0, "zero-out"),
        hs.ZCDP(0.1, "zero-out"),
        hs.RDP((2.0,), (0.1,), None, "zero-out"),
    ):
        assert claim.epsilon(1e-5, "zero-out") == type(claim)(**{**claim._parameters(), "neighbours": "add-or-remove"}).epsilon(
            1e-5
        )
        for relation in ("add-or-remove", "add", "remove", "replace"):
            refused(lambda claim=claim, relation=relation: claim.epsilon(1e-5, relation), hs.Unsupported, "zero-out")
        for drawn in (lambda one: one.poisson(rate=0.1), lambda one: one.without_replacement(batch=1, examples=9)):
            refused(lambda claim=claim, drawn=drawn: drawn(claim).epsilon(1e-5, "zero-out"), hs.Unsupported)
        assert claim.full_pass(by="position").epsilon(1e-5, "zero-out") == claim.epsilon(1e-5, "zero-out")


# samplers


@pytest.mark.parametrize(
    "base",
    [hs.Laplace(scale=1.0) * 2, GAUSSIAN + hs.Laplace(scale=1.0), GAUSSIAN.poisson(rate=0.5), RUN, hs.GDP(1.0, "replace")],
    ids=repr,
)
def test_samplers_without_a_theorem(base):
    refused(lambda: base.poisson(rate=0.1), hs.Unsupported, "Poisson", "not accounted for")


def test_dpsgd_needs_its_sampler():
    with pytest.raises(TypeError, match="sampler"):
        hs.dpsgd(sigma=1.0, rate=0.1, steps=10)
    refused(lambda: hs.dpsgd(sigma=1.0, rate=0.1, steps=10, sampler=None), TypeError, "sampler", "None", "allowed")
    refused(lambda: hs.dpsgd(sigma=1.0, rate=0.1, steps=10, sampler="Poisson"), ValueError, "sampler", "'Poisson'")
    for known in ("truncated-poisson", "b-min-sep"):
        refused(lambda known=known: hs.dpsgd(sigma=1.0, rate=0.1, steps=10, sampler=known), hs.Unsupported, known)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rate": 0.1, "epochs": 1, "steps": 10}, ["epochs", "steps", "both"]),
        ({"rate": 0.1}, ["epochs", "steps"]),
        ({"steps": 10}, ["rate", "examples", "batch"]),
        ({"examples": 100, "steps": 10}, ["rate", "examples", "batch"]),
        ({"batch": 100, "steps": 10}, ["rate", "examples", "batch"]),
        ({"rate": 0.1, "examples": 100, "steps": 10}, ["rate", "examples", "both"]),
        ({"rate": 0.1, "batch": 10, "steps": 10}, ["rate", "batch", "both"]),
        ({"examples": 100, "batch": 101, "steps": 10}, ["batch", "101", "100", "allowed"]),
        ({"examples": 100, "batch": 0, "epochs": 1}, ["batch", "0", "allowed"]),
        ({"rate": 0.0, "epochs": 1}, ["rate", "0", "steps"]),
        ({"rate": 1e-12, "epochs": 1e12}, ["epochs", "allowed"]),
    ],
)
def test_dpsgd_is_given_each_thing_once(given, words):
    refused(lambda: hs.dpsgd(sigma=1.0, sampler="poisson", **given), ValueError, *words)


def test_dpsgd_checks_the_noise():
    refused(lambda: hs.dpsgd(sigma=0.0, sampler="poisson", rate=0.1, steps=1), ValueError, "sigma", "0.0", "allowed")
    refused(lambda: hs.dpsgd(sigma="1", sampler="poisson", rate=0.1, steps=1), TypeError, "sigma", "'1'", "allowed")


# composition


@pytest.mark.parametrize(
    "made",
    [
        lambda: hs.compose({hs.Gaussian(sigma=2.0): 3}),  # was one of them
        lambda: hs.compose({hs.Gaussian(sigma=2.0), hs.Gaussian(sigma=2)}),  # was one of them
        lambda: hs.GaussianMixture(sigma=1.0, moves={5.0, 0.0}, weights=[0.9, 0.1]),  # was (0, 5)
        lambda: hs.RDP(orders={8.0, 2.0}, values=[0.4, 0.1]),
        lambda: hs.RDP(orders=[8.0, 2.0], values={0.4, 0.1}),
        lambda: hs.Strategy.toeplitz({1.0, 0.5}, 4),  # was (0.5, 1)
        lambda: hs.filters.RenyiFilter([8.0, 2.0], {0.4, 0.1}),
        lambda: hs.split({lambda s: hs.Gaussian(sigma=s): 3}, epsilon=1.0, delta=1e-5),
        lambda: hs.split([lambda s: hs.Gaussian(sigma=s)] * 2, {1.0, 2.0}, epsilon=1.0, delta=1e-5),
        lambda: hs.conversion.optimal_composition_epsilon({(0.1, 1e-9), (0.1, 1e-9)}, delta=1e-6),  # was one of them
    ],
)
def test_what_has_no_order_is_no_sequence(made):
    """A set forgets the order and which are equal, a dict is read as its keys: both gave too small an epsilon."""
    refused(made, hs.BadType, "allowed: a ")


def test_masses_without_an_order():
    refused(lambda: hs.Pair({0.25, 0.75}, [0.4, 0.6]), hs.BadType, "two lists of masses")
    refused(lambda: hs.Pair([0.25, 0.75], frozenset([0.4, 0.6])), hs.BadType, "two lists of masses")


def test_only_releases_compose():
    refused(lambda: hs.compose([GAUSSIAN, 3]), TypeError, "releases", "3", "allowed")
    refused(lambda: hs.compose(7), TypeError, "releases", "7", "allowed")
    refused(lambda: hs.compose([GAUSSIAN, None]), TypeError, "releases", "None", "allowed")
    for other in (1, 1.5, "x", None):
        with pytest.raises(TypeError):
            GAUSSIAN + other
        with pytest.raises(TypeError):
            other + GAUSSIAN
    with pytest.raises(TypeError):
        GAUSSIAN * GAUSSIAN


# arrays


@pytest.mark.parametrize("name", sorted(ASKED_OF_ARRAYS))
@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([1.0, math.nan], ValueError),
        (np.array([2.0, -math.inf]), ValueError),
        (["1.0", "2.0"], TypeError),
        ([1.0, None], TypeError),
        ([True, False], TypeError),
        (np.array([1 + 2j]), TypeError),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), TypeError),
    ],
    ids=repr,
)
def test_bad_arrays(name, value, error):
    refused(lambda: PARAMETERS[name](value), error, name, "allowed")


@pytest.mark.parametrize("name", sorted(ASKED_OF_ARRAYS))
def test_ragged_arrays(name):
    refused(lambda: PARAMETERS[name]([[1.0], [1.0, 2.0]]), (TypeError, ValueError), name, "allowed")


# JSON


def wrapped(release: object, version: object = 1) -> str:
    return json.dumps({"hockeystick": version, "release": release})


NORMAL = {"kind": "gaussian", "sigma": 1.0}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"x"',
        "{}",
        b"\xff\xfe\xfa",
        '{"hockeystick": 1}',
        '{"hockeystick": 1, "release": 3}',
        '{"hockeystick": 1, "release": {}}',
        wrapped(NORMAL, "1"),
        wrapped(NORMAL, True),
        wrapped(NORMAL, None),
        wrapped(NORMAL, 1.0),
        wrapped({"kind": "gaussian"}),
        wrapped({"kind": "gaussian", "sigma": -1.0}),
        wrapped({"kind": "gaussian", "sigma": math.nan}),
        wrapped({"kind": "gaussian", "sigma": 1.0, "colour": "red"}),
        wrapped({"kind": "gaussian", "sigma": "1.0"}),
        wrapped({"kind": "gaussian", "sigma": None}),
        wrapped({"kind": "unknown"}),
        wrapped({"kind": None}),
        wrapped({"kind": ["gaussian"]}),
        wrapped({"kind": "poisson", "rate": 0.1}),
        wrapped({"kind": "poisson", "base": NORMAL}),
        wrapped({"kind": "poisson", "base": 3, "rate": 0.1}),
        wrapped({"kind": "poisson", "base": NORMAL, "rate": 3.0}),
        wrapped({"kind": "poisson", "base": {"kind": "laplace", "scale": -1.0}, "rate": 0.1}),
        wrapped({"kind": "gdp", "mu": 1.0, "neighbours": ["replace"]}),
        wrapped({"kind": "composition"}),
        wrapped({"kind": "composition", "parts": 3}),
        wrapped({"kind": "composition", "parts": [3]}),
        wrapped({"kind": "composition", "parts": [{}]}),
        wrapped({"kind": "composition", "parts": [{"release": NORMAL}]}),
        wrapped({"kind": "composition", "parts": [{"release": NORMAL, "count": 1.5}]}),
        wrapped({"kind": "composition", "parts": [{"release": NORMAL, "count": True}]}),
        wrapped({"kind": "composition", "parts": [{"count": 2}]}),
    ],
    ids=lambda text: repr(text)[:60],
)
def test_text_that_is_no_release(text):
    refused(lambda: hs.from_json(text), (ValueError, TypeError))


@pytest.mark.parametrize("depth", [100_000], ids=["deep"])
def test_text_nested_without_end(depth):
    refused(lambda: hs.from_json("[" * depth), ValueError)


@pytest.mark.parametrize("version", [0, -1, 2, 10**6])
def test_text_of_an_unknown_version(version):
    refused(lambda: hs.from_json(wrapped(NORMAL, version)), ValueError, "version", str(version), "allowed")


@pytest.mark.parametrize("text", [None, 3, {"hockeystick": 1}, ["x"]], ids=repr)
def test_what_is_no_text(text):
    refused(lambda: hs.from_json(text), TypeError, "text", "allowed")


# nothing changes


def test_errors_change_nothing():
    releases = [GAUSSIAN, hs.Laplace(scale=3.0), RUN, hs.GDP(mu=1.0)]
    before = [(pickle.dumps(release), repr(release), hash(release)) for release in releases]
    array = np.array([0.1, math.nan])
    kept = array.copy()
    for release in releases:
        for call in (
            lambda release=release: release * -1,
            lambda release=release: release.epsilon(delta=math.nan),
            lambda release=release: release.delta(epsilon="x"),
            lambda release=release: release.profile(array),
            lambda release=release: release.epsilon(1e-5, neighbours="zero"),
            lambda release=release: release.poisson(rate=2.0),
        ):
            refused(call, (ValueError, TypeError))
    assert before == [(pickle.dumps(release), repr(release), hash(release)) for release in releases]
    np.testing.assert_array_equal(array, kept)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hs.Gaussian(sigm=2.0), "Gaussian has no argument sigm (did you mean sigma?); allowed: sigma, sensitivity"),
        (lambda: hs.Laplace(), "Laplace needs scale"),
        (lambda: hs.Gaussian(1.0, 2.0, 3.0, 4.0), "given 4 arguments"),
        (lambda: hs.Gaussian(1.0, sigma=2.0), "sigma twice"),
        (lambda: hs.ApproxDP(epsilon=1.0, deta=0.1), "no argument deta (did you mean delta?)"),
        (lambda: hs.RDP(order=2.0), "did you mean orders?"),
        (lambda: hs.Shuffled(hs.RandomizedResponse(epsilon=1.0)), "Shuffled needs count"),
        (lambda: hs.DiscreteGaussian(wide=3), "DiscreteGaussian has no argument wide; allowed"),
    ],
)
def test_unknown_and_missing_arguments(make, words):
    with pytest.raises(hs.BadType) as caught:
        make()
    assert words in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_help_shows_the_arguments():
    import inspect

    assert list(inspect.signature(hs.Gaussian).parameters) == ["sigma", "sensitivity", "replace_sensitivity"]


@pytest.mark.parametrize(
    ("name", "near"), [("gaussian", "Gaussian"), ("RandomisedResponse", "RandomizedResponse"), ("dpsdg", "dpsgd")]
)
def test_a_public_name_that_is_misspelt(name, near):
    with pytest.raises(AttributeError, match=rf"did you mean {near}\?"):
        getattr(hs, name)
    assert not hasattr(hs, "__wrapped__")


def test_an_empty_run_is_not_released():
    with pytest.raises(hs.Unsupported, match="it is empty"):
        hs.compose([]).release(1.0)

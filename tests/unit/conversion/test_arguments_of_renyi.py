"""Names, types, ranges and shapes of the arguments of the conversions of Rényi DP and zCDP."""

import math
import random
import re
import warnings

import mpmath as mp
import numpy as np
import pytest

import hockeystick as hs
import hockeystick.conversion as conversion


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


NAMES = [name for name in conversion.__all__ if re.match(r"rdp_(to|budget|zero)|zcdp_|gaussian_|pure_to_zcdp", name)]
VALID = {"order": 2.0, "gamma": 0.5, "epsilon": 1.0, "delta": 1e-5, "rho": 0.5, "count": 10, "sensitivity": 1.0, "terms": 3}


def parameters(name):
    import inspect

    return list(inspect.signature(getattr(conversion, name)).parameters)


def test_the_names_of_the_arguments():
    assert len(NAMES) == 36
    assert all(set(parameters(name)) <= set(VALID) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_scalars_give_floats_and_arrays_give_arrays(name):
    function, names = getattr(conversion, name), parameters(name)
    scalar = function(**{one: VALID[one] for one in names})
    parts = scalar if isinstance(scalar, tuple) else (scalar,)
    assert all(type(part) is float for part in parts)
    assert function(*(np.float64(VALID[one]) for one in names)) == scalar
    first = function(np.full((3, 1), VALID[names[0]]), *(np.full(2, VALID[one]) for one in names[1:]))
    shape = (3, 2) if len(names) > 1 else (3, 1)
    for got, part in zip(first if isinstance(first, tuple) else (first,), parts, strict=True):
        assert got.shape == shape
        assert got.dtype == float
        assert (got == part).all()
    empty = function(**{one: np.array([]) for one in names})
    assert [one.shape for one in (empty if isinstance(empty, tuple) else (empty,))] == [(0,)] * len(parts)
    assert isinstance(function(**{one: [VALID[one]] for one in names}), np.ndarray | tuple)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["1", None, True, 1j, np.array([True]), [None]], ids=repr)
def test_wrong_types(name, value):
    for one in parameters(name):
        with pytest.raises(hs.BadType, match=f"{one} is .*allowed"):
            getattr(conversion, name)(**{**{k: VALID[k] for k in parameters(name)}, one: value})


@pytest.mark.parametrize("name", NAMES)
def test_values_out_of_range(name):
    wrong = {"order": [1.0, 0.5, 1e16], "delta": [0.0, 1.0, 2.0], "count": [0, 1.5], "sensitivity": [0.0], "terms": [2, 5, 3.5]}
    for one in parameters(name):
        infinite = [] if one == "order" else [math.inf]  # pure DP of one direction
        allowed = wrong.get(one, [1e101])
        if (name, one) == ("rdp_budget", "delta"):
            allowed = allowed[1:]  # Theorem 3 includes 0
        for value in [*allowed, -1.0, math.nan, *infinite, -math.inf]:
            with pytest.raises(hs.BadValue, match=f"{one} is .*allowed"):
                getattr(conversion, name)(**{**{k: VALID[k] for k in parameters(name)}, one: value})


def test_shapes_that_do_not_fit():
    with pytest.raises(hs.BadValue, match="broadcast"):
        conversion.rdp_to_delta(np.ones(2) + 1.0, np.ones(3), 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_ends_of_the_ranges(name):
    rng = random.Random(name)
    ends = {
        "order": [1.0 + 2.0**-52, 1.0 + 1e-9, 2.0, 1e9, 1e15],
        "delta": [5e-324, 1e-300, 1e-9, 0.5, 1.0 - 1e-9, 1.0 - 2.0**-53],
        "count": [1, 2**53],
        "sensitivity": [1e-100, 1.0, 1e100],
        "terms": [3, 4],
    }
    level = [0.0, 5e-324, 1e-300, 1e-100, 1e-9, 1.0, 745.0, 1e9, 1e100]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(25):
            try:
                found = getattr(conversion, name)(**{one: rng.choice(ends.get(one, level)) for one in parameters(name)})
            except hs.HockeystickError:
                continue
            for one in found if isinstance(found, tuple) else (found,):
                assert math.isfinite(one)
                assert one >= 0.0 or "asymptotic" in name or name == "rdp_budget_terms"  # g may be negative
                assert one <= 1.0 or "delta" not in name


def test_an_error_names_the_theorem():
    for name, arguments, theorem in (
        ("rdp_to_epsilon", (1.0, 0.5, 1e-5), "Asoodeh et al. 2020, Eq. 13 and Theorem 3"),
        ("rdp_to_delta_classic", (0.5, 0.5, 1.0), "Asoodeh et al. 2020, Theorem 1"),
        ("rdp_budget", (2.0, 1.0, 1.0), "Asoodeh et al. 2020, Theorem 3"),
        ("zcdp_to_epsilon", (-1.0, 1e-5), "Asoodeh et al. 2020, Eq. 24"),
        ("amplify_approx", (1.0, 1e-5, 1.5), "Steinke 2022, Theorem 29"),
    ):
        with pytest.raises(hs.BadValue, match=re.escape(theorem)):
            getattr(conversion, name)(*arguments)


def test_arrays_are_answered_at_once():
    """The same numbers, to rounding; never below the optimum."""
    rng = np.random.default_rng(8)
    size = 4000
    order, gamma = 1.0 + 10.0 ** rng.uniform(-9, 6, size), 10.0 ** rng.uniform(-12, 3, size)
    delta = np.where(rng.random(size) < 0.8, 10.0 ** rng.uniform(-300, 0, size), 1.0 - 10.0 ** rng.uniform(-9, -0.01, size))
    delta = np.minimum(delta, 1.0 - 1e-9)
    found = conversion.rdp_to_epsilon(order, gamma, delta)
    for epsilon, *row in zip(found.tolist(), order.tolist(), gamma.tolist(), delta.tolist(), strict=True):
        alone = conversion.rdp_to_epsilon(*row)
        assert abs(epsilon - alone) <= 1e-12 * alone + 1e-13 * row[1]
        # what implies (epsilon, delta) by the other direction of the theorem
        assert conversion.rdp_budget(row[0], epsilon, row[2]) >= row[1] * (1.0 - 2e-13) - 1e-300
    assert conversion.rdp_to_epsilon(delta=delta[:6].reshape(2, 3), order=2.0, gamma=gamma[:3]).shape == (2, 3)
    with pytest.raises(hs.BadValue, match=r"order is 1\.0"):
        conversion.rdp_to_epsilon(np.array([2.0, 1.0]), 0.5, 1e-5)
    with pytest.raises(hs.BadType):
        conversion.rdp_to_epsilon([2.0, True], 0.5, 1e-5)
    with pytest.raises(hs.BadValue, match="broadcast"):
        conversion.rdp_to_epsilon(np.ones(2) + 1.0, np.ones(3), 1e-5)

"""Types, ranges and shapes of the arguments of the partial order and of Gaussian DP."""

import math

import numpy as np
import pytest
from mpmath import mp

from gdp_cases import laplace
from hockeystick import conversion
from hockeystick.errors import BadType, BadValue


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


CALLS = {
    "implied_delta.epsilon0": (lambda x: conversion.implied_delta(x, 0.1, 1.0), "epsilon0"),
    "implied_delta.delta0": (lambda x: conversion.implied_delta(1.0, x, 1.0), "delta0"),
    "implied_delta.epsilon": (lambda x: conversion.implied_delta(1.0, 0.1, x), "epsilon"),
    "sufficient_delta.epsilon": (lambda x: conversion.sufficient_delta(x, 1.0, 0.1), "epsilon"),
    "sufficient_delta.epsilon0": (lambda x: conversion.sufficient_delta(1.0, x, 0.1), "epsilon0"),
    "sufficient_delta.delta0": (lambda x: conversion.sufficient_delta(1.0, 0.5, x), "delta0"),
    "implies.epsilon0": (lambda x: conversion.implies(x, 0.1, 1.0, 0.1), "epsilon0"),
    "implies.delta0": (lambda x: conversion.implies(1.0, x, 1.0, 0.1), "delta0"),
    "implies.epsilon": (lambda x: conversion.implies(1.0, 0.1, x, 0.1), "epsilon"),
    "implies.delta": (lambda x: conversion.implies(1.0, 0.1, 1.0, x), "delta"),
    "refined_profile": (lambda x: conversion.refined_profile(lambda _: 0.5)(x), "epsilon"),
    "refine_noise.epsilon": (lambda x: conversion.refine_noise(lambda e, d: 1.0, x, 0.1), "epsilon"),
    "refine_noise.delta": (lambda x: conversion.refine_noise(lambda e, d: 1.0, 1.0, x), "delta"),
    "gdp_to_delta.mu": (lambda x: conversion.gdp_to_delta(x, 1.0), "mu"),
    "gdp_to_delta.epsilon": (lambda x: conversion.gdp_to_delta(1.0, x), "epsilon"),
    "gdp_to_log_delta.mu": (lambda x: conversion.gdp_to_log_delta(x, 1.0), "mu"),
    "gdp_to_log_delta.epsilon": (lambda x: conversion.gdp_to_log_delta(1.0, x), "epsilon"),
    "gdp_to_epsilon.mu": (lambda x: conversion.gdp_to_epsilon(x, 0.1), "mu"),
    "gdp_to_epsilon.delta": (lambda x: conversion.gdp_to_epsilon(1.0, x), "delta"),
    "gdp_mu.epsilon": (lambda x: conversion.gdp_mu(x, 0.1), "epsilon"),
    "gdp_mu.delta": (lambda x: conversion.gdp_mu(1.0, x), "delta"),
    "gdp_mu_gradient.mu": (lambda x: conversion.gdp_mu_gradient(x, 1.0), "mu"),
    "gdp_mu_gradient.epsilon": (lambda x: conversion.gdp_mu_gradient(1.0, x), "epsilon"),
    "gdp_tradeoff.mu": (lambda x: conversion.gdp_tradeoff(x, 0.1), "mu"),
    "gdp_tradeoff.alpha": (lambda x: conversion.gdp_tradeoff(1.0, x), "alpha"),
    "pure_to_gdp": (conversion.pure_to_gdp, "epsilon"),
    "gdp_transform": (lambda x: conversion.gdp_transform(lambda _: 0.5)(x), "epsilon"),
}
ALONE = {
    "head_mu.epsilon_head": (lambda x: conversion.head_mu(laplace, x, 1e-3), "epsilon_head"),
    "head_mu.tolerance": (lambda x: conversion.head_mu(laplace, 1.0, x), "tolerance"),
    "head_mu_grid.epsilon_head": (lambda x: conversion.head_mu_grid(laplace, x, 10), "epsilon_head"),
    "head_mu_grid.intervals": (lambda x: conversion.head_mu_grid(laplace, 1.0, x), "intervals"),
    "compose_gdp": (lambda x: conversion.compose_gdp([1.0, x]), "mu"),
}


@pytest.mark.parametrize("name", [*CALLS, *ALONE])
@pytest.mark.parametrize("given", ["1", True, np.True_, 1j, ["1", 0.5], b"x", {}, None])
def test_a_wrong_type_is_named(name, given):
    call, argument = {**CALLS, **ALONE}[name]
    with pytest.raises(BadType, match=argument):
        call(given)


@pytest.mark.parametrize("name", [*CALLS, *ALONE])
@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, -1.0, -5e-324, 10**400])
def test_a_wrong_value_is_named(name, given):
    call, argument = {**CALLS, **ALONE}[name]
    with pytest.raises(BadValue, match=argument):
        call(given)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_broadcast(name):
    call, argument = CALLS[name]
    values = [0.25, 0.5]
    found = call(np.array([values]))
    parts = found if isinstance(found, tuple) else (found,)
    alone = [call(value) for value in values]
    for k, part in enumerate(parts):
        assert part.shape == (1, 2)
        assert part[0].tolist() == [one[k] if isinstance(one, tuple) else one for one in alone]
    with pytest.raises(BadValue, match=argument):
        call([-1.0, 0.5])


def test_values_out_of_range_are_named():
    for call, argument in (
        (lambda: conversion.gdp_to_delta(2e8, 1.0), "mu"),
        (lambda: conversion.gdp_mu(2e15, 0.1), "epsilon"),
        (lambda: conversion.gdp_mu(1.0, 1.5), "delta"),
        (lambda: conversion.gdp_mu_gradient(0.0, 1.0), "mu"),
        (lambda: conversion.gdp_tradeoff(1.0, 1.5), "alpha"),
        (lambda: conversion.gdp_to_epsilon(1.0, 0.0), "delta"),
        (lambda: conversion.gdp_to_epsilon(1.0, 1.0), "delta"),
        (lambda: conversion.implied_delta(1.0, 1.5, 1.0), "delta0"),
        (lambda: conversion.head_mu(laplace, 0.0, 1e-3), "epsilon_head"),
        (lambda: conversion.head_mu(laplace, 1.0, 0.0), "tolerance"),
        (lambda: conversion.head_mu_grid(laplace, 1.0, 0), "intervals"),
        (lambda: conversion.head_mu_grid(laplace, 1.0, 10**7), "intervals"),
        (lambda: conversion.tail_mu(-1.0), "limsup"),
        (lambda: conversion.tail_mu(math.nan), "limsup"),
        (lambda: conversion.refine_noise(lambda e, d: -1.0, 1.0, 0.1), r"rule\("),
        (lambda: conversion.refine_noise(lambda e, d: math.nan, 1.0, 0.1), r"rule\("),
        (lambda: conversion.refine_noise(lambda e, d: math.inf, 1.0, 0.1), "rule"),
    ):
        with pytest.raises(BadValue, match=argument):
            call()
    for call, argument in (
        (lambda: conversion.refine_noise(3.0, 1.0, 0.1), "rule"),
        (lambda: conversion.refine_noise(lambda e, d: "1", 1.0, 0.1), r"rule\("),
        (lambda: conversion.compose_gdp(1.0), "mus"),
        (lambda: conversion.compose_gdp("12"), "mus"),
        (lambda: conversion.compose_gdp(np.ones((2, 2))), "mus"),
        (lambda: conversion.tail_mu("1"), "limsup"),
    ):
        with pytest.raises(BadType, match=argument):
            call()

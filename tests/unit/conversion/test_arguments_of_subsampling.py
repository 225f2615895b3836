"""Types, ranges and shapes of the arguments of composition, sampling and groups."""

import math

import numpy as np
import pytest
from mpmath import mp

from hockeystick import conversion
from hockeystick.errors import BadType, BadValue
from subsampling_cases import zcdp


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


CALLS = {
    "advanced_composition": (lambda x: conversion.advanced_composition([(0.1, 0.0)], x), "delta"),
    "amplify_approx.epsilon": (lambda x: conversion.amplify_approx(x, 0.0, 0.1), "epsilon"),
    "amplify_approx.delta": (lambda x: conversion.amplify_approx(1.0, x, 0.1), "delta"),
    "amplify_approx.rate": (lambda x: conversion.amplify_approx(1.0, 0.0, x), "rate"),
    "amplify_profile.rate": (lambda x: conversion.amplify_profile(lambda _: 0.0, x), "rate"),
    "amplify_profile.epsilon": (lambda x: conversion.amplify_profile(lambda _: 0.0, 0.1)(x), "epsilon"),
    "amplify_rdp.order": (lambda x: conversion.amplify_rdp(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp.rate": (lambda x: conversion.amplify_rdp(2, x, zcdp(1.0)), "rate"),
    "amplify_rdp_analytic.order": (lambda x: conversion.amplify_rdp_analytic(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp_analytic.rate": (lambda x: conversion.amplify_rdp_analytic(2, x, zcdp(1.0)), "rate"),
    "amplify_rdp_large_order.order": (lambda x: conversion.amplify_rdp_large_order(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp_large_order.rate": (lambda x: conversion.amplify_rdp_large_order(2, x, zcdp(1.0)), "rate"),
    "amplify_rdp_lower.order": (lambda x: conversion.amplify_rdp_lower(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp_lower.rate": (lambda x: conversion.amplify_rdp_lower(2, x, zcdp(1.0)), "rate"),
    "amplify_zcdp.order": (lambda x: conversion.amplify_zcdp(x, 1e-4, 0.1), "order"),
    "amplify_zcdp.rate": (lambda x: conversion.amplify_zcdp(2, x, 0.1), "rate"),
    "amplify_zcdp.rho": (lambda x: conversion.amplify_zcdp(2, 1e-4, x), "rho"),
    "fixed_size_rdp.order": (lambda x: conversion.fixed_size_rdp(x, 3, 0.1, zcdp(1.0)), "order"),
    "fixed_size_rdp.via": (lambda x: conversion.fixed_size_rdp(2, x, 0.1, zcdp(1.0)), "via"),
    "fixed_size_rdp.rate": (lambda x: conversion.fixed_size_rdp(2, 3, x, zcdp(1.0)), "rate"),
    "replace_from_add_remove.epsilon": (lambda x: conversion.replace_from_add_remove(x, 0.0), "epsilon"),
    "replace_from_add_remove.delta": (lambda x: conversion.replace_from_add_remove(1.0, x), "delta"),
    "group_approx.epsilon": (lambda x: conversion.group_approx(x, 0.0, 2), "epsilon"),
    "group_approx.delta": (lambda x: conversion.group_approx(1.0, x, 2), "delta"),
    "group_approx.size": (lambda x: conversion.group_approx(1.0, 0.0, x), "size"),
    "mixture_rdp.order": (lambda x: conversion.mixture_rdp(x, 0.1, 1.0, 1.0), "order"),
    "mixture_rdp.weight": (lambda x: conversion.mixture_rdp(2, x, 1.0, 1.0), "weight"),
    "mixture_rdp.first": (lambda x: conversion.mixture_rdp(2, 0.1, x, 1.0), "first"),
    "mixture_rdp.second": (lambda x: conversion.mixture_rdp(2, 0.1, 1.0, x), "second"),
    "group_rdp.order": (lambda x: conversion.group_rdp(x, 3, zcdp(1.0), zcdp(1.0)), "order"),
    "group_rdp.via": (lambda x: conversion.group_rdp(2, x, zcdp(1.0), zcdp(1.0)), "via"),
    "group_zcdp.rho1": (lambda x: conversion.group_zcdp(x, 1.0), "rho1"),
    "group_zcdp.rho2": (lambda x: conversion.group_zcdp(1.0, x), "rho2"),
    "mean_error_lower_bound.examples": (lambda x: conversion.mean_error_lower_bound(x, 100, 0.1), "examples"),
    "mean_error_lower_bound.queries": (lambda x: conversion.mean_error_lower_bound(10, x, 0.1), "queries"),
    "mean_error_lower_bound.epsilon": (lambda x: conversion.mean_error_lower_bound(10, 100, x), "epsilon"),
    "mean_error_lower_bound.delta": (lambda x: conversion.mean_error_lower_bound(10, 100, 0.1, x), "delta"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", ["1", True, np.True_, 1j, ["1", 0.5], b"x", {}])
def test_a_wrong_type_is_named(name, given):
    call, argument = CALLS[name]
    with pytest.raises(BadType, match=argument):
        call(given)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, -1.0, -5e-324, 10**400, [-1.0, 0.5]])
def test_a_wrong_value_is_named(name, given):
    call, argument = CALLS[name]
    error = BadType if name == "amplify_profile.rate" and isinstance(given, list) else BadValue
    with pytest.raises(error, match=argument):
        call(given)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("amplify_rdp_analytic.omega", "amplify_profile.rate")])
def test_none_is_no_number(name):
    with pytest.raises(BadType):
        CALLS[name][0](None)


CURVE_CALLS = {
    "amplify_rdp": lambda rdp: conversion.amplify_rdp(3, 0.1, rdp),
    "amplify_rdp_analytic": lambda rdp: conversion.amplify_rdp_analytic(3, 0.1, rdp),
    "amplify_rdp_large_order": lambda rdp: conversion.amplify_rdp_large_order(3, 0.1, rdp),
    "amplify_rdp_lower": lambda rdp: conversion.amplify_rdp_lower(3, 0.1, rdp),
    "fixed_size_rdp": lambda rdp: conversion.fixed_size_rdp(3, 5, 0.1, rdp),
    "group_rdp": lambda rdp: conversion.group_rdp(3, 5, rdp, zcdp(1.0)),
}


@pytest.mark.parametrize("name", CURVE_CALLS)
def test_a_wrong_curve_is_named(name):
    call = CURVE_CALLS[name]
    for wrong in (1.0, None, "gaussian", [1.0, 2.0]):
        with pytest.raises(BadType, match=r"rdp|first"):
            call(wrong)
    for wrong in (math.nan, -1.0, -math.inf, 10**400):
        with pytest.raises(BadValue, match=r"(rdp|first)\(\d"):
            call(lambda _, wrong=wrong: wrong)
    for wrong in ("1", None, True, 1j):
        with pytest.raises(BadType, match=r"(rdp|first)\(\d"):
            call(lambda _, wrong=wrong: wrong)
    assert call(lambda _: 1) == call(lambda _: np.float64(1.0)) == call(lambda _: 1.0)


def test_a_wrong_profile_is_named():
    with pytest.raises(BadType, match="profile"):
        conversion.amplify_profile(0.5, 0.1)
    for wrong, error in ((math.nan, BadValue), (1.5, BadValue), (-0.1, BadValue), ("0", BadType), (None, BadType)):
        with pytest.raises(error, match=r"profile\("):
            conversion.amplify_profile(lambda _, wrong=wrong: wrong, 0.1)(1.0)


def test_arrays_follow_broadcasting():
    epsilon, delta = conversion.amplify_approx(np.array([0.1, 1.0])[:, None], 1e-6, np.array([0.0, 0.5, 1.0]))
    assert epsilon.shape == delta.shape == (2, 3)
    assert epsilon[1, 1] == conversion.amplify_approx(1.0, 1e-6, 0.5)[0]
    both = conversion.amplify_rdp(np.array([2, 2.5, 5]), 0.1, zcdp(0.5))
    assert both.tolist() == [conversion.amplify_rdp(order, 0.1, zcdp(0.5)) for order in (2, 2.5, 5)]
    assert conversion.fixed_size_rdp(2, [3, 4], 0.1, zcdp(0.5)).shape == (2,)
    assert conversion.group_rdp(2, [3, 4], zcdp(0.5), zcdp(0.5)).shape == (2,)
    assert type(conversion.amplify_rdp(np.float64(2.5), np.float64(0.1), zcdp(0.5))) is float
    with pytest.raises(BadValue, match="broadcast"):
        conversion.group_zcdp([1.0, 2.0], [1.0, 2.0, 3.0])

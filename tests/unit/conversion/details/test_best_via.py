"""Group privacy at the best order in between."""

import math

import pytest

import hockeystick as hs
from hockeystick import conversion


@pytest.mark.parametrize(("order", "one", "two"), [(2, 0.5, 0.5), (1.5, 1e-3, 2.0), (30.0, 0.3, 1e-6), (1e9, 1.0, 4.0)])
def test_of_concentrated_pairs_it_is_that_of_their_rhos(order, one, two):
    value, via = conversion.group_rdp_best(order, lambda a: one * a, lambda a: two * a)
    assert value == pytest.approx(conversion.group_zcdp(one, two) * order, rel=1e-12)
    assert via == pytest.approx(order * (1 + math.sqrt(one / two)), rel=1e-5)
    assert value == conversion.group_rdp(order, via, lambda a: one * a, lambda a: two * a)


def test_of_samples_of_fixed_size_no_order_is_better():
    def curve(order):
        return order / 2

    value, via = conversion.fixed_size_rdp_best(3.0, 0.01, curve)
    assert value == conversion.fixed_size_rdp(3.0, via, 0.01, curve)
    assert value <= min(conversion.fixed_size_rdp(3.0, other, 0.01, curve) for other in (3.5, 4.0, 5.0, 6.0, 7.0, 10.0, 30.0))


def test_arrays_and_curves_that_end():
    def curve(order):
        return order if order <= 12 else math.inf

    values, vias = conversion.group_rdp_best([2.0, 3.0], curve, curve)
    assert [value for value, _ in (conversion.group_rdp_best(one, curve, curve) for one in (2.0, 3.0))] == values.tolist()
    assert (vias <= 12).all()
    assert (values < math.inf).all()
    with pytest.raises(hs.BadType, match="first is 1"):
        conversion.group_rdp_best(2.0, 1, curve)
    with pytest.raises(hs.BadValue, match=r"order is 1\.0"):
        conversion.fixed_size_rdp_best(1.0, 0.1, curve)

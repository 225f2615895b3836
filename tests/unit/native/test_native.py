"""The compiled core against its twins in NumPy, loop by loop and answer by answer."""

import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import mpmath
import numpy as np
import pytest
from flint import arb, arb_series, ctx

import hockeystick as hs
from hockeystick import native
from hockeystick.loss.bigjump import cells as bigjump_cells
from hockeystick.loss.bigjump import path as bigjump_path
from hockeystick.loss.bigjump.cells import Thresholds
from hockeystick.loss.bigjump.transform import ThresholdedStep
from hockeystick.loss.contour import contour
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.sampled import gaussian_slice
from hockeystick.loss.sampled import quadrature as noise
from hockeystick.loss.sampled.gaussian import Guide, SampledGaussianLoss
from hockeystick.loss.sampled.gaussian_slice import SampledGaussianSlice
from hockeystick.loss.sampled.quadrature import Grid, Nodes, SampledStep
from hockeystick.native import core, loops
from hockeystick.numerics import rounding
from hockeystick.numerics.cancellation_free import Array, ComplexArray
from hockeystick.numerics.trapezoid import COUNT, Cells
from twins import USERS, pure

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")


def shapes(count: int, seed: int) -> Iterator[tuple[random.Random, SampledStep]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield rng, SampledStep(10.0 ** rng.uniform(-0.6, 1.8), 10.0 ** rng.uniform(-7.0, -0.02), rng.choice((0.0, 1e-16)))


def both(build: Callable[[], object]) -> tuple[object, object]:
    """What both answer, or Inconclusive."""

    def answer() -> object:
        try:
            return build()
        except Inconclusive:
            return Inconclusive

    with pure():
        plain = answer()
    return answer(), plain


def test_all_users_of_the_core_are_known() -> None:
    """Loops and draws by one switch each, and where whole answers are asked.  No module of mathematics branches on the core."""
    found = {module.__name__.rpartition(".")[2] for module in USERS}
    assert found == {"batch", "compiled", "draws", "first", "loops"}


def test_which_of_two_serves_is_decided_in_one_place() -> None:
    asked = []

    @loops.loop(lambda x: asked.append(x) or "C", when=lambda x: x > 0)
    def reference(x: int) -> str:
        """The proof."""
        return "NumPy"

    assert [reference(1), reference(-1)] == ["C", "NumPy"]
    with pure():
        assert reference(1) == "NumPy"
    assert asked == [1]
    assert reference.__doc__ == "The proof."


def test_every_loop_of_the_core_has_a_reference() -> None:
    folder = Path(hs.__file__).parent / "loss"
    named = {
        name for path in folder.rglob("*.py") for name in re.findall(r"@loop\(loops\.(\w+)", path.read_text(encoding="utf-8"))
    }
    called = re.findall(r"\bcore\.(\w+)\(", Path(loops.__file__).read_text(encoding="utf-8"))
    assert len(named) == len(called) == len(set(called)) == 14


def test_both_have_the_same_constants() -> None:
    """Those that a change of one of the twins might leave behind."""
    folder = Path(native.__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.[ch]")))
    if not text:
        pytest.skip("the sources in C are not installed")

    def listed(name: str) -> list[float]:
        (found,) = re.findall(rf"\b{name}\[\w+\] = {{([^}}]*)}}", text)
        return [float(one) for one in found.split(",")]

    def single(name: str) -> float:
        (found,) = set(re.findall(rf"(?:#define {name} |\b{name} = )([-+.\dxpe]+)", text))
        return float.fromhex(found) if "x" in found else float(found)

    assert listed("HS_AHEAD") == list(contour.TUNING.widths_ahead)
    assert [one for one in listed("SHARES") if one < 1.0] == list(contour.TUNING.left_shares)
    assert listed("ANGLES") == bigjump_cells._ANGLES[:, 0].tolist()
    assert [single(name) for name in ("UNIT", "TOLERANCE", "CAP")] == [rounding.UNIT, contour.TUNING.log_tolerance, noise.CAP]
    assert loops.CELLS == COUNT
    assert [single(name) for name in ("CELLS", "CUTS", "LEVELS")] == [COUNT, gaussian_slice._CUTS, bigjump_path.LEVELS.size]
    assert "SECOND_ORDER (1.0 + 1e-6)" in text
    assert rounding.SECOND_ORDER == 1.0 + 1e-6
    assert "FUNCTION (8.0 * UNIT)" in text
    assert rounding.FUNCTION == 8.0 * rounding.UNIT


def test_nodes_and_their_sums() -> None:
    for rng, shape in shapes(60, 1):
        low, step, count, k = -9.0, 10.0 ** rng.uniform(-2.0, -0.3), rng.randint(2, 300), rng.uniform(-9.0, 9.0)
        with pure():
            plain = Nodes.from_low(shape, low, step, count)
            sums = plain.sums(k, plain.highest(k))
        found = Nodes.from_low(shape, low, step, count)
        errors = plain.ratio_errors()[1]
        assert np.array_equal(found.z, plain.z)
        assert np.all(np.abs(found.ratio - plain.ratio) <= 2.0 * errors)
        np.testing.assert_allclose(found.share, plain.share, rtol=1e-13)
        np.testing.assert_allclose(found.base, plain.base, rtol=1e-15, atol=1e-15)
        widest = float(np.abs(plain.ratio).max())
        far = np.abs(np.array(found.sums(k, found.highest(k))) - sums)
        assert np.all(far <= 1e-12 * sums[0] * np.array([1.0, widest, widest**2, 1.0]))


@mpmath.workprec(120)
def test_functions_of_its_own() -> None:
    """e^x, L and e^{iy} within what is assumed of elementary functions."""
    rng, one = random.Random(10), np.zeros(4)
    for _ in range(3000):
        size = rng.choice((700.0, 30.0, 2.0, 10.0 ** rng.uniform(-12.0, 0.0)))
        one[:] = 0.0, 0.0, 0.0, rng.uniform(-size, size)
        truth = mpmath.exp(one[3])
        assert abs(core.tilted_sums(one, 1.0, 0.0)[0] - truth) <= rounding.FUNCTION * truth

        t, rate = rng.randint(-(2**25), 2**25) * 2.0 ** -rng.choice((20, 24, 40)), rng.choice((0.9, 1e-3, 1e-9)) * rng.random()
        core.place_nodes(one, t + 0.5, 1.0, 1.0, rate)
        truth = mpmath.log1p(rate * mpmath.expm1(t))
        assert abs(one[1] - truth) <= (rounding.FUNCTION + 16.0 * rounding.UNIT) * abs(truth)

        weights, node = np.zeros(32, complex), rng.randint(1, 31)
        weights[node], angle = 1.0, float(np.float32(rng.choice((0.1, 1.0, 1e4, 1e9)) * rng.uniform(-1.0, 1.0)))
        (re,), (im,) = core.sums(weights, 1, 1.0, angle)
        assert abs(mpmath.mpc(re, im / node) - mpmath.expj(-angle * node)) <= rounding.FUNCTION
    for x, truth in ((-800.0, 0.0), (-math.inf, 0.0), (800.0, math.inf), (math.inf, math.inf)):
        assert core.tilted_sums(np.array([0.0, 0.0, 0.0, x]), 1.0, 0.0)[0] == truth
    assert math.isnan(core.tilted_sums(np.array([0.0, 0.0, 0.0, math.nan]), 1.0, 0.0)[0])


def test_the_normal_distribution_function() -> None:
    """Within what `native/elementary.h` says of it: 24 units, and half a unit times y^2 where it is a tail."""
    rng, ctx.prec = random.Random(11), 200
    y = np.array([rng.uniform(-1.0, 1.0) * rng.choice((38.0, 9.0, 1.0, 1e-8)) for _ in range(4000)])
    below, above = np.empty_like(y), np.empty_like(y)
    core.normals(y, below, above)
    for at, one, two in zip(y.tolist(), below.tolist(), above.tolist(), strict=True):
        for place, found in ((at, one), (-at, two)):
            truth = (-arb(place) / arb(2).sqrt()).erfc() / 2
            if place < -37.0:
                assert found == 0.0
                assert truth < 1e-299
            else:
                units = 24.0 + (0.5 * place * place if place < 0.0 else 0.0)
                assert abs(arb(found) / truth - 1) < units * rounding.UNIT
    core.normals(np.array([-math.inf, math.inf, math.nan]), below[:3], above[:3])
    assert below[:2].tolist() == [0.0, 1.0]
    assert above[:2].tolist() == [1.0, 0.0]
    assert np.isnan(below[2])
    assert np.isnan(above[2])


def test_the_polynomial_of_mills_ratio() -> None:
    """It errs by less than a unit of itself, everywhere: Taylor's sum about the middle of short pieces, with a remainder."""
    ctx.prec, ctx.cap = 300, 26
    text = (Path(native.__file__).parent / "elementary.h").read_text()
    body = re.search(r"static inline double mills.*?\n(.*?)return", text, re.DOTALL)
    assert body is not None
    lines = [line.strip().removeprefix("double ").rstrip(";") for line in body[1].splitlines() if "w * " in line]
    code = "\n".join(re.sub(r"(-?)(0x1\.[0-9a-f]+p-\d+)", r"F('\1\2')", line) for line in lines)

    def gap(t: arb_series) -> tuple[arb_series, arb_series]:
        """The polynomial less (1 + a) e^{a^2/2} P(N > a), and that."""
        names = {"t": t, "w": t * t, "F": lambda digits: arb(float.fromhex(digits))}
        exec(code, names)
        a = (4 + 5 * t) / (1 - t)
        true = (1 + a) * (a * a / 2).exp() * (a / arb(2).sqrt()).erfc() / 2
        return names["even"] + t * names["odd"] - true, true

    pieces, cap = [(arb(-0.8), arb(0.791))], ctx.cap  # a = 38 at t = 34/43
    while pieces:
        low, high = pieces.pop()
        middle, radius = (low + high) / 2, (high - low) / 2
        near, true = gap(arb_series([middle, 1]))
        far, _ = gap(arb_series([middle + radius * arb(0, 1), 1]))
        bound = sum((abs(near[j]) * radius**j for j in range(cap - 1)), arb(0)) + abs(far[cap - 1]) * radius ** (cap - 1)
        if bound < rounding.UNIT * 0.409:
            assert true[0] > 0.409
        else:
            assert radius > 1e-7
            pieces += [(low, middle), (middle, high)]


def test_the_far_end_of_the_noise() -> None:
    for rng, shape in shapes(100, 2):
        k, target = 10.0 ** rng.uniform(-1.0, 3.0), -(10.0 ** rng.uniform(0.0, 3.0))
        found, plain = both(partial(shape.right_edge, k, target))
        assert found == plain or math.isclose(found, plain, rel_tol=1e-12)  # type: ignore[arg-type]


def test_grids() -> None:
    """The same steps, proved with the same errors."""
    seen = 0
    for rng, shape in shapes(100, 3):
        k = rng.choice((1.0 + 10.0 ** rng.uniform(-1.0, 2.0), -rng.uniform(0.0, 9.0)))
        lead, reach = rng.uniform(20.0, 80.0), 10.0 ** rng.uniform(-1.0, 3.0)
        found, plain = both(partial(Grid, shape, k, 0.0, lead, reach))
        if isinstance(found, Grid) and isinstance(plain, Grid):
            seen += 1
            assert found.step == pytest.approx(plain.step, rel=1e-9)
            assert found.log_rule == pytest.approx(plain.log_rule, abs=1e-6)
            assert [found.outside(k), found.high] == pytest.approx([plain.outside(k), plain.high], rel=1e-9)
        else:
            assert found is plain
    assert seen > 50


def slices(count: int, seed: int) -> Iterator[tuple[random.Random, Callable[[], SampledGaussianSlice]]]:
    """Lines through K, in one or both orders of the pair."""
    for rng, shape in shapes(count, seed):
        removals = rng.choice(((True,), (False,), (True, False)))
        c, steps = 10.0 ** rng.uniform(-1.0, 1.5), int(10.0 ** rng.uniform(0.0, 7.0))

        def line(
            shape: SampledStep = shape, removals: tuple[bool, ...] = removals, c: float = c, n: int = steps
        ) -> SampledGaussianSlice:
            found = SampledGaussianLoss(shape, removals, Guide(shape)).slice(c, 2.0 * c, n)
            if not isinstance(found, SampledGaussianSlice):
                raise Inconclusive
            return found

        yield rng, line


def _bounds(line: Callable[[], SampledGaussianSlice], points: Array, cells: Cells) -> tuple[Array, Array]:
    return line().cumulant_above(points * line().c), line().decay(cells)


def test_bounds_and_decay_along_a_line() -> None:
    seen = 0
    for rng, line in slices(80, 4):
        cells, points = Cells(10.0 ** rng.uniform(-2.0, 2.0)), np.array([1.0, 1.3, 2.0])
        found, plain = both(partial(_bounds, line, points, cells))
        if isinstance(found, tuple) and isinstance(plain, tuple):
            seen += 1
            np.testing.assert_allclose(found[0], plain[0], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found[1], plain[1], rtol=1e-6, atol=1e-9)
        else:
            assert found is plain
    assert seen > 40


def _values(line: Callable[[], SampledGaussianSlice], step: float, nodes: int) -> tuple[ComplexArray, Array]:
    return line().values(step, nodes)


def test_values_along_a_line() -> None:
    """They differ by no more than both allow for."""
    seen = 0
    for rng, line in slices(80, 5):
        nodes, step = rng.choice((1, 2, 17, 120, 300)), 10.0 ** rng.uniform(-2.0, 0.0)
        found, plain = both(partial(_values, line, step, nodes))
        if isinstance(found, tuple) and isinstance(plain, tuple):
            seen += 1
            (value, error), (other, allowed) = found, plain
            far = np.abs(np.expm1(np.minimum(np.abs(value.real - other.real), 1.0)) + 1j * np.sin(value.imag - other.imag))
            assert np.all((far <= 1.001 * (error + allowed)) | (error > 0.1))
            assert np.all(error <= 2.0 * allowed + 1e-14)
        else:
            assert found is plain
    assert seen > 40


def _step(
    shape: SampledStep, thresholds: Thresholds, k: float, reach: float
) -> tuple[ThresholdedStep, tuple[float, float], Array, list[float]]:
    step = ThresholdedStep(shape, thresholds, 2.0 * k, 0.0)
    bounds = [step.above(k), step.reverse_above(k), *([step.middle_above(k)] if step.has_small else [])]
    return step, step._spacing(k, reach, math.hypot(k, reach), -35.0), step.log_modulus_above(k, Cells(k).left), bounds


def test_thresholded_steps() -> None:
    """Rules at least as long, with errors as small as was asked for; the same sums within their errors; the same bounds."""
    seen = 0
    for rng, shape in shapes(60, 6):
        high = math.expm1(10.0 ** rng.uniform(-2.5, 0.3))
        low = rng.choice((0.0, 0.2 * high))
        thresholds = Thresholds(low, high, 0.06 * low, 0.03 * high)
        k, reach = 1.0 + rng.uniform(2.0, 30.0) / math.log1p(high), 10.0 ** rng.uniform(0.0, 3.0)
        found, plain = both(partial(_step, shape, thresholds, k, reach))
        if not isinstance(found, tuple) or not isinstance(plain, tuple):
            continue
        seen += 1
        (step, rule, far, bounds), (other, other_rule, other_far, other_bounds) = found, plain
        assert rule[0] > 0.9 * other_rule[0]
        assert rule[1] < math.exp(-35.0)
        assert abs(step.q - other.q) <= step.q * step.error + other.q * other.error
        assert abs(step.drift - other.drift) <= step.drift * step.error + other.drift * other.error
        assert np.all(far <= other_far + 0.05)
        np.testing.assert_allclose(bounds, other_bounds, rtol=1e-9)
    assert seen > 20


def test_many_runs_in_one_call() -> None:
    """The same as one by one, to the last digit."""
    runs = [(0.4 + 0.1 * i, 10.0 ** (-0.15 * i), 10 ** (i % 6 + 1)) for i in range(30)]
    noise_, rate, steps = (np.array(column, dtype=float) for column in zip(*runs, strict=True))
    low, high, log_delta = np.empty(30), np.empty(30), np.full(30, math.log(1e-7))
    core.epsilons(noise_, rate, np.zeros(30), steps, 3, log_delta, low, high)
    slack = 2.0**-50 * abs(log_delta[0])
    for at, (sigma, q, count) in enumerate(runs):
        one = core.epsilon(sigma, q, 0.0, float(count), 3, log_delta[0], log_delta[0] - slack, log_delta[0] + slack, 0.0)
        assert (one is None and math.isnan(low[at])) or one[:2] == (low[at], high[at])
    assert np.isfinite(low).sum() > 15


@pytest.mark.parametrize("seed", range(60))
def test_answers(seed: int) -> None:
    """Intervals that both hold, and as narrow, or within what one is content with."""
    rng = random.Random(seed)
    run = hs.Gaussian(sigma=10.0 ** rng.uniform(-0.4, 1.2)).poisson(rate=10.0 ** rng.uniform(-5.0, -0.1)) * int(
        10.0 ** rng.uniform(0.0, 7.0)
    )
    if seed % 3 == 0:
        run = run + hs.Laplace(scale=10.0 ** rng.uniform(0.0, 2.0)) * rng.randint(1, 20)
    delta = 10.0 ** rng.uniform(-30.0, -1.0)
    found = run.epsilon_bounds(delta)
    with pure():
        plain = run.epsilon_bounds(delta)
    assert max(found.lower, plain.lower) <= min(found.upper, plain.upper)
    assert found.upper - found.lower <= max(3.0 * (plain.upper - plain.lower), 1e-9 * plain.upper)


def test_what_is_no_number_proves_nothing() -> None:
    grid = Grid(SampledStep(1.0, 0.01), 2.0, 0.0, 40.0, 5.0)
    assert grid.rows is not None
    bound = np.empty(1)
    core.cumulant_above(grid.rows, grid.numbers, np.array([2.0]), bound)
    assert 0.0 <= bound[0] < 1.0
    grid.rows[1, 7] = math.nan
    core.cumulant_above(grid.rows, grid.numbers, np.array([2.0]), bound)
    assert bound[0] == math.inf


@pytest.mark.parametrize(
    "given",
    [
        (0.0922, 2.669e-312, 2.0, -3.61),
        (0.1086, 5e-324, 7.0, -4.28),
        (1.0, 0.0, 2.0, -3.0),
        (1.0, 1.0, 2.0, -3.0),
        (0.0, 0.1, 2.0, -3.0),
        (math.nan, 0.1, 2.0, -3.0),
        (1.0, math.nan, 2.0, -3.0),
        (1.0, 0.1, math.inf, -3.0),
        (1.0, 0.1, 0.0, -3.0),
        (1.0, 0.1, 2.0, 0.0),
        (1.0, 0.1, 2.0, math.nan),
        (1.0, 0.1, 2.0, -math.inf),
    ],
)
def test_runs_that_are_left_to_python(given: tuple[float, float, float, float]) -> None:
    noise_, rate, count, log_delta = given
    for removals in (0, 1, 2, 3, 4):
        assert core.epsilon(noise_, rate, 0.0, count, removals, log_delta, log_delta, log_delta, 1e9) is None


def test_without_the_core() -> None:
    """HOCKEYSTICK_PURE=1: the same questions are answered."""
    code = (
        "import hockeystick as hs; from hockeystick.native import core; "
        "b = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000).epsilon_bounds(1e-5); print(core, b.lower, b.upper)"
    )
    env = {**os.environ, "HOCKEYSTICK_PURE": "1"}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout.split()
    bounds = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000).epsilon_bounds(1e-5)
    assert said[0] == "None"
    assert max(float(said[1]), bounds.lower) <= min(float(said[2]), bounds.upper)


@pytest.mark.parametrize(
    "call",
    [
        lambda: core.place_nodes(np.empty((4, 3)), 0.0, 0.1, 1.0),  # one too few
        lambda: core.place_nodes("rows", 0.0, 0.1, 1.0, 0.5),
        lambda: core.place_nodes(np.empty((4, 6))[:, ::2], 0.0, 0.1, 1.0, 0.5),  # not contiguous
        lambda: core.tilted_sums(np.empty((4, 3)), "k", 0.0),
        lambda: core.cumulant_above(np.empty((4, 3)), np.empty(2), np.empty(1), np.empty(1)),
        lambda: core.cumulant_above(np.empty((4, 3)), np.empty(9), np.empty(2), np.empty(1)),
        lambda: core.sums(np.empty((2, 5), dtype=complex), 0, 0.1, 0.0),
        lambda: core.truncate(np.empty(5), 1.0, 1.0, 1.0, 1),
        lambda: core.cumulant_above(np.empty((4, 3)), np.empty(9), np.zeros(2, dtype=np.int64), np.empty(2)),
        lambda: core.cumulant_above(np.empty((4, 3)), np.empty(9), np.zeros(4, dtype=np.float32), np.empty(2)),
        lambda: core.tilted_sums(np.broadcast_to(1.0, (4, 3)), 1.0, 0.0),
    ],
)
def test_arguments_that_do_not_fit(call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        call()

"""What the compiled core answers whole: against ball arithmetic, against the engine, and without NumPy."""

import math
import random
import subprocess
import sys

import pytest
from flint import arb, ctx

import hockeystick as hs
from hockeystick.loss.engines import compiled as direct
from hockeystick.loss.engines.driver import epsilon_proof
from hockeystick.native import core
from hockeystick.numerics.rounding import SQUARE_ERROR
from oracle import laplace_delta

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")


def exceeds(mu: arb, epsilon: float, goal: float) -> bool | None:
    """Whether delta of N(mu, 1) against N(0, 1) is above (Balle and Wang 2018, Theorem 8); None: not decided."""
    epsilon = arb(epsilon)
    a = epsilon / mu - mu / 2
    delta = ((a / arb(2).sqrt()).erfc() - epsilon.exp() * ((a + mu) / arb(2).sqrt()).erfc()) / 2
    above, below = delta > arb(goal), delta < arb(goal)
    return True if above else False if below else None


@pytest.mark.parametrize("seed", range(8))
def test_gaussian_noise(seed: int) -> None:
    rng, widths = random.Random(seed), []
    ctx.prec = 200
    for _ in range(60):
        square, delta = 10.0 ** rng.uniform(-2.0, 3.0), math.exp(-(10.0 ** rng.uniform(-0.5, 2.6)))
        ends = direct.gaussian_epsilon(square, delta)
        if not ends:
            continue
        for off in (-SQUARE_ERROR, 0.0, SQUARE_ERROR):  # of the square, which is rounded
            mu = (arb(square) * (1 + arb(off))).sqrt()
            assert exceeds(mu, ends[0], delta) is True
            assert exceeds(mu, ends[1], delta) is False
        widths.append(ends[1] / ends[0] - 1.0)
    assert len(widths) > 20
    assert max(widths) < 1e-10
    assert sorted(widths)[len(widths) // 2] < 1e-13


def sampled_delta(mu: arb, rate: float, removal: bool, at: float) -> arb:
    """delta of one sampled step, by the place up to which the mixture has the larger density, or from which on."""
    q, pay = arb(rate), arb(at).exp()
    odds = ((pay if removal else 1 / pay) - 1 + q) / q
    if not odds > 0:
        return arb(0)
    sign, place = 1 if removal else -1, odds.log() / mu + mu / 2
    plain, moved = ((sign * (place - shift) / arb(2).sqrt()).erfc() / 2 for shift in (0, mu))
    mixed = (1 - q) * plain + q * moved
    return mixed - pay * plain if removal else plain - pay * mixed


@pytest.mark.parametrize("seed", range(8))
def test_one_sampled_step(seed: int) -> None:
    rng, widths = random.Random(seed), []
    ctx.prec = 400
    for turn in range(60):
        noise, rate = 10.0 ** rng.uniform(-0.7, 1.0), 10.0 ** rng.uniform(-6.0, -0.01)
        delta, removal = rate * 10.0 ** rng.uniform(-30.0, -0.3), turn % 2 == 0
        pairs = ((True, False) if turn % 4 else (True,)) if removal else (False,)
        ends = direct.once_epsilon((noise, rate, 0.0), pairs, delta)
        if not ends:
            continue
        for off in (-(2.0**-52), 0.0, 2.0**-52):  # of 1 / noise, which is rounded
            mu = (1 + arb(off)) / arb(noise)
            assert sampled_delta(mu, rate, removal, ends[0]) > delta > sampled_delta(mu, rate, removal, ends[1])
            if removal:
                assert sampled_delta(mu, rate, False, ends[1]) < delta
        step = hs.Gaussian(sigma=noise).poisson(rate=rate)
        engine = epsilon_proof(step._run("remove" if removal else "add"), delta).ends
        assert engine[0] <= ends[1]
        assert ends[0] <= engine[1]
        widths.append(ends[1] / ends[0] - 1.0)
        if len(pairs) > 1:
            assert tuple(step.epsilon_bounds(delta)) == ends
    assert len(widths) > 25
    assert max(widths) < 1e-9
    assert sorted(widths)[len(widths) // 2] < 1e-12


def response_delta(epsilon: float, count: int, at: float) -> arb:
    """delta of randomised response, repeated: the binomial sum (Kairouz, Oh and Viswanath 2015, Theorem 3.3)."""
    one = arb(epsilon)
    p, total = 1 / (1 + (-one).exp()), arb(0)
    for agree in range(count, -1, -1):
        if not (2 * agree - count) * one > at:
            break
        ways = math.comb(count, agree)
        total += ways * (p**agree * (1 - p) ** (count - agree) - arb(at).exp() * p ** (count - agree) * (1 - p) ** agree)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_randomised_response(seed: int) -> None:
    rng, found = random.Random(seed), 0
    ctx.prec = 300
    for _ in range(25):
        epsilon, count = 10.0 ** rng.uniform(-2.0, 1.3), round(10.0 ** rng.uniform(0.0, 2.7))
        delta = 10.0 ** rng.uniform(-18.0, -0.5)
        if not (ends := direct.response_epsilon(epsilon, count, delta)):
            continue
        found += 1
        assert response_delta(epsilon, count, ends[0]) >= delta >= response_delta(epsilon, count, ends[1])
        assert ends[1] - ends[0] < 1e-13 * ends[1]
        for step in (hs.RandomizedResponse(epsilon=epsilon), hs.PureDP(epsilon=epsilon)):
            assert tuple((step * count).epsilon_bounds(delta)) == ends
    assert found > 12


@pytest.mark.parametrize("seed", range(4))
def test_one_step_of_laplace_noise(seed: int) -> None:
    rng = random.Random(seed)
    ctx.prec = 200
    for _ in range(50):
        a, delta = 10.0 ** rng.uniform(-4.0, 2.0), 10.0 ** rng.uniform(-300.0, -0.1)
        ends = direct.laplace_epsilon(a, 1, delta)
        if not ends:
            assert a + 2.0 * math.log1p(-delta) < 1e-12
            continue
        for off in (-(2.0**-52), 0.0, 2.0**-52):
            truth = arb(a) * (1 + arb(off)) + 2 * (1 - arb(delta)).log()
            assert ends[0] <= truth <= ends[1]
        assert ends[1] - ends[0] < 1e-14 * (a + delta)


@pytest.mark.parametrize("seed", range(6))
def test_few_steps_of_laplace_noise(seed: int) -> None:
    rng, found = random.Random(seed), 0
    for _ in range(12):
        a, count = 10.0 ** rng.uniform(-2.0, 1.5), rng.choice((2, 3, 4, 5, 8, 11))
        delta = 10.0 ** rng.uniform(-30.0, -1.0)
        if not (ends := direct.laplace_epsilon(a, count, delta)):
            continue
        found += 1
        assert tuple((hs.Laplace(scale=1.0, sensitivity=a) * count).epsilon_bounds(delta)) == ends
        for off in (-(2.0**-52), 0.0, 2.0**-52):  # a is rounded
            aa = arb(a) * (1 + arb(off))
            assert laplace_delta(aa, count, ends[0]) >= delta >= laplace_delta(aa, count, ends[1])
        assert ends[1] - ends[0] < 1e-14 * ends[1]
    assert found > 4


def test_claims_for_other_relations() -> None:
    """What is told directly is what the relation asks for."""
    assert (hs.PureDP(epsilon=0.1, neighbours="replace") * 50).epsilon(1e-6, "zero-out") == (hs.PureDP(epsilon=0.1) * 50).epsilon(
        1e-6
    )
    assert (hs.PureDP(epsilon=0.1) * 50).epsilon(1e-6, "replace") > (hs.PureDP(epsilon=0.1) * 50).epsilon(1e-6)
    with pytest.raises(hs.Unsupported):
        (hs.PureDP(epsilon=0.1, neighbours="replace") * 50).epsilon(1e-6)
    with pytest.raises(hs.Unsupported):
        (hs.PureDP(epsilon=0.1, neighbours="zero-out") * 50).epsilon(1e-6)
    uniform = hs.RandomizedResponse(epsilon=0.1, null="uniform") * 50
    assert uniform.epsilon(1e-6, "zero-out") < uniform.epsilon(1e-6)
    assert (hs.Laplace(scale=2.0).epsilon(1e-6, "replace")) > 0.99


@pytest.mark.parametrize(
    ("epsilon", "count", "rest"), [(30.0, 7, 1.654e-13), (5.0, 100, 1e-12), (30.0, 737, 4.5e-11), (3.0, 50, 1e-14)]
)
def test_deltas_next_to_one(epsilon: float, count: int, rest: float) -> None:
    """Told directly, but not closely; the engine must not contradict it."""
    ctx.prec = 3000
    delta, run = 1.0 - rest, hs.PureDP(epsilon=epsilon) * count
    for ends in (run.epsilon_bounds(delta), hs.Bounds(*epsilon_proof((run + hs.PureDP(epsilon=1e-9))._run("add"), delta).ends)):
        assert response_delta(epsilon, count, ends.lower) >= delta >= response_delta(epsilon, count, ends.upper) - 1e-8
    assert run.epsilon_bounds(delta).width < 1e-3 * run.epsilon(delta)


def test_very_many_steps() -> None:
    run = hs.PureDP(epsilon=30.0) * 2**53
    for delta in (1e-10, 0.5, 1.0 - 1e-12):
        ends = run.epsilon_bounds(delta)
        assert 0.0 < ends.lower <= ends.upper <= 30.0 * 2**53
    assert run.delta(1.0) == 1.0


def test_a_loss_of_its_own() -> None:
    class Other(hs.Gaussian):
        def _pair_loss(self, wanted):  # type: ignore[no-untyped-def]
            return hs.Gaussian(sigma=self.sigma / 2.0)._pair_loss(wanted)

    assert Other(sigma=1.0).epsilon(1e-5) == Other(sigma=1.0).epsilon([1e-5])[0] == hs.Gaussian(sigma=0.5).epsilon(1e-5)

    class Another(hs.PureDP):
        def _claimed_loss(self, twice):  # type: ignore[no-untyped-def]
            return hs.PureDP(epsilon=2.0 * self.claimed_epsilon)._claimed_loss(twice)

    assert Another(epsilon=1.0).epsilon(1e-5) == Another(epsilon=1.0).epsilon([1e-5])[0] == hs.PureDP(epsilon=2.0).epsilon(1e-5)


def test_first_questions_of_many_threads() -> None:
    """Modules that are imported on first use do not wait for each other."""
    code = """
import sys, threading, hockeystick as hs
sys.setswitchinterval(1e-5)
asks = [
    lambda: hs.conversion.group_zcdp,
    lambda: hs.calibrate,
    lambda: hs.Gaussian(sigma=1.0).mu(),
    lambda: hs.PureDP(1.0).delta(0.5),
    lambda: hs.conversion.zcdp_to_epsilon(0.5, 1e-5),
    lambda: hs.Gaussian(sigma=2.0).group(2).epsilon(1e-5),
]
start, wrong = threading.Barrier(len(asks)), []
def ask(one):
    start.wait()
    try:
        one()
    except Exception as error:
        wrong.append(error)
threads = [threading.Thread(target=ask, args=(one,)) for one in asks]
for one in threads: one.start()
for one in threads: one.join()
sys.exit(repr(wrong) if wrong else 0)
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True)


def test_the_engine_agrees() -> None:
    rng = random.Random(9)
    for _ in range(30):
        step = rng.choice(
            (hs.RandomizedResponse(epsilon=10.0 ** rng.uniform(-2.0, 0.5)), hs.Laplace(scale=10.0 ** rng.uniform(-1.0, 1.0)))
        )
        run, delta = (
            step * (rng.randrange(1, 2000) if isinstance(step, hs.RandomizedResponse) else 1),
            10.0 ** rng.uniform(-12.0, -2.0),
        )
        told, engine = run.epsilon_bounds(delta), epsilon_proof(run._run("add-or-remove"), delta).ends
        assert max(told.lower, engine[0]) <= min(told.upper, engine[1])


def test_the_engine_tells_the_same() -> None:
    rng = random.Random(5)
    for _ in range(40):
        noise = hs.Gaussian(sigma=10.0 ** rng.uniform(-0.3, 1.3), sensitivity=rng.choice((1.0, 0.7)))
        step = rng.choice((noise, noise.poisson(rate=10.0 ** rng.uniform(-4.0, -0.1))))
        run, delta = step * rng.randrange(1, 10_000), 10.0 ** rng.uniform(-15.0, -2.0)
        for neighbours in ("add-or-remove", "add", "remove", "zero-out", "replace"):
            if neighbours != "replace" or step is noise:
                assert tuple(run.epsilon_bounds(delta, neighbours)) == epsilon_proof(run._run(neighbours), delta).ends


@pytest.mark.parametrize(
    "run",
    [
        "hs.Gaussian(sigma=1.0)",
        "hs.Gaussian(sigma=20.0) * 1000",
        "hs.PureDP(epsilon=0.1) * 1000",
        "hs.Laplace(scale=1.0)",
        "hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000",
        "hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler='poisson')",
    ],
)
def test_without_numpy(run: str) -> None:
    code = f"import sys, hockeystick as hs; run = {run}; print(run.epsilon(delta=1e-5), 'numpy' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    epsilon, loaded = told.split()
    assert loaded == "False"
    assert math.isfinite(float(epsilon))


@pytest.mark.parametrize(
    "run", ["hs.Gaussian(sigma=1.1)", "hs.Laplace(scale=9.0) * 1000", "hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000"]
)
def test_delta_goes_through_as_light_a_door_as_epsilon(run: str) -> None:
    """A first answer of either imports the same few modules."""
    loaded = []
    for question in ("epsilon(delta=1e-5)", "delta(epsilon=1.0)"):
        code = f"import sys, hockeystick as hs; ({run}).{question}; print(*(name for name in sys.modules))"
        names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        assert "numpy" not in names
        loaded.append({name for name in names if name.startswith("hockeystick")})
    assert loaded[0] == loaded[1]
    assert len(loaded[0]) < 40


def test_what_is_not_told_directly() -> None:
    assert direct.gaussian_epsilon(1e-8, 1e-5) == direct.UNKNOWN  # Mills' ratios lie close
    assert direct.gaussian_epsilon(1.0, 1e-300) == direct.UNKNOWN  # a far tail
    assert direct.gaussian_epsilon(1.0, 0.5) == direct.UNKNOWN  # epsilon is 0
    assert hs.Gaussian(sigma=1.0).epsilon(0.5) == 0.0
    assert hs.Gaussian(sigma=1e4).epsilon_bounds(1e-5).width < 1e-12
    assert hs.Gaussian(sigma=1.0).epsilon_bounds(1e-300).width < 1e-10

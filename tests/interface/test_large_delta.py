"""A delta outside [0, 1] is an error everywhere; one above one over the number of records is warned of where it is asked."""

import json
import re
import shlex
import warnings
from fractions import Fraction

import numpy as np
import pytest

import hockeystick as hs
from hockeystick import cli
from hockeystick.report import plots

GAUSSIAN = hs.Gaussian(sigma=2.0)
TRAINING = hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=1, sampler="poisson")
RELEASES = (
    GAUSSIAN,
    GAUSSIAN.poisson(rate=0.1) * 10,
    hs.Laplace(scale=1.0) * 3,
    hs.ApproxDP(epsilon=1.0, delta=1e-6),
    hs.ZCDP(rho=0.1),
    hs.Profile(lambda _: 1e-6),
    TRAINING,
    TRAINING + hs.Laplace(scale=9.0),
    GAUSSIAN.without_replacement(batch=1, examples=10).group(2),
    hs.compose([]),
)
OUTSIDE = (2.0, 1e5, 2, 1.0000001, -1e-300, [0.5, 2.0], np.array([1e-6, -1e-6]))


@pytest.mark.parametrize("release", RELEASES)
def test_no_release_answers_outside(release):
    for delta in OUTSIDE:
        for ask in (release.epsilon, release.epsilon_bounds):
            with pytest.raises(hs.BadValue, match=r"delta is .*; allowed: a number from 0 to 1"):
                ask(delta=delta)
    for delta in (2.0, 1e5, -1e-300):
        with pytest.raises(hs.BadValue, match="delta is"):
            release.report(delta=delta)
        with pytest.raises(hs.BadValue, match="delta is"):
            plots.profile(release, delta)


@pytest.mark.parametrize("delta", [2.0, 1e5, -1e-9])
@pytest.mark.parametrize(
    "ask",
    [
        lambda delta: hs.rounds(GAUSSIAN, epsilon=1.0, delta=delta),
        lambda delta: hs.remaining(GAUSSIAN, GAUSSIAN, epsilon=9.0, delta=delta),
        lambda delta: hs.calibrate(lambda sigma: hs.Gaussian(sigma=sigma), epsilon=1.0, delta=delta),
        lambda delta: hs.split([lambda sigma: hs.Gaussian(sigma=sigma)], epsilon=1.0, delta=delta),
        lambda delta: hs.sweep(lambda sigma: hs.Gaussian(sigma=sigma), {"sigma": [1.0]}, epsilon_at_delta=delta),
        lambda delta: hs.RDPAccountant().compose(GAUSSIAN).epsilon(delta),
        lambda delta: GAUSSIAN.mu(delta=delta),
        lambda delta: GAUSSIAN.regret(delta=delta),
        lambda delta: hs.conversion.zcdp_to_epsilon(0.1, delta),
        lambda delta: plots.compare({"one": GAUSSIAN}, delta),
        lambda delta: plots.rounds(GAUSSIAN, delta),
        lambda delta: plots.tradeoff(GAUSSIAN, delta),
        lambda delta: plots.renyi(GAUSSIAN, delta),
    ],
)
def test_no_plan_and_no_picture_answers_outside(ask, delta):
    with pytest.raises(hs.BadValue, match="delta"):
        ask(delta)


@pytest.mark.parametrize("delta", ["2", "1e5", "-0.1"])
@pytest.mark.parametrize(
    "line",
    [
        "dpsgd --sampler poisson --examples 60000 --batch 256 --epochs 15 --sigma 1.1 --epsilon 1 --json --delta",
        "compose 'Gaussian(sigma=2)' --epsilon 1 --delta",
        "plot 'Gaussian(sigma=2)' --delta",
        "report 'Gaussian(sigma=2)' --delta",
        "explain --epsilon 1 --delta",
        "explain 'Gaussian(sigma=2)' --delta",
        "convert --epsilon 1 --delta",
        "convert --mu 1 --at-delta",
        "calibrate 'Gaussian(sigma=?)' --epsilon 1 --delta",
        "rounds 'Gaussian(sigma=2)' --epsilon 1 --delta",
        "sweep 'Gaussian(sigma={s})' --grid s=1 --delta",
        "crosscheck 'Gaussian(sigma=2)' --peer none --delta",
    ],
)
def test_the_command_exits_with_2_and_answers_nothing(line, delta, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert ended(f"{line} {delta}") == 2
    out, err = capsys.readouterr()
    assert (out, list(tmp_path.iterdir())) == ("", [])
    assert re.search("delta is|--delta", err)


def ended(line):
    with pytest.raises(SystemExit) as done:
        cli.main(shlex.split(line))
    return done.value.code


def warned(ask):
    """The words of the warnings, each of which is at the line that asks."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        ask()
    assert all(one.filename == __file__ and one.category is hs.LargeDelta for one in found)
    return [str(one.message) for one in found]


@pytest.mark.parametrize(
    ("release", "records"),
    [
        (TRAINING, 60_000),
        (TRAINING * 3, 60_000),
        (TRAINING + hs.dpsgd(examples=50_000, batch=100, sigma=1.0, steps=1, sampler="poisson"), 60_000),
        (hs.Laplace(scale=9.0) + TRAINING, 60_000),
        (hs.from_json(TRAINING.to_json()), 60_000),
        (GAUSSIAN.without_replacement(batch=10, examples=10_000) * 5, 10_000),
        (GAUSSIAN.with_replacement(draws=10, examples=10_000) + hs.PureDP(epsilon=0.1), 10_000),
    ],
    ids=repr,
)
def test_above_one_over_the_number_of_records(release, records):
    assert warned(lambda: release.epsilon(delta=1.0 / records)) == []
    (words,) = warned(lambda: release.epsilon(delta=1.01 / records))
    assert f"above one over the number of records, 1/{records}" in words
    assert "publishing one of them" in words
    assert len(warned(lambda: release.epsilon_bounds(delta=[1e-9, 0.5 / records, 2.0 / records]))) == 1


@pytest.mark.parametrize("release", [GAUSSIAN, GAUSSIAN * 5, hs.Laplace(scale=1.0) + GAUSSIAN, hs.ZCDP(rho=0.1)], ids=repr)
def test_above_a_thousandth_where_no_number_is_known(release):
    assert warned(lambda: release.epsilon(delta=1e-3)) == warned(lambda: release.epsilon(0)) == []
    for delta in (0.002, 1.0, 1, np.array(0.01), [1e-6, 0.01]):
        (words,) = warned(lambda delta=delta: release.epsilon(delta))
        assert "above 0.001" in words


def test_shuffled_reports_know_how_many_people():
    reports = hs.Shuffled(hs.RandomizedResponse(epsilon=1.0), count=5_000)
    assert len(warned(lambda: reports.epsilon(delta=3e-4, neighbours="replace"))) == 1


def test_plans_sweeps_and_reports_warn_once():
    def step(sigma):
        return hs.dpsgd(examples=10_000, batch=100, sigma=sigma, steps=100, sampler="poisson")

    sigmas = {"sigma": [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]}
    assert len(warned(lambda: hs.calibrate(step, epsilon=1.0, delta=2e-4))) == 1
    assert len(warned(lambda: hs.rounds(GAUSSIAN, epsilon=9.0, delta=0.01))) == 1
    assert len(warned(lambda: hs.sweep(step, sigmas, epsilon_at_delta=2e-4))) == 1
    assert len(warned(lambda: hs.RDPAccountant().compose(GAUSSIAN).epsilon(0.01))) == 1
    assert len(warned(lambda: GAUSSIAN.mu(delta=0.01))) == 1
    assert warned(lambda: GAUSSIAN.report(delta=1e-5).to_text()) == []
    report = step(1.0).report
    assert len(warned(lambda: report(delta=2e-4))) == 1
    assert any("1/10000" in one for one in step(1.0).report(delta=2e-4).assumptions)
    assert not any("1/10000" in one for one in step(1.0).report(delta=1e-6).assumptions)


def test_the_command_warns_on_a_line(capsys, tmp_path):
    line = "dpsgd --sampler poisson --examples 60000 --batch 256 --epochs 15 --sigma 1.1 --json --delta"
    assert ended(f"{line} 1e-4") == 0
    out, err = capsys.readouterr()
    assert err.startswith("hockeystick: warning: delta is 0.0001, above one over the number of records, 1/60000")
    assert err.count("\n") == 1
    assert "1/60000" in json.loads(out)["warning"]
    assert ended(f"{line} 1e-5") == 0
    out, err = capsys.readouterr()
    assert (err, json.loads(out)["warning"]) == ("", None)
    assert ended("explain --epsilon 1 --delta 0.01") == 0
    assert "above 0.001" in capsys.readouterr().err
    for name, keys in (("rates.toml", "rate = 0.01"), ("batches.toml", "examples = 60000\nbatch = 600")):
        (tmp_path / name).write_text(f'[[dpsgd]]\n{keys}\nsteps = 10\nsigma = 1.0\nsampler = "poisson"\n')
        assert ended(f"compose {tmp_path / name} --delta 1e-4") == 0
    assert capsys.readouterr().err.count("warning") == 1


def test_a_fraction_is_warned_of_like_a_double():
    with pytest.warns(hs.LargeDelta, match=r"delta is 0\.25, above 0\.001"):
        assert GAUSSIAN.epsilon(delta=Fraction(1, 4)) == GAUSSIAN.epsilon(delta=0.25)
    with pytest.warns(hs.LargeDelta, match=r"delta is 0\.333333"):
        assert GAUSSIAN.epsilon(delta=Fraction(1, 3)) >= GAUSSIAN.epsilon_bounds(delta=1 / 3).lower

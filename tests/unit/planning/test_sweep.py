"""Tables over a product of parameters."""

import io
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.planning import sweep as module
from hockeystick.planning.sweep import Bar

GRID = {"sigma": [1.0, 2.0, 4.0], "steps": [1, 10]}


def noise(sigma, steps):
    return hs.Gaussian(sigma=sigma) * steps


def test_columns():
    table = hs.sweep(
        noise,
        GRID,
        epsilon_at_delta=1e-6,
        delta_at_epsilon=1.0,
        rdp_at_order=2.0,
        tpr_at_fpr=0.01,
        bayes_risk_at_prior=0.5,
        tradeoff_at_alpha=0.1,
        advantage=True,
    )
    assert table["sigma"] == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    assert table["steps"] == [1, 10] * 3
    assert {len(column) for column in table.values()} == {6}
    for i, (sigma, steps) in enumerate(zip(table["sigma"], table["steps"], strict=True)):
        run = noise(sigma, steps)
        assert (table["epsilon_lower"][i], table["epsilon"][i]) == tuple(run.epsilon_bounds(1e-6))
        assert table["delta"][i] == run.delta(1.0)
        assert table["rdp"][i] == run.rdp(2.0)
        assert table["tpr"][i] == run.tpr(0.01)
        assert table["bayes_risk"][i] == run.bayes_risk(0.5)
        assert table["tradeoff"][i] == run.tradeoff(0.1)
        assert table["advantage"][i] == run.advantage()


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor(pool):
    with pool(2) as executor:
        assert hs.sweep(noise, GRID, executor=executor, epsilon_at_delta=1e-6) == hs.sweep(noise, GRID, epsilon_at_delta=1e-6)


def test_mu():
    assert hs.sweep(noise, {"sigma": 2.0, "steps": 1}, mu_at_delta=1e-9)["mu"] == [hs.Gaussian(sigma=2.0).mu(1e-9)]


def test_numbers_and_arrays():
    table = hs.sweep(
        lambda epsilon: hs.calibrate(lambda s: hs.Gaussian(sigma=s), epsilon=epsilon, delta=1e-6), {"epsilon": np.array([1, 2])}
    )
    assert sorted(table) == ["epsilon", "value"]
    assert table["epsilon"] == [1, 2]
    assert table["value"][0] > table["value"][1]
    assert all(type(one) is int for one in table["epsilon"])


def test_refused_rows_say_why():
    table = hs.sweep(noise, {"sigma": [1.0, -1.0, 2.0], "steps": 1}, epsilon_at_delta=1e-6)
    assert table["epsilon"][1] is None
    assert table["error"] == [None, "sigma is -1.0; allowed: a finite number above 0.", None]
    assert list(table)[-1] == "error"


def test_neighbours():
    table = hs.sweep(noise, GRID, epsilon_at_delta=1e-6, neighbours="replace")
    assert table["epsilon"][0] == hs.Gaussian(sigma=1.0).epsilon(1e-6, "replace")


def test_bad_input():
    with pytest.raises(hs.BadType, match="make is"):
        hs.sweep(3, GRID, epsilon_at_delta=1e-6)
    with pytest.raises(hs.BadType, match="grid is"):
        hs.sweep(noise, [1, 2], epsilon_at_delta=1e-6)
    with pytest.raises(hs.BadValue, match="no values for sigma"):
        hs.sweep(noise, {"sigma": [], "steps": [1]}, epsilon_at_delta=1e-6)
    with pytest.raises(hs.BadValue, match="gamma is no question"):
        hs.sweep(noise, GRID, gamma=1.0)
    with pytest.raises(hs.BadType, match="epsilon"):
        hs.sweep(noise, GRID, epsilon_at_delta="small")


@pytest.mark.parametrize("run", [None, ThreadPoolExecutor])
def test_what_is_wrong_for_every_row_is_an_error_of_the_call(run):
    executor = None if run is None else run(1)
    with pytest.raises(hs.BadValue, match="neighbours is 'substitute'; allowed: one of add-or-remove"):
        hs.sweep(noise, GRID, executor=executor, epsilon_at_delta=1e-6, neighbours="substitute")
    with pytest.raises(hs.BadType, match="neighbours is 3"):
        hs.sweep(noise, GRID, executor=executor, epsilon_at_delta=1e-6, neighbours=3)
    with pytest.raises(hs.BadValue, match=r"nothing is asked; give a question such as epsilon_at_delta=1e-6.*advantage=True"):
        hs.sweep(noise, GRID, executor=executor)
    for name, at in (("epsilon_at_delta", -1e-6), ("mu_at_delta", -1.0), ("rdp_at_order", 0.5), ("tpr_at_fpr", 1.5)):
        question = name.partition("_at_")[0]
        with pytest.raises(hs.BadValue, match=rf"{question} is asked at .*allowed"):
            hs.sweep(noise, GRID, executor=executor, **{name: at})
    if executor is not None:
        executor.shutdown()


def test_executors_that_are_none():
    for bad in (2, "processes", ThreadPoolExecutor, map):
        with pytest.raises(hs.BadType, match=r"executor is .*allowed: None, or an executor of concurrent.futures"):
            hs.sweep(noise, GRID, executor=bad, epsilon_at_delta=1e-6)


def test_columns_are_there_though_every_row_is_refused():
    questions = {"epsilon_at_delta": 1e-6, "tradeoff_at_alpha": 0.1, "rdp_at_order": 2.0, "advantage": True}
    names = list(hs.sweep(noise, {"sigma": [1.0], "steps": 1}, **questions))
    table = hs.sweep(noise, {"sigma": [-1.0, -2.0], "steps": 1}, **questions)
    assert list(table) == [*names, "error"]
    assert all(table[name] == [None, None] for name in names[2:])
    assert "sigma is -1.0" in table["error"][0]
    table = hs.sweep(lambda rate: hs.Exponential(epsilon=1.0).poisson(rate=rate), {"rate": [2.0, 3.0]}, epsilon_at_delta=1e-6)
    assert table["epsilon"] == table["epsilon_lower"] == [None, None]


def test_a_grid_does_not_lose_its_column():
    for name in ("epsilon", "epsilon_lower", "error"):
        with pytest.raises(hs.BadValue, match=f"the grid has the name '{name}'"):
            hs.sweep(lambda **values: hs.Gaussian(sigma=1.0), {name: [1.0]}, epsilon_at_delta=1e-6)


def test_the_bar_waits_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    bar = Bar(10, wanted=True, stream=stream)
    for done in range(1, 11):
        now[0] += 0.3
        bar.show(done)
        if now[0] < 1.0:
            assert stream.getvalue() == ""
    bar.close()
    assert "10 of 10 (100%)" in stream.getvalue()
    quiet = io.StringIO()
    bar = Bar(10, stream=quiet)  # no terminal: nothing unless it is wanted
    now[0] += 9.0
    bar.show(5)
    bar.close()
    assert quiet.getvalue() == ""


def test_a_dask_cluster():
    distributed = pytest.importorskip("distributed")
    grid = {"sigma": [0.8, 1.0, 1.2, 1.4, -1.0], "steps": [500, 1000, 2000, 4000]}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        table = hs.sweep(
            lambda sigma, steps: hs.Gaussian(sigma=sigma).poisson(rate=0.01) * steps,
            grid,
            executor=executor,
            epsilon_at_delta=1e-6,
        )
    alone = hs.sweep(lambda sigma, steps: hs.Gaussian(sigma=sigma).poisson(rate=0.01) * steps, grid, epsilon_at_delta=1e-6)
    assert table["sigma"] == alone["sigma"]
    assert table["error"] == alone["error"]
    for low, high, one in zip(table["epsilon_lower"], table["epsilon"], alone["epsilon"], strict=True):
        assert (one is None) == (high is None)
        assert one is None or (low <= one and high == pytest.approx(one, rel=1e-9))


def test_a_question_by_its_old_name_is_answered_with_a_warning():
    """`epsilon=1e-6` asked for the epsilon at delta 1e-6, while everywhere else it is an epsilon."""
    new = {"epsilon_at_delta": 1e-6, "delta_at_epsilon": 1.0, "mu_at_delta": 1e-9, "rdp_at_order": 2.0, "tpr_at_fpr": 0.1}
    new |= {"bayes_risk_at_prior": 0.5, "tradeoff_at_alpha": 0.1}
    grid = {"sigma": [2.0], "steps": [3]}
    for name, at in new.items():
        old = name.partition("_at_")[0]
        with pytest.warns(FutureWarning, match=f"write {name}="):
            found = hs.sweep(noise, grid, **{old: at})
        assert found == hs.sweep(noise, grid, **{name: at})
        with pytest.warns(FutureWarning), pytest.raises(hs.BadValue, match="both given"):
            hs.sweep(noise, grid, **{name: at, old: at})
    with pytest.raises(hs.BadValue, match="did you mean epsilon_at_delta"):
        hs.sweep(noise, grid, epsilon_at_detla=1e-6)

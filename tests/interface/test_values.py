"""Releases are values: frozen, hashable, equal, printable, picklable, and JSON; arrays in, arrays out."""

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hockeystick as hs
from samples import ALL

NAMES = {name: getattr(hs, name) for name in hs.__all__}
MORE = {
    "replaced": hs.Gaussian(sigma=2.0, sensitivity=3.0, replace_sensitivity=4.0),
    "claimed": hs.GDP(mu=1.0, neighbours="replace") * 3,
    "integers": hs.Laplace(scale=2, sensitivity=1) * 5.0,
    "nested": (hs.Gaussian(sigma=2.0) * 3 + hs.GDP(mu=0.1)).poisson(rate=0.25) * 4 + hs.Laplace(scale=1.0),
}
every = pytest.mark.parametrize("release", [*ALL.values(), *MORE.values()], ids=[*ALL, *MORE])


def read(text: str) -> hs.Gaussian:
    return eval(text, {"__builtins__": {}}, NAMES)


def same(one: hs.Gaussian, two: hs.Gaussian) -> None:
    assert one == two
    assert two == one
    assert hash(one) == hash(two)
    assert repr(one) == repr(two)
    assert type(one) is type(two)


@every
def test_every_way_there_and_back(release):
    same(release, read(repr(release)))
    same(release, pickle.loads(pickle.dumps(release)))
    same(release, copy.deepcopy(release))
    same(release, hs.from_json(release.to_json()))
    same(release, hs.from_json(release.to_json().encode()))
    assert str(release) == repr(release)


@every
def test_answers_survive(release):
    relation = "replace" if "neighbours='replace'" in repr(release) else "add-or-remove"
    back = hs.from_json(pickle.loads(pickle.dumps(release)).to_json())
    assert back.epsilon_bounds(1e-6, relation) == release.epsilon_bounds(1e-6, relation)


@every
def test_the_text_states_its_version(release):
    data = json.loads(release.to_json())
    assert data["hockeystick"] == 1
    assert data["neighbours"] == release.stated
    assert set(data) == {"hockeystick", "neighbours", "release"}


@every
def test_releases_are_frozen(release):
    before = repr(release), hash(release)
    for field in dataclasses.fields(release):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(release, field.name, 1.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(release, field.name)
    assert (repr(release), hash(release)) == before


@every
def test_asking_changes_nothing(release):
    relation = "replace" if "neighbours='replace'" in repr(release) else "add-or-remove"
    before = pickle.dumps(release)
    first = release.epsilon_bounds(1e-6, relation), release.delta_bounds(0.5, relation), release.rdp(2.0, relation)
    assert (
        release.epsilon_bounds(1e-6, relation),
        release.delta_bounds(0.5, relation),
        release.rdp(2.0, relation),
    ) == first
    assert pickle.dumps(release) == before


def test_equality_is_of_values():
    assert hs.Gaussian(sigma=2) == hs.Gaussian(sigma=2.0, sensitivity=1.0)
    assert hs.Gaussian(sigma=2.0) != hs.Gaussian(sigma=2.0, sensitivity=1.5)
    assert hs.Gaussian(sigma=2.0) != hs.Laplace(scale=2.0)
    assert hs.Gaussian(sigma=2.0) != hs.GDP(mu=0.5)
    assert hs.GDP(mu=1.0) != hs.GDP(mu=1.0, neighbours="replace")
    assert hs.Gaussian(sigma=2.0) * 2 != hs.Gaussian(sigma=2.0) * 3
    assert hs.Gaussian(sigma=2.0) * 2 != hs.Gaussian(sigma=2.0)
    assert hs.Gaussian(sigma=2.0) != 2.0
    assert len({hs.Gaussian(sigma=2.0), hs.Gaussian(sigma=2), hs.Gaussian(sigma=2.0) * 1}) == 1


def test_the_printed_forms():
    step = hs.Gaussian(sigma=1.1).poisson(rate=0.25)
    assert repr(hs.Laplace(scale=2, sensitivity=3)) == "Laplace(scale=2.0, sensitivity=3.0)"
    assert repr(step * 3 + hs.GDP(mu=0.5)) == "Gaussian(sigma=1.1).poisson(rate=0.25) * 3 + GDP(mu=0.5)"
    assert repr(hs.compose([])) == "compose([])"


def test_dpsgd_is_what_it_says():
    step = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000)
    assert hs.dpsgd(examples=60_000, batch=256, sigma=1.1, steps=3510, sampler="poisson") == step * 3510
    assert hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="poisson") == step * 3516
    assert hs.dpsgd(rate=0.1, sigma=1.1, epochs=3, sampler="poisson") == hs.Gaussian(sigma=1.1).poisson(rate=0.1) * 30
    assert hs.dpsgd(rate=0.25, sigma=1.1, epochs=0.1, sampler="poisson") == hs.Gaussian(sigma=1.1).poisson(rate=0.25)
    for none in ({"steps": 0}, {"epochs": 0}, {"epochs": 0.0}):
        with pytest.raises(hs.BadValue, match="is 0"):  # a training that never ran; step * 0 is free
            hs.dpsgd(rate=0.1, sigma=1.1, sampler="poisson", **none)


# random compositions

numbers = st.floats(1e-3, 1e3)
normals = st.one_of(
    st.builds(lambda a, b: hs.Gaussian(sigma=a, sensitivity=b), numbers, numbers),
    st.builds(lambda mu: hs.GDP(mu=mu), numbers),
)
sums = st.lists(st.tuples(normals, st.integers(0, 10**9)), max_size=3).map(lambda uses: hs.compose(a * n for a, n in uses))
mechanisms = st.one_of(
    normals,
    st.builds(lambda a, b: hs.Laplace(scale=a, replace_sensitivity=min(b, 2.0)), numbers, numbers),
    st.builds(lambda base, rate: base.poisson(rate=rate), sums, st.floats(0.0, 1.0)),
)
compositions = st.lists(st.tuples(mechanisms, st.integers(0, 10**12)), max_size=5).map(
    lambda uses: hs.compose(a * n for a, n in uses)
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(release=compositions)
def test_random_compositions_survive(release):
    same(release, hs.from_json(release.to_json()))
    same(release, pickle.loads(pickle.dumps(release)))
    same(release, read(repr(release)))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(one=compositions, two=compositions)
def test_random_compositions_commute(one, two):
    assert one + two == two + one
    assert hash(one + two) == hash(two + one)


# scalars and arrays

RUN = hs.Gaussian(sigma=3.0) * 4 + hs.Laplace(scale=5.0) * 20
QUESTIONS = {
    "epsilon": (RUN.epsilon, [0.1, 1e-3, 1e-6, 1e-9]),
    "delta": (RUN.delta, [-1.0, 0.0, 1.0, 2.0]),
    "rdp": (RUN.rdp, [1.0, 2.0, 3.5, 8.0]),
}
asked = pytest.mark.parametrize(("ask", "values"), QUESTIONS.values(), ids=QUESTIONS)


@asked
@pytest.mark.parametrize("shape", [(4,), (2, 2), (1, 4, 1)])
def test_arrays_keep_their_shape(ask, values, shape):
    array = np.array(values).reshape(shape)
    kept = array.copy()
    found = ask(array)
    assert isinstance(found, np.ndarray)
    assert found.shape == shape
    assert found.dtype == np.float64
    assert found.ravel().tolist() == pytest.approx([ask(value) for value in values], rel=1e-9)
    np.testing.assert_array_equal(array, kept)


@asked
def test_scalars_give_floats(ask, values):
    expected = ask(values[2])
    for scalar in (values[2], np.float64(values[2]), np.array(values[2])):
        found = ask(scalar)
        assert type(found) is float
        assert found == expected


@asked
def test_lists_and_empty_arrays(ask, values):
    assert ask(values).shape == (4,)
    assert ask(tuple(values)).shape == (4,)
    assert ask(np.array([])).shape == (0,)
    assert ask(np.zeros((0, 3))).shape == (0, 3)
    assert ask([1, 1, 1]).shape == (3,)


def test_bounds_of_arrays():
    found = RUN.epsilon_bounds(delta=np.array([[1e-3], [1e-6]]))
    assert found.lower.shape == found.upper.shape == found.width.shape == (2, 1)
    assert (found.lower <= found.upper).all()
    assert RUN.log_delta_bounds(epsilon=[0.5, 1.0]).upper.shape == (2,)


def test_profiles():
    assert RUN.profile([0.5, 1.0]).shape == (2,)
    assert RUN.profile(np.linspace(0, 1, 6).reshape(2, 3)).shape == (2, 3)
    assert RUN.profile(0.5).shape == (1,)


def test_bounds_are_values():
    bounds = hs.Bounds(1.0, 2.0)
    lower, upper = bounds
    assert (lower, upper, bounds.width, bounds.tight) == (1.0, 2.0, 1.0, True)
    assert 1.5 in bounds
    assert 2.5 not in bounds
    assert math.nan not in bounds
    assert bounds == hs.Bounds(1.0, 2.0)
    assert hash(bounds) == hash(hs.Bounds(1.0, 2.0))
    assert pickle.loads(pickle.dumps(bounds)) == bounds
    with pytest.raises(dataclasses.FrozenInstanceError):
        bounds.lower = 0.0


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (2.0, 1.0),
        (2, 1),
        (math.nan, 1.0),
        (1.0, math.nan),
        (np.float64(2.0), 1.0),
        (np.array([0.0, 2.0]), np.array([1.0, 1.0])),
        (np.array([0.0, math.nan]), np.array([1.0, 1.0])),
    ],
)
def test_bounds_are_ordered_numbers(lower, upper):
    with pytest.raises(hs.BadValue, match="lower <= upper"):
        hs.Bounds(lower, upper)


@pytest.mark.parametrize(("lower", "upper"), [("0", "1"), (None, 1.0), (0.0, None), (True, 2.0), ([0.0], [1.0])])
def test_bounds_of_something_else_are_refused(lower, upper):
    with pytest.raises(hs.BadType, match="an array of numbers"):
        hs.Bounds(lower, upper)


def test_bounds_that_may_be():
    assert hs.Bounds(1.0, 1.0).width == hs.Bounds(0, 0).width == 0.0
    assert hs.Bounds(0.0, math.inf).width == math.inf
    assert hs.Bounds(-math.inf, -math.inf).upper == -math.inf
    assert hs.Bounds(np.zeros(0), np.zeros(0)).width.shape == (0,)
    assert hs.Bounds(np.zeros(2), np.ones(2)).width.tolist() == [1.0, 1.0]


def test_a_training_run_shows_its_relation_and_its_sampler():
    run = hs.dpsgd(examples=1000, batch=10, epochs=3, sigma=4.0, sampler="shuffle", neighbours="zero-out")
    assert repr(run) == "Training(Gaussian(sigma=4.0).full_pass(by='shuffle', steps=100) * 3, neighbours='zero-out')"
    assert str(run).startswith(f"{run.run!r}\n")
    assert "shuffled for each pass" in str(run)
    assert "(zero-out)" in str(run)


def test_the_name_of_a_file_is_no_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saved").write_text(hs.Gaussian(sigma=2.0).to_json())
    for name in ("nofile.json", "a folder/run.json", "saved", str(tmp_path / "saved")):
        with pytest.raises(hs.BadValue, match=r"the name of a file; .*read_text\(\)"):
            hs.from_json(name)
    for text in ("", "saved\n", "nothing", "a\0b", "x" * 5000, "{", b"nofile.json"):
        with pytest.raises(hs.BadValue, match="not JSON"):
            hs.from_json(text)
    with pytest.raises(hs.BadType, match="read_text"):
        hs.from_json(tmp_path / "saved")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"neighbours": "add-or-remove", "release": {"kind": "gaussian", "sigma": 2.0}}', "the key 'hockeystick', .*missing"),
        ("{}", "the key 'hockeystick', .*missing"),
        ('{"hockeystick": "1", "release": {"kind": "gaussian", "sigma": 2.0}}', "the key 'hockeystick', .* is '1'; allowed"),
        ('["hockeystick"]', "no JSON object"),
    ],
)
def test_a_missing_version_is_named(text, words):
    with pytest.raises(hs.BadValue, match=words):
        hs.from_json(text)


@pytest.mark.parametrize(
    ("run", "limit"),
    [
        (hs.PureDP(epsilon=1.0), 0.7310585786300049),
        (hs.Gaussian(sigma=1.0), 1.0),
        (hs.compose([]), 0.5),
        (hs.ApproxDP(1.0, 0.1), 1.0),
    ],
)
def test_the_posterior_at_no_false_positives_is_the_limit_of_small_rates(run, limit):
    assert limit <= run.posterior(prior=0.5, fpr=0.0) <= limit + 1e-12
    assert run.posterior(prior=0.5, fpr=1e-12) <= limit + 1e-12
    assert run.posterior(prior=0.0, fpr=0.0) == 0.0

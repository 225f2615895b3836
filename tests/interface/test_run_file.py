"""The portable file of a run: its published schema, and another tool that replays it from the schema's words alone."""

import json
import math

import dp_accounting as dp
import jsonschema
import pytest

import hockeystick as hs
from hockeystick.cli import main
from hockeystick.portable import _KINDS
from places import ROOT
from samples import ALL

SCHEMA = json.loads((ROOT / "docs" / "run.schema.json").read_text(encoding="utf-8"))
CHECK = jsonschema.Draft202012Validator(SCHEMA)

MORE = {
    "sensitivities": hs.Gaussian(sigma=2.0, sensitivity=3.0, replace_sensitivity=4.0) + hs.DiscreteLaplace(2.0, 2, 3),
    "mixture": hs.GaussianMixture(sigma=0.5, moves=(0, 0.2, 1), weights=(0.5, 0.3, 0.2)) * 3,
    "uniform": hs.RandomizedResponse(epsilon=1.0, categories=7, null="uniform"),
    "claims": hs.GDP(1.0, neighbours="replace")
    + hs.ZCDP(0.1, "zero-out", 0.2)
    + hs.PureDP(1.0)
    + hs.ApproxDP(1.0, 1e-6, "replace"),
    "profile": hs.Profile(None, claims=((0.5, 1e-3), (1.0, 1e-6)), tail=(1.0, math.inf)),
    "pair": hs.Pair({"yes": "2/3", "no": "1/3"}, {"yes": 0.5, "no": 0.5}, "replace") * 2,
    "fixed": hs.Gaussian(2.0).without_replacement(batch=10, examples=100)
    + hs.Laplace(2.0).with_replacement(draws=3, examples=10),
    "truncated": hs.Gaussian(2.0).truncated_poisson(rate=0.1, cap=15, examples=100) * 3,
    "allocated": hs.Gaussian(2.0).allocated(steps=9) * 2 + hs.Gaussian(2.0).allocated(steps=9, kept=3, times=2),
    "banded": hs.Gaussian(2.0).poisson(rate=0.1).banded(bands=3, iterations=20) * 2,
    "matrix": hs.MatrixMechanism(hs.Strategy.tree(8), sigma=2.0, participations=2, separation=3)
    + hs.MatrixMechanism([[1.0, 0.0], [-0.5, 1.0]], sigma=2.0, participations=1, sensitivity=2.0),
    "passes": hs.Gaussian(2.0).full_pass(by="shuffle", steps=9) + hs.Gaussian(2.0).full_pass(by="position") * 3,
    "shuffled": hs.Shuffled(hs.RandomizedResponse(1.0), count=1000) * 2,
    "groups": hs.Gaussian(2.0).poisson(rate=0.1).group(size=3) * 5,
    "grouped": (hs.Laplace(2.0).poisson(rate=0.1) * 5).group(size=3),
    "training": hs.dpsgd(examples=1000, batch=10, epochs=3, sigma=4.0, sampler="shuffle", neighbours="zero-out"),
    "thresholded": hs.recipes.thresholded(hs.Gaussian(sigma=10.0), threshold=60.0, partitions=4),
}
EVERY = {"vector": hs.DiscreteGaussianVector(sigma=2.0, squared_norm=4, neighbours="replace"), **ALL, **MORE}


@pytest.mark.parametrize("release", EVERY.values(), ids=EVERY)
def test_what_is_written_follows_the_schema_and_is_read(release):
    data = json.loads(release.to_json())
    CHECK.validate(data)
    assert data["neighbours"] == release.stated
    assert hs.from_json(json.dumps(data)) == release
    del data["neighbours"]
    CHECK.validate(data)
    assert hs.from_json(json.dumps(data)) == release


def test_the_schema_and_the_reader_know_the_same_kinds_and_fields():
    CHECK.check_schema(SCHEMA)
    kinds = {
        name: set(one["properties"]) - {"kind"} for name, one in SCHEMA["$defs"].items() if "kind" in one.get("properties", {})
    }
    assert {name: fields for name, fields in kinds.items() if name in _KINDS} == {name: set(n) for name, (_, n) in _KINDS.items()}
    assert set(kinds) - set(_KINDS) == {"composition", "training", "grouped"}
    assert [one["$ref"].rpartition("/")[2] for one in SCHEMA["$defs"]["release"]["oneOf"]] == list(kinds)
    used = {kind for release in EVERY.values() for kind in _kinds(json.loads(release.to_json())["release"])}
    assert used == set(kinds)  # every one is written above


def _kinds(data):
    yield data["kind"]
    inner = [data[name] for name in ("base", "local", "run") if name in data] + [one["release"] for one in data.get("parts", [])]
    for one in inner:
        yield from _kinds(one)


NORMAL = {"kind": "gaussian", "sigma": 2.0}
REFUSED = [
    {"hockeystick": 2, "release": NORMAL},
    {"release": NORMAL},
    {"hockeystick": 1},
    {"hockeystick": 1, "release": NORMAL, "colour": "red"},
    {"hockeystick": 1, "neighbours": "some", "release": NORMAL},
    {"hockeystick": 1, "release": {**NORMAL, "sigma": -1.0}},
    {"hockeystick": 1, "release": {**NORMAL, "sigma": "2"}},
    {"hockeystick": 1, "release": {"kind": "normal", "sigma": 2.0}},
    {"hockeystick": 1, "release": {"kind": "poisson", "rate": 0.1}},
    {"hockeystick": 1, "release": {"kind": "poisson", "rate": 1.1, "base": NORMAL}},
    {"hockeystick": 1, "release": {"kind": "composition", "parts": [{"count": -1, "release": NORMAL}]}},
    {"hockeystick": 1, "release": {"kind": "composition", "parts": [{"count": 1.5, "release": NORMAL}]}},
    {"hockeystick": 1, "release": {"kind": "gdp", "mu": 1.0, "neighbours": "remove"}},
    {"hockeystick": 1, "release": {"kind": "randomized-response", "epsilon": 1.0, "null": "none"}},
    {"hockeystick": 1, "release": {"kind": "gaussian-mixture", "sigma": 1.0, "moves": [0.0]}},
    {"hockeystick": 1, "release": {"kind": "training", "neighbours": "replace", "run": NORMAL}},
]


@pytest.mark.parametrize("data", REFUSED, ids=lambda data: json.dumps(data)[:70])
def test_what_the_schema_refuses_is_not_read(data):
    assert not CHECK.is_valid(data)
    with pytest.raises((hs.BadValue, hs.BadType)):
        hs.from_json(json.dumps(data))


def test_the_relation_of_a_file():
    text = (hs.Gaussian(sigma=2.0) * 3).to_json().replace("add-or-remove", "replace")
    run = hs.from_json(text)
    assert run.stated == "replace"
    assert run.epsilon(1e-6) == (hs.Gaussian(sigma=2.0) * 3).epsilon(1e-6, "replace")
    assert hs.from_json(run.to_json()) == run
    data = json.loads(MORE["training"].to_json())
    assert data["neighbours"] == "zero-out"
    with pytest.raises(hs.BadValue, match="one relation"):
        hs.from_json(json.dumps({**data, "neighbours": "replace"}))


def test_the_command_takes_it(tmp_path, capsys):
    run = hs.from_json((hs.Gaussian(sigma=2.0).poisson(rate=0.1) * 30).to_json().replace("add-or-remove", "replace"))
    (tmp_path / "run.json").write_text(run.to_json())
    with pytest.raises(SystemExit) as done:
        main(["compose", str(tmp_path / "run.json"), "--delta", "1e-6", "--json"])
    assert done.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epsilon"], found["neighbours"]) == (run.epsilon(1e-6), "replace")


# another tool, which knows the schema and nothing of ours


def event(data):
    match data["kind"]:
        case "gaussian":
            return dp.GaussianDpEvent(data["sigma"] / data.get("sensitivity", 1.0))
        case "laplace":
            return dp.LaplaceDpEvent(data["scale"] / data.get("sensitivity", 1.0))
        case "poisson":
            return dp.PoissonSampledDpEvent(data["rate"], event(data["base"]))
        case "composition":
            return dp.ComposedDpEvent([dp.SelfComposedDpEvent(event(one["release"]), one["count"]) for one in data["parts"]])
        case "training":
            return event(data["run"])
    raise NotImplementedError(data["kind"])


REPLAYED = [
    hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510,
    hs.Gaussian(sigma=1.0).poisson(rate=0.01) * 500 + hs.Gaussian(sigma=1.5).poisson(rate=0.03) * 200 + hs.Laplace(5.0) * 3,
    hs.dpsgd(examples=1000, batch=10, steps=50, sigma=1.0, sampler="poisson", neighbours="replace"),
    hs.dpsgd(examples=1000, batch=10, steps=50, sigma=1.0, sampler="poisson", neighbours="zero-out") + hs.Gaussian(20.0, 4.0),
]


@pytest.mark.parametrize("run", REPLAYED, ids=lambda run: repr(run)[:60])
def test_another_tool_replays_it(run):
    data = json.loads(run.to_json())
    relations = dict(zip(("add-or-remove", "replace", "zero-out"), dp.NeighboringRelation, strict=True))
    theirs = dp.pld.PLDAccountant(relations[data["neighbours"]]).compose(event(data["release"])).get_epsilon(1e-6)
    assert theirs == pytest.approx(run.epsilon(1e-6), rel=2e-3)

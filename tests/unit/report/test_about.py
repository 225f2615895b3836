"""What people say of a run: it stands in the report, changes no number, and is never silently another run's."""

import datetime
import json

import pytest

import hockeystick as hs

VISITS = hs.Entry(hs.Gaussian(sigma=50.0) * 2, name="Visits", purpose="planning of beds", notes="rounded to tens")
MODEL = hs.Entry(hs.dpsgd(examples=1000, batch=10, epochs=1, sigma=2.0, sampler="shuffle", neighbours="zero-out"), name="Model")
ABOUT = hs.About(
    name="visits",
    title="Visits\n in 2025",
    dataset="The register",
    unit="one patient",
    author="É. Ward",
    date=datetime.date(2026, 1, 2),
    purpose="planning",
    notes=["one", " ", "two"],
    entries=[VISITS, MODEL],
)
RUN = hs.compose([VISITS.release, MODEL.release])


def test_texts_are_kept_on_one_line():
    assert ABOUT.title == "Visits in 2025"
    assert ABOUT.date == "2026-01-02"
    assert ABOUT.notes == ("one", "two")
    assert VISITS.notes == ("rounded to tens",)
    assert hs.About(date=datetime.datetime(2026, 1, 2, 3, 4)).date == "2026-01-02"
    assert hash(ABOUT) == hash(hs.About.from_dict(ABOUT.to_dict()))


def test_back_from_its_dictionary():
    assert hs.About.from_dict(json.loads(json.dumps(ABOUT.to_dict()))) == ABOUT
    assert hs.About.from_dict({}) == hs.About()
    assert hs.About().to_dict() == {}


def test_no_number_changes():
    plain, told = RUN.report(delta=1e-6).to_dict(), RUN.report(delta=1e-6, about=ABOUT).to_dict()
    assert told["about"] == ABOUT.to_dict()
    for name in ("epsilon", "delta", "profile", "mu", "renyi", "attacks", "described"):
        assert told[name] == plain[name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"titel": "x"}, r"no argument titel \(did you mean title\?\)"),
        ({"title": 3}, "title is 3"),
        ({"date": "tomorrow"}, "date is 'tomorrow'"),
        ({"date": 3}, "date is 3"),
        ({"notes": 3}, "notes is 3"),
        ({"notes": [3]}, "notes is 3"),
        ({"author": "a\x07b"}, "control characters"),
        ({"author": "\ud800"}, "control characters"),
        ({"entries": [hs.Laplace(scale=1.0)]}, "entries contains Laplace"),
        ({"entries": 3}, "entries is 3"),
    ],
)
def test_bad_annotations(arguments, words):
    with pytest.raises((hs.BadType, hs.BadValue), match=words):
        hs.About(**arguments)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"entires": []}, r"unknown keys entires \(did you mean entries\?\)"),
        ({"entries": 3}, "entries is 3"),
        ({"entries": [{"described": None}]}, "no JSON object"),
        ({"entries": [{"nmae": "x"}]}, r"nmae \(did you mean name\?\)"),
        (3, "about is 3"),
    ],
)
def test_bad_dictionaries(data, words):
    with pytest.raises((hs.BadType, hs.BadValue), match=words):
        hs.About.from_dict(data)


def test_a_report_lists_what_was_counted():
    with pytest.raises(hs.BadValue, match="entries that make up the run"):
        (RUN + hs.Gaussian(sigma=50.0)).report(delta=1e-6, about=ABOUT)
    with pytest.raises(hs.BadType, match="about is 3"):
        RUN.report(delta=1e-6, about=3)
    with pytest.raises(hs.BadType, match="release is 3"):
        hs.Entry(3)

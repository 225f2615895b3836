"""The public names, and the facts that a release of the package states in several places."""

import tomllib
from pathlib import Path

import hockeystick as hs
from places import ROOT


def test_the_public_names():
    assert hs.__all__ == [
        "GDP",
        "RDP",
        "ZCDP",
        "ApproxDP",
        "BadType",
        "BadValue",
        "Bounds",
        "DiscreteGaussian",
        "DiscreteLaplace",
        "EdgeOrder",
        "Exponential",
        "Gaussian",
        "GaussianMixture",
        "HockeystickError",
        "Laplace",
        "MissingExtra",
        "Profile",
        "PureDP",
        "RDPAccountant",
        "RandomizedResponse",
        "Shuffled",
        "Unreachable",
        "Unsupported",
        "calibrate",
        "compose",
        "conversion",
        "dpsgd",
        "from_json",
        "remaining",
        "rounds",
        "split",
        "sweep",
    ]


def test_every_public_name_is_there_and_documented():
    for name in hs.__all__:
        assert getattr(hs, name).__doc__


def test_the_version_is_stated_once_for_all():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert hs.__version__ == project["version"] == "0.1.0"


def test_the_package_is_typed():
    assert (Path(hs.__file__).parent / "py.typed").is_file()


def test_errors_are_the_nearest_builtins():
    nearest = {
        hs.BadValue: ValueError,
        hs.BadType: TypeError,
        hs.Unsupported: ValueError,
        hs.Unreachable: ValueError,
        hs.MissingExtra: ImportError,
    }
    for error, builtin in nearest.items():
        assert issubclass(error, hs.HockeystickError)
        assert issubclass(error, builtin)

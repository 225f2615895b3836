"""Every public function, class and method documents its parameters, what it returns and its errors, as numpydoc checks it."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import hockeystick as hs
from hockeystick import conversion, errors
from places import ROOT

API = ROOT / "docs" / "api.md"
CHECKS = {
    *("GL01", "GL03", "GL05", "GL06", "GL07", "GL08"),  # a docstring, its form, known sections in their order
    *("SS01", "SS03", "SS04"),  # a summary that ends as a sentence (it may begin with a formula)
    # the parameters of the signature, in its order, each with type and words
    *("PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "PR09", "PR10"),
    *("RT01", "RT03", "RT05"),  # what is returned, in words
    "YD01",
}
PEERS = ("dp_accounting", "opacus")
TOTAL = {  # what refuses nothing
    "hockeystick.interop.dp_accounting.accountant.HockeystickAccountant.supports",
    "hockeystick.interop.opacus.HockeystickAccountant.state_dict",
    "hockeystick.interop.opacus_allocation.BallsAndBinsAccountant.state_dict",
    "hockeystick.report.report.Report.to_json",
    "hockeystick.report.report.Report.to_text",
}


def pages() -> list[str]:
    """What the page of the API shows."""
    return re.findall(r"^::: ([\w.]+)$", API.read_text(encoding="utf-8"), re.MULTILINE)


def found(path: str) -> Any:
    """A public object; None if it needs a package that is not installed."""
    module, rest = path, []
    while True:
        try:
            one: Any = importlib.import_module(module)
            break
        except ModuleNotFoundError as error:
            if error.name in PEERS:
                return None
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
        except ImportError:
            return None
    for name in rest:
        one = getattr(one, name)
    return one


def public() -> dict[str, Any]:
    """By their names: what `hs` and `hs.conversion` offer, what the page of the API shows, and the members of all of these."""
    tops = {f"hockeystick.{name}": getattr(hs, name) for name in hs.__all__}
    tops |= {f"hockeystick.conversion.{name}": getattr(conversion, name) for name in conversion.__all__}
    tops |= {path: one for path in pages() if (one := found(path)) is not None}
    known: dict[str, Any] = {}
    for one in tops.values():
        if isinstance(one, ModuleType):
            for name, member in vars(one).items():
                if inspect.isfunction(member) and not name.startswith("_") and member.__module__ == one.__name__:
                    known[f"{one.__name__}.{name}"] = member
            continue
        path = f"{one.__module__}.{one.__qualname__}"
        known[path] = one
        for base in inspect.getmro(one) if inspect.isclass(one) else ():
            if base.__module__.startswith("hockeystick"):
                known |= dict(members(base))
    return known


def members(cls: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(cls).items():
        plain = getattr(member, "__func__", getattr(member, "func", member))  # of class methods and of cached properties
        if not name.startswith("_") and (inspect.isfunction(plain) or isinstance(member, property)):
            yield f"{cls.__module__}.{cls.__qualname__}.{name}", plain


PUBLIC = public()
FUNCTIONS = {path: one for path, one in PUBLIC.items() if not inspect.isclass(one)}
ERRORS = {name for name in vars(errors) if inspect.isclass(getattr(errors, name))}


def is_error(one: Any) -> bool:
    return inspect.isclass(one) and issubclass(one, Exception)


CLASSES = [name for name in hs.__all__ if inspect.isclass(getattr(hs, name)) and not is_error(getattr(hs, name))]


def test_what_is_public_is_found():
    some = "mechanism.questions.guarantees.Guarantees.epsilon", "mechanism.gaussian.Gaussian", "report.answers.Answers.statement"
    assert {f"hockeystick.{name}" for name in (*some, "conversion.zcdp.zcdp_to_epsilon")} <= set(PUBLIC)
    assert len(PUBLIC) > 200


@pytest.mark.parametrize("path", sorted(PUBLIC))
def test_numpydoc(path):
    one = PUBLIC[path]
    ignored = {"PR01", "PR02"} if is_error(one) or inspect.isabstract(one) else set()  # nobody makes them from parameters
    wrong = [f"{code}: {words}" for code, words in validate(path)["errors"] if code in CHECKS - ignored]
    assert not wrong


def raised(one: Any) -> set[str]:
    """The errors that a function raises in its own lines."""
    source = inspect.unwrap(one.fget if isinstance(one, property) else one)
    tree = ast.parse(textwrap.dedent(inspect.getsource(source)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    return {call.func.id for call in calls if isinstance(call.func, ast.Name) and call.func.id in ERRORS}


def refused(one: Any) -> set[str]:
    """The errors that are documented, which are ours."""
    told = {entry.type or entry.name for entry in NumpyDocString(inspect.getdoc(one) or "")["Raises"]}
    assert told <= ERRORS
    return told


@pytest.mark.parametrize("path", sorted(FUNCTIONS))
def test_errors_are_documented(path):
    """What is raised is among the errors, and what takes parameters says what it refuses."""
    one = FUNCTIONS[path]
    assert raised(one) <= refused(one)
    if not isinstance(one, property) and path not in TOTAL and set(inspect.signature(one).parameters) - {"self", "cls"}:
        assert refused(one)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_say_what_they_refuse(name):
    assert refused(getattr(hs, name)) >= {"BadType", "BadValue"}

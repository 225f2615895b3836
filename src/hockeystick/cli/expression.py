"""Releases in the words of Python, read without running anything: 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000'."""

import ast
import re
from collections.abc import Callable
from typing import Any

import hockeystick

from ..checks import meant
from ..errors import BadValue, HockeystickError
from ..mechanism.release import Release

NAMES = (
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "DiscreteGaussian",
    "DiscreteGaussianVector",
    "DiscreteLaplace",
    "RandomizedResponse",
    "Exponential",
    "PureDP",
    "ApproxDP",
    "MatrixMechanism",
    "Strategy",
    "GDP",
    "ZCDP",
    "RDP",
    "Shuffled",
    "dpsgd",
)
"""What may be called, among the public names; each is imported when it is."""
WITHIN = {
    "Strategy": ("tree", "square_root", "toeplitz", "blt", "dense"),
    "recipes": ("adaptive_clipping", "microbatches", "user_level", "thresholded", "last_iterate"),
}
"""What may be called of these."""
METHODS = ("poisson", "truncated_poisson", "without_replacement", "with_replacement", "full_pass", "allocated", "banded", "group")
WHOLE = (
    "participations",
    "separation",
    "bands",
    "iterations",
    "batch",
    "cap",
    "count",
    "draws",
    "examples",
    "size",
    "steps",
    "categories",
    "accumulation",
)
HOLE = "_hole_"
_EXAMPLE = "'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000 + Laplace(scale=5) * 20'"


def release(text: str, hole: Any = None) -> Release:
    """The release that the text describes; a question mark stands for `hole`.

    >>> release("Gaussian(sigma=2) * 3 + Laplace(scale=256/60)")
    Gaussian(sigma=2.0) * 3 + Laplace(scale=4.266666666666667)
    """
    try:
        found = _value(_parsed(text), text, hole)
    except RecursionError:
        raise BadValue(f"{text[:60]!r}... is nested too deeply; write a long run into a file, one step each.") from None
    if not isinstance(found, Release):
        raise BadValue(f"{text!r} is {found!r}, not a release; an example: {_EXAMPLE}.")
    return found


def holes(text: str) -> int:
    """How many question marks the text has."""
    return sum(isinstance(node, ast.Name) and node.id == HOLE for node in ast.walk(_parsed(text)))


def hole_is_whole(text: str) -> bool:
    """Whether the question mark stands where a whole number must."""
    tree = _parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and _is_hole(node.value):
            return node.arg in WHOLE
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and (_is_hole(node.left) or _is_hole(node.right)):
            return True
    return False


def hole_name(text: str) -> str:
    """What the question mark stands for: the argument's name, or "count" where a release is repeated."""
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.keyword) and any(map(_is_hole, ast.walk(node.value))) and not isinstance(node.value, ast.Call):
            return str(node.arg)
    return "count" if hole_is_whole(text) else "value"


def _is_hole(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == HOLE


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(re.sub(r"\?", HOLE, text.strip()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise BadValue(f"{shown!r} cannot be read; an example: {_EXAMPLE}.") from None


def _value(node: ast.expr, text: str, hole: Any) -> Any:
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, int | float | str)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _computed(lambda: -_value(node.operand, text, hole), text)
    if _is_hole(node):
        if hole is None:
            raise BadValue(f"{text!r} has a question mark; it is for calibrate, which finds its value.")
        return hole
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(one, text, hole) for one in node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
        return _operated(node, text, hole)
    if isinstance(node, ast.Call):
        return _called(node, text, hole)
    raise BadValue(f"{ast.unparse(node)!r} in {text!r} is not allowed; allowed: numbers, {', '.join(NAMES)}, + and *.")


def _operated(node: ast.BinOp, text: str, hole: Any) -> Any:
    left, right = _value(node.left, text, hole), _value(node.right, text, hole)
    for one in (left, right):
        if not isinstance(one, int | float | Release):
            raise BadValue(f"{ast.unparse(node)!r} cannot be computed: {one!r} is neither a number nor a release.")
    numbers = not isinstance(left, Release) and not isinstance(right, Release)
    if isinstance(node.op, ast.Add):
        return _computed(lambda: left + right, text)
    if isinstance(node.op, ast.Mult):
        return _computed(lambda: left * right, text)
    if numbers and isinstance(node.op, ast.Sub):
        return _computed(lambda: left - right, text)
    if numbers and isinstance(node.op, ast.Div):
        return _computed(lambda: left / right, text)
    if numbers and abs(left) <= 1e3 and abs(right) <= 100:
        return _computed(lambda: left**right, text)
    raise BadValue(f"{ast.unparse(node)!r} in {text!r} is not allowed; releases are joined by + and repeated by *.")


def _called(node: ast.Call, text: str, hole: Any) -> Release:
    if any(one.arg is None for one in node.keywords):
        raise BadValue(f"{text!r} has **; allowed: named numbers.")
    names = [str(one.arg) for one in node.keywords]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadValue(f"{twice[0]} is given twice in {ast.unparse(node)!r}; give it once.")
    given = {str(one.arg): _value(one.value, text, hole) for one in node.keywords}
    plain = [_value(one, text, hole) for one in node.args]
    if isinstance(node.func, ast.Name) and node.func.id in NAMES:
        called: Any = getattr(hockeystick, node.func.id)
        name = node.func.id
    elif isinstance(node.func, ast.Attribute) and node.func.attr in WITHIN.get(ast.unparse(node.func.value), ()):
        called, name = getattr(getattr(hockeystick, ast.unparse(node.func.value)), node.func.attr), node.func.attr
    elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        base = _value(node.func.value, text, hole)
        if not isinstance(base, Release):
            raise BadValue(f"{ast.unparse(node.func.value)!r} in {text!r} is not a release.")
        called, name = getattr(base, node.func.attr), node.func.attr
    else:
        allowed = f"{', '.join(NAMES)}, and the methods {', '.join(METHODS)}"
        raise BadValue(f"{ast.unparse(node.func)!r} is not known{_near(node.func)}; allowed: {allowed}.")
    try:
        return called(*plain, **given)  # type: ignore[no-any-return]
    except TypeError as error:
        if isinstance(error, HockeystickError):
            raise
        words = str(error).replace(f"Release.{name}()", name).replace(f"{name}()", name)
        raise BadValue(f"{ast.unparse(node)!r} cannot be made: {words}.") from None


def _near(node: ast.expr) -> str:
    """Which name may be meant."""
    if isinstance(node, ast.Attribute):
        return meant(node.attr, METHODS)
    return meant(node.id, NAMES) if isinstance(node, ast.Name) else ""


def _computed(make: Callable[[], Any], text: str) -> Any:
    try:
        return make()
    except (TypeError, ZeroDivisionError, OverflowError, ValueError) as error:
        if isinstance(error, HockeystickError):
            raise
        raise BadValue(f"{text!r} cannot be computed: {error}.") from None

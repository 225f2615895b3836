"""The papers' figures, redrawn from the library: each is a function that returns its data and one that draws them."""

from collections.abc import Callable
from typing import Any

from . import paper_g

FIGURES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {**paper_g.FIGURES}

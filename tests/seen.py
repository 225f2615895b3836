"""What can be seen of a figure: which curves lie behind a legend."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def covered(figure: Any) -> Iterator[str]:
    """The curves that run through the box of a legend of their axes, by their labels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        if axes.get_legend() is None:
            continue
        box = axes.get_legend().get_window_extent(canvas.get_renderer())
        for line in axes.get_lines():
            points = line.get_transform().transform(np.column_stack([np.asarray(one, dtype=float) for one in line.get_data()]))
            points = points[np.all(np.isfinite(points), axis=1)]
            if len(points) < 2:
                continue
            steps = points[:-1, None] + np.linspace(0.0, 1.0, 20)[:, None] * np.diff(points, axis=0)[:, None]
            x, y = steps.reshape(-1, 2).T
            shown = within(axes.bbox, x, y) & within(box, x, y)
            if shown.any():
                yield str(line.get_label())


def within(box: Any, x: Any, y: Any) -> Any:
    """Whether points lie in a box."""
    return (box.x0 <= x) & (x <= box.x1) & (box.y0 <= y) & (y <= box.y1)

"""A random choice among pairs, the choice being public."""

import numpy as np

from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.public_mixture import PublicMixtureLoss


def test_masses_of_a_known_choice_leave_out_only_what_is_faint() -> None:
    """The sum over all components, however unlikely, is within the stated error."""
    losses = tuple(GaussianLoss((0.3 * k) ** 2) for k in range(1, 40))
    weights = tuple(-0.7 * k * k for k in range(39))
    edges = np.linspace(-3.0, 30.0, 400)
    log_p, log_q, error = PublicMixtureLoss(losses, weights).masses(edges)
    found = [loss.masses(edges) for loss in losses]
    for kind, given in (("log_p", log_p), ("log_q", log_q)):
        each = np.array([getattr(one, kind) + weight for one, weight in zip(found, weights, strict=True)])
        whole = np.logaddexp.reduce(each, axis=0)
        seen = whole > -600.0
        assert (np.abs(given - whole)[seen] <= np.broadcast_to(error, whole.shape)[seen]).all()

"""The law of the privacy loss of a release, and the rho of it."""

from typing import cast

from ...errors import Unsupported
from ...neighbours import REVERSED, STATED, Relation, checked
from .privacy_loss import PrivacyLoss
from .renyi import RenyiQuestions


class LawQuestions(RenyiQuestions):
    """The law of the loss, and the rho of it."""

    def loss(self, neighbours: Relation = STATED) -> PrivacyLoss:
        """The law of the privacy loss of the dominating pair, in one order: tails, moments, atoms, quantiles, a plot.

        Tails, variance and quantiles of this law bound nothing for a mechanism that the pair dominates: a dominated pair has
        smaller hockey sticks, not smaller tails.  For guarantees ask `epsilon` and `delta`.

        Parameters
        ----------
        neighbours : Relation, optional
            "remove", "add", or another relation with one order ("replace"); by default the one that the release states.

        Returns
        -------
        PrivacyLoss
            The law.

        Raises
        ------
        BadType
            If neighbours is no text.
        BadValue
            If neighbours is no relation.
        Unsupported
            If the relation has two orders that differ, the run is known by bounds only, or no theorem covers a part of it.

        Examples
        --------
        >>> import hockeystick as hs
        >>> law = (hs.Gaussian(sigma=2.0) * 4).loss(neighbours="remove")
        >>> round(law.mean().upper, 9), round(law.variance().upper, 9)
        (0.5, 1.0)
        """
        relation = checked(self._meant(neighbours))
        run = self._run(relation)
        if relation == "add-or-remove" or run.rows > 1:
            orders = "neighbours='remove' or 'add'" if relation == "add-or-remove" else "an order of add or remove"
            raise Unsupported(
                f"neighbours={relation!r} has two ordered pairs, each with a loss of its own law; ask with {orders}."
            )
        from ...loss.answers.law_between import lies_between

        if not lies_between(run):
            raise Unsupported(
                f"{self!r} under {relation!r} is known by bounds only (a claim of Rényi divergences, a range, or a pair that "
                "dominates others): its loss has no law that is known.  Ask for epsilon_bounds or delta_bounds."
            )
        other = REVERSED.get(relation)
        return PrivacyLoss(self, relation, run, None if other is None else self._run(other))

    def rho(self, neighbours: Relation = STATED) -> float:
        """The smallest rho for which the release is rho-zCDP: the largest Rényi divergence over its order.

        Parameters
        ----------
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float
            A certified upper bound, close where both are known; inf where no rho holds, or none is proved.

        Raises
        ------
        BadType
            If neighbours is no text.
        BadValue
            If neighbours is no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round((hs.Gaussian(sigma=2.0) * 8).rho(), 12)
        1.0
        >>> round(hs.RandomizedResponse(epsilon=1.0).rho(), 9)
        0.462117157
        """
        from ...planning.concentrated import rho_of
        from ..release import Release

        return rho_of(cast(Release, self), checked(self._meant(neighbours)))

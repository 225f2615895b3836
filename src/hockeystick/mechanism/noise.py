"""What additive noises have in common: a sensitivity, and twice that where a record is replaced."""

from abc import abstractmethod

from .. import checks
from .. import loss as losses
from ..errors import BadValue
from ..neighbours import Order
from .release import Mechanism


class AdditiveNoise(Mechanism):
    """Noise on an answer that one record moves by at most `sensitivity`."""

    sensitivity: float
    replace_sensitivity: float | None

    def _moved(self, order: Order) -> float:
        """How far the answer moves between the two data sets."""
        if order != "replace":
            return self.sensitivity
        return 2.0 * self.sensitivity if self.replace_sensitivity is None else self.replace_sensitivity

    def _check(self, spread: str) -> None:
        """Checks all parameters and makes floats of them; `spread` names the parameter that sets the noise."""
        noise, moved = getattr(self, spread), self.sensitivity
        if (
            self.replace_sensitivity is None
            and type(noise) is type(moved) is float
            and noise > 0.0
            and checks.fits(moved / noise)
        ):
            return  # the others are looked at one by one
        self._checked(spread)
        self._checked("sensitivity")
        checks.ratio(f"sensitivity / {spread}", self.sensitivity, getattr(self, spread))
        if self.replace_sensitivity is None:
            return
        replaced = self._checked("replace_sensitivity")
        if replaced > 2.0 * self.sensitivity:
            raise BadValue(
                f"replace_sensitivity is {replaced}; allowed: at most twice the sensitivity, {2.0 * self.sensitivity}, "
                "since replacing is removing and adding."
            )
        checks.ratio(f"replace_sensitivity / {spread}", replaced, getattr(self, spread))

    def _checked(self, name: str) -> float:
        """A positive parameter, a float from now on."""
        given = getattr(self, name)
        number = checks.positive(name, given)
        if number is not given:
            object.__setattr__(self, name, number)
        return number

    @abstractmethod
    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss": ...

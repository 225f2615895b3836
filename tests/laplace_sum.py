"""delta of few steps of Laplace noise in many digits (mpmath), from the closed form of the sum, term by term."""

import math

import mpmath as mp


def ways(count: int, j: int, r: int) -> int:
    """[y^r] (1 + y)^(count - j) (1 - y)^j."""
    return sum((-1) ** n * math.comb(j, n) * math.comb(count - j, r - n) for n in range(min(j, r) + 1))


def exact(a: float, count: int, epsilon: object) -> mp.mpf:
    """delta, with many digits."""
    with mp.workdps(120):
        a, epsilon, total = mp.mpf(a), mp.mpf(epsilon), mp.mpf(0)
        if epsilon <= -count * a:
            return -mp.expm1(epsilon)
        for r in range(count + 1):
            x = ((count - 2 * r) * a - epsilon) / 2
            if x <= 0:
                break
            for j in range(count + 1):
                low = [x**n / mp.factorial(n) for n in range(j + 1)]  # what the series of sinh, or cosh, begins with
                series = mp.cosh(x) - sum(low[0::2]) if j % 2 else mp.sinh(x) - sum(low[1::2])
                total += math.comb(count, j) * ways(count, j, r) * series
        return 2 * total * mp.exp((epsilon - count * a) / 2) / mp.mpf(2) ** count

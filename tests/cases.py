"""The release that a random case describes; shared by the truth script and the test of its stored cases."""

import hockeystick as hs


def spaced(ends):
    """`ends` is (first, last, how many): different numbers, evenly spaced."""
    first, last, size = ends
    return [first + (last - first) * place / (size - 1) for place in range(size)]


def built(case):
    run = hs.Gaussian(sigma=case["sigma"]).poisson(rate=case["rate"]) * case["steps"]
    if "laplace" in case:
        scale, count = case["laplace"]
        run = run + hs.Laplace(scale=scale) * count
    if "gaussian" in case:
        run = run + hs.Gaussian(sigma=case["gaussian"])
    for kind, words in (("gaussians", "sigma"), ("laplaces", "scale")):
        if kind in case:
            mechanism = {"gaussians": hs.Gaussian, "laplaces": hs.Laplace}[kind]
            run = run + hs.compose([mechanism(**{words: one}) for one in spaced(case[kind])])
    return run

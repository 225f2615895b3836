"""The release that a random case describes; shared by the truth script and the test of its stored cases."""

import hockeystick as hs


def built(case):
    run = hs.Gaussian(sigma=case["sigma"]).poisson(rate=case["rate"]) * case["steps"]
    if "laplace" in case:
        scale, count = case["laplace"]
        run = run + hs.Laplace(scale=scale) * count
    if "gaussian" in case:
        run = run + hs.Gaussian(sigma=case["gaussian"])
    return run

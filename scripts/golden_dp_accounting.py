"""Collect the golden values of dp_accounting's own tests (they are in its wheel) into tests/data/golden_dp_accounting.json.

Each row: where the value comes from, the question in our words, the value, and the error that the peer's test allows.
`python scripts/golden_dp_accounting.py` writes the file; tests/oracles/test_golden_dp_accounting.py reads it, without the peer.

Left out, since they are no quantities of ours: masses of a discretised loss by rounding ("privacy buckets"), inner steps
(cumulative functions, inverses, tail bounds), masses whose rest is only bounded, truncated noise, truncated Poisson sampling,
repetition and selection, mixtures in which every component moves, and advanced composition's own formula.
"""

import ast
import importlib
import inspect
import json
import math
from pathlib import Path

import dp_accounting

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "golden_dp_accounting.json"
ORDER = {"ADD": "add", "REMOVE": "remove", "REPLACE": "replace"}
ROWS: list[dict[str, object]] = []


def cases(module_name: str, test: str) -> list[tuple[dict[str, object], str]]:
    """The parameters of a parameterised test, read from its decorator; and where it is."""
    module = importlib.import_module(f"dp_accounting.{module_name}")
    tree = ast.parse(inspect.getsource(module))
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == test]
    (decorator,) = [one for one in found.decorator_list if isinstance(one, ast.Call)]
    listed = [eval(compile(ast.Expression(one), "", "eval"), vars(module)) for one in decorator.args]
    names = [one.arg for one in found.args.args[1:]]
    source = f"dp_accounting {version()}, {module_name.replace('.', '/')}.py:{found.lineno} {test}"
    out = []
    for case in listed:
        if isinstance(case, dict):
            out.append(({name: value for name, value in case.items() if name != "testcase_name"}, source))
            continue
        values = case[1:] if "named_parameters" in ast.unparse(decorator.func) else case
        out.append((dict(zip(names, values, strict=False)), source))
    return out


def version() -> str:
    from importlib.metadata import version as of

    assert dp_accounting.__name__
    return of("dp-accounting")


def add(source: str, call: str, expected: float, allowed: float, kind: str = "equal") -> None:
    shown = expected if math.isfinite(expected) else "inf"
    ROWS.append({"source": source, "call": call, "expected": shown, "allowed": allowed, "kind": kind})


def places(count: int) -> float:
    """assertAlmostEqual rounds the difference to so many places."""
    return 0.5 * 10.0**-count


def sampled(noise: str, rate: float) -> str:
    return noise if rate == 1.0 else f"{noise}.poisson(rate={rate!r})"


NOISES = {
    "laplace": ("parameter", lambda c: f"hs.Laplace(scale={c['parameter']!r}, sensitivity={c['sensitivity']!r})"),
    "gaussian": (
        "standard_deviation",
        lambda c: f"hs.Gaussian(sigma={c['standard_deviation']!r}, sensitivity={c['sensitivity']!r})",
    ),
    "discrete_laplace": (
        "parameter",
        lambda c: f"hs.DiscreteLaplace(scale=1 / {c['parameter']!r}, sensitivity={c['sensitivity']!r})",
    ),
}


def deltas() -> None:
    """Single-step deltas."""
    for family, (_, describe) in NOISES.items():
        for suffix in ("", "_vectorized"):
            for case, source in cases("pld.privacy_loss_mechanism_test", f"test_{family}_get_delta_for_epsilon{suffix}"):
                order = ORDER[case["adjacency_type"].name]
                epsilons = case.get("epsilon_values", [case.get("epsilon")])
                expected = case.get("expected_delta_values", [case.get("expected_delta")])
                for epsilon, delta in zip(epsilons, expected, strict=True):
                    release = sampled(describe(case), case["sampling_prob"])
                    add(source, f"{release}.delta_bounds({epsilon!r}, {order!r})", delta, places(7))
    for case, source in cases("pld.privacy_loss_mechanism_test", "test_get_delta_for_epsilon"):
        if 0.0 not in case["sensitivities"] and len(case["sensitivities"]) > 1:
            continue
        release = f"hs.GaussianMixture(sigma={case['standard_deviation']!r}, moves={tuple(case['sensitivities'])!r}, "
        release += f"weights={tuple(case['sampling_probs'])!r})"
        order = ORDER[case["adjacency_type"].name]
        add(source, f"{release}.delta_bounds({case['epsilon']!r}, {order!r})", case["expected_delta"], places(7))


def dots() -> None:
    """Connecting the dots with unit steps keeps delta at whole numbers: inf + sum of (1 - e^{k - j}) p_j over j > k."""
    module = "pld.privacy_loss_distribution_test"
    for family, (_, describe) in NOISES.items():
        (name,) = [
            test
            for test in (
                f"test_{family}_varying_parameter_and_sensitivity_connect_dots",
                f"test_{family}_varying_standard_deviation_and_sensitivity_connect_dots",
            )
            if test in inspect.getsource(importlib.import_module(f"dp_accounting.{module}"))
            and (family == "gaussian") == ("standard_deviation" in test)
        ]
        for case, source in cases(module, name):
            relation = case.get("neighbor_rel")
            replaced = relation is not None and relation.name == "REPLACE_ONE"
            for order in ("replace",) if replaced else ("add", "remove"):
                key = "add" if replaced or case.get(f"expected_rounded_pmf_{order}") is None else order
                masses = case[f"expected_rounded_pmf_{key}"]
                infinite = case.get(f"expected_infinity_mass_{key}", 0.0) or 0.0
                _dotted(source, sampled(describe(case), case["sampling_prob"]), order, masses, infinite)


def _dotted(source: str, release: str, order: str, masses: dict[int, float], infinite: float) -> None:
    for k in masses:
        delta = infinite + math.fsum((1.0 - math.exp(k - j)) * p for j, p in masses.items() if j > k)
        allowed = places(7) + math.fsum((1.0 - math.exp(k - j)) * (1e-8 + 1e-5 * p) for j, p in masses.items() if j > k)
        add(source, f"{release}.delta_bounds({float(k)!r}, {order!r})", delta, allowed)


def parameters() -> None:
    """Calibrated noise."""
    module = "pld.privacy_loss_mechanism_test"
    for case, source in cases(module, "test_gaussian_from_privacy_parameters"):
        order = ORDER[case["adjacency_type"].name]
        made = f"hs.Gaussian(sigma=s, sensitivity={case['sensitivity']!r})"
        add(
            source,
            f"hs.calibrate(lambda s: {sampled(made, case['sampling_prob'])}, epsilon={float(case['epsilon'])!r}, "
            f"delta={case['delta']!r}, neighbours={order!r})",
            case["expected_standard_deviation"],
            places(3),
        )
    for case, source in cases(module, "test_discrete_gaussian_from_privacy_parameters"):  # the peer takes the larger order
        made = sampled(f"hs.DiscreteGaussian(sigma=s, sensitivity={case['sensitivity']!r})", case["sampling_prob"])
        call = f"hs.calibrate(lambda s: {made}, epsilon={case['epsilon']!r}, delta={case['delta']!r})"
        add(source, call, case["expected_sigma"], places(3))
    for family, made in (
        ("laplace", "hs.Laplace(scale={parameter!r}, sensitivity={sensitivity!r})"),
        ("discrete_laplace", "hs.DiscreteLaplace(scale=1 / {parameter!r}, sensitivity={sensitivity!r})"),
    ):
        for case, source in cases(module, f"test_{family}_from_privacy_parameters"):
            release = sampled(made.format(parameter=case["expected_parameter"], **case), case["sampling_prob"])
            slack = 2.0 * places(7) * case["epsilon"] / case["expected_parameter"] * 10.0
            add(source, f"{release}.epsilon_bounds(0.0)", case["epsilon"], slack)
    module = "pld.accountant_test"
    for case, source in cases(module, "test_get_smallest_laplace_noise"):
        made = f"hs.Laplace(scale=s, sensitivity={float(case['sensitivity'])!r}) * {case['num_queries']}"
        call = f"hs.calibrate(lambda s: {made}, epsilon={float(case['epsilon'])!r}, delta={float(case['delta'])!r})"
        add(source, call, case["expected_parameter"], 0.1)
    for case, source in cases(module, "test_get_smallest_discrete_laplace_noise"):
        made = f"hs.DiscreteLaplace(scale=s, sensitivity={case['sensitivity']!r}) * {case['num_queries']}"
        call = f"1 / hs.calibrate(lambda s: {made}, epsilon={float(case['epsilon'])!r}, delta={float(case['delta'])!r})"
        add(source, call, case["expected_parameter"], 1e-3)
    for test in ("test_get_smallest_gaussian_noise", "test_get_smallest_subsampled_gaussian_noise"):
        for case, source in cases(module, test):
            made = sampled(f"hs.Gaussian(sigma=s, sensitivity={float(case['sensitivity'])!r})", case.get("sampling_prob", 1.0))
            call = f"hs.calibrate(lambda s: {made} * {case['num_queries']}, epsilon={float(case['epsilon'])!r}, "
            add(source, f"{call}delta={case['delta']!r})", case["expected_std"], places(7))


def accountants() -> None:
    """The tests of the accountants, written by hand: their values stand in the code."""
    pld, rdp = "pld.pld_privacy_accountant_test", "rdp.rdp_privacy_accountant_test"

    def where(module: str, test: str) -> str:
        source = inspect.getsource(importlib.import_module(f"dp_accounting.{module}"))
        line = source[: source.index(f"def {test}(")].count("\n") + 1
        return f"dp_accounting {version()}, {module.replace('.', '/')}.py:{line} {test}"

    both = [
        ("test_gaussian_basic", "(hs.Gaussian(sigma=math.sqrt(3)) * 3)", 1, 0.126936, 1e-3, 1e-3),
        ("test_poisson_subsampled_gaussian", "(hs.Gaussian(sigma=0.5).poisson(rate=0.2) * 3)", 1, 0.15594, 1e-3, 1e-3),
        ("test_laplace_basic", "(hs.Laplace(scale=1) * 3 + hs.Laplace(scale=2) * 2)", 4, 1e-14, 1e-6, 1e-6),
        ("test_poisson_subsampled_laplace", "(hs.Laplace(scale=0.5).poisson(rate=0.2) * 3)", 2.46964, 1e-14, 1e-3, 1e-6),
        (
            "test_discrete_laplace_basic",
            "(hs.DiscreteLaplace(scale=1) * 3 + hs.DiscreteLaplace(scale=2) * 2)",
            4,
            0.0,
            1e-6,
            1e-6,
        ),
        (
            "test_mixture_of_gaussians_basic",
            "(hs.GaussianMixture(sigma=1.0, moves=(0, 1, 2), weights=(0.2, 0.6, 0.2)) * 3 + "
            "hs.GaussianMixture(sigma=2.0, moves=(0, 2, 3), weights=(0.33, 0.34, 0.33)) * 2)",
            17.193115,
            1e-6,
            1e-6,
            1e-12,
        ),
    ]
    for test, release, epsilon, delta, allowed_epsilon, allowed_delta in both:
        add(where(pld, test), f"{release}.delta_bounds({float(epsilon)!r})", delta, allowed_delta)
        add(where(pld, test), f"{release}.epsilon_bounds({delta!r})", float(epsilon), allowed_epsilon)
    for relation, noise, buckets, epsilon in (
        ("replace", 4 / (3 + math.exp(1)), 4, 1.0),
        ("zero-out", (4 - math.exp(1)) / 3, 4, 1.0),
        ("zero-out", math.exp(-1), 2, 1.0),
    ):
        event = f"from_dp_event(RandomizedResponseDpEvent({noise!r}, {buckets}), {relation!r})"
        add(where(pld, "test_randomized_response"), f"{event}.delta_bounds({epsilon!r})", 0.0, places(7))
    for relation in ("special", "one"):
        test = f"test_compute_rdp_randomized_response_replace_{relation}"
        for case, source in cases(rdp, test):
            ours = "zero-out" if relation == "special" else "replace"
            event = f"from_dp_event(RandomizedResponseDpEvent({case['noise_parameter']!r}, {case['num_buckets']}), {ours!r})"
            for order, value in zip((1.5, 2.5, 5, 50, 100, math.inf), case["expected_rdps"], strict=True):
                shown = "math.inf" if math.isinf(order) else repr(float(order))
                add(source, f"{event}.rdp({shown})", value, 1e-4 * value + 1e-8)
    for case, source in cases(rdp, "test_compute_rdp_randomized_response_inf_order"):
        ours = "zero-out" if case["rel"].name == "REPLACE_SPECIAL" else "replace"
        call = f"from_dp_event(RandomizedResponseDpEvent(0.1, 10), {ours!r}).rdp(math.inf)"
        add(source, call, case["expected_rdp"], places(7))
    source = where(rdp, "test_compute_rdp_poisson_sampled_gaussian")
    for order, value in (
        (1.5, 6.70579741e-04),
        (2.5, 1.08548710e-03),
        (5.0, 2.18075656e-03),
        (50.0, 2.38460375e-02),
        (100.0, 1.67416308e02),
        (math.inf, math.inf),
    ):
        shown = "math.inf" if math.isinf(order) else repr(order)
        call = f"(hs.Gaussian(sigma=2.5).poisson(rate=0.01) * 50).rdp({shown})"
        add(source, call, value, 1e-4 * value + 1e-8 if math.isfinite(value) else 0.0)
    source = where(rdp, "test_compute_epsilon_delta_pure_dp")
    curve = f"hs.RDP({tuple(float(a) for a in range(2, 33))!r}, {(1.1,) * 31!r})"
    add(source, f"{curve}.epsilon(1e-5)", 1.32783806176, places(7), "at most")
    add(source, f"{curve}.delta(1.32783806176)", 1e-5, places(7), "at most")
    source = where(rdp, "test_compute_epsilon_delta_gaussian")
    add(source, "hs.ZCDP(rho=0.5 / 4.530877117**2).epsilon(1e-6)", 1.0, places(7), "at most")
    source = where(rdp, "test_compute_eps_tree")
    for noise, epsilon in ((1.13, 19.74), (8.83, 2.04)):
        event = f"from_dp_event(SingleEpochTreeAggregationDpEvent({noise!r}, 1600), 'zero-out')"
        add(source, f"{event}.epsilon(1e-6)", epsilon, 0.0, "at most")
    source = where(rdp, "test_laplace")
    for epsilon, count in ((0.01, 1), (1.0, 1), (100.0, 1), (1.0, 100)):
        run = f"(hs.Laplace(scale={1 / epsilon!r}) * {count})"
        add(source, f"{run}.epsilon(1e-10)", epsilon * count, places(7), "at most")
        add(source, f"{run}.rdp(math.inf)", epsilon * count, places(7))


def main() -> None:
    deltas()
    dots()
    parameters()
    accountants()
    unique = {json.dumps(row, sort_keys=True): row for row in ROWS}
    lines = ",\n".join(json.dumps(row) for row in unique.values())
    OUT.write_text(f'{{"about": "written by scripts/golden_dp_accounting.py", "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    print(len(unique), "rows")


if __name__ == "__main__":
    main()

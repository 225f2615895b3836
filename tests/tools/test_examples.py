"""The experiments of the papers in examples/, on a small scale."""

import importlib.util
import itertools
import math
import sys

import numpy as np
import pytest

from places import ROOT


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)

    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


class TestNoisySgd:
    sgd = example("noisy_sgd")

    @pytest.mark.parametrize("sizes", [(4, 3), (4, 5, 3), (4, 5, 6, 3)])
    def test_the_clipped_sum_is_that_of_numerical_gradients(self, sizes):
        rng = np.random.default_rng(1)
        network = self.sgd.Network.random(sizes, rng)
        x, y = rng.normal(size=(7, 4)), rng.integers(3, size=7)

        def loss(k):
            scores = network.inputs(x[k : k + 1])[-1][0]
            return math.log(np.exp(scores).sum()) - scores[y[k]]

        total = [np.zeros_like(layer) for layer in network.layers]
        for k in range(7):
            gradient = []
            for layer in network.layers:
                found = np.zeros_like(layer)
                for place in np.ndindex(layer.shape):
                    kept = layer[place]
                    layer[place] = kept + 1e-6
                    above = loss(k)
                    layer[place] = kept - 1e-6
                    found[place] = (above - loss(k)) / 2e-6
                    layer[place] = kept
                gradient.append(found)
            norm = math.sqrt(sum((one**2).sum() for one in gradient))
            for sums, one in zip(total, gradient, strict=True):
                sums += one * min(1.0, self.sgd.CLIP / norm)
        for sums, found in zip(total, network.clipped_sum(x, y), strict=True):
            assert found == pytest.approx(sums, abs=1e-6)

    def test_better_accountants_allow_more_steps(self):
        steps = {name: self.sgd.most_steps(epsilon, 1.0, 500) for name, epsilon in self.sgd.accountants().items()}
        assert steps["Abadi et al."] < steps["moments accountant"] < steps["optimal conversion"] < steps["exact"]
        assert steps["optimal conversion"] - steps["moments accountant"] >= 100  # a hundred rounds


class TestTracingAttack:
    tracing = example("tracing_attack")

    def test_the_attack_is_below_the_certified_curve_and_lemma_26_holds(self):
        people, queries, sigma, trials = 20, 400, 0.5, 400
        found = self.tracing.attacked(people, queries, sigma, trials)
        run = self.tracing.mean_of_vectors(people, queries, sigma)
        fpr, tpr = self.tracing.roc(found, np.linspace(0.05, 0.95, 19))
        off = math.sqrt(math.log(2e6) / (2 * trials))  # of either rate, but for one time in a million
        assert max(tpr - fpr) > 0.2
        for alpha, power in zip(fpr, tpr, strict=True):
            assert power <= run.tpr(min(1.0, alpha + off), neighbours="replace") + off
        assert np.mean(found.correlations + found.errors) >= queries / 12.0


class TestGdpSearch:
    gdp = example("gdp_search")

    def test_the_algorithms_hold_the_true_mu_to_the_width_asked_for(self):
        truth = 1.8009051
        for c, skip in itertools.product((2, 10), (False, True)):
            (low, high), search = self.gdp.searched(c, self.gdp.cells(c, self.gdp.HEAD), skip)
            assert low <= truth <= high
            assert high - low <= 1.0 / c
            assert len(search.values) == self.gdp.cells(c, self.gdp.HEAD) + 1

    def test_the_printed_number_of_cells_is_too_small(self):
        (low, high), _ = self.gdp.searched(20, self.gdp.printed_cells(20, self.gdp.HEAD), False)
        assert low <= 1.8009051 <= high
        assert high - low > 1.0 / 20

    def test_an_end_that_is_no_upper_bound_is_refused(self):
        with pytest.raises(ValueError, match="G-E16"):
            self.gdp.Search(self.gdp.laplace).bisect(0.0, 0.9999, 6.0, 0.1)

"""Conversions between notions of differential privacy, as functions of numbers and arrays."""

from typing import TYPE_CHECKING

from ..later import later

if TYPE_CHECKING:
    from .composition import advanced_composition, basic_composition, mean_error_lower_bound, sampled_mean_error
    from .curve import rdp_curve_to_delta, rdp_curve_to_epsilon
    from .details.best_via import fixed_size_rdp_best, group_rdp_best
    from .details.gaussian_terms import gaussian_delta_closed, gdp_mu_bounds, gdp_to_delta_closed
    from .details.moments import (
        rdp_curve_to_delta_classic,
        rdp_curve_to_epsilon_classic,
        sampled_gaussian_rho_asymptotic,
    )
    from .details.refinement import refined_kink
    from .details.renyi_terms import rdp_budget_pair, rdp_budget_terms, rdp_zeta, zcdp_closed_branch
    from .details.tracing import mean_error_lower_bound_sharp, tracing_statistic
    from .details.two_sided import rdp_budget_two_sided, rdp_to_delta_two_sided, rdp_to_epsilon_two_sided
    from .gaussian_variance import (
        gaussian_sigma,
        gaussian_variance_asymptotic,
        gaussian_variance_classic,
        gaussian_variance_closed,
        gaussian_variance_improved,
        gaussian_variance_relaxed,
    )
    from .gdp import (
        compose_gdp,
        gdp_mu,
        gdp_mu_gradient,
        gdp_to_delta,
        gdp_to_epsilon,
        gdp_to_log_delta,
        gdp_tradeoff,
        pure_to_gdp,
    )
    from .gdp_supremum import gdp_transform, head_mu, head_mu_grid, tail_mu
    from .group import group_approx, group_rdp, group_zcdp, mixture_rdp, replace_from_add_remove
    from .optimal_composition import optimal_composition_delta, optimal_composition_epsilon
    from .optimal_rdp import rdp_budget, rdp_to_delta, rdp_to_epsilon, rdp_zero_epsilon
    from .partial_order import implied_delta, implies, refine_noise, refined_profile, sufficient_delta
    from .rdp_bounds import (
        rdp_budget_closed,
        rdp_to_delta_classic,
        rdp_to_delta_improved,
        rdp_to_epsilon_classic,
        rdp_to_epsilon_closed,
        rdp_to_epsilon_improved,
    )
    from .reify import clip_and_reify
    from .subsampling import amplify_approx, amplify_profile, amplify_rdp, fixed_size_rdp
    from .subsampling_bounds import amplify_rdp_analytic, amplify_rdp_large_order, amplify_rdp_lower, amplify_zcdp
    from .tradeoff import (
        approx_tradeoff,
        gdp_mu_clt_approximation,
        mu_of_test,
        profile_tradeoff,
        rdp_curve_tradeoff,
        rdp_tradeoff,
        tradeoff_to_delta,
    )
    from .zcdp import pure_to_zcdp, pure_to_zcdp_tight, zcdp_budget, zcdp_to_delta, zcdp_to_epsilon
    from .zcdp_bounds import (
        zcdp_budget_classic,
        zcdp_budget_closed,
        zcdp_budget_improved,
        zcdp_to_delta_classic,
        zcdp_to_delta_improved,
        zcdp_to_epsilon_classic,
        zcdp_to_epsilon_closed,
        zcdp_to_epsilon_improved,
    )

__all__ = [
    "advanced_composition",
    "amplify_approx",
    "amplify_profile",
    "amplify_rdp",
    "amplify_rdp_analytic",
    "amplify_rdp_large_order",
    "amplify_rdp_lower",
    "amplify_zcdp",
    "approx_tradeoff",
    "basic_composition",
    "clip_and_reify",
    "compose_gdp",
    "fixed_size_rdp",
    "fixed_size_rdp_best",
    "gaussian_delta_closed",
    "gaussian_sigma",
    "gaussian_variance_asymptotic",
    "gaussian_variance_classic",
    "gaussian_variance_closed",
    "gaussian_variance_improved",
    "gaussian_variance_relaxed",
    "gdp_mu",
    "gdp_mu_bounds",
    "gdp_mu_clt_approximation",
    "gdp_mu_gradient",
    "gdp_to_delta",
    "gdp_to_delta_closed",
    "gdp_to_epsilon",
    "gdp_to_log_delta",
    "gdp_tradeoff",
    "gdp_transform",
    "group_approx",
    "group_rdp",
    "group_rdp_best",
    "group_zcdp",
    "head_mu",
    "head_mu_grid",
    "implied_delta",
    "implies",
    "mean_error_lower_bound",
    "mean_error_lower_bound_sharp",
    "mixture_rdp",
    "mu_of_test",
    "optimal_composition_delta",
    "optimal_composition_epsilon",
    "profile_tradeoff",
    "pure_to_gdp",
    "pure_to_zcdp",
    "pure_to_zcdp_tight",
    "rdp_budget",
    "rdp_budget_closed",
    "rdp_budget_pair",
    "rdp_budget_terms",
    "rdp_budget_two_sided",
    "rdp_curve_to_delta",
    "rdp_curve_to_delta_classic",
    "rdp_curve_to_epsilon",
    "rdp_curve_to_epsilon_classic",
    "rdp_curve_tradeoff",
    "rdp_to_delta",
    "rdp_to_delta_classic",
    "rdp_to_delta_improved",
    "rdp_to_delta_two_sided",
    "rdp_to_epsilon",
    "rdp_to_epsilon_classic",
    "rdp_to_epsilon_closed",
    "rdp_to_epsilon_improved",
    "rdp_to_epsilon_two_sided",
    "rdp_tradeoff",
    "rdp_zero_epsilon",
    "rdp_zeta",
    "refine_noise",
    "refined_kink",
    "refined_profile",
    "replace_from_add_remove",
    "sampled_gaussian_rho_asymptotic",
    "sampled_mean_error",
    "sufficient_delta",
    "tail_mu",
    "tracing_statistic",
    "tradeoff_to_delta",
    "zcdp_budget",
    "zcdp_budget_classic",
    "zcdp_budget_closed",
    "zcdp_budget_improved",
    "zcdp_closed_branch",
    "zcdp_to_delta",
    "zcdp_to_delta_classic",
    "zcdp_to_delta_improved",
    "zcdp_to_epsilon",
    "zcdp_to_epsilon_classic",
    "zcdp_to_epsilon_closed",
    "zcdp_to_epsilon_improved",
]

__getattr__ = later(
    __name__,
    {
        "composition": ("advanced_composition", "basic_composition", "mean_error_lower_bound", "sampled_mean_error"),
        "curve": ("rdp_curve_to_delta", "rdp_curve_to_epsilon"),
        "details.two_sided": (
            "rdp_budget_two_sided",
            "rdp_to_delta_two_sided",
            "rdp_to_epsilon_two_sided",
        ),
        "details.renyi_terms": (
            "rdp_budget_pair",
            "rdp_budget_terms",
            "rdp_zeta",
            "zcdp_closed_branch",
        ),
        "details.gaussian_terms": (
            "gaussian_delta_closed",
            "gdp_mu_bounds",
            "gdp_to_delta_closed",
        ),
        "details.best_via": (
            "fixed_size_rdp_best",
            "group_rdp_best",
        ),
        "details.moments": (
            "rdp_curve_to_delta_classic",
            "rdp_curve_to_epsilon_classic",
            "sampled_gaussian_rho_asymptotic",
        ),
        "details.refinement": ("refined_kink",),
        "details.tracing": ("mean_error_lower_bound_sharp", "tracing_statistic"),
        "gaussian_variance": (
            "gaussian_sigma",
            "gaussian_variance_asymptotic",
            "gaussian_variance_closed",
            "gaussian_variance_relaxed",
            "gaussian_variance_classic",
            "gaussian_variance_improved",
        ),
        "gdp": (
            "compose_gdp",
            "gdp_mu",
            "gdp_mu_gradient",
            "gdp_to_delta",
            "gdp_to_epsilon",
            "gdp_to_log_delta",
            "gdp_tradeoff",
            "pure_to_gdp",
        ),
        "gdp_supremum": ("gdp_transform", "head_mu", "head_mu_grid", "tail_mu"),
        "group": ("group_approx", "group_rdp", "group_zcdp", "mixture_rdp", "replace_from_add_remove"),
        "optimal_composition": ("optimal_composition_delta", "optimal_composition_epsilon"),
        "optimal_rdp": ("rdp_budget", "rdp_to_delta", "rdp_to_epsilon", "rdp_zero_epsilon"),
        "partial_order": ("implied_delta", "implies", "refine_noise", "refined_profile", "sufficient_delta"),
        "rdp_bounds": (
            "rdp_budget_closed",
            "rdp_to_delta_classic",
            "rdp_to_delta_improved",
            "rdp_to_epsilon_classic",
            "rdp_to_epsilon_closed",
            "rdp_to_epsilon_improved",
        ),
        "reify": ("clip_and_reify",),
        "subsampling": ("amplify_approx", "amplify_profile", "amplify_rdp", "fixed_size_rdp"),
        "subsampling_bounds": ("amplify_rdp_analytic", "amplify_rdp_large_order", "amplify_rdp_lower", "amplify_zcdp"),
        "tradeoff": (
            "approx_tradeoff",
            "gdp_mu_clt_approximation",
            "mu_of_test",
            "profile_tradeoff",
            "rdp_curve_tradeoff",
            "rdp_tradeoff",
            "tradeoff_to_delta",
        ),
        "zcdp": ("pure_to_zcdp", "pure_to_zcdp_tight", "zcdp_budget", "zcdp_to_delta", "zcdp_to_epsilon"),
        "zcdp_bounds": (
            "zcdp_budget_classic",
            "zcdp_budget_closed",
            "zcdp_budget_improved",
            "zcdp_to_delta_classic",
            "zcdp_to_delta_improved",
            "zcdp_to_epsilon_classic",
            "zcdp_to_epsilon_closed",
            "zcdp_to_epsilon_improved",
        ),
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)

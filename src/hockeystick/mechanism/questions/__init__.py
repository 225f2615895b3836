"""The questions that can be asked of any release, by what they are about: (epsilon, delta) and Rényi DP, Gaussian DP, attacks."""

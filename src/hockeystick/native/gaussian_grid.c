/* Twins of loss/sampled/quadrature.py and of the rule in loss/sampled/gaussian.py: the log ratio L(z) of a sampled Gaussian step
   on a grid, for expectations over the noise by the trapezoidal rule. */
#include "gaussian_grid.h"
#include "elementary.h"

double hs_grid_ratio(double noise, double rate, double z) {
    double t = (z - 0.5 / noise) / noise;
    if (t > 30.0)
        return t + log(rate) + log1p((1.0 - rate) / rate * exp(-t));
    return rate < 0.5 ? log1p(rate * expm1(t)) : log((1.0 - rate) + rate * exp(t));
}

/* docs/mathematics.md, Lemma 10: log of a bound of E[e^{kL}; N > z], k > 0, as L' <= 1/s */
double hs_grid_right_tail(double noise, double rate, double k, double z) {
    double shift = k / noise;
    return k * (hs_grid_ratio(noise, rate, z) - z / noise) + 0.5 * shift * shift + log_tail_bound(z - shift);
}

/* Lemma 9: log of 2 e^{a^2/2} cos(angle/2)^{min(k, 0)}/(e^{2 pi a/h} - 1), a = s angle: relative, for real k */
double hs_grid_rule_error(const Grid *grid, double k, double angle) {
    double a = angle * grid->noise, fold = smaller(k, 0.0) * log(cos(0.5 * angle)), alias = 2.0 * PI * a / grid->step;
    return M_LN2 + 0.5 * a * a + fold - alias - log1p(-exp(-alias)) + 1e-9;
}

/* Lemma 10: log of a bound of what nodes beyond both ends would add, in the sum and in the integral; e^1.6 is more than three of
   them, as a sum of what falls exceeds its integral by less than a half */
double hs_grid_outside(const Grid *grid, double k) {
    double left = log_tail_bound(-grid->low), bound;
    if (k > 0.0) {
        double shift = k / grid->noise, end = hs_grid_ratio(grid->noise, grid->rate, grid->high);
        double right = k * end + shift * (0.5 * shift - grid->high) + log_tail_bound(grid->high - shift);
        bound = larger(left + k * hs_grid_ratio(grid->noise, grid->rate, grid->low), right);
    } else {
        bound = larger(left + k * log1p(-grid->rate), log_tail_bound(grid->high));
    }
    return bound + 1.6;
}

/* The same for 1 + |k x|, |k| <= size */
double hs_grid_outside_linear(const Grid *grid, double size) {
    double bound = larger(log_tail_bound(-grid->low), hs_grid_right_tail(grid->noise, grid->rate, 1.0, grid->high));
    return bound + log(1.0 + size) + 1.6;
}

void hs_grid_exact_places(double *low, double *step) {
    int power;
    frexp(*step, &power);
    double unit = ldexp(1.0, power - 30);
    *low = floor(*low / unit) * unit;
    *step = floor(*step / unit) * unit;
}

/* L and r, from t in `share`, and e^L - 1 unless NULL; there is room for as many */
WIDE static void fill_ratios(double *restrict ratio, double *restrict share, double *restrict room, double *restrict excess, Size n,
                             double rate) {
    confine(share, n);
    for (Size i = 0; i < n; i++) {
        double scale, part;
        part_exp(share[i], &scale, &part);
        double sampled = rate * (scale * (1.0 + part)), x = rate * (scale * part + (scale - 1.0)), whole = 1.0 + x;
        room[i] = whole;
        ratio[i] = x - (whole - 1.0);
        share[i] = sampled / (sampled + (1.0 - rate));
    }
    for (Size i = 0; excess && i < n; i++)
        excess[i] = (room[i] - 1.0) + ratio[i];
    for (Size i = 0; i < n; i++)
        ratio[i] = log_of(room[i], ratio[i]);
}

void hs_grid_fill(double *rows, double *excess, Size n, double low, double step, double noise, double rate) {
    double *z = rows, *ratio = z + n, *share = ratio + n, *base = share + n;
    double inverse = 1.0 / noise, shift = 0.5 / (noise * noise), front = log(step) - LOG_ROOT_TWO_PI, flr = log1p(-rate);
    for (Size i = 0; i < n; i++) {
        z[i] = low + step * (double)i;
        share[i] = smaller(z[i] * inverse - shift, CAP);
    }
    fill_ratios(ratio, share, base, excess, n, rate);
    for (Size i = 0; i < n; i++)
        base[i] = front - 0.5 * z[i] * z[i];
    for (Size i = 0; rate >= 0.5 && i < n && !(ratio[i] >= -0.65); i++) /* where 1 + x cancels */
        ratio[i] = log(rate * exp(z[i] * inverse - shift) + (1.0 - rate));
    for (Size i = n; i-- > 0 && z[i] * inverse - shift > CAP;) { /* by the odds */
        double odds = z[i] * inverse - shift + (log(rate) - flr), lift = larger(odds, 0.0) + log1p(exp(-fabs(odds)));
        ratio[i] = lift + flr;
        share[i] = exp(odds - lift);
        if (excess)
            excess[i] = expm1(ratio[i]);
    }
}

double hs_grid_right_edge(double noise, double rate, double k, double target) {
    double excess, stride = 0.5, z = larger(0.5 / noise, sqrt(larger(2.0, -2.0 * target))), near = z;
    while ((excess = hs_grid_right_tail(noise, rate, k, z) - target) > 0.0) {
        near = z;
        z += larger(stride, 0.7 * (sqrt(z * z + 2.0 * excess) - z));
        stride *= 1.5;
        if (!(stride < 1e30))
            return INFINITY;
    }
    while (z - near > larger(1.0, 0.02 * z)) {
        double middle = 0.5 * (near + z);
        if (hs_grid_right_tail(noise, rate, k, middle) > target)
            near = middle;
        else
            z = middle;
    }
    return z;
}

enum { NEAR = 33, FAR = 12, STRETCHES = NEAR + FAR - 1, ANGLES = 5 };

/* Lemma 9 for complex k, |Im k| <= reach: the integral of the modulus on the line is summed over stretches of z, on each of which
   e^{kL}, the argument, the shrinking factor and the density are bounded at an end; the longest step over some angles */
double hs_grid_longest_step(double noise, double rate, double low, double least, double most, double lead, double reach,
                            double level, double *error) {
    double lowest = least, flr = log1p(-rate), widest = smaller(sqrt(2.0 * lead) / noise, 2.8);
    least = smaller(least, 0.0);
    double tilt = larger(most, 0.0) / noise;
    double near = larger(larger(tilt + sqrt(tilt * tilt + 2.0 * lead), 1.0), low + 1.0);
    double far = larger(larger(tilt + sqrt(tilt * tilt + 2.0 * (lead + reach * widest)), 1.0), low + 1.0);
    double z[STRETCHES + 1], ratio[STRETCHES + 1], share[STRETCHES + 1], height[STRETCHES];
    double offset = log(rate) - flr - 0.5 / (noise * noise), growth = pow(far / near, 1.0 / FAR), at = near;
    for (int i = 0; i <= STRETCHES; i++) {
        z[i] = i < NEAR ? low + (near - low) * (i * (1.0 / (NEAR - 1))) : i < STRETCHES ? (at *= growth) : larger(far, at * growth);
        double odds = z[i] * (1.0 / noise) + offset, lift = odds > 0.0 ? odds + log1p(exp(-odds)) : log1p(exp(odds));
        ratio[i] = lift + flr;
        share[i] = exp(odds - lift);
    }
    for (int i = 0; i < STRETCHES; i++) {
        double nearest = smaller(larger(z[i], 0.0), z[i + 1]);
        height[i] = larger(most * ratio[i + 1], lowest * ratio[i]) - 0.5 * nearest * nearest;
    }
    double before = log_tail_bound(-low) + larger(most * ratio[0], least * flr);
    double beyond = larger(hs_grid_right_tail(noise, rate, larger(most, 1e-300), z[STRETCHES]), log_tail_bound(z[STRETCHES]));
    double longest = 0.0, angle = widest;
    *error = 0.0;
    for (int turn = 0; turn < ANGLES; turn++, angle *= 0.5) {
        double sine = sin(angle), cosine = cos(angle) - 1.0, half = sin(0.5 * angle), first = 0.0, top = -INFINITY, inside = 0.0;
        double cells[STRETCHES];
        for (int i = 0; i < STRETCHES; i++) {
            double r = share[i + 1], turned = reach * atan2(r * sine, r * cosine + 1.0), cell = turned + height[i];
            if (least < 0.0) {
                double part = smaller(r, 0.5);
                cell += log1p((part * (part - 1.0)) * (4.0 * half * half)) * (0.5 * least);
            }
            if (i == 0)
                first = turned;
            cells[i] = cell;
            top = larger(top, cell);
        }
        for (int i = 0; i < STRETCHES; i++)
            cells[i] -= top;
        hs_exps(cells, STRETCHES);
        for (int i = 0; i < STRETCHES; i++)
            inside += cells[i] * (z[i + 1] - z[i]);
        inside *= 0.39894228040143267794;
        double a = angle * noise, fold = log(cos(0.5 * angle)) * least;
        double one = top + log(inside), two = before + first + fold, three = beyond + reach * angle + fold;
        double peak = larger(one, larger(two, three));
        double rise = peak + log(exp(one - peak) + exp(two - peak) + exp(three - peak)) + 0.5 * a * a + (M_LN2 + 1e-6);
        double alias = lead - level + rise, length = 2.0 * PI * a / alias;
        if (alias > 1.0 && length > longest) {
            longest = length;
            *error = rise - alias - log1p(-exp(-alias)) + 1e-9;
        } else if (longest > 0.0) {
            break; /* beyond the longest one they become shorter */
        }
    }
    return longest;
}

void hs_grid_tilted_sums(const double *rows, Size n, double k, double shift, double sums[4]) {
    const double *ratio = rows + n, *share = ratio + n, *base = share + n;
    double total = 0.0, first = 0.0, second = 0.0, shared = 0.0, weight[TOGETHER];
    for (Size start = 0; start < n; start += TOGETHER) {
        Size size = n - start < TOGETHER ? n - start : TOGETHER;
        for (Size i = 0; i < size; i++)
            weight[i] = k * ratio[start + i] + base[start + i] - shift;
        hs_exps(weight, size);
        for (Size i = 0; i < size; i++) {
            double one = weight[i] * ratio[start + i];
            total += weight[i];
            first += one;
            second += one * ratio[start + i];
            shared += weight[i] * share[start + i];
        }
    }
    sums[0] = total, sums[1] = first, sums[2] = second, sums[3] = shared;
}

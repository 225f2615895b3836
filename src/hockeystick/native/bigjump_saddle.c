/* Twin of loss/bigjump/thresholds.py: an approximation of the transform of what is not large, its saddle point, and where the
   contour goes. Nothing here is part of a proof. */
#include "bigjump_noise.h"
#include "contour_bounds.h"

enum { TRIES = 60, SHIFTS = 6 };
static const double BEYOND[AHEAD] = {0.0, 0.8, 1.7, 3.2, 7.0}; /* points right of the saddle, in widths of its bump */

/* log f and its derivatives from those of f; f - 1 */
static void add_log(double count, double excess, double first, double second, double jet[3]) {
    double value = larger(1.0 + excess, 1e-300);
    first /= value;
    jet[0] += count * log1p(larger(excess, -1.0 + 1e-15));
    jet[1] += count * first;
    jet[2] += count * (second / value - first * first);
}

enum { SUMS = 6 };

/* With e^{kL} in `power`, the sums of small (power - 1 - k x), small (L power - x), small L^2 power, and of middle power times
   1, L, L^2 */
WIDE static void summed(const Noise *noise, const double *restrict power, Size size, double k, double sums[SUMS]) {
    const double *restrict small = noise->small_weight, *restrict middle = noise->middle_weight, *restrict x = noise->x,
                           *restrict ratio = noise->ratio;
    double parts[SUMS][4] = {{0.0}};
    for (Size j = 0; j < size; j += 4)
        for (int lane = 0; lane < 4; lane++) {
            double l = ratio[j + lane], e = power[j + lane], one = middle[j + lane] * e, own = small[j + lane], turned = l * e;
            parts[0][lane] += own * (e - 1.0 - k * x[j + lane]);
            parts[1][lane] += own * (turned - x[j + lane]);
            parts[2][lane] += own * (l * turned);
            parts[3][lane] += one;
            parts[4][lane] += one * l;
            parts[5][lane] += one * l * l;
        }
    for (int sum = 0; sum < SUMS; sum++)
        sums[sum] = (parts[sum][0] + parts[sum][1]) + (parts[sum][2] + parts[sum][3]);
}

/* K and two derivatives at c, of what is not large; if some are small, of what is not all of them */
static void transform(Noise *noise, double c, double jet[3]) {
    double k = 1.0 + c, count = noise->run->count, gain[3] = {0.0, 0.0, 0.0}, sums[SUMS], *power = noise->one;
    Size end = (noise->end + 3) / 4 * 4; /* what is beyond has no weight */
    for (Size j = 0; j < end; j++)
        power[j] = smaller(k * noise->ratio[j], 600.0);
    hs_exps(power, end);
    summed(noise, power, end, k, sums);
    double excess = sums[0] - noise->q - k * noise->drift, first = sums[1] - noise->drift, second = sums[2], *mid = sums + 3;
    jet[0] = jet[1] = jet[2] = 0.0;
    add_log(count, excess, first, second, jet);
    noise->step_phi = jet[0] / count;
    noise->step_gain = 0.0;
    if (noise->low > 0.0) {
        double value = larger(1.0 + excess, 1e-300), odds = mid[0] / value, turn = (mid[1] - odds * first) / value;
        add_log(count, odds, turn, (mid[2] - odds * second - 2.0 * turn * first) / value, gain);
        double some = larger(-expm1(-gain[0]), 1e-300), steep = gain[1] / some;
        noise->step_gain = gain[0] / count;
        noise->step_phi += noise->step_gain;
        jet[0] += gain[0] + log(some);
        jet[1] += steep;
        jet[2] += gain[2] / some - steep * steep * (1.0 - some);
    }
    jet[2] = larger(jet[2], 1e-300);
    if (!(fabs(jet[0]) < INFINITY && fabs(jet[1]) < INFINITY && jet[2] < INFINITY))
        jet[0] = jet[1] = jet[2] = 1e200; /* so that a search turns back */
}

/* The saddle point: `saddle_of_epsilon` of loss/composed.py: c, and K there; 0 if nothing is found */
double hs_bigjump_saddle(Noise *noise, double jet[3]) {
    double lower = log(1e-9), upper = log(1e15), x = log(10.0 / noise->epsilon);
    for (int turn = 0; turn < TRIES; turn++) {
        double c = exp(x), near = 1.0 / c, next = 1.0 / (1.0 + c);
        transform(noise, c, jet);
        double value = jet[1] - noise->epsilon - near - next, newton = -value / (c * (jet[2] + near * near + next * next));
        if (value > 0.0)
            upper = x;
        else
            lower = x;
        double following = x + larger(-1.0, smaller(1.0, newton));
        if (newton > -0.5 && newton < 0.02 && c * c * newton * newton * (jet[2] + near * near) < 0.1) {
            transform(noise, exp(following), jet);
            return exp(following);
        }
        if (!(lower < following && following < upper))
            following = 0.5 * (lower + upper);
        if (!(lower < following && following < upper))
            return 0.0;
        x = following;
    }
    return 0.0;
}

/* log of the size of the contour's terms relative to delta, and the width of their bump */
double hs_bigjump_log_cancellation(const Noise *noise, double c, const double jet[3], double *spread) {
    double curvature = jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
    *spread = 1.0 / sqrt(curvature);
    return jet[0] - c * noise->epsilon - log(c) - log1p(c) - 0.5 * log(curvature) - noise->run->log_delta;
}

void hs_bigjump_set_contour(ThresholdGuide *guide, const Noise *noise, double c, double spread) {
    guide->c = (1.0 + c) - 1.0;
    guide->spread = spread;
    guide->phi = noise->step_phi;
    guide->gain = noise->step_gain;
}

/* Points right of the saddle, and a place for the contour left of it: the steps of its rule may be longer there (`choose_step`),
   and its terms cancel a bit more */
void hs_bigjump_choose_contour(ThresholdGuide *guide, Noise *noise, double peak) {
    double saddle = guide->c, need[AHEAD], jet[3], spread, best = 0.0, sure = TOLERANCE - noise->run->log_delta;
    transform(noise, 0.0, jet);
    double before = larger(sure + smaller(0.0, jet[0]), 1.0);
    for (int i = 1; i < AHEAD; i++) {
        double s = guide->ahead[i] = saddle + BEYOND[i] * guide->spread;
        transform(noise, s, jet);
        need[i] = larger(hs_log_markov(s) + jet[0] - s * noise->epsilon + sure, 1e-3);
    }
    for (int turn = 0; turn < SHIFTS; turn++) {
        double c = saddle * (1.0 - 0.1 * turn), left = c / before, right = 0.0, size = peak;
        for (int i = 1; i < AHEAD; i++)
            right = larger(right, (guide->ahead[i] - c) / need[i]);
        if (turn) {
            transform(noise, c, jet);
            size = hs_bigjump_log_cancellation(noise, c, jet, &spread);
        }
        double score = smaller(left, right) * exp(-0.25 * size - larger(size - CLOSE_BY, 0.0));
        if (!(score > best))
            break;
        best = score;
        if (turn)
            hs_bigjump_set_contour(guide, noise, c, spread);
    }
    guide->ahead[0] = guide->c;
}

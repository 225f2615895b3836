/* Twin of loss/bigjump/guess.py: epsilon of a sparse run of one mechanism, approximately, by the single-big-jump principle. */
#include "bigjump_noise.h"
#include "gaussian_grid.h"

enum { TRIES = 60 };
#define LEAST (-7.0)   /* where the noise begins */
#define COARSE 4.0     /* how much farther apart nodes are at first */
#define FAR_BELOW 1e-3 /* losses, of epsilon */

/* Places no farther apart than `width` between which an increasing function changes sign: numerics/roots.py */
void hs_bracket(Function *function, void *of, double *low, double *high, double width) {
    double below = NAN, above = NAN;
    int last_side = 0;
    for (int turn = 0; turn<TRIES && * high - *low> width; turn++) {
        double share = below < 0.0 && above > 0.0 ? below / (below - above) : 0.5,
               room = smaller(0.45 * width, 0.5 * (*high - *low));
        double point = smaller(larger(*low + (*high - *low) * share, *low + room), *high - room), value = function(of, point);
        if (value < 0.0) {
            above *= last_side > 0 ? 0.5 : 1.0;
            *low = point;
            below = value;
            last_side = 1;
        } else {
            below *= last_side < 0 ? 0.5 : 1.0;
            *high = point;
            above = value;
            last_side = -1;
        }
    }
}

/* Nodes up to some z, farther apart where losses are far below epsilon; 0 if they are too many */
int hs_bigjump_noise_nodes(Noise *noise, double last, double spacing, double epsilon) {
    const Run *run = noise->run;
    double rows[4 * GUIDE_NODES], wide = larger(spacing, smaller(COARSE * spacing, 0.15)),
                                  bend = smaller(hs_bigjump_place(run, FAR_BELOW * epsilon), last);
    double before = larger(0.0, ceil((bend - LEAST) / wide)), from = LEAST + before * wide,
           size = ceil((last - from) / spacing) + 1.0;
    if (!(size >= 2.0 && (last - LEAST) / spacing < GUIDE_NODES - 8.0 - 1.0 / spacing))
        return 0;
    noise->size = (Size)before;
    for (int part = 0; part < 2; part++) {
        Size n = (Size)(part ? size : before), start = part ? noise->size : 0;
        hs_grid_fill(rows, noise->x + start, n, part ? from : LEAST, part ? spacing : wide, run->noise, run->rate);
        memcpy(noise->ratio + start, rows + n, (size_t)n * sizeof(double));
        memcpy(noise->weight + start, rows + 3 * n, (size_t)n * sizeof(double));
    }
    hs_exps(noise->weight, noise->size + (Size)size);
    noise->weight[noise->size] *= 0.5 * (1.0 + wide / spacing);
    noise->size += (Size)size;
    for (Size j = noise->size; j < noise->size + 4; j++) { /* four at a time may go beyond the end */
        noise->ratio[j] = noise->ratio[j - 1];
        noise->x[j] = noise->small_weight[j] = noise->middle_weight[j] = 0.0;
    }
    return 1;
}

/* log delta at e^x by the principle of one big jump, with the sign of what is left of the target: the sum of `p_weight` times delta
   of the others, normal with the deviation that they have, at epsilon - L; which is 1 - e^epsilon/(1 + x) far out, and 0 far in */
static double one_jump_gap(void *of, double x) {
    Noise *noise = of;
    double epsilon = exp(x), count = noise->count, exp_epsilon = exp(epsilon), *p_weight = noise->small_weight,
           *unused = noise->large_weight;
    Size first = first_at_least(noise->ratio, noise->size, 0.25 * epsilon);
    double mu = sqrt(larger(noise->middle_weight[first] * count, 1e-30)), inverse = 1.0 / mu;
    double far = sqrt(2.0 * (6.0 + larger(log(count) - noise->target, 0.0))) + 0.5 * mu;
    Size from = first_at_least(noise->ratio, noise->size, epsilon - mu * far),
         to = first_at_least(noise->ratio, noise->size, epsilon + mu * (7.0 + 0.5 * mu));
    from = from < first ? first : from;
    to = to < from ? from : to;
    for (Size j = from; j < to; j++)
        noise->y[j] = 0.5 * mu - (epsilon - noise->ratio[j]) * inverse;
    hs_normals(noise->y + from, to - from, noise->one + from, unused + from);
    for (Size j = from; j < to; j++)
        noise->y[j] -= mu;
    hs_normals(noise->y + from, to - from, noise->two + from, unused + from);
    double total = count * (noise->suffix[to] - exp_epsilon * noise->reverse_power[to]),
           bulk[4] = {0.5 * mu - epsilon * inverse, -0.5 * mu - epsilon * inverse};
    hs_normals(bulk, 2, unused, unused + 2);
    total += larger(unused[0] - exp_epsilon * unused[1], 0.0);
    for (Size j = from; j < to; j++)
        total += count * larger(0.0, p_weight[j] * noise->one[j] - exp_epsilon * noise->weight[j] * noise->two[j]);
    return noise->target - log(larger(total, 1e-300));
}

/* Nodes, and the sums of which `one_jump_gap` is made; 0 if they are too many */
static int set_sums(Noise *noise, double count) {
    const Run *run = noise->run;
    double log_count = log(count);
    noise->count = count;
    if (!hs_bigjump_noise_nodes(noise, 1.0 / run->noise + sqrt(2.0 * larger(log_count - run->log_delta, 0.0)) + 4.0,
                                0.08 * smaller(run->noise, 3.0), 0.0))
        return 0;
    noise->middle_weight[0] = noise->suffix[noise->size] = noise->reverse_power[noise->size] = 0.0;
    for (Size j = 0; j < noise->size; j++) { /* weights of P, and sums of their squares of L */
        noise->small_weight[j] = noise->weight[j] * (1.0 + noise->x[j]);
        noise->middle_weight[j + 1] = noise->middle_weight[j] + noise->small_weight[j] * noise->ratio[j] * noise->ratio[j];
    }
    for (Size j = noise->size; j-- > 0;) { /* sums of what is to the right */
        noise->suffix[j] = noise->suffix[j + 1] + noise->small_weight[j];
        noise->reverse_power[j] = noise->reverse_power[j + 1] + noise->weight[j];
    }
    noise->target = run->log_delta;
    return 1;
}

/* Where epsilon of so many steps is about, near another one if that is not 0; or 0 */
double hs_bigjump_one_jump_epsilon(Noise *noise, double count, double near) {
    double least = log(1e-7), most = log(300.0), low = least, high = most;
    if (!set_sums(noise, count))
        return 0.0;
    if (near > 0.0) { /* epsilon of a few more steps */
        low = log(0.8 * near), high = log(near) + 4e-3;
        double below = low, above = high;
        hs_bracket(one_jump_gap, noise, &low, &high, 2e-3);
        if (below < low && high < above)
            return exp(0.5 * (low + high));
        low = least, high = most;
    }
    hs_bracket(one_jump_gap, noise, &low, &high, 2e-3);
    return least < low && high < most ? exp(0.5 * (low + high)) : 0.0;
}

/* About log delta of so many steps, as the run has it if that is near; NaN if it is not known */
double hs_bigjump_one_jump_log_delta(Noise *noise, double count, double epsilon) {
    return set_sums(noise, count) ? noise->target - one_jump_gap(noise, log(epsilon)) : NAN;
}

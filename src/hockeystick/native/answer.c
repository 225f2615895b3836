/* epsilon of one sampled Gaussian mechanism, repeated, in one go: contours first, then the single big jump.  What is not answered
   closely is left to Python. */
#include "answer.h"
#include "bigjump.h"

#define RATIO 1.1 /* of the counts of a block */

/* The block to which a count belongs: those from the first power of RATIO at or above which it lies, to the next */
static void block_of(Run *run) {
    double place = floor(log(run->count) / log(RATIO)), next;
    while ((run->least = ceil(pow(RATIO, place))) > run->count)
        place--;
    while ((next = ceil(pow(RATIO, place + 1.0))) <= run->count) {
        run->least = next;
        place++;
    }
    run->most = larger(run->least, next - 1.0);
}

/* Large steps split off (single big jump) in the order "remove"; in the order "add" there are none, and its epsilon is hardly ever
 * the larger one
 */
static int by_big_jump(Block *block, const Run *run, double *low, double *high) {
    if (!run->removal[0] || !(block->split || (block->split = hs_bigjump_open(&block->run))) ||
        !hs_bigjump_epsilon(block->split, run, &block->room, low, high))
        return 0;
    if (run->many > 1 && !(run->count * -log1p(-run->rate) * (1.0 + 16.0 * UNIT) <= *low)) { /* the largest sum of those losses */
        Run added = *run;
        double least, most;
        added.many = 1;
        added.removal[0] = 0;
        added.floor = *low;
        if (!(block->added || (block->added = hs_block_open(&added))) ||
            !hs_block_epsilon(block->added, &added, 0, CONTOURS, &least, &most))
            return 0;
        *low = larger(*low, least);
        *high = larger(*high, most);
    }
    return *high - *low < CLOSE * *high;
}

int hs_answer_epsilon(Block **block, Run *run, double *low, double *high) {
    block_of(run);
    if (*block && ((*block)->run.least != run->least || (*block)->run.most != run->most)) {
        hs_block_close(*block);
        *block = NULL;
    }
    if (!*block && !(*block = hs_block_open(run)))
        return 0;
    if (hs_block_epsilon(*block, run, 0, SOONER, low, high))
        return BY_CONTOUR;
    if (run->law == &HS_LAW_GAUSSIAN && by_big_jump(*block, run, low, high))
        return BY_BIG_JUMP;
    return hs_block_epsilon(*block, run, SOONER, CONTOURS, low, high) ? BY_CONTOUR : 0;
}

int hs_answer_ordered(Run *run, Size removals) {
    run->many = removals == 3 ? 2 : 1;
    run->removal[0] = removals != 2;
    run->removal[1] = 0;
    run->law = &HS_LAW_GAUSSIAN;
    run->revealed = NULL;
    return 1 <= removals && removals <= 3 && 1e-100 < run->noise && run->noise < 1e100 && 1e-300 < run->rate && run->rate < 1.0 &&
           run->noise_error >= 0.0 && run->noise_error < 1e-9 && 1.0 <= run->count && run->count < INFINITY &&
           -1e3 < run->log_delta && run->log_delta < 0.0;
}

int hs_answer_revealed(Run *run, Revealed *both, Size removals) {
    double sum = 0.0;
    for (int part = 0; part < KINDS; part++) {
        run->noise = both->noise[part];
        run->rate = both->rate[part];
        sum += both->weight[part];
        if (!(both->weight[part] > 0.0) || !hs_answer_ordered(run, removals))
            return 0;
    }
    both->nothing = larger(0.0, 1.0 - sum);
    both->guide->reach = -1.0;
    run->revealed = both;
    run->law = &HS_LAW_REVEALED;
    return sum <= 1.0 + both->weight_error + 4.0 * UNIT && both->weight_error >= 0.0;
}

/* Of the one at `place`, whose block is that of the last one where the mechanism is the same */
static int in_batch(Batch *batch, Size place, double *low, double *high) {
    double slack = FUNCTION * fabs(batch->log_delta[place]);
    Run run = {.noise = batch->noise[place],
               .rate = batch->rate[place],
               .noise_error = batch->noise_error[place],
               .count = batch->count[place],
               .log_delta = batch->log_delta[place]};
    run.below = run.log_delta - slack;
    run.above = run.log_delta + slack;
    int same = place && run.noise == batch->noise[place - 1] && run.rate == batch->rate[place - 1] &&
               run.noise_error == batch->noise_error[place - 1] && run.log_delta == batch->log_delta[place - 1];
    if (!same && batch->block) {
        hs_block_close(batch->block);
        batch->block = NULL;
    }
    return hs_answer_ordered(&run, batch->removals) && hs_answer_epsilon(&batch->block, &run, low, high) && *low > 0.0;
}

void hs_answer_batch(Batch *batch, Size from, Size to) {
    for (Size place = from; place < to; place++) {
        double least, most;
        int found = in_batch(batch, place, &least, &most);
        batch->low[place] = found ? least : NAN;
        batch->high[place] = found ? most : NAN;
    }
}

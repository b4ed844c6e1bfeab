// advice_rules.c -- advice on all but the batch: the optimizer, fusing, the layers, the threads,
// data loading; and where to look if a layer is far from its roof.
#include <math.h>
#include <string.h>

#include "profiler/advice/advice_rules.h"
#include "profiler/base/text.h"
#include "profiler/measure/profile_words.h"

static const double least_share = 0.02;   // share of the step that makes a change worth it
static const double least_wait = 0.05;    // share of the step spent waiting for data
static const double least_far = 0.1;      // share of the step for a layer to be named
static const double far = 0.5;            // a layer below this share of its roof is far from it
static const double overhead_share = 0.5; // share of the step that is not arithmetic
static const double near_roof = 0.8;      // share of the roof

#define SAY(member, ...) snprintf(advice->member, sizeof(advice->member), __VA_ARGS__)

// ---- the optimizer -----------------------------------------------------------------------------
enum { SGD_MOVED = 3 }; // parameter-sized arrays that SGD moves: it reads two and writes one

// Number of parameter-sized arrays that the profile's optimizer moves, by the counts of its ops.
static int64_t arrays_moved(const Profile *profile) {
    const OpCost *cost = &profile->totals[REPORT_OPTIMIZER].cost;
    double each =
        (double)precision_bytes(profile->precision) * (double)profile->trainable_parameters;
    return each > 0.0 ? llround((double)(cost->bytes_read + cost->bytes_written) / each) : 0;
}

static bool is_largest(const MemoryUse *use, MemoryCategory category) {
    for (int c = 0; c < MEM_COUNT; c++)
        if (use->category[c] > use->category[category]) return false;
    return use->category[category] > 0;
}

bool advice_optimizer(const Profile *profile, double step, Advice *advice) {
    double update = fmin(advice_optimizer_seconds(profile), step);
    int64_t moved = arrays_moved(profile);
    advice->bytes = profile->measured.peak.category[MEM_OPTIMIZER]; // SGD keeps none
    if (advice->bytes <= 0 || moved <= SGD_MOVED || update <= 0.0) return false;
    advice->seconds = update * (double)(moved - SGD_MOVED) / (double)moved;
    SAY(check, "--optimizer sgd");
    SAY(evidence,
        "the update takes %.12s of %.12s and moves %lld arrays of %.20s parameters, SGD's would "
        "move %d and keep no state",
        text_duration(update).s, text_duration(step).s, (long long)moved,
        text_count(profile->trainable_parameters).s, SGD_MOVED);
    Text by;
    if (advice_probed(profile, PROBE_SGD, step, advice))
        by = advice_range(advice->gain_low, advice->gain_high);
    else
        snprintf(by.s, sizeof(by.s), "-%.12s", text_duration(advice->seconds).s);
    advice->worth =
        advice->seconds >= least_share * step || is_largest(&profile->measured.peak, MEM_OPTIMIZER);
    SAY(text, "SGD for %.16s: %.40s, -%.12s (other results!)", profile->optimizer, by.s,
        text_bytes_si(advice->bytes).s);
    return advice->worth;
}

// ---- fusing ------------------------------------------------------------------------------------
// The last op of a layer's forward; NULL: none.
static const OpRecord *last_forward(const Profile *profile, int layer) {
    const OpRecord *last = NULL;
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const ProfileOp *op = &profile->ops[i];
        if (op->layer == layer && op->record.phase == PHASE_FORWARD) last = &op->record;
    }
    return last;
}

// True if the layer is an activation after a matrix product without a fused activation.
static bool could_be_fused(const Profile *profile, int layer) {
    const OpRecord *after = last_forward(profile, layer);
    const OpRecord *product = last_forward(profile, layer - 1);
    return after && after->op->module && after->op->row && product && product->op->story &&
           product->op->story->kind == KIND_LINEAR && !product->params.activation;
}

// An activation right after a linear layer could run while the product is still in the cache. This
// saves its forward op; its backward stays.
bool advice_fusing(const Profile *profile, double step, Advice *advice) {
    const char *name = NULL;
    double forward = 0.0, bytes = 0.0;
    int64_t ops = 0;
    if (profile->fixed_layers) return false; // --fuse would not do it
    for (int i = 1; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        const ProfilePhase *phase = &layer->phase[REPORT_FORWARD];
        if (!could_be_fused(profile, i)) continue;
        name = layer->type;
        forward += advice_known(latency_median(&phase->latency));
        bytes += (double)(phase->cost.bytes_read + phase->cost.bytes_written);
        ops += phase->ops;
    }
    int64_t all = profile->totals[REPORT_STEP].ops; // `between` is the time between these
    if (!name || forward <= 0.0 || all < ops) return false;
    double between = advice_shared_time(profile).between * (double)ops / (double)all;
    advice->seconds = fmin(forward + between, step);
    advice->worth = advice->seconds >= least_share * step;
    if (advice->worth)
        SAY(text, "fusing %.12s into products: at most -%.12s", name,
            text_duration(advice->seconds).s);
    else
        SAY(text, "fusing %.12s: at most %.6s, not worth it", name,
            text_percent(advice->seconds / step).s);
    SAY(check, "--fuse");
    if (advice->seconds < 0.5 * step) { // else the gain is uncertain
        SAY(apply, "--fuse");
        SAY(assumes, "a product takes no longer with it");
        advice->gain_low = 0.0;
        advice->gain_high = step / (step - advice->seconds) - 1.0;
    }
    SAY(evidence,
        "%lld op%s %.12s forward, and %.12s between ops; of %.12s; %.16s would not be moved",
        (long long)ops, ops == 1 ? " takes" : "s take", text_duration(forward).s,
        text_duration(between).s, text_duration(step).s, text_bytes_si((int64_t)bytes).s);
    return true;
}

// ---- the layers --------------------------------------------------------------------------------
// If most of the step is not arithmetic: half as many ops with twice the work each.
bool advice_fewer_layers(const Profile *profile, double step, Advice *advice) {
    SharedTime shared = advice_shared_time(profile);
    double overhead = shared.between, each = shared.between + shared.dispatch;
    int with_parameters = 0;
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        with_parameters += layer->parameters > 0;
        if (layer->phase[REPORT_STEP].roofline.bound == BOUND_OVERHEAD &&
            layer->phase[REPORT_STEP].roofline.judged)
            overhead += advice_known(profile_layer_seconds(layer));
    }
    if (overhead <= overhead_share * step || with_parameters < 3) return false;
    if (profile->fixed_layers) return false;
    advice->seconds = 0.5 * fmin(each, step);
    if (advice->seconds < least_share * step) return false;
    advice->worth = true;
    SAY(text, "fewer, larger layers: -%.12s for half the ops", text_duration(advice->seconds).s);
    SAY(check, "--layers N,N,...");
    SAY(evidence,
        "%lld ops: dispatch %.12s (%.12s each), between them %.12s, of %.12s; overhead-bound "
        "layers and the time between ops are %.6s of it",
        (long long)profile->totals[REPORT_STEP].ops, text_duration(shared.dispatch).s,
        text_duration(profile->machine.dispatch_seconds).s, text_duration(shared.between).s,
        text_duration(step).s, text_percent(fmin(overhead / step, 1.0)).s);
    return true;
}

// Names the largest term of a layer's time beyond its roof; "" if no term is known.
static Text largest_term(const TimeTerms *known, double seconds) {
    const struct {
        const char *name;
        double seconds;
    } terms[] = {{"its kernels, alone and warm", known->kernels},
                 {"its threads, handed to and woken", known->threads},
                 {"what nothing measured explains", time_terms_left(known, seconds)}};
    Text text = {""};
    if (isnan(terms[2].seconds)) return text;
    int most = 0;
    for (int i = 1; i < 3; i++)
        if (terms[i].seconds > terms[most].seconds) most = i;
    snprintf(text.s, sizeof(text.s), ". Most of the rest: %s, %.12s", terms[most].name,
             text_duration(terms[most].seconds).s);
    return text;
}

bool advice_far_from_roof(const Profile *profile, double step, Advice *advice) {
    const ProfileLayer *slowest = NULL;
    double most = least_far * step;
    for (int i = 0; i < profile->n_layers; i++) {
        const Roofline *roofline = &profile->layers[i].phase[REPORT_STEP].roofline;
        double seconds = profile_layer_seconds(&profile->layers[i]);
        bool roofed = roofline->bound == BOUND_COMPUTE || roofline->bound == BOUND_MEMORY;
        if (!roofline->judged || !roofed || !(roofline->roof_fraction < far)) continue;
        if (!(seconds >= most)) continue;
        most = seconds;
        slowest = &profile->layers[i];
    }
    if (!slowest) return false;
    double roof = slowest->phase[REPORT_STEP].roofline.roof_seconds;
    advice->seconds = fmin(advice_known(most - roof / far), step);
    advice->worth = advice->seconds >= least_share * step;
    SAY(text, "%.60s: %.6s of the step, %.6s of its roof: why?",
        text_fit(profile_layer_title(profile, slowest).s, 14).s,
        text_percent(fmin(most / step, 1.0)).s, text_percent(roof / most).s);
    profile_explain_flag(slowest->path, 24, advice->check, sizeof(advice->check));
    SAY(evidence, "%.12s, its roof allows %.12s; at %.6s of it %.12s less%.100s",
        text_duration(most).s, text_duration(roof).s, text_percent(far).s,
        text_duration(advice->seconds).s, largest_term(&slowest->phase[REPORT_STEP].terms, most).s);
    return advice->worth;
}

// ---- threads and data --------------------------------------------------------------------------
// Idle threads only occupy cores: advises fewer threads if these were tried and were as fast.
bool advice_threads(const Profile *profile, double step, Advice *advice) {
    const double least = -0.05; // largest acceptable loss, as a share of units/s
    int enough = profile_threads_enough(profile);
    if (profile->machine.device[0]) return false; // threads do not share a GPU's kernels
    if (enough >= profile->threads || profile_is_busy(profile)) return false;
    SAY(check, "--threads %d", enough);
    if (!advice_probed(profile, PROBE_FEWER_THREADS, step, advice)) return false;
    if (advice->gain_low < least) return false;
    advice->worth = true;
    advice->seconds = (double)NAN;
    SAY(text, "%d of %d threads would do: %.32s %.15s/s", enough, profile->threads,
        advice_range(advice->gain_low, advice->gain_high).s, profile->unit);
    return true;
}

bool advice_data(const Profile *profile, double step, Advice *advice) {
    double wait = latency_median(&profile->data_wait);
    if (!isfinite(wait)) return false;
    advice->seconds = wait = advice_known(wait);
    // With a spare core, the next batch is loaded while this one is computed; one thread less costs
    // at most that thread's share of the step.
    bool long_wait = wait > least_wait * step;
    bool spare = profile->threads > 1 && wait > step / (profile->threads - 1);
    advice->worth = long_wait && (profile->threads == 1 || spare);
    if (advice->worth)
        SAY(text, "waiting for data: %.12s before each step", text_duration(wait).s);
    else
        SAY(text, "data loading: at most %.6s, not worth it", text_percent(wait / step).s);
    if (profile->threads > 1)
        SAY(check, "--threads %d", profile->threads - 1);
    else
        SAY(check, "--data DIR");
    SAY(evidence,
        "the next batch comes %.12s after it is asked for, beside a step of %.12s (%lld waits)",
        text_duration(wait).s, text_duration(step).s, (long long)profile->data_wait.count);
    return true;
}

bool advice_at_roof(const Profile *profile, double step, Advice *advice) {
    const Roofline *roofline = &profile->totals[REPORT_STEP].roofline;
    double fraction = roofline->roof_fraction;
    if (!roofline->judged || !(fraction >= near_roof) || roofline_is_past(roofline)) return false;
    advice->worth = true;
    advice->seconds = (double)NAN;
    SAY(text, "at %.6s of the roof: only less work helps", text_percent(fraction).s);
    SAY(check, "%s", profile->fixed_layers ? "--by op --sort time" : "--layers N,N,...");
    SAY(evidence,
        "the roof is %.12s of %.12s: better kernels could save %.12s at most; smaller layers or "
        "lower precision lower the roof",
        text_duration(roofline->roof_seconds).s, text_duration(step).s,
        text_duration(advice_known(step - roofline->roof_seconds)).s);
    return true;
}

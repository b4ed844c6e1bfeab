// report_changes.c -- the changes to a step that save memory, and their effect: recomputed layers,
// and batches with accumulated gradients. Every figure is the profile's.
#include <string.h>

#include "profiler/report/report.h"
#include "profiler/report/report_table.h"

// "+11%", relative to the step's FLOPs without recomputation.
static Text flops_more(const Profile *profile) {
    const ProfileRecompute *recompute = &profile->recompute;
    double now = (double)op_cost_total_flops(profile->totals[REPORT_STEP].cost), share = 0.0;
    if (recompute->plain_flops > 0) share = now / (double)recompute->plain_flops - 1.0;
    Text text;
    snprintf(text.s, sizeof(text.s), "%s%.12s", share >= 0.0 ? "+" : "", text_percent(share).s);
    return text;
}

// Prints "  recomputed: h.0-7, h.9 (9 layers):", on as many lines as needed, broken after commas.
static void print_paths(const ProfileRecompute *recompute, FILE *file) {
    const char *at = recompute->paths;
    int column = fprintf(file, "  recomputed:");
    while (*at) {
        size_t length = strcspn(at, ",") + (strchr(at, ',') != NULL);
        Text piece;
        snprintf(piece.s, sizeof(piece.s), "%.*s", (int)length, at);
        piece = text_fit(piece.s, REPORT_WIDTH - 5);
        if (column + 1 + text_width(piece.s) > REPORT_WIDTH) column = fprintf(file, "\n   ") - 1;
        fprintf(file, " %s", piece.s);
        column += 1 + text_width(piece.s);
        at += length + (at[length] == ' ');
    }
    Text count = text_count(recompute->layers);
    bool breaks = column + 12 + text_width(count.s) > REPORT_WIDTH;
    fprintf(file, "%s(%s layer%s):\n", breaks ? "\n    " : " ", count.s,
            recompute->layers == 1 ? "" : "s");
}

static void print_recomputed(const Profile *profile, FILE *file) {
    const ProfileRecompute *recompute = &profile->recompute;
    print_paths(recompute, file);
    if (recompute->plain_bytes == 0) return;
    uint64_t again = op_cost_total_flops(profile->totals[REPORT_RECOMPUTE].cost);
    fprintf(file, "    peak %s -> %s, %s FLOP (%s run again)\n",
            text_bytes_si(recompute->plain_bytes).s, text_bytes_si(profile->measured.peak.total).s,
            flops_more(profile).s, text_short_count((int64_t)again).s);
}

// Always prints the requested budget, and if the step fits it.
static void print_budget(const Profile *profile, FILE *file) {
    int64_t peak = profile->measured.peak.total, budget = profile->budget;
    bool ran = profile->totals[REPORT_STEP].latency.count > 0;
    const char *how = ran ? "measured" : "predicted";
    const char *advice = profile->batch > 1
                             ? "A smaller --batch takes less, and --accumulate makes up for it"
                         : strcmp(profile->optimizer, "SGD") != 0
                             ? "--optimizer sgd takes less"
                             : "fewer --tokens, or a smaller --image, take less";
    if (peak > budget)
        fprintf(file, "  budget %s: DOES NOT FIT; %s.\n    %s.\n", text_bytes_si(budget).s,
                profile->recompute.layers > 0 ? "of the sets of layers tried this takes least"
                                              : "no layer that runs again would help",
                advice);
    else if (profile->recompute.layers == 0)
        fprintf(file, "  budget %s: fits as it is (%s), nothing is recomputed\n",
                text_bytes_si(budget).s, how);
    else
        fprintf(file, "  budget %s: fits (%s), %s to spare\n", text_bytes_si(budget).s, how,
                text_bytes_si(budget - peak).s);
}

static void print_accumulated(const Profile *profile, FILE *file) {
    int64_t large = profile->large_batch_bytes, batches = profile->accumulate;
    fprintf(file, "  a step is %s batches of %s: peak %s", text_count(batches).s,
            text_count(profile->batch).s, text_bytes_si(profile->measured.peak.total).s);
    if (large > 0)
        fprintf(file, ";\n    one batch of %s would take %s",
                text_count(batches * profile->batch).s, text_bytes_si(large).s);
    fprintf(file, "\n");
}

void report_print_changes(const Profile *profile, FILE *file) {
    if (profile->accumulate > 1) print_accumulated(profile, file);
    if (profile->recompute.layers > 0 && profile->kind != PROFILE_INFERENCE)
        print_recomputed(profile, file);
    if (profile->budget > 0) print_budget(profile, file);
}

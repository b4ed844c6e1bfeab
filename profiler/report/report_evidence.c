// report_evidence.c -- the closing lines of the terminal report: the comparison with the
// prediction, the method, the certainty of the figures, and where to look next.
#include <math.h>
#include <string.h>

#include "profiler/base/environment.h"
#include "profiler/measure/rank.h"
#include "profiler/report/report_table.h"

void report_print_comparison(const Profile *profile, FILE *file) {
    if (profile->difference[0])
        fprintf(file, "PREDICTED IS NOT EXECUTED\n  %s\n", text_fit(profile->difference, 78).s);
    else if (profile->reconciled)
        fprintf(file, "predicted = executed: every count of every layer, every byte of the peak\n");
    else
        fprintf(file, "predicted only: nothing ran to compare it with\n");
    for (int i = 0; i < profile->n_uncounted; i++)
        fprintf(file, "not counted: op %s has no cost\n", profile->uncounted[i]);
}

static void print_samples(const Profile *profile, FILE *file) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    const char *plural = step->count == 1 ? "" : "s";
    char steps[80], spread[40] = "", line[200];
    if (profile->steps_per_sample > 1)
        snprintf(steps, sizeof(steps), "%lld sample%s of %lld steps each", (long long)step->count,
                 plural, (long long)profile->steps_per_sample);
    else
        snprintf(steps, sizeof(steps), "%lld step%s", (long long)step->count, plural);
    if (step->count > 1)
        snprintf(spread, sizeof(spread), ", IQR %.20s",
                 text_percent(step->statistics.iqr / step->statistics.median).s);
    snprintf(line, sizeof(line), "%s after %lld of warm-up (%s)%s", steps,
             (long long)profile->warmup,
             profile->steady  ? "steady"
             : profile->trend ? "a trend: not steady"
                              : "not steady",
             spread);
    text_print_wrapped(line, "", "  ", file);
    if (!profile->steady && step->count > 1)
        fprintf(file, "steadier than the median: minimum %s, lower quartile %s\n",
                text_duration(step->statistics.min).s,
                text_duration(step->statistics.lower_quartile).s);
}

// Prints the confidence and the scope of the intervals.
static void print_confidence(const Latency *step, FILE *file) {
    bool sure = step->statistics.ci95_reached;
    if (step->across)
        fprintf(file, "intervals: %sacross runs, in fresh processes, %.0f%% sure\n",
                sure ? "this run's 95% sure; " : "", 100.0 * step->across->statistics.confidence);
    else if (sure)
        fprintf(file, "intervals are this process's, 95%% sure; of others: --runs 5\n");
}

// Prints the percentiles with enough samples, and how many the next one lacks.
static void print_percentiles(const Latency *step, FILE *file) {
    static const double wanted[] = {90.0, 95.0, 99.0, 99.9};
    enum { WANTED = sizeof(wanted) / sizeof(wanted[0]) };
    const char *separator = "";
    for (int i = 0; i < WANTED; i++) {
        double value;
        bool enough;
        int64_t missing;
        if (statistics_percentile(step->samples, step->count, wanted[i], &value, &enough,
                                  &missing)) {
            error_clear(); // this line must not cause a failure
            break;
        }
        if (enough) {
            fprintf(file, "%sp%g %s", separator, wanted[i], text_duration(value).s);
            separator = ", ";
            continue;
        }
        fprintf(file, "%sp%g needs %s more sample%s: --percentiles", i ? "; " : "", wanted[i],
                text_count(missing).s, missing == 1 ? "" : "s");
        break;
    }
    fprintf(file, "\n");
}

// Prints the overhead if its interval lies above 0, or is too wide to tell.
static void print_overhead(const Profile *profile, FILE *file) {
    const double wide = 0.05, low = profile->overhead_low, high = profile->overhead_high;
    bool second = isfinite(profile->overhead_fraction), told = low > 0.0 || high - low > wide;
    fprintf(file, "layers from %s", second ? "a second pass" : "these steps");
    if (told && !profile_is_busy(profile)) // not NaN
        fprintf(file, ", overhead %s (%.1f%% to %.1f%%)",
                low > 0.0 ? text_percent(profile->overhead_fraction).s
                          : "cannot be told from noise",
                100.0 * low, 100.0 * high);
    fprintf(file, "\n");
}

static void print_passes(const Profile *profile, FILE *file) {
    double step = profile->totals[REPORT_STEP].latency.statistics.mean; // mean, as CPU time
    print_overhead(profile, file);
    if (profile->has_device_times)
        fprintf(file, "layers have the device's own time, its queue held back; the step has the "
                      "host's\n");
    if (profile->batch_copy.count > 0)
        fprintf(file, "the step's batch lies on the device: copying the next one is not in it\n");
    fprintf(file, "CPU time %s a step: %.2g of %d thread%s; cold start %s\n",
            text_duration(profile->cpu_seconds).s, profile->cpu_seconds / step, profile->threads,
            profile->threads == 1 ? "" : "s", text_duration(profile->cold_seconds).s);
}

// For one batch. It is measured later, by itself, with other data in the caches.
static void print_forward_alone(const Profile *profile, FILE *file) {
    const double worth_saying = 1.05;
    const LatencyStatistics *alone = &profile->inference.statistics;
    double step = latency_median(&profile->totals[REPORT_FORWARD].latency);
    step /= (double)profile->accumulate;
    if (profile->inference.count == 0 || profile_is_busy(profile) ||
        !(alone->median > worth_saying * step))
        return;
    fprintf(file, "forward only ran later, by itself; the forward of a step takes less: %s\n",
            text_duration(step).s);
}

// Other programs show as spread, and as layers that do not sum to the step.
static void print_noise(const Profile *profile, FILE *file) {
    const LatencyStatistics *step = &profile->totals[REPORT_STEP].latency.statistics;
    double spread = step->iqr / step->median, gap = profile->unattributed_seconds / step->median;
    if (step->n < 6)
        fprintf(file, "%s sample%s %s too few to be sure: raise --iterations.\n",
                text_count(step->n).s, step->n == 1 ? "" : "s", step->n == 1 ? "is" : "are");
    else if (profile_is_noise(profile) && !profile_is_busy(profile))
        fprintf(file,
                "noisy: IQR %s, unattributed %s; other work on these cores? Run it alone, or\n"
                "raise --iterations.\n",
                text_percent(spread).s, text_percent(gap).s);
    const ProfileLayer *past = profile_is_busy(profile) ? NULL : profile_past_its_roof(profile);
    Environment environment;
    environment_read(&environment);
    if (profile->threads > environment.cores)
        fprintf(file, "%d threads share %d core%s: they take turns. See --threads.\n",
                profile->threads, environment.cores, environment.cores == 1 ? "" : "s");
    if (past) {
        char line[256];
        snprintf(line, sizeof(line), "%.48s is past its roof: %.160s.",
                 profile_layer_label(profile, past, 12).s, roofline_why_past(&profile->machine));
        text_print_wrapped(line, "", "", file);
    }
}

// A path too long for a line is printed as a pattern of its end, which still matches the layer.
static void print_where_to_ask(const Profile *profile, const char *path, FILE *file) {
    enum { BESIDE = 16, LINE = 45 };
    size_t length = strlen(path);
    char flag[80];
    if (length > LINE)
        snprintf(flag, sizeof(flag), "--explain '*%s'", path + length - (LINE - 3));
    else
        profile_explain_flag(path, LINE, flag, sizeof(flag));
    fprintf(file, "How is a number made?  %s%sFiles: --json F%s\n", flag,
            length > BESIDE ? "\n" : "    ",
            profile->kind == PROFILE_TRAINING ? "  --trace F" : ""); // for training steps
}

void report_print_evidence(const Profile *profile, FILE *file) {
    fprintf(file, "\n");
    report_print_comparison(profile, file);
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    if (step->count == 0) return;
    print_samples(profile, file);
    print_confidence(step, file);
    print_percentiles(step, file);
    print_passes(profile, file);
    print_forward_alone(profile, file);
    print_noise(profile, file);
    Rank rank;
    if (rank_find(profile, &rank)) return;
    for (int i = 0; i < rank.n; i++) {
        if (rank.kinds[i].layer < 0) continue;
        print_where_to_ask(profile, profile->layers[rank.kinds[i].layer].path, file);
        return;
    }
}

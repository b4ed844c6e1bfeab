// advice_tried.c -- the table of tried advice. Not here: the predictions (advice_rules.c).
#include "profiler/advice/advice_tried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/advice/advice_rules.h"
#include "profiler/measure/profile_fields.h"

// Distance between the measured gain's interval and the predicted range, in percentage points; 0:
// they overlap.
static double missed_by(const Tried *tried) {
    double low = tried->ratio.ci95_low - 1.0, high = tried->ratio.ci95_high - 1.0;
    double outside = fmax(tried->advice.gain_low - high, low - tried->advice.gain_high);
    return 100.0 * fmax(0.0, outside);
}

bool tried_as_predicted(const Tried *tried) { return !(missed_by(tried) > 0.0); }

static Text bytes(int64_t saved) {
    Text text;
    snprintf(text.s, sizeof(text.s), "%s%.60s", saved > 0 ? "-" : "+",
             text_bytes_si(saved > 0 ? saved : -saved).s);
    return text;
}

// Times without and with the advice, per unit: "forward 17.0 to 16.8, optimizer 3.92 to 1.32 us".
static void print_phases(const Tried *tried, FILE *file) {
    const RunFigures *with = &tried->with, *without = &tried->without;
    double each = 1.0 / (double)without->units;
    const char *unit = text_duration_unit(100.0 * without->phase[REPORT_STEP] * each);
    const char *separator = "";
    fprintf(file, "    ");
    for (int i = 0; i < STEP_PARTS; i++) {
        double before = without->phase[step_parts[i]] * each;
        double after = with->phase[step_parts[i]] / (double)with->units;
        if (!(before > 0.0 || after > 0.0)) continue;
        fprintf(file, "%s%s %s to %s", separator, report_phase_name(step_parts[i]),
                text_duration_in(before, unit).s, text_duration_in(after, unit).s);
        separator = ", ";
    }
    fprintf(file, " %s\n", unit);
}

static void print_tried(const Tried *tried, const char *unit, FILE *file) {
    const Advice *advice = &tried->advice;
    const LatencyStatistics *ratio = &tried->ratio;
    int64_t saved = tried->without.peak_bytes - tried->with.peak_bytes;
    bool good = tried_as_predicted(tried);
    fprintf(file, "  %-19s%15s%9.0f%%  %-20s%s\n", text_fit(advice->apply, 19).s,
            advice_range(advice->gain_low, advice->gain_high).s, 100.0 * (ratio->median - 1.0),
            advice_range(ratio->ci95_low - 1.0, ratio->ci95_high - 1.0).s,
            good ? "as predicted" : "otherwise");
    if (advice->bytes != 0 &&
        llabs(saved - advice->bytes) > llabs(advice->bytes) / 100 + 64) // an optimizer's scalars
        fprintf(file, "    peak %s, predicted %s\n", bytes(saved).s, bytes(advice->bytes).s);
    if (good) return;
    fprintf(file, "    %.1f points off; predicted as if %s.\n    Of a %.*s:\n", missed_by(tried),
            advice->assumes, (int)strlen(unit) - 1, unit);
    print_phases(tried, file);
}

void tried_print(const Trials *trials, const char *unit, FILE *file) {
    int good = 0;
    if (trials->n == 0) {
        fprintf(file, "TRIED  nothing: no advice here that a flag can apply\n");
        return;
    }
    const LatencyStatistics *ratio = &trials->tried[0].ratio;
    fprintf(file, "TRIED  change of %s/s, in %lld process%s each, in turns with none of it\n", unit,
            (long long)ratio->n, ratio->n == 1 ? "" : "es");
    fprintf(file, "  %-19s%15s%10s  across runs (%.0f%% sure)\n", "", "predicted", "median",
            100.0 * ratio->confidence);
    for (int i = 0; i < trials->n; i++) {
        print_tried(&trials->tried[i], unit, file);
        good += tried_as_predicted(&trials->tried[i]);
    }
    fprintf(file, "  %d of %d as predicted: what was measured overlaps the range\n", good,
            trials->n);
}

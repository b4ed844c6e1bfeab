// report.c -- headline, time table and memory of the terminal report. Every figure is the
// profile's, only rounded; the rows and columns add up before rounding.
#include "profiler/report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "profiler/environment.h"
#include "profiler/text.h"

// ---- headline --------------------------------------------------------------------------------
static void print_rate_line(FILE *file, const char *what, const Latency *latency, int64_t batch) {
    const LatencyStatistics *s = &latency->statistics;
    Text rate = text_count((int64_t)((double)batch / s->median + 0.5));
    char spread[300] = "(median)";
    if (s->ci95_reached)
        snprintf(spread, sizeof(spread), "(median, 95%% CI %s to %s)", text_duration(s->ci95_low).s,
                 text_duration(s->ci95_high).s);
    fprintf(file, "  %-14s%8s  %-35s%9s samples/s\n", what, text_duration(s->median).s, spread,
            rate.s);
}

static const ProfileLayer *slowest(const Profile *profile) {
    const ProfileLayer *found = NULL;
    double most = -1.0;
    for (int i = 0; i < profile->n_layers; i++) {
        double seconds = latency_median(&profile->layers[i].phase[REPORT_STEP].latency);
        if (!(seconds > most)) continue;
        most = seconds;
        found = &profile->layers[i];
    }
    return found;
}

static const char *shown_path(const Profile *profile, const ProfileLayer *layer, Text *text) {
    if (strcmp(layer->path, "(model)") != 0) return layer->path;
    *text = (Text){""};
    snprintf(text->s, sizeof(text->s), "%s update", profile->optimizer);
    return text->s;
}

static void print_head(const Profile *profile, FILE *file) {
    Environment environment;
    environment_read(&environment);
    char blas[64];
    snprintf(blas, sizeof(blas), "%.*s", (int)strcspn(environment.blas, " ("), environment.blas);
    fprintf(file, "%s | batch %lld | fp32 | %s\n", profile->model, (long long)profile->batch,
            profile->optimizer);
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    if (step->count == 0) {
        fprintf(file, "  Counted on the %s device: no kernel ran, no time was measured.\n",
                profile->device);
        return;
    }
    fprintf(file, "  on %s, %d thread%s, %s\n", environment.cpu, profile->threads,
            profile->threads == 1 ? "" : "s", blas);
    print_rate_line(file, "Training step", step, profile->batch);
    print_rate_line(file, "Forward only", &profile->inference, profile->batch);
    const ProfileLayer *first = slowest(profile);
    Text name;
    if (first)
        fprintf(file, "  Start with %s: %s of the step.\n", shown_path(profile, first, &name),
                text_percent(latency_median(&first->phase[REPORT_STEP].latency) /
                             step->statistics.median)
                    .s);
}

// ---- the time table --------------------------------------------------------------------------
enum { LABEL_WIDTH = 16 };

typedef struct Units { // one unit per table, so that a column can be added up by eye
    double flops;
    const char *flops_name, *time;
} Units;

static Units choose_units(const Profile *profile) {
    static const struct {
        double flops;
        const char *name;
    } scales[] = {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}};
    double total = (double)op_cost_total_flops(profile->totals[REPORT_STEP].cost);
    Units units = {1e3, "kFLOP", "us"};
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
        if (total >= scales[i].flops) {
            units.flops = scales[i].flops;
            units.flops_name = scales[i].name;
            break;
        }
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    if (step >= 10.0)
        units.time = "s";
    else if (step >= 0.01)
        units.time = "ms";
    return units;
}

// "fc1 784->512", cut to the column
static Text label_of(const Profile *profile, const ProfileLayer *layer) {
    Text text = {""};
    const char *path = shown_path(profile, layer, &text);
    char label[160];
    if (strcmp(layer->path, "loss") == 0)
        snprintf(label, sizeof(label), "%s loss",
                 strcmp(layer->type, "CrossEntropy") == 0 ? "CE" : layer->type);
    else if (layer->parameters > 0 && layer->input.ndim > 0 && layer->output.ndim > 0)
        snprintf(label, sizeof(label), "%s %lld->%lld", path,
                 (long long)layer->input.dims[layer->input.ndim - 1],
                 (long long)layer->output.dims[layer->output.ndim - 1]);
    else
        snprintf(label, sizeof(label), "%s", path);
    Text padded = text_pad_right(label, LABEL_WIDTH);
    if (text_width(label) > LABEL_WIDTH) memcpy(padded.s + LABEL_WIDTH - 1, "~", 2);
    return padded;
}

static Text cell_count(int64_t count) { // whole up to seven digits, then rounded with its unit
    if (count < 10000000) return text_count(count);
    Text text = {""};
    double value = (double)count;
    const char *unit = value >= 999.5e6 ? "G" : "M";
    Text number = text_number(value / (*unit == 'G' ? 1e9 : 1e6));
    snprintf(text.s, sizeof(text.s), "%.16s%s", number.s, unit);
    return text;
}

static Text cell_time(const ProfilePhase *phase, const Units *units) {
    if (!phase->happened || phase->latency.count == 0) return (Text){""};
    return text_duration_in(phase->latency.statistics.median, units->time);
}

static void print_row(FILE *file, const char *label, const char *parameters,
                      const ProfilePhase phases[REPORT_COUNT], double share, const Units *units) {
    const OpCost cost = phases[REPORT_STEP].cost;
    Text none = {""}, percent = isnan(share) ? none : text_percent(share);
    double per_byte = profile_intensity(cost);
    Text intensity = isnan(per_byte) ? none : text_number(per_byte);
    fprintf(file, "%s%8s %6s%6s%6s%6s%5s %-6s %6s\n", label, parameters,
            text_number((double)op_cost_total_flops(cost) / units->flops).s,
            cell_time(&phases[REPORT_FORWARD], units).s,
            cell_time(&phases[REPORT_BACKWARD], units).s, cell_time(&phases[REPORT_STEP], units).s,
            percent.s, share < 1.0 ? text_bar(share, 10).s : "", intensity.s);
}

static void print_unattributed(const Profile *profile, FILE *file, const Units *units) {
    double seconds = profile->unattributed_seconds;
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    if (isnan(seconds)) return;
    fprintf(file, "%s%8s %6s%6s%6s%6s%5s\n", text_pad_right("unattributed", LABEL_WIDTH).s, "", "",
            "", "", text_duration_in(seconds, units->time).s, text_percent(seconds / step).s);
}

static void print_table(const Profile *profile, FILE *file) {
    Units units = choose_units(profile);
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    bool timed = !isnan(step);
    fprintf(file,
            "\n%s%s%s  step = %lld samples; multiply-add = 2 FLOP; FLOP and FLOP/B: fwd + bwd\n",
            timed ? "TIME (" : "COST", timed ? units.time : "", timed ? ")" : "",
            (long long)profile->batch);
    fprintf(file, "%s%8s %6s%6s%6s%6s%5s %-6s %6s\n", text_pad_right("layer", LABEL_WIDTH).s,
            "params", units.flops_name, timed ? "fwd" : "", timed ? "bwd" : "", timed ? "sum" : "",
            timed ? "step" : "", "", "FLOP/B");
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        double share = latency_median(&layer->phase[REPORT_STEP].latency) / step;
        print_row(file, label_of(profile, layer).s,
                  strcmp(layer->path, "(model)") ? cell_count(layer->parameters).s : "",
                  layer->phase, share, &units);
    }
    print_unattributed(profile, file, &units);
    print_row(file, text_pad_right("step", LABEL_WIDTH).s, cell_count(profile->parameters).s,
              profile->totals, timed ? 1.0 : (double)NAN, &units);
    const OpCost *total = &profile->totals[REPORT_STEP].cost;
    const OpCost *forward = &profile->totals[REPORT_FORWARD].cost;
    const OpCost *backward = &profile->totals[REPORT_BACKWARD].cost;
    fprintf(file, "  %s of %s %s are matrix products (PyTorch's count)",
            text_number(2.0 * (double)total->macs / units.flops).s,
            text_number((double)op_cost_total_flops(*total) / units.flops).s, units.flops_name);
    if (forward->macs)
        fprintf(file,
                "; their\n  backward is %.3g x forward, not 2 x: the first layer's input "
                "needs no gradient.",
                (double)backward->macs / (double)forward->macs);
    fprintf(file, "\n");
}

// ---- memory ----------------------------------------------------------------------------------
typedef struct MemoryCell {
    const char *name;
    int64_t bytes;
} MemoryCell;

static void print_memory(const Profile *profile, FILE *file) {
    const ProfileMemory *memory = &profile->measured;
    const int64_t *bytes = memory->peak.category;
    fprintf(file, "\nMEMORY  bytes live at the peak, in %s\n", memory->peak_op);
    const MemoryCell cells[] = {
        {"parameters", bytes[MEM_PARAMETER]}, {"gradients", bytes[MEM_GRADIENT]},
        {"optimizer", bytes[MEM_OPTIMIZER]},  {"activations", bytes[MEM_ACTIVATION]},
        {"batch data", bytes[MEM_DATA]},      {"workspace", bytes[MEM_WORKSPACE]},
        {"staging", bytes[MEM_STAGING]},      {"PEAK", memory->peak.total},
    };
    enum { CELLS = sizeof(cells) / sizeof(cells[0]) };
    int column = 0;
    for (int i = 0; i < CELLS; i++) {
        if (cells[i].bytes == 0 && i != CELLS - 1) continue; // nothing there: no line for it
        fprintf(file, "  %-11s%11s%s", cells[i].name, text_count(cells[i].bytes).s,
                column++ % 3 == 2 || i == CELLS - 1 ? "\n" : " ");
    }
    fprintf(file, "  kept for backward %s; inference alone %s; each further sample %s%s\n",
            text_bytes_si(memory->saved_bytes).s, text_bytes_si(profile->inference_bytes).s,
            profile->bytes_per_sample >= 0 ? "+" : "", text_bytes_si(profile->bytes_per_sample).s);
}

// ---- the whole -------------------------------------------------------------------------------
static void print_evidence(const Profile *profile, FILE *file) {
    fprintf(file, "\n");
    if (profile->reconciled)
        fprintf(file, "predicted = executed: every count of every layer, every byte of the peak\n");
    else
        fprintf(file, "PREDICTED IS NOT EXECUTED: %s\n", profile->difference);
    for (int i = 0; i < profile->n_uncounted; i++)
        fprintf(file, "not counted: op %s has no cost\n", profile->uncounted[i]);
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    if (step->count == 0) return;
    fprintf(file,
            "%lld steps, %lld warm-up, IQR %s; layers from a second pass, overhead %.1f%%; "
            "cold %s\n",
            (long long)step->count, (long long)profile->warmup,
            text_percent(step->statistics.iqr / step->statistics.median).s,
            100.0 * profile->overhead_fraction, text_duration(profile->cold_seconds).s);
}

void report_print(const Profile *profile, FILE *file) {
    print_head(profile, file);
    print_table(profile, file);
    print_memory(profile, file);
    print_evidence(profile, file);
}

// report.c -- the terminal report: headline, table, memory, advice, evidence. Every figure is a
// rounded figure of the profile; columns and layers' rows add up before rounding.
#include "profiler/report/report.h"

#include <math.h>
#include <string.h>

#include "profiler/advice/advice.h"
#include "profiler/base/environment.h"
#include "profiler/measure/rank.h"
#include "profiler/report/report_table.h"
#include "tensor/given.h"

// ---- headline --------------------------------------------------------------------------------
Text report_rate(int64_t units, const Latency *latency) {
    double per_second = (double)units / latency->statistics.median;
    if (!(per_second < 1e18)) return (Text){"-"}; // without ops it may be infinite
    return per_second < 99.5 ? text_number(per_second)
                             : text_short_count((int64_t)(per_second + 0.5));
}

// `over`: the scope of its interval.
static void print_rate_line(FILE *file, const char *what, const Latency *latency, const char *over,
                            int64_t units, const Profile *profile) {
    const LatencyStatistics *s = &latency->statistics;
    char spread[200] = "(median)";
    if (over)
        snprintf(spread, sizeof(spread), "(median; %s %s)", over,
                 text_durations(s->ci95_low, s->ci95_high).s);
    // An interval in two units ("904 ns-1.54 us") uses spare room of the rate.
    int width = (int)strlen(spread) > 35 ? (int)strlen(spread) : 35;
    fprintf(file, "  %-14s%8s %-*s%*s %s/s\n", what, text_duration(s->median).s, width, spread,
            45 - width, report_rate(units, latency).s, profile->unit);
}

static void print_rate(FILE *file, const char *what, const Latency *latency, int64_t units,
                       const Profile *profile) {
    bool sure = latency->statistics.ci95_reached;
    print_rate_line(file, what, latency, sure ? "this run" : NULL, units, profile);
    const Latency *across = latency->across;
    char runs[32];
    if (!across) return;
    snprintf(runs, sizeof(runs), "  in %lld runs", (long long)across->count);
    print_rate_line(file, runs, across, "across runs", units, profile);
}

// "46%", or "41 to 52%" if steps differ by more.
static Text part_of_step(const Rank *rank, const RankedKind *kind, double median) {
    const double alike = 0.03;
    Text text = text_percent(median);
    if (rank->steps > 0 && kind->high - kind->low > alike)
        snprintf(text.s, sizeof(text.s), "%.0f to %.8s", 100.0 * kind->low,
                 text_percent(kind->high).s);
    return text;
}

// "fc1", "layer1.0.conv1 and 3 alike"
static Text name_kind(const Profile *profile, const RankedKind *kind, int room) {
    char alike[32] = "";
    if (kind->alike > 1) snprintf(alike, sizeof(alike), " and %d alike", kind->alike - 1);
    Text path = profile_layer_title(profile, &profile->layers[kind->layer]), name;
    snprintf(name.s, sizeof(name.s), "%.100s%s",
             text_fit_middle(path.s, room - (int)strlen(alike)).s, alike);
    return name;
}

static void print_first(const Profile *profile, const Rank *rank, FILE *file) {
    const RankedKind *kind = &rank->kinds[0];
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    char line[400], often[64] = "", bound[64] = "";
    Text part = part_of_step(rank, kind, kind->seconds / step);
    const char *each = rank->steps > 1 ? "each step" : "the step";
    if (rank->steps > 1)
        snprintf(often, sizeof(often), ", first in %lld of %lld", (long long)kind->first,
                 (long long)rank->steps);
    if (kind->layer < 0) {
        snprintf(line, sizeof(line), "the number of ops: %s of %s is spent between them%s.", part.s,
                 each, often);
    } else {
        const Roofline *roofline = &profile->layers[kind->layer].phase[REPORT_STEP].roofline;
        if (roofline->judged)
            snprintf(bound, sizeof(bound), "; %s-bound", bound_name(roofline->bound));
        if (roofline->judged && !profile_is_busy(profile))
            snprintf(bound + strlen(bound), sizeof(bound) - strlen(bound), ", at %.8s of its roof",
                     text_percent(roofline->roof_fraction).s);
        snprintf(line, sizeof(line), "%s: %s of %s%s%s.", name_kind(profile, kind, 40).s, part.s,
                 each, often, bound);
    }
    text_print_wrapped(line, "  Start with ", "      ", file);
}

static void print_slowest(const Profile *profile, FILE *file) {
    Rank rank;
    if (rank_find(profile, &rank) || rank.n == 0) return;
    print_first(profile, &rank, file);
    if (rank.n == 1 || rank.steps == 0) return;
    const RankedKind *next = &rank.kinds[1];
    fprintf(file, "  Next is %s, first in %lld.\n",
            next->layer < 0 ? "what is spent between the ops" : name_kind(profile, next, 50).s,
            (long long)next->first);
}

// "GPU busy 61% of the step; 34 launches of 4.10 us; batch copy 201 kB 18.0 us"
static void print_device(const Profile *profile, FILE *file) {
    char work[80] = "", copy[48] = "";
    if (profile->has_device_times)
        snprintf(work, sizeof(work), "GPU busy %.6s of the step; %.8s launch%s of %.10s",
                 text_percent(profile->device_busy_fraction).s,
                 text_short_count(profile->launches).s, profile->launches == 1 ? "" : "es",
                 text_duration(latency_median(&profile->launch)).s);
    if (profile->batch_copy.count > 0)
        snprintf(copy, sizeof(copy), "batch copy %.10s %.10s",
                 text_bytes_si(profile->batch_copy_bytes).s,
                 text_duration(latency_median(&profile->batch_copy)).s);
    if (!work[0] && !copy[0]) return;
    bool fits = strlen(work) + strlen(copy) + 4 <= REPORT_WIDTH;
    const char *separator = !work[0] || !copy[0] ? "" : fits ? "; " : "\n  ";
    fprintf(file, "  %s%s%s\n", work, separator, copy);
}

static double share_of_memory(const Profile *profile) {
    double waits = 0.0;
    for (int64_t i = 0; i < profile->n_ops; i++)
        if (profile->ops[i].roofline.roof_bound == BOUND_MEMORY)
            waits += profile->ops[i].roofline.roof_seconds;
    return waits / profile->totals[REPORT_STEP].terms.roofs;
}

// Prints a step's best time by another machine's ceilings, and if the step fits its memory.
static void print_bound(const Profile *profile, FILE *file) {
    double step = profile->totals[REPORT_STEP].terms.roofs;
    const Machine *machine = &profile->machine;
    if (!(step > 0.0)) return;
    const Latency best = {.statistics.median = step};
    fprintf(file, "  At best %s a step, %s %s/s, on %s;\n  %s of it waits for memory.",
            text_duration(step).s, report_rate(profile->units, &best).s, profile->unit,
            machine->fingerprint[0] ? text_fit(machine->fingerprint, 34).s : "the machine given",
            text_percent(share_of_memory(profile)).s);
    int64_t peak = profile->measured.peak.total, room = machine->memory_bytes;
    if (room > 0)
        fprintf(file, " The peak, %s, %s into its %s.", text_bytes_si(peak).s,
                peak <= room ? "fits" : "does NOT fit", text_bytes_si(room).s);
    fprintf(file, "\n");
}

static void print_busy(const Profile *profile, FILE *file) {
    if (!profile_is_busy(profile)) return;
    fprintf(file, "  Other programs had the cores for %s of each step: not this network's times.\n",
            text_percent(profile->others_share).s);
}

static void print_left_out(const Profile *profile, FILE *file) {
    char line[200] = "";
    if (profile->n_left_out == 0) return;
    for (int i = 0, used = 0; i < profile->n_left_out; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, "%s%.40s", i ? ", " : "",
                         profile->left_out[i]);
    text_print_wrapped(line, "  Left out for want of time (--time-limit 5min): ", "      ", file);
}

static void print_head(const Profile *profile, FILE *file) {
    Environment environment;
    environment_read(&environment);
    char tail[96], times[24] = "";
    if (profile->accumulate > 1)
        snprintf(times, sizeof(times), " x %lld", (long long)profile->accumulate);
    const char *kind = profile->kind == PROFILE_INFERENCE ? "inference" : profile->optimizer;
    int n = snprintf(tail, sizeof(tail), " | batch %lld%s | %s%s%s", (long long)profile->batch,
                     times, precision_brief(profile->precision), kind[0] ? " | " : "", kind);
    int room = REPORT_WIDTH - n;
    fprintf(file, "%s%s\n", text_fit(profile->model, room).s, tail);
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    if (step->count == 0) {
        fprintf(file, "  Counted on the %s device: no kernel ran, no time was measured.\n",
                profile->device);
        print_bound(profile, file);
        return;
    }
    if (strcmp(profile->device, "cpu") != 0) {
        char device[ENVIRONMENT_DEVICE];
        Text about = text_fit(environment_device(profile->device, device), 60);
        fprintf(file, "  %s: %s\n", profile->device, about.s);
    }
    char where[96];
    int used = snprintf(where, sizeof(where), ", %d thread%s, %s", profile->threads,
                        profile->threads == 1 ? "" : "s", environment.blas);
    fprintf(file, "  %.*s%s\n", REPORT_WIDTH - 2 - used, environment.cpu, where);
    print_busy(profile, file);
    static const char *const steps[] = {[PROFILE_TRAINING] = "Training step",
                                        [PROFILE_BACKWARD] = "Fwd and bwd",
                                        [PROFILE_INFERENCE] = "Forward"};
    int64_t units = profile->units, batch = units / profile->accumulate;
    print_rate(file, steps[profile->kind], step, units, profile);
    if (profile->inference.count > 0)
        print_rate(file, "Forward only", &profile->inference, batch, profile);
    print_device(profile, file);
    if (profile->cut_short)
        fprintf(file, "  CUT SHORT, as was asked: times are of what ran until then.\n");
    print_slowest(profile, file);
    print_left_out(profile, file);
}

void report_print_head(const Profile *profile, FILE *file) {
    print_head(profile, file);
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
    const MemoryCell cells[] = {
        {"parameters", bytes[MEM_PARAMETER]}, {"gradients", bytes[MEM_GRADIENT]},
        {"optimizer", bytes[MEM_OPTIMIZER]},  {"activations", bytes[MEM_ACTIVATION]},
        {"batch data", bytes[MEM_DATA]},      {"workspace", bytes[MEM_WORKSPACE]},
        {"staging", bytes[MEM_STAGING]},      {"PEAK", memory->peak.total},
    };
    enum { CELLS = sizeof(cells) / sizeof(cells[0]), COLUMNS = 2 };
    fprintf(file, "\nMEMORY  bytes live at the peak: %s\n", text_fit(memory->peak_op, 48).s);
    int column = 0;
    for (int i = 0; i < CELLS; i++) {
        if (cells[i].bytes == 0 && i != CELLS - 1) continue; // empty categories get no cell
        fprintf(file, "%s  %-11s %16s", column ? "    " : "", cells[i].name,
                text_count(cells[i].bytes).s);
        column = (column + 1) % COLUMNS;
        if (column == 0 || i == CELLS - 1) fprintf(file, "\n");
    }
    fprintf(file, "  kept for backward %s; inference alone %s; ",
            text_bytes_si(memory->saved_bytes).s, text_bytes_si(profile->inference_bytes).s);
    if (profile->one_batch)
        fprintf(file, "the model takes no other batch\n");
    else
        fprintf(file, "per extra sample %s%s\n", profile->bytes_per_sample >= 0 ? "+" : "",
                text_bytes_si(profile->bytes_per_sample).s);
    report_print_changes(profile, file);
    if (profile->has_card) report_print_card(&profile->card, profile->cached_bytes, file);
}

void report_print_card(const DeviceMemory *card, int64_t cached, FILE *file) {
    fprintf(file, "  on the card %s workspaces, %s cached, %s of %s free\n",
            text_bytes_si(card->own).s, text_bytes_si(cached).s, text_bytes_si(card->free).s,
            text_bytes_si(card->total).s);
    fprintf(file, "  on the host %s pinned for copies\n", text_bytes_si(card->staging).s);
}

// ---- the whole -------------------------------------------------------------------------------
void report_brief(const Profile *profile, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return;
    const OpCost *cost = &profile->totals[REPORT_STEP].cost;
    bool ran = profile->totals[REPORT_STEP].latency.count > 0;
    const ProfileMemory *memory = ran ? &profile->measured : &profile->predicted;
    print_head(profile, file);
    fprintf(file, "  %s a step, %s of it in matrix products; %s parameters\n",
            text_rate((double)op_cost_total_flops(*cost), "FLOP").s,
            text_percent(2.0 * (double)cost->macs / (double)op_cost_total_flops(*cost)).s,
            text_count(profile->parameters).s);
    fprintf(file, "  Peak %s", text_bytes_si(memory->peak.total).s);
    if (memory->saved_bytes > 0)
        fprintf(file, ", %s of it kept for backward", text_bytes_si(memory->saved_bytes).s);
    if (!profile->one_batch)
        fprintf(file, "; %s%s per extra sample", profile->bytes_per_sample >= 0 ? "+" : "",
                text_bytes_si(profile->bytes_per_sample).s);
    fprintf(file, "\n  ");
    report_print_comparison(profile, file);
}

void report_print(const Profile *profile, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return;
    report_print_head(profile, file);
    report_print_table(profile, file);
    report_print_roofline(profile, file);
    print_memory(profile, file);
    if (!profile_is_noise(profile)) advice_print(profile, file);
    report_print_evidence(profile, file);
}

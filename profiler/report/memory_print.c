// memory_print.c -- memory over one step for people: the tables behind the plot (memory_plot.c),
// with exact bytes that add up. memory_curve.c computes the figures.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/report/plots.h"
#include "profiler/report/report_table.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- rows ------------------------------------------------------------------------------------
enum { MOST_ROWS = 16, WHAT_WIDTH = 11, WHEN_WIDTH = 16, SHARE_WIDTH = 6 };

typedef struct Shares { // rows that sum to `total`
    Table table;
    int64_t total, rest; // rest: part of it not in rows yet
} Shares;

// Number columns are as wide as the longest number, the total; names get the rest.
static Shares shares_of(const char *title, const char *what, const char *when, int64_t total,
                        FILE *file) {
    int bytes = text_width(text_count(total).s);
    if (bytes < 14) bytes = 14;
    int when_width = when[0] ? WHEN_WIDTH : 1, what_width = WHAT_WIDTH + WHEN_WIDTH - when_width;
    int name_width = REPORT_WIDTH - 3 - WHAT_WIDTH - WHEN_WIDTH - bytes - SHARE_WIDTH;
    Shares shares = {{.headings = {"layer", what, when, "bytes", "share"},
                      .widths = {name_width, what_width, when_width, bytes + 1, SHARE_WIDTH},
                      .kinds = {TABLE_NAME, TABLE_NAME, TABLE_WORD},
                      .indent = 2},
                     total,
                     total};
    snprintf(shares.table.title, sizeof(shares.table.title), "\n%s", title);
    table_begin(&shares.table, file);
    return shares;
}

// Adds a row: a layer's type or a category, and a phase; "": none.
static void add_row(Shares *shares, const char *name, const char *what, const char *when,
                    int64_t bytes) {
    double share = shares->total ? (double)bytes / (double)shares->total : (double)NAN;
    table_add(&shares->table,
              (TableCells){name, what, when, text_count(bytes).s, text_percent(share).s});
    shares->rest -= bytes;
}

// Adds the hidden rows' sum, and the total.
static void add_end(Shares *shares, int more, const char *sum) {
    char name[32];
    snprintf(name, sizeof(name), "(%d more)", more);
    if (more > 0) add_row(shares, name, "", "", shares->rest);
    add_row(shares, sum, "", "", shares->total);
}

// ---- at the peak -----------------------------------------------------------------------------
static void add_share(Shares *shares, const Profile *profile, const MemoryShare *share) {
    const char *name = share->resident     ? "(before the step)"
                       : share->layer >= 0 ? profile->layers[share->layer].path
                                           : "(elsewhere)";
    add_row(shares, name, memory_category_name(share->category),
            share->resident ? "" : phase_name(share->phase), share->bytes);
}

static void print_peak(const Profile *profile, const MemoryCurve *curve, FILE *file) {
    Shares shares = shares_of("AT THE PEAK  what was live, and who asked for it", "category",
                              "asked for in", curve->points[curve->peak].live.total, file);
    int shown = 0;
    for (int resident = 1; resident >= 0; resident--) // resident shares come first, all of them
        for (int i = 0; i < curve->n_shares; i++) {
            const MemoryShare *share = &curve->shares[i];
            if (share->resident == (resident == 1) && (share->resident || shown++ < MOST_ROWS))
                add_share(&shares, profile, share);
        }
    add_end(&shares, shown - MOST_ROWS, "peak");
}

// ---- kept for backward -----------------------------------------------------------------------
static int by_saved_bytes(const void *left, const void *right) {
    const ProfileLayer *a = *(const ProfileLayer *const *)left;
    const ProfileLayer *b = *(const ProfileLayer *const *)right;
    if (a->saved_bytes != b->saved_bytes) return a->saved_bytes < b->saved_bytes ? 1 : -1;
    return (a > b) - (a < b); // in execution order
}

// Finds layers with saved bytes, most bytes first.
static int find_keepers(const Profile *profile, const ProfileLayer **keepers) {
    int n = 0;
    for (int i = 0; i < profile->n_layers; i++)
        if (profile->layers[i].saved_bytes > 0) keepers[n++] = &profile->layers[i];
    qsort(keepers, (size_t)n, sizeof(*keepers), by_saved_bytes);
    return n;
}

static void print_kept(const Profile *profile, const ProfileLayer **keepers, FILE *file) {
    int n = find_keepers(profile, keepers);
    if (n == 0) {
        fprintf(file, "\nKEPT FOR BACKWARD  nothing\n");
        return;
    }
    Shares shares = shares_of("KEPT FOR BACKWARD  activations, by the layer that kept them first",
                              "type", "", profile->measured.saved_bytes, file);
    for (int i = 0; i < n && i < MOST_ROWS; i++)
        add_row(&shares, keepers[i]->path, keepers[i]->type, "", keepers[i]->saved_bytes);
    add_end(&shares, n - MOST_ROWS, "kept");
}

// ---- optimizers ------------------------------------------------------------------------------
static void print_optimizers(const Profile *profile, const MemoryCurve *curve, FILE *file) {
    int64_t peak = curve->points[curve->peak].live.total;
    if (memory_optimizer_peak(profile, curve, OPTIMIZER_SGD) < 0) return; // the step has none
    Table table = {.title = "\nOPTIMIZERS  what the peak would be with each",
                   .headings = {"optimizer", "", "peak, bytes", "difference"},
                   .widths = {8, 10, 26, 28},
                   .kinds = {TABLE_WORD, TABLE_WORD},
                   .indent = 2};
    table_begin(&table, file);
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        const char *name = optimizer_name((OptimizerKind)i);
        int64_t other = memory_optimizer_peak(profile, curve, (OptimizerKind)i);
        bool used = strcmp(name, profile->optimizer) == 0;
        Text more;
        snprintf(more.s, sizeof(more.s), "%s%.32s", other > peak ? "+" : "",
                 text_count(other - peak).s);
        table_add(&table, (TableCells){name, used ? "(in use)" : "", text_count(other).s, more.s});
    }
}

// ---- the state -------------------------------------------------------------------------------
static void print_state(const Profile *profile, FILE *file) {
    MemoryState state = memory_state_now();
    const struct {
        const char *name;
        int64_t bytes;
        const char *note;
    } rows[] = {
        {"requested", state.requested_bytes, "live now, as it was asked for"},
        {"rounding", state.rounding_bytes, "lost to the sizes of blocks"},
        {"cached", state.cached_bytes, "free, kept for the next request"},
        {"unaccounted", state.unaccounted_bytes, "what none of these explains"},
        {"reserved", state.reserved_bytes, "from the system: the sum"},
    };
    fprintf(file, "\nSTATE  of the allocator, now, in bytes\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fprintf(file, "  %-12s%25s  %s\n", rows[i].name, text_count(rows[i].bytes).s, rows[i].note);
    if (state.free_blocks > 0)
        fprintf(file, "  %s free block%s, the largest %s; fragmentation %.2f\n",
                text_count(state.free_blocks).s, state.free_blocks == 1 ? "" : "s",
                text_count(state.largest_free_bytes).s, state.fragmentation);
    if (profile->has_card) report_print_card(&profile->card, state.cached_bytes, file);
}

// ---- the whole -------------------------------------------------------------------------------
static void print_all(const Profile *profile, const MemoryCurve *curve,
                      const ProfileLayer **keepers, FILE *file) {
    memory_plot(profile, curve, file);
    report_print_changes(profile, file);
    print_peak(profile, curve, file);
    print_kept(profile, keepers, file);
    print_optimizers(profile, curve, file);
    print_state(profile, file);
}

Status memory_print(const Profile *profile, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    MemoryCurve curve;
    Status status = memory_curve_new(profile, &curve);
    if (status) return status;
    const ProfileLayer **keepers =
        memory_new((size_t)profile->n_layers * sizeof(const ProfileLayer *));
    if (keepers) print_all(profile, &curve, keepers, file);
    memory_curve_free(&curve);
    memory_free(keepers);
    if (!keepers) return STATUS_OUT_OF_MEMORY;
    if (fflush(file) == 0 && !ferror(file)) return STATUS_OK;
    return error_set(STATUS_IO, "the memory report cannot be written: %s. HINT: is the disk full?",
                     strerror(errno ? errno : EIO));
}

// memory_print.c -- memory over one step as a person reads it: what is behind the picture
// (memory_plot.c), in tables whose exact bytes add up. The figures are memory_curve.c's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/memory_plot.h"
#include "profiler/report/report_table.h"
#include "tensor/memory.h"

// ---- rows ------------------------------------------------------------------------------------
typedef struct Row {
    const char *name, *what, *when; // of a layer, its type or a category, a phase; may be ""
    int64_t bytes;
} Row;

typedef struct Table { // whose rows add up to `total`
    FILE *file;
    int64_t total;
    int name_width, what_width, when_width, bytes_width;
} Table;

enum { MOST_ROWS = 16, WHAT_WIDTH = 10, WHEN_WIDTH = 15, PERCENT_WIDTH = 5 };

// Numbers take the room that the longest, the total, needs; names what is left.
static Table table_of(FILE *file, int64_t total, bool phases) {
    int bytes = text_width(text_count(total).s);
    if (bytes < 14) bytes = 14;
    return (Table){.file = file,
                   .total = total,
                   .name_width = REPORT_WIDTH - 6 - WHAT_WIDTH - WHEN_WIDTH - bytes - PERCENT_WIDTH,
                   .what_width = phases ? WHAT_WIDTH : WHAT_WIDTH + WHEN_WIDTH,
                   .when_width = phases ? WHEN_WIDTH : 0,
                   .bytes_width = bytes};
}

static Text cell(const char *text, int width) {
    return text_pad_right(text_fit(text, width).s, width);
}

static void print_cells(const Table *table, const Row *row, const char *bytes, const char *share) {
    fprintf(table->file, "  %s %s %-*s %*s%*s\n", cell(row->name, table->name_width).s,
            cell(row->what, table->what_width).s, table->when_width, row->when, table->bytes_width,
            bytes, PERCENT_WIDTH + 1, share);
}

static void print_head(const Table *table, const char *title, Row head) {
    fprintf(table->file, "\n%s\n", title);
    print_cells(table, &head, "bytes", "share");
}

static void print_row(const Table *table, Row row) {
    double share = table->total ? (double)row.bytes / (double)table->total : (double)NAN;
    print_cells(table, &row, text_count(row.bytes).s, text_percent(share).s);
}

// The rows that did not fit, and the sum of all.
static void print_end(const Table *table, int more, int64_t rest, const char *sum) {
    char name[32];
    snprintf(name, sizeof(name), "(%d more)", more);
    if (more > 0) print_row(table, (Row){name, "", "", rest});
    print_row(table, (Row){sum, "", "", table->total});
}

// ---- at the peak -----------------------------------------------------------------------------
static Row row_of_share(const Profile *profile, const MemoryShare *share) {
    const char *name = share->resident     ? "(before the step)"
                       : share->layer >= 0 ? profile->layers[share->layer].path
                                           : "(elsewhere)";
    return (Row){name, memory_category_name(share->category),
                 share->resident ? "" : phase_name(share->phase), share->bytes};
}

static void print_peak(const Profile *profile, const MemoryCurve *curve, FILE *file) {
    Table table = table_of(file, curve->points[curve->peak].live.total, true);
    int64_t rest = table.total;
    int shown = 0, more = 0;
    print_head(&table, "AT THE PEAK  what was live, and who asked for it",
               (Row){.name = "layer", .what = "category", .when = "asked for in"});
    for (int resident = 1; resident >= 0; resident--) // these first, and all of them
        for (int i = 0; i < curve->n_shares; i++) {
            const MemoryShare *share = &curve->shares[i];
            if (share->resident != (resident == 1)) continue;
            if (!share->resident && shown++ >= MOST_ROWS) {
                more++;
                continue;
            }
            rest -= share->bytes;
            print_row(&table, row_of_share(profile, share));
        }
    print_end(&table, more, rest, "peak");
}

// ---- kept for backward -----------------------------------------------------------------------
static int by_saved_bytes(const void *left, const void *right) {
    const ProfileLayer *a = *(const ProfileLayer *const *)left;
    const ProfileLayer *b = *(const ProfileLayer *const *)right;
    if (a->saved_bytes != b->saved_bytes) return a->saved_bytes < b->saved_bytes ? 1 : -1;
    return (a > b) - (a < b); // as they ran
}

// Those that keep something, most bytes first.
static int find_keepers(const Profile *profile, const ProfileLayer **keepers) {
    int n = 0;
    for (int i = 0; i < profile->n_layers; i++)
        if (profile->layers[i].saved_bytes > 0) keepers[n++] = &profile->layers[i];
    qsort(keepers, (size_t)n, sizeof(*keepers), by_saved_bytes);
    return n;
}

static void print_kept(const Profile *profile, const ProfileLayer **keepers, FILE *file) {
    Table table = table_of(file, profile->measured.saved_bytes, false);
    int n = find_keepers(profile, keepers), shown = n < MOST_ROWS ? n : MOST_ROWS;
    if (n == 0) {
        fprintf(file, "\nKEPT FOR BACKWARD  nothing\n");
        return;
    }
    int64_t rest = table.total;
    print_head(&table, "KEPT FOR BACKWARD  activations, by the layer that kept them first",
               (Row){.name = "layer", .what = "type", .when = ""});
    for (int i = 0; i < shown; i++) {
        rest -= keepers[i]->saved_bytes;
        print_row(&table, (Row){keepers[i]->path, keepers[i]->type, "", keepers[i]->saved_bytes});
    }
    print_end(&table, n - shown, rest, "kept");
}

// ---- optimizers ------------------------------------------------------------------------------
static void print_optimizers(const Profile *profile, const MemoryCurve *curve, FILE *file) {
    int64_t peak = curve->points[curve->peak].live.total;
    if (memory_optimizer_peak(profile, curve, OPTIMIZER_SGD) < 0) return; // the step has none
    fprintf(file, "\nOPTIMIZERS  what the peak would be with each\n  %-18s %25s %27s\n",
            "optimizer", "peak, bytes", "difference");
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        OptimizerKind kind = (OptimizerKind)i;
        const char *name = optimizer_name(kind);
        int64_t other = memory_optimizer_peak(profile, curve, kind);
        fprintf(
            file, "  %-8s %-9s %25s %s%s\n", name,
            strcmp(name, profile->optimizer) == 0 ? "(in use)" : "", text_count(other).s,
            text_pad_left(other > peak ? "+" : "", 27 - text_width(text_count(other - peak).s)).s,
            text_count(other - peak).s);
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

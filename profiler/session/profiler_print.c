// profiler_print.c -- a session's rows as a table of 80 columns.
#include <math.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "profiler/report/report.h"
#include "profiler/report/report_table.h"
#include "profiler/session/profiler_parts.h"
#include "tensor/given.h"

enum { NAME_WIDTH = 16 };

typedef struct Sheet {
    const Machine *machine; // NULL: no verdicts
    const char *unit;       // one unit of time, so that columns can be summed by eye
    double seconds;         // total seconds
    bool device;            // some rows have device time
} Sheet;

// Suffixes of names by phase; those of backward tell its purpose.
static const char *const suffixes[PHASE_COUNT] = {"", " bwd", " dX", " dW", " again", " opt"};

// "matmul dW"
static Text name_of(const ProfilerRow *row) {
    const char *suffix = suffixes[row->phase];
    Text name = text_fit(row->name, NAME_WIDTH - (int)strlen(suffix));
    size_t length = strlen(name.s);
    snprintf(name.s + length, sizeof(name.s) - length, "%s", suffix);
    return name;
}

static Text cell_intensity(const ProfilerRow *row) {
    double intensity = profile_intensity(row->cost);
    Text text = {""};
    if (row->kind != EVENT_OP || isnan(intensity)) return text;
    if (intensity < 1e5) return text_number(intensity);
    snprintf(text.s, sizeof(text.s), "%.0e", intensity);
    return text;
}

// Users declare their kernels' costs, so a fraction of the roof may have any value.
static Text cell_roof(const Roofline *roofline) {
    return roofline->roof_fraction < 10.0 ? text_percent(roofline->roof_fraction) : (Text){">10x"};
}

// Total time, or device time if there is any.
static Text cell_time(const Sheet *sheet, const ProfilerRow *row) {
    bool none = sheet->device && row->device_seconds == 0.0;
    double seconds = sheet->device ? row->device_seconds : row->seconds;
    return none ? (Text){""} : text_duration_in(seconds, sheet->unit);
}

static void add_row(const Table *table, const Sheet *sheet, const ProfilerRow *row) {
    const Roofline *roofline = &row->roofline;
    table_add(table,
              (TableCells){row->path, name_of(row).s, text_short_count(row->calls).s,
                           cell_time(sheet, row).s,
                           text_duration_in(row->self_seconds, sheet->unit).s,
                           text_percent(row->self_seconds / sheet->seconds).s,
                           cell_intensity(row).s, roofline->judged ? cell_roof(roofline).s : "",
                           roofline->judged ? profile_bound_text(sheet->machine, roofline).s : ""});
}

static void add_sum(const Table *table, const Sheet *sheet, const char *label, double seconds) {
    table_add(table, (TableCells){label, "", "", "", text_duration_in(seconds, sheet->unit).s,
                                  text_percent(seconds / sheet->seconds).s});
}

static void print_table(const Sheet *sheet, const ProfilerSummary *summary, FILE *file) {
    bool judged = sheet->machine != NULL;
    Table table = {.headings = {"where", "what", "calls", sheet->device ? "device" : "total",
                                "self", "%", "FLOP/B", judged ? "roof" : "",
                                judged ? "bound by" : ""},
                   .widths = {12, NAME_WIDTH + 1, 8, 7, 7, 5, 7, 5, 12},
                   .kinds = {TABLE_PATH, TABLE_WORD, [8] = TABLE_WORD}};
    Text steps = {""};
    if (summary->steps > 0)
        snprintf(steps.s, sizeof(steps.s), "%.32s step%s in ", text_count(summary->steps).s,
                 summary->steps == 1 ? "" : "s");
    snprintf(table.title, sizeof(table.title), "PROFILE  %s%s; times in %s; multiply-add = 2 FLOP",
             steps.s, text_duration(summary->seconds).s, sheet->unit);
    table_begin(&table, file);
    for (int i = 0; i < summary->n_rows; i++) add_row(&table, sheet, &summary->rows[i]);
    add_sum(&table, sheet, "unattributed", summary->unattributed_seconds);
    add_sum(&table, sheet, "recorded", summary->seconds);
}

// Prints the evidence for the row with most time; other rows' columns tell theirs.
static void print_evidence(const Sheet *sheet, const ProfilerSummary *summary, FILE *file) {
    const ProfilerRow *row = summary->rows, *end = row + summary->n_rows;
    while (row < end && !row->roofline.judged) row++;
    if (row == end) return;
    char text[ROOFLINE_TEXT], line[ROOFLINE_TEXT + sizeof(row->path) + sizeof(row->name) + 8];
    RooflineInput input = profiler_row_input(row);
    snprintf(line, sizeof(line), "%s %s%s: %s", text_plain(row->path).s, text_plain(row->name).s,
             suffixes[row->phase], roofline_evidence(sheet->machine, &input, &row->roofline, text));
    text_print_wrapped(line, "", "  ", file);
}

static void print_notes(const Sheet *sheet, const ProfilerSummary *summary, int64_t capacity,
                        FILE *file) {
    bool backward = false, past_roof = false;
    for (int i = 0; i < summary->n_rows; i++) {
        const ProfilerRow *row = &summary->rows[i];
        backward = backward || row->phase != PHASE_FORWARD;
        past_roof = past_roof || roofline_is_past(&row->roofline);
    }
    fprintf(file, "self: without what is nested in it; the column adds up to `recorded`.\n");
    if (sheet->device)
        fprintf(file, "device: its own time, of what the others only launch and wait for.\n");
    if (backward)
        fprintf(file, "dX, dW, bwd: backward, to inputs, to weights, else; opt: optimizer.\n");
    if (past_roof) fprintf(file, "past its roof: %s.\n", roofline_why_past(sheet->machine));
    print_evidence(sheet, summary, file);
    if (summary->only_in_rows > 0)
        fprintf(file, "%s older events are in these rows only; a trace has the newest.\n",
                text_short_count(summary->only_in_rows).s);
    if (summary->dropped > 0)
        fprintf(file,
                "%s events found the buffer of %s full: call profiler_step after each step, or\n"
                "give ProfilerOptions more capacity.\n",
                text_short_count(summary->dropped).s, text_short_count(capacity).s);
}

Status profiler_print(const Profiler *profiler, FILE *file) {
    if (!GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    ProfilerSummary summary;
    Status status = profiler_summarise(profiler, &summary);
    if (status) return status;
    Sheet sheet = {.machine = profiler->timeline.machine,
                   .unit = text_duration_unit(summary.seconds),
                   .seconds = summary.seconds};
    for (int i = 0; i < summary.n_rows; i++)
        sheet.device = sheet.device || summary.rows[i].device_seconds > 0.0;
    print_table(&sheet, &summary, file);
    print_notes(&sheet, &summary, profiler->timeline.capacity, file);
    profiler_summary_free(&summary);
    if (fflush(file) == 0 && !ferror(file)) return STATUS_OK;
    return error_set(STATUS_IO, "profiler_print: the table could not be written. HINT: is the disk "
                                "full, or the reader gone?");
}

// page_tables.c -- the tables of a page, with the report's data but no limit of 80 columns.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/escape.h"
#include "profiler/compare/sweep.h"
#include "profiler/look/chart.h"
#include "profiler/look/page_parts.h"
#include "profiler/report/report_table.h"
#include "tensor/memory.h"

// ---- building blocks ---------------------------------------------------------------------------
// A table that scrolls if the page is too narrow. Columns end at NULL; a name that begins with '<'
// is a number column, aligned right.
typedef struct PageTable {
    const char *id, *caption;
    const char *const *columns;
} PageTable;
static void page_table_begin(const PageTable *table, WholeFile *file) {
    whole_file_print(file,
                     "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                     "aria-labelledby=\"%s-caption\">\n<table>\n<caption id=\"%s-caption\">",
                     table->id, table->id);
    escape_xml(file, table->caption);
    whole_file_print(file, "</caption>\n<thead><tr>");
    for (int i = 0; table->columns[i]; i++) {
        bool number = table->columns[i][0] == '<';
        whole_file_print(file, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        escape_xml(file, table->columns[i] + number);
        whole_file_print(file, "</th>");
    }
    whole_file_print(file, "</tr></thead>\n<tbody>\n");
}

static void page_table_end(WholeFile *file) {
    whole_file_print(file, "</tbody>\n</table>\n</div>\n");
}

static void page_row_begin(const char *id, const char *name, WholeFile *file) {
    whole_file_print(file, "<tr");
    if (id) escape_attribute(file, "id", id);
    whole_file_print(file, "><th scope=\"row\">");
    escape_xml(file, name);
    whole_file_print(file, "</th>");
}

static void page_row_end(WholeFile *file) { whole_file_print(file, "</tr>\n"); }

static void put_cell(const char *class, const char *text, WholeFile *file) {
    whole_file_print(file, class ? "<td class=\"%s\">" : "<td>", class);
    escape_xml(file, text);
    whole_file_print(file, "</td>");
}

static void page_cell(const char *text, WholeFile *file) { put_cell(NULL, text, file); }
static void page_number(const char *text, WholeFile *file) { put_cell("n", text, file); }

static void page_bar(double share, const char *text, WholeFile *file) {
    whole_file_print(file, "<td class=\"n\">");
    escape_xml(file, text);
    if (share > 0.0)
        whole_file_print(file, "<span class=\"bar\" style=\"width:%.0f%%\"></span>",
                         100.0 * fmin(share, 1.0));
    whole_file_print(file, "</td>");
}

// ---- layers ------------------------------------------------------------------------------------
static Text seconds_text(const Latency *latency) {
    return latency->count > 0 ? text_duration(latency->statistics.median) : (Text){""};
}

// The layer's bound, with the evidence in a closed <details>.
static void put_bound(const Profile *profile, const ProfilePhase *step, double seconds,
                      WholeFile *file) {
    char evidence[ROOFLINE_TEXT];
    RooflineInput input = profile_phase_input(step, seconds);
    Text bound = profile_bound_text(&profile->machine, &step->roofline);
    if (!profile->has_machine || !step->roofline.judged) {
        page_cell(bound.s, file);
        return;
    }
    roofline_evidence(&profile->machine, &input, &step->roofline, evidence);
    whole_file_print(file, "<td><details><summary>");
    escape_xml(file, bound.s);
    whole_file_print(file, "</summary><p>");
    escape_xml(file, evidence);
    whole_file_print(file, "</p></details></td>");
}

static void put_layer(const Profile *profile, int i, WholeFile *file) {
    const ProfileLayer *layer = &profile->layers[i];
    const ProfilePhase *phase = layer->phase, *step = &phase[REPORT_STEP];
    double seconds = profile_layer_seconds(layer);
    double share = seconds / latency_median(&profile->totals[REPORT_STEP].latency);
    char id[CHART_LINK];
    page_row_begin(chart_layer_link(i, id) + 1, profile_layer_title(profile, layer).s, file);
    page_cell(layer->type, file);
    page_number(text_count(layer->parameters).s, file);
    page_number(text_number(1e-6 * (double)op_cost_total_flops(step->cost)).s, file);
    page_number(text_number(profile_intensity(step->cost)).s, file);
    page_number(seconds_text(&phase[REPORT_FORWARD].latency).s, file);
    page_number(seconds_text(&phase[REPORT_BACKWARD].latency).s, file);
    page_number(seconds_text(&phase[REPORT_OPTIMIZER].latency).s, file);
    page_bar(share, share > 0.0 ? text_percent(share).s : "", file);
    page_number(step->roofline.judged ? text_percent(step->roofline.roof_fraction).s : "", file);
    put_bound(profile, step, seconds, file);
    page_row_end(file);
}

void page_layers(const Profile *profile, WholeFile *file) {
    static const char *const columns[] = {"layer",    "type",     "<parameters", "<MFLOP",
                                          "<FLOP/B",  "<forward", "<backward",   "<optimizer",
                                          "<of step", "<of roof", "bound by",    NULL};
    page_table_begin(&(PageTable){"layers", "Each layer in a step", columns}, file);
    for (int i = 0; i < profile->n_layers; i++) put_layer(profile, i, file);
    page_table_end(file);
}

// ---- operators ---------------------------------------------------------------------------------
typedef struct Operator {
    const Op *op;
    int64_t calls;
    OpCost cost;
    double seconds, roof;
} Operator;

static int by_seconds(const void *left, const void *right) {
    const Operator *a = left, *b = right;
    if (a->seconds == b->seconds) // neither ran
        return (op_cost_total_flops(a->cost) < op_cost_total_flops(b->cost)) -
               (op_cost_total_flops(a->cost) > op_cost_total_flops(b->cost));
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static int add_up(const Profile *profile, Operator *all) {
    int n = 0, k;
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const ProfileOp *op = &profile->ops[i];
        for (k = 0; k < n && all[k].op != op->record.op; k++) {
        }
        n += k == n;
        all[k].op = op->record.op;
        all[k].calls++;
        cost_add(&all[k].cost, op->record.cost);
        if (op->latency.count > 0) all[k].seconds += op->latency.statistics.median;
        all[k].roof += op->roofline.roof_seconds;
    }
    return n;
}

Status page_operators(const Profile *profile, WholeFile *file) {
    static const char *const columns[] = {"operator", "<calls",   "<MFLOP",   "<bytes", "<FLOP/B",
                                          "<time",    "<of step", "<of roof", NULL};
    Operator *all = memory_new((size_t)profile->n_ops * sizeof(Operator));
    if (!all) return error_status();
    int n = add_up(profile, all);
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    qsort(all, (size_t)n, sizeof(Operator), by_seconds);
    page_table_begin(
        &(PageTable){"operators", "All calls of each in a step, slowest first", columns}, file);
    for (int i = 0; i < n; i++) {
        const Operator *one = &all[i];
        bool timed = one->seconds > 0.0;
        page_row_begin(NULL, one->op->name, file);
        page_number(text_count(one->calls).s, file);
        page_number(text_number(1e-6 * (double)op_cost_total_flops(one->cost)).s, file);
        page_number(text_bytes_si((int64_t)(one->cost.bytes_read + one->cost.bytes_written)).s,
                    file);
        page_number(text_number(profile_intensity(one->cost)).s, file);
        page_number(timed ? text_duration(one->seconds).s : "", file);
        page_bar(one->seconds / step, timed ? text_percent(one->seconds / step).s : "", file);
        page_number(timed && one->roof > 0.0 ? text_percent(one->roof / one->seconds).s : "", file);
        page_row_end(file);
    }
    page_table_end(file);
    memory_free(all);
    return STATUS_OK;
}

// ---- memory ------------------------------------------------------------------------------------
void page_peak(const Profile *profile, WholeFile *file) {
    static const char *const columns[] = {"category", "<bytes", "<of the peak", NULL};
    const MemoryUse *peak = &profile->measured.peak;
    page_table_begin(&(PageTable){"peak", "What is live at the peak", columns}, file);
    for (int c = 0; c < MEM_COUNT; c++) {
        double share = (double)peak->category[c] / (double)peak->total;
        if (peak->category[c] == 0) continue;
        page_row_begin(NULL, memory_category_name((MemoryCategory)c), file);
        page_number(text_count(peak->category[c]).s, file);
        page_bar(share, text_percent(share).s, file);
        page_row_end(file);
    }
    page_row_begin(NULL, "all", file);
    page_number(text_count(peak->total).s, file);
    page_number("", file);
    page_row_end(file);
    page_table_end(file);
}

// ---- differences -------------------------------------------------------------------------------
void page_diff(const ProfileDiff *diff, WholeFile *file) {
    static const char *const columns[] = {"layer",   "phase",     "<base", "<now",
                                          "<change", "<95% sure", NULL};
    page_table_begin(
        &(PageTable){"diff", "Each phase of each layer, the surest changes first", columns}, file);
    for (int64_t i = 0; i < diff->n_times; i++) {
        const DiffTime *time = &diff->times[i];
        char change[40] = "", interval[80] = "";
        if (time->ratio.estimate > 0.0) {
            snprintf(change, sizeof(change), "%+.1f%%", 100.0 * (time->ratio.estimate - 1.0));
            snprintf(interval, sizeof(interval), "%+.1f%% to %+.1f%%",
                     100.0 * (time->ratio.low - 1.0), 100.0 * (time->ratio.high - 1.0));
        }
        page_row_begin(NULL, time->path, file);
        page_cell(report_phase_name(time->phase), file);
        page_number(time->before > 0.0 ? text_duration(time->before).s : "-", file);
        page_number(time->after > 0.0 ? text_duration(time->after).s : "-", file);
        put_cell(time->sure > 0 ? "n slower" : time->sure < 0 ? "n faster" : "n", change, file);
        page_number(interval, file);
        page_row_end(file);
    }
    page_table_end(file);
}

// ---- sweeps ------------------------------------------------------------------------------------
static void put_point(const Sweep *sweep, int64_t i, WholeFile *file) {
    static const char *const states[] = {"open", "", "failed"};
    const SweepPoint *point = &sweep->points[i];
    char name[SWEEP_NAME], text[40] = "";
    bool timed = point->seconds > 0.0;
    sweep_name(sweep, i, name);
    page_row_begin(NULL, name, file);
    page_number(timed ? text_duration(point->seconds).s : "", file);
    page_number(timed ? text_short_count((int64_t)(point->units_per_second + 0.5)).s : "", file);
    page_number(point->peak_bytes > 0 ? text_bytes_si(point->peak_bytes).s : "", file);
    if (sweep->learns) {
        if (!isnan(point->loss)) snprintf(text, sizeof(text), "%.4f", point->loss);
        page_number(text, file);
        text[0] = '\0';
        if (!isnan(point->accuracy))
            snprintf(text, sizeof(text), "%.2f%%", 100.0 * point->accuracy);
        page_number(text, file);
        page_number(text_duration(point->target_seconds).s, file);
    }
    page_cell(point->state != SWEEP_MEASURED ? states[point->state]
              : i == sweep->chosen           ? "chosen"
              : point->pareto                ? "none is better in all"
              : point->over                  ? "beyond the limits"
                                             : "",
              file);
    page_row_end(file);
}

void page_sweep(const Sweep *sweep, WholeFile *file) {
    static const char *const plain[] = {"point", "<step", "<units/s", "<peak", "verdict", NULL};
    static const char *const learnt[] = {"point",     "<step",      "<units/s", "<peak", "<loss",
                                         "<accuracy", "<to target", "verdict",  NULL};
    page_table_begin(
        &(PageTable){"points", "Each point of the grid", sweep->learns ? learnt : plain}, file);
    for (int64_t i = 0; i < sweep->n; i++) put_point(sweep, i, file);
    page_table_end(file);
}

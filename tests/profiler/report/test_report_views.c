// test_report_views.c -- a step by layer, by op and by phase: printed rows compared with sums over
// the profile's ops; every op has its verdict. test_report_views_text.c tests the lines' look.
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/report_table.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/report/view_table.h"

enum { NETS = 36 };

// ---- expected rows ---------------------------------------------------------------------------
typedef struct Expected { // the sum over a printed row's ops
    RooflineInput input;
    int64_t first;
} Expected;

static double bytes_of(OpCost cost) { return (double)(cost.bytes_read + cost.bytes_written); }

static bool is_about(const Profile *profile, ViewBy by, const PrintedRow *row,
                     const ProfileOp *op) {
    static const char *const labels[PHASE_COUNT] = {"forward",          "backward, rest",
                                                    "backward, inputs", "backward, weights",
                                                    "recomputed",       "optimizer"};
    static const char *const cells[PHASE_COUNT] = {"fwd", "bwd", "dx", "dW", "fw2", "opt"};
    if (by == VIEW_BY_PHASE) return strcmp(row->label, labels[op->record.phase]) == 0;
    if (strcmp(row->phase, cells[op->record.phase]) != 0) return false;
    char label[256];
    int size = snprintf(label, sizeof label, "%s%s%s",
                        profile_layer_title(profile, &profile->layers[op->layer]).s,
                        by == VIEW_BY_OP ? " " : "", by == VIEW_BY_OP ? op->record.op->name : "");
    int shown = (int)strlen(row->label);
    bool cut = row->label[shown - 1] == '~';
    return cut ? shown <= size && strncmp(row->label, label, (size_t)shown - 1) == 0
               : strcmp(row->label, label) == 0;
}

static Expected expected_of(const Profile *profile, ViewOptions options, const PrintedRow *row) {
    Expected sum = {.first = -1};
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const ProfileOp *op = &profile->ops[i];
        bool matches =
            !options.layer || fnmatch(options.layer, profile->layers[op->layer].path, 0) == 0;
        if (!matches || !is_about(profile, options.by, row, op)) continue;
        if (sum.first < 0) sum.first = i;
        cost_add(&sum.input.cost, op->record.cost);
        traffic_add_op(&sum.input.traffic, &op->record.traffic, &op->record.cost);
        sum.input.ops++;
        sum.input.seconds += latency_median(&op->latency);
    }
    ck_assert_msg(sum.first >= 0, "a row about nothing: %s", row->line);
    return sum;
}

static void check_close(PrintedNumber got, double want, const char *what, const PrintedRow *row) {
    ck_assert_msg(fabs(got.value - want) <= got.error + 1e-9 * fabs(want), "%s is %.17g:\n%s", what,
                  want, row->line);
}

static void check_counts(const PrintedRow *row, OpCost cost) {
    check_close(row->flops, (double)op_cost_total_flops(cost), "FLOP", row);
    check_close(row->bytes, bytes_of(cost), "bytes", row);
}

static void check_row(const Profile *profile, const PrintedTable *table, const PrintedRow *row,
                      const Expected *expected) {
    ck_assert_msg(row->calls == expected->input.ops, "%lld calls:\n%s",
                  (long long)expected->input.ops, row->line);
    check_counts(row, expected->input.cost);
    if (!table->timed) return;
    check_close(row->time, 1e6 * expected->input.seconds, "us", row);
    if (!profile->has_machine) {
        ck_assert_msg(!row->roof[0] && !row->bound[0], "%s", row->line);
        return;
    }
    Roofline roofline = roofline_judge(&profile->machine, &expected->input);
    if (!roofline.judged) return;
    bool ridge = roofline.bound < BOUND_OVERHEAD && roofline.near < BOUND_OVERHEAD;
    const char *bound = ridge ? "near ridge" : bound_name(roofline.bound);
    ck_assert_msg(strncmp(row->bound, bound, strlen(bound)) == 0, "%s:\n%s", bound, row->line);
    if (roofline.bound == BOUND_MEMORY && !ridge)
        ck_assert_msg(strstr(row->bound, profile->machine.levels[roofline.level].name) != NULL,
                      "%s", row->line);
    if (roofline.roof_fraction < 9.0)
        ck_assert_str_eq(row->roof, text_percent(roofline.roof_fraction).s);
}

static double amount_of(const Profile *profile, ViewSort sort, const Expected *row) {
    const RooflineInput *input = &row->input;
    if (sort == VIEW_SORT_TIME) return input->seconds;
    if (sort == VIEW_SORT_FLOPS) return (double)op_cost_total_flops(input->cost);
    if (sort == VIEW_SORT_BYTES) return bytes_of(input->cost);
    if (sort == VIEW_SORT_ORDER) return 0.0;
    return input->seconds - roofline_judge(&profile->machine, input).roof_seconds;
}

static ViewSort sort_done(const Profile *profile, ViewSort sort) {
    bool timed = profile->totals[REPORT_STEP].latency.count > 0;
    if (sort == VIEW_SORT_ROOF && !profile->has_machine) sort = VIEW_SORT_TIME;
    return !timed && (sort == VIEW_SORT_TIME || sort == VIEW_SORT_ROOF) ? VIEW_SORT_FLOPS : sort;
}

static void check_sums(const Profile *profile, const PrintedTable *table) {
    PrintedRow sum = {.line = "the sum of all rows"};
    for (int i = 0; i <= table->n_rows; i++) {
        const PrintedRow *row = i < table->n_rows ? &table->rows[i] : &table->others;
        sum.calls += row->calls;
        sum.time.value += row->time.value;
        PrintedNumber *to[] = {&sum.flops, &sum.bytes};
        const PrintedNumber *from[] = {&row->flops, &row->bytes};
        for (int k = 0; k < 2; k++) {
            to[k]->value += from[k]->value;
            to[k]->error += from[k]->error;
        }
    }
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    ck_assert_int_eq(sum.calls, profile->n_ops);
    ck_assert_int_eq(table->step.calls, profile->n_ops);
    check_counts(&sum, step->cost);
    check_counts(&table->step, step->cost);
    ck_assert(table->has_unattributed == table->timed);
    if (!table->timed) return;
    check_close(table->step.time, 1e6 * latency_median(&step->latency), "us", &table->step);
    sum.time.value += table->unattributed.time.value; // negative when the step is shorter
    check_close(sum.time, 1e6 * latency_median(&step->latency), "us", &sum);
}

static void check_table(const Profile *profile, ViewOptions options) {
    PrintedTable table = view_table_of(profile, options);
    ViewSort sort = sort_done(profile, options.sort);
    Expected before = {.first = -1};
    for (int i = 0; i < table.n_rows; i++) {
        const PrintedRow *row = &table.rows[i];
        Expected expected = expected_of(profile, options, row);
        check_row(profile, &table, row, &expected);
        for (int k = 0; k < i; k++)
            ck_assert_msg(strcmp(table.rows[k].label, row->label) ||
                              strcmp(table.rows[k].phase, row->phase),
                          "twice: %s", row->line);
        double amount = amount_of(profile, sort, &expected);
        double last = i ? amount_of(profile, sort, &before) : HUGE_VAL;
        ck_assert_msg(amount < last || (amount == last && before.first < expected.first) ||
                          fabs(amount - last) < 1e-12 * fabs(last),
                      "by %s: %.17g, %.17g\n%s", view_sort_name(sort), last, amount, row->line);
        before = expected;
    }
    check_sums(profile, &table);
    bool substituted = strstr(table.heading, " (") != NULL;
    ck_assert_msg(substituted == (sort != options.sort), "%s", table.heading);
    ck_assert(table.has_others == (table.hidden > 0));
    bool complete = options.top == 0 && !options.layer;
    ck_assert_msg(!complete || table.hidden == 0, "%s", table.heading);
}

// ---- tests -----------------------------------------------------------------------------------
START_TEST(rows_say_what_their_ops_add_up_to_and_are_sorted) {
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_KINDS));
    for (int by = 0; by < VIEW_BY_COUNT; by++)
        for (int sort = 0; sort < VIEW_SORT_COUNT; sort++)
            for (int top = 0; top < 4; top++) {
                check_table(&profile, (ViewOptions){(ViewBy)by, (ViewSort)sort, top, NULL});
                check_table(&profile, (ViewOptions){(ViewBy)by, (ViewSort)sort, top, "fc*"});
            }
    profile_free(&profile);
}
END_TEST

// Compares with the profile's own sums.
START_TEST(phases_and_layers_agree_with_the_profiles_own_totals) {
    static const struct {
        const char *label, *cell;
        ReportPhase phase;
    } phases[] = {{"forward", "fwd", REPORT_FORWARD},
                  {"backward, inputs", "dx", REPORT_BACKWARD_INPUT},
                  {"backward, weights", "dW", REPORT_BACKWARD_WEIGHT},
                  {"optimizer", "opt", REPORT_OPTIMIZER}};
    enum { PHASES = sizeof phases / sizeof phases[0] };
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_KINDS));
    PrintedTable by_phase = view_table_of(&profile, (ViewOptions){.by = VIEW_BY_PHASE});
    PrintedTable by_layer = view_table_of(&profile, (ViewOptions){.by = VIEW_BY_LAYER});
    for (int p = 0; p < PHASES; p++) {
        int found = 0, layers = 0;
        for (int r = 0; r < by_phase.n_rows; r++)
            if (strcmp(by_phase.rows[r].label, phases[p].label) == 0) {
                check_counts(&by_phase.rows[r], profile.totals[phases[p].phase].cost);
                found++;
            }
        ck_assert_int_eq(found, profile.totals[phases[p].phase].ops > 0);
        for (int r = 0; r < by_layer.n_rows; r++)
            for (int i = 0; i < profile.n_layers; i++) {
                const ProfileLayer *layer = &profile.layers[i];
                if (strcmp(by_layer.rows[r].phase, phases[p].cell) ||
                    strcmp(by_layer.rows[r].label, profile_layer_title(&profile, layer).s))
                    continue;
                check_counts(&by_layer.rows[r], layer->phase[phases[p].phase].cost);
                layers++;
            }
        for (int i = 0; i < profile.n_layers; i++)
            layers -= profile.layers[i].phase[phases[p].phase].ops > 0;
        ck_assert_int_eq(layers, 0);
    }
    profile_free(&profile);
}
END_TEST

START_TEST(counts_of_a_small_net_are_exact) {
    Profile profile = view_profile_new(2 * _i + 1, VIEW_TRAINING);
    PrintedTable table = view_table_of(&profile, (ViewOptions){.by = VIEW_BY_OP});
    ck_assert(table.flops_unit == 1.0 && table.bytes_unit == 1.0);
    double flops = 0.0, bytes = 0.0;
    for (int i = 0; i < table.n_rows; i++) {
        flops += table.rows[i].flops.value;
        bytes += table.rows[i].bytes.value;
    }
    OpCost cost = profile.totals[REPORT_STEP].cost;
    ck_assert(flops == (double)op_cost_total_flops(cost) && bytes == bytes_of(cost));
    profile_free(&profile);
}
END_TEST

START_TEST(the_top_is_the_beginning_of_the_whole) {
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_KINDS));
    for (int by = 0; by < VIEW_BY_COUNT; by++)
        for (int sort = 0; sort < VIEW_SORT_COUNT; sort++) {
            ViewOptions options = {(ViewBy)by, (ViewSort)sort, 0, NULL};
            PrintedTable whole = view_table_of(&profile, options);
            for (options.top = 1; options.top < whole.n_rows + 2; options.top++) {
                PrintedTable top = view_table_of(&profile, options);
                int want = options.top < whole.n_rows ? (int)options.top : whole.n_rows;
                ck_assert_int_eq(top.n_rows, want);
                ck_assert_int_eq(top.hidden, whole.n_rows - want);
                for (int i = 0; i < want; i++)
                    ck_assert_str_eq(top.rows[i].line, whole.rows[i].line);
                char said[64];
                snprintf(said, sizeof said, "; %d of %d rows\n", want, whole.n_rows);
                ck_assert_msg((strstr(top.heading, said) != NULL) == (top.hidden > 0), "%s",
                              top.heading);
            }
        }
    profile_free(&profile);
}
END_TEST

// A filtered view has the rows of the whole whose layers match, in the same order.
static void check_filter(const Profile *profile, ViewOptions options, const char *beginning) {
    PrintedTable some = view_table_of(profile, options);
    ck_assert_msg(strstr(some.heading, options.layer) != NULL, "%s", some.heading);
    options.layer = NULL;
    PrintedTable whole = view_table_of(profile, options);
    int found = 0;
    for (int i = 0; i < whole.n_rows; i++)
        if (strncmp(whole.rows[i].label, beginning, strlen(beginning)) == 0)
            ck_assert_str_eq(some.rows[found++].line, whole.rows[i].line);
    ck_assert_int_eq(found, some.n_rows);
    ck_assert_int_eq(some.hidden, whole.n_rows - found);
}

START_TEST(a_pattern_keeps_the_layers_that_match) {
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_KINDS));
    char update[40];
    snprintf(update, sizeof update, "%.30s*", profile.optimizer);
    for (int by = 0; by < VIEW_BY_PHASE; by++)
        for (int sort = 0; sort < VIEW_SORT_COUNT; sort++) {
            ViewOptions options = {(ViewBy)by, (ViewSort)sort, 0, "fc*"};
            check_filter(&profile, options, "fc");
            options.layer = "*"; // the same rows, with a remark
            check_filter(&profile, options, "");
            if (profile.kind != PROFILE_TRAINING) continue;
            options.layer = update; // the name in reports
            check_filter(&profile, options, profile.optimizer);
            options.layer = "[(]model)"; // its path as a pattern
            check_filter(&profile, options, profile.optimizer);
        }
    profile_free(&profile);
}
END_TEST

// ---- verdicts --------------------------------------------------------------------------------
START_TEST(every_op_is_judged_by_itself) {
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_KINDS));
    for (int64_t i = 0; i < profile.n_ops; i++) {
        const ProfileOp *op = &profile.ops[i];
        const Roofline *got = &op->roofline;
        OpCost cost = op->record.cost;
        double memory = 0.0, compute = (double)op_cost_total_flops(cost) / 100e6;
        for (int l = 0; l < profile.machine.n_levels; l++)
            memory +=
                (double)(op->record.traffic.level[l].read + op->record.traffic.level[l].written) /
                profile.machine.levels[l].bytes_per_second;
        if (!profile.has_machine) {
            ck_assert(!got->judged && got->roof_seconds == 0.0);
            continue;
        }
        double roof = fmax(compute, memory), seconds = latency_median(&op->latency);
        ck_assert_double_eq_tol(got->roof_seconds, roof, 1e-9 * roof);
        bool counted = roof > 0.0;
        ck_assert(got->judged == (counted && !isnan(seconds)));
        if (!got->judged) continue;
        ck_assert_double_eq_tol(got->roof_fraction, roof / seconds, 1e-9 * roof / seconds);
        double overhead = profile.machine.dispatch_seconds +
                          (double)op->record.traffic.handoffs * profile.machine.spin_seconds;
        Bound want = overhead > roof     ? BOUND_OVERHEAD
                     : compute >= memory ? BOUND_COMPUTE
                                         : BOUND_MEMORY;
        ck_assert_str_eq(bound_name(got->bound), bound_name(want));
    }
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {rows_say_what_their_ops_add_up_to_and_are_sorted, NETS},
        {phases_and_layers_agree_with_the_profiles_own_totals, NETS},
        {counts_of_a_small_net_are_exact, NETS / 2},
        {the_top_is_the_beginning_of_the_whole, NETS / 2},
        {a_pattern_keeps_the_layers_that_match, NETS},
        {every_op_is_judged_by_itself, NETS},
        {NULL, 0},
    };
    return harness_main("report_views", tests);
}

// view_table.c -- profiles for views, and the cells of a printed view by their columns.
#include "tests/profiler/report/view_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

// ---- profiles --------------------------------------------------------------------------------
static const Machine ceilings = {
    .measured = true,
    .threads = 1,
    .peak_flops_per_second = 100e6, // slow, so that no roof is 0 us
    .levels = {{.name = "L1", .bytes = 1024, .bytes_per_second = 80e6},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 20e6}},
    .n_levels = 2,
    .dispatch_seconds = 1e-7};

// Sets whole microseconds, which print exactly; the step is longer or shorter than the sum.
static void set_times(Profile *profile, int seed) {
    if (profile->totals[REPORT_STEP].latency.count == 0) return;
    int64_t sum = 0;
    for (int64_t i = 0; i < profile->n_ops; i++) {
        int64_t microseconds = 1 + (37 * i + seed) % 90;
        sum += microseconds;
        profile->ops[i].latency.statistics.median = 1e-6 * (double)microseconds;
    }
    int64_t rest = seed % 3 ? 13 : -5;
    profile->totals[REPORT_STEP].latency.statistics.median = 1e-6 * (double)(sum + rest);
    if (profile->has_machine) profile_judge(profile, false);
}

// A random net; every other one is so small that its counts are printed in ones.
static Net net_of(int seed) {
    Net net = net_random(seed);
    for (int i = 0; i < net.n_sizes && seed % 2; i++) net.sizes[i] = 1 + net.sizes[i] % 3;
    if (seed % 2) net.batch = 1 + net.batch % 2;
    if (seed % 2 && net.n_sizes > 3) net.n_sizes = 3;
    return net;
}

Profile view_profile_new(int seed, ViewKind kind) {
    if (kind == VIEW_META) context_set_device(device_meta());
    Net net = net_of(seed);
    NetTask task = net_task_new(&net);
    ProfileOptions options = {.warmup = 2,
                              .iterations = 1,
                              .machine = kind == VIEW_WITHOUT_MACHINE ? NULL : &ceilings};
    Profile profile;
    Status status = kind == VIEW_BACKWARD ? profile_backward(task.model, task.x, options, &profile)
                    : kind == VIEW_INFERENCE
                        ? profile_inference(task.model, task.x, options, &profile)
                        : profile_training(task.model, optimizer_defaults(net.optimizer), task.x,
                                           task.labels, options, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    net_task_free(&task);
    context_set_device(device_cpu());
    set_times(&profile, seed);
    return profile;
}

char *view_text_new(const Profile *profile, ViewOptions options) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    Status status = view_print(profile, options, file);
    fclose(file);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    expect_no_error();
    return text;
}

// ---- reading ---------------------------------------------------------------------------------
static void cell(const char *line, int from, int width, char *to) { // trims spaces
    int size = (int)strlen(line);
    *to = '\0';
    while (width > 0 && from < size && line[from] == ' ') from++, width--;
    if (from < size && width > 0) sprintf(to, "%.*s", width, line + from);
    for (size_t n = strlen(to); n > 0 && to[n - 1] == ' '; n--) to[n - 1] = '\0';
}

static PrintedNumber number(const char *line, int from, double unit) {
    char text[16], digits[16] = "";
    cell(line, from, 5, text);
    if (!text[0] || strcmp(text, "-") == 0) return (PrintedNumber){0.0, 0.0};
    if (strncmp(text, "<0.01", 5) == 0) return (PrintedNumber){0.0025 * unit, 0.0026 * unit};
    for (char *c = text, *to = digits; *c; c++)
        if (*c != ',') *to++ = *c;
    char *end;
    double value = strtod(digits, &end);
    ck_assert_msg(*end == '\0', "no number: '%s' in\n%s", text, line);
    const char *point = strchr(digits, '.');
    double last = point ? pow(10.0, -(double)strlen(point + 1)) : 1.0;
    return (PrintedNumber){value * unit, unit > 1.0 ? 0.50001 * last * unit : 0.0};
}

static double unit_of(const char *name, char base) { // unit of e.g. "MFLOP" with base 'F'
    const char *prefixes = "kMGTPE", *at = strchr(prefixes, name[0]);
    if (name[0] == base) return 1.0;
    ck_assert_msg(at && name[1] == base, "unit %s", name);
    return pow(1000.0, (double)(at - prefixes + 1));
}

enum { TIMED_LABEL = 19, COUNTED_LABEL = 36 };

static PrintedRow row_of(const PrintedTable *table, const char *line) {
    PrintedRow row = {.calls = 0};
    char calls[16];
    int at = table->timed ? TIMED_LABEL : COUNTED_LABEL, counts = at + (table->timed ? 26 : 15);
    snprintf(row.line, sizeof row.line, "%s", line);
    cell(line, 0, at, row.label);
    cell(line, at + 1, 3, row.phase);
    cell(line, at + 4, 5, calls);
    row.calls = atoll(calls);
    if (table->timed) {
        row.time = number(line, at + 10, 1.0);
        cell(line, at + 45, 4, row.roof);
        cell(line, at + 50, 11, row.bound);
    }
    row.flops = number(line, counts, table->flops_unit);
    row.bytes = number(line, counts + 6, table->bytes_unit);
    return row;
}

static void read_header(PrintedTable *table, const char *line) {
    char name[64];
    table->timed = strstr(line, " us ") != NULL;
    int counts = table->timed ? TIMED_LABEL + 26 : COUNTED_LABEL + 15;
    cell(line, counts, 5, name);
    table->flops_unit = unit_of(name, 'F');
    cell(line, counts + 6, 5, name);
    table->bytes_unit = unit_of(name, 'B');
    ck_assert(strstr(line, "FLOP/B"));
}

static PrintedTable read_table(char *text) {
    PrintedTable table = {.n_rows = 0};
    bool header = false;
    for (char *line; (line = strsep(&text, "\n")) && *line;) {
        PrintedRow row = {.calls = 0};
        if (header) row = row_of(&table, line);
        ck_assert_msg(!table.has_step, "after the step: %s", line);
        if (!header && strstr(line, " calls ")) {
            read_header(&table, line);
            header = true;
        } else if (!header) {
            strcat(strcat(table.heading, line), "\n");
        } else if (sscanf(line, "others (%ld)", &table.hidden) == 1) {
            table.has_others = true;
            table.others = row;
        } else if (strcmp(row.label, "unattributed") == 0) {
            table.has_unattributed = true;
            table.unattributed = row;
        } else if (strcmp(row.label, "step") == 0) {
            table.has_step = true;
            table.step = row;
        } else {
            ck_assert_int_lt(table.n_rows, VIEW_TABLE_MOST_ROWS);
            table.rows[table.n_rows++] = row;
        }
    }
    ck_assert(header && table.has_step);
    return table;
}

PrintedTable view_table_of(const Profile *profile, ViewOptions options) {
    char *text = view_text_new(profile, options);
    PrintedTable table = read_table(text);
    free(text);
    return table;
}

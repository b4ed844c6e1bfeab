// test_memory_report.c -- the printed and written memory over one step: 80 plain columns whatever
// the model's name, tables and documents that add up, and silence if the whole cannot be told.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/base/text.h"
#include "profiler/report/memory_curve.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"
#include "tests/profiler/report/profile_kinds.h"

enum { NETS = 24, PLOT_ROWS = 10, COLUMNS = 66, EDGE = 9 }; // EDGE: the column of the axis

static char *report_of(const Profile *profile) { // the text; free it
    static char *report;                         // static, or gcc thinks that it points to itself
    size_t size;
    FILE *file = open_memstream(&report, &size);
    ck_assert_int_eq(memory_print(profile, file), STATUS_OK);
    fclose(file);
    return report;
}

// ---- lines -----------------------------------------------------------------------------------
static void check_lines(const char *report) {
    char *copy = strdup(report), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        size_t size = strlen(line);
        ck_assert_msg(text_width(line) <= 80, "%d columns:\n%s", text_width(line), line);
        ck_assert_msg(size == 0 || line[size - 1] != ' ', "a space ends\n%s|", line);
        for (size_t i = 0; i < size; i++)
            ck_assert_msg((unsigned char)line[i] >= ' ' && line[i] != 0x7F, "byte %d in\n%s",
                          line[i], line);
        ck_assert_msg(!strstr(line, "nan") && !strstr(line, "inf"), "no number:\n%s", line);
    }
    free(copy);
}

// The line after the one that begins with `title`, or NULL.
static const char *behind(const char *report, const char *title) {
    const char *at = strncmp(report, title, strlen(title)) == 0 ? report : strstr(report, title);
    at = at ? strchr(at + 1, '\n') : NULL;
    return at ? at + 1 : NULL;
}

// The second to last number of a line.
static int64_t bytes_in(const char *line) {
    const char *end = line + strcspn(line, "\n");
    int64_t bytes = 0;
    while (end[-1] != ' ') end--; // skips the share
    while (end[-1] == ' ') end--;
    const char *number = end;
    while (number[-1] != ' ') number--;
    for (; number < end; number++)
        if (*number != ',') bytes = 10 * bytes + (*number - '0');
    return bytes;
}

// The last row before an empty line is the sum of the others. Returns it; 0 without such a table.
static int64_t table_sum(const char *report, const char *title) {
    const char *line = behind(report, title);
    int64_t sum = 0, last = 0;
    if (!line || strncmp(line, "  layer", 7) != 0) return 0;
    for (line = strchr(line, '\n') + 1; *line != '\n'; line = strchr(line, '\n') + 1) {
        sum += last;
        last = bytes_in(line);
    }
    ck_assert_msg(sum == last, "%s rows add up to %lld:\n%s", title, (long long)sum, report);
    return last;
}

// ---- the picture -----------------------------------------------------------------------------
// The peak's column is full, and no line of the picture is longer than the axis.
static void check_picture(const char *report) {
    const char *line = behind(report, "MEMORY  "), *rows[PLOT_ROWS], *axis;
    line = strchr(line, '\n') + 1;
    for (int i = 0; i < PLOT_ROWS; i++, line = strchr(line, '\n') + 1) rows[i] = line;
    axis = line;
    size_t width = strcspn(axis, "\n"), peak = strcspn(axis, "^");
    ck_assert_msg(peak < width && axis[EDGE] == '+' && axis[EDGE + 1 < peak ? EDGE + 1 : peak],
                  "no axis:\n%s", report);
    for (int i = 0; i < PLOT_ROWS; i++) {
        size_t length = strcspn(rows[i], "\n");
        ck_assert_msg(length > peak && length <= width && rows[i][peak] != ' ',
                      "row %d stops before the peak:\n%s", i, report);
        ck_assert_msg(rows[i][EDGE] == (i % 2 ? '|' : '+'), "row %d:\n%s", i, report);
        for (size_t at = EDGE + 1; i > 0 && at < strcspn(rows[i - 1], "\n"); at++)
            ck_assert_msg(rows[i - 1][at] == ' ' || (at < length && rows[i][at] != ' '),
                          "a hole in row %d:\n%s", i, report);
    }
}

// Each column is as high as its highest op, to the nearest row.
static void check_heights(const Profile *profile, const char *report) {
    MemoryCurve curve;
    ck_assert_int_eq(memory_curve_new(profile, &curve), STATUS_OK);
    int64_t n = curve.n_points, columns = n < COLUMNS ? COLUMNS / n * n : COLUMNS;
    int64_t base = strstr(report, "  above the ") ? profile->measured.start.total : 0;
    double row = (double)(profile->measured.peak.total - base) / PLOT_ROWS;
    for (int64_t c = 0; c < columns; c++) {
        int64_t most = 0, first = c * n / columns, next = (c + 1) * n / columns;
        for (int64_t i = first; i == first || i < next; i++)
            if (curve.points[i].live.total - base > most) most = curve.points[i].live.total - base;
        const char *line = strchr(behind(report, "MEMORY  "), '\n') + 1;
        for (int i = PLOT_ROWS - 1; i >= 0; i--, line = strchr(line, '\n') + 1) {
            size_t at = (size_t)(EDGE + 1 + c), length = strcspn(line, "\n");
            bool filled = at < length && line[at] != ' ';
            ck_assert_msg(filled == ((i + 0.5) * row < (double)most), "row %d, column %d:\n%s", i,
                          (int)c, report);
        }
    }
    memory_curve_free(&curve);
}

static void check_phases(const Profile *profile, const char *report) {
    static const char *const names[] = {" fwd", " bwd", " opt"};
    const bool happened[] = {true, profile->kind != PROFILE_INFERENCE,
                             profile->kind == PROFILE_TRAINING};
    const char *peak = strchr(report, '^'), *line = strchr(peak, '\n') + 1, *axis = peak;
    size_t length = strcspn(line, "\n");
    while (axis[-1] != '\n') axis--;
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(line, names[i]);
        bool shown = at && at < line + length;
        ck_assert_msg(shown == happened[i], "%s:\n%s", names[i], report);
        char above = shown ? axis[at + 1 - line] : '|'; // at a phase's begin, or at the peak
        ck_assert_msg(above == '|' || above == '^', "%s:\n%s", names[i], report);
    }
}

static void check_report(const Profile *profile) {
    char *report = report_of(profile);
    check_lines(report);
    check_picture(report);
    check_heights(profile, report);
    check_phases(profile, report);
    ck_assert_int_eq(table_sum(report, "\nAT THE PEAK"), profile->measured.peak.total);
    ck_assert_int_eq(table_sum(report, "\nKEPT FOR BACKWARD"), profile->measured.saved_bytes);
    bool training = profile->kind == PROFILE_TRAINING;
    ck_assert(training == (strstr(report, "\nOPTIMIZERS") != NULL));
    ck_assert(training == (strstr(report, "(in use)") != NULL));
    ck_assert(strstr(report, "\nSTATE") != NULL);
    free(report);
}

START_TEST(a_report_is_80_columns_wide_and_adds_up) {
    for (int kind = 0; kind < PROFILE_KINDS; kind++) {
        Profile profile = profile_random(_i, (ProfileKind)kind);
        check_report(&profile);
        profile_free(&profile);
    }
}
END_TEST

// 1 layer of 2 billion parameters; 64 layers, more ops than columns; a batch that dwarfs the rest.
START_TEST(models_of_any_size_fit_on_the_page) {
    static const int64_t sizes[][3] = {{2147483647, 1, 1}, {50, 50, 1}, {3, 2, 1000000000}};
    int64_t layers[65];
    int n = _i == 1 ? 65 : 2;
    context_set_device(device_meta());
    for (int i = 0; i < n; i++) layers[i] = sizes[_i][i > 0];
    Layer *model = mlp_new(layers, n, mlp_defaults());
    Tensor *x = tensor_new(SHAPE(sizes[_i][2], layers[0]), DTYPE_FLOAT32);
    Tensor *labels = tensor_new(SHAPE(sizes[_i][2]), DTYPE_INT64);
    Profile profile;
    profile_training(model, optimizer_defaults(OPTIMIZER_ADAMW), x, labels, profile_defaults(),
                     &profile);
    expect_no_error();
    check_report(&profile);
    char *report = report_of(&profile);
    ck_assert_msg((_i == 1) == (strstr(report, " more)") != NULL), "%s", report);
    ck_assert_int_lt(program_count_lines(report), 90);
    free(report);
    profile_free(&profile);
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
}
END_TEST

#define TEN(x) x x x x x x x x x x

START_TEST(a_layer_may_be_called_anything) {
    static const char *const names[] = {"",
                                        "a\nb\tc\033[31m",
                                        "100%s%n",
                                        "\xff\xfe\xc3(\xe2\x82",
                                        "\xc2\x9b"
                                        "1m",
                                        "sch\303\266n",
                                        TEN("long.name"),
                                        TEN("\303\266\303\266\303\266\303\266"),
                                        TEN("\xf0\x9f\x98\x80")};
    enum { NAMES = sizeof names / sizeof names[0] };
    Profile profile = profile_random(5, PROFILE_TRAINING);
    Op op = op_relu;
    op.name = names[(_i + 6) % NAMES];
    for (int64_t i = 0; i < profile.n_ops; i++) profile.ops[i].record.op = &op;
    for (int i = 0; i < profile.n_layers; i++) {
        snprintf(profile.layers[i].path, sizeof profile.layers[i].path, "%s", names[_i]);
        snprintf(profile.layers[i].type, sizeof profile.layers[i].type, "%s", names[_i]);
    }
    char *report = report_of(&profile);
    if (_i == 5) ck_assert_msg(strstr(report, "  sch\303\266n ") != NULL, "%s", report);
    if (_i == 1) ck_assert_msg(strstr(report, "  a?b?c?[31m ") != NULL, "%s", report);
    if (_i == 6) ck_assert_msg(strstr(report, "long.name~ ") || strstr(report, "~ "), "%s", report);
    free(report);
    check_report(&profile);
    profile_free(&profile);
}
END_TEST

START_TEST(a_profile_of_nothing_is_said_to_be_one) {
    ProfileOp op = {.record = {.op = &op_relu}};
    ProfileLayer layer = {.path = "relu"};
    Profile profile = {.ops = &op, .n_ops = _i, .layers = &layer, .n_layers = _i};
    profile.measured.start = profile.measured.peak = (MemoryUse){{[MEM_DATA] = 5}, 5};
    if (_i == 0) profile.measured = (ProfileMemory){0};
    char *report = report_of(&profile);
    check_lines(report);
    ck_assert_msg(strstr(report, _i ? "over its 1 op (fwd 1)\n" : "over its 0 ops\n"), "%s",
                  report);
    ck_assert_msg(strstr(report, "nothing was asked for") != NULL, "%s", report);
    ck_assert_int_eq(table_sum(report, "\nAT THE PEAK"), 5 * _i);
    free(report);
}
END_TEST

// ---- failures --------------------------------------------------------------------------------
typedef Status (*Writer)(const Profile *profile, FILE *stream, const char *path);
static Status print_it(const Profile *profile, FILE *stream, const char *path) {
    (void)path;
    return memory_print(profile, stream);
}
static Status write_it(const Profile *profile, FILE *stream, const char *path) {
    (void)stream;
    return memory_write_json(profile, path);
}
static const Writer writers[] = {print_it, write_it};

START_TEST(memory_may_run_out_at_any_request) {
    Profile profile = profile_random(1, PROFILE_TRAINING);
    char path[] = "/tmp/memory-report-XXXXXX", *report = NULL;
    size_t size;
    uint64_t n = 0;
    bool reached = true;
    close(mkstemp(path));
    unlink(path);
    while (reached) {
        FILE *stream = open_memstream(&report, &size);
        uint64_t before = memory_requests();
        memory_fail_at(++n);
        Status status = writers[_i](&profile, stream, path);
        memory_fail_at(0);
        fclose(stream);
        reached = memory_requests() - before >= n;
        ck_assert_int_eq(status, reached ? STATUS_OUT_OF_MEMORY : STATUS_OK);
        if (reached) expect_error(STATUS_OUT_OF_MEMORY, "memory: ");
        ck_assert_msg(!reached || size == 0, "half a report:\n%s", report);
        ck_assert(access(path, F_OK) == (_i == 1 && !reached ? 0 : -1));
        free(report);
    }
    ck_assert_uint_ge(n, 4);
    unlink(path);
    profile_free(&profile);
}
END_TEST

START_TEST(what_cannot_be_written_is_an_error) {
    Profile profile = profile_random(1, PROFILE_TRAINING);
    FILE *full = fopen("/dev/full", "w");
    ck_assert_int_eq(writers[_i](&profile, full, "/dev/full"), STATUS_IO);
    expect_error(STATUS_IO, "No space left on device");
    ck_assert_int_eq(memory_write_json(&profile, "/nonexistent/memory.json"), STATUS_IO);
    expect_error(STATUS_IO, "/nonexistent/memory.json");
    fclose(full);
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_report_is_80_columns_wide_and_adds_up, NETS},
        {models_of_any_size_fit_on_the_page, 3},
        {a_layer_may_be_called_anything, 9},
        {a_profile_of_nothing_is_said_to_be_one, 2},
        {memory_may_run_out_at_any_request, 2},
        {what_cannot_be_written_is_an_error, 2},
        {NULL, 0},
    };
    return harness_main("memory_report", tests);
}

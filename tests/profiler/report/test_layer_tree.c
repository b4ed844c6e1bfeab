// test_layer_tree.c -- the tree of --summary: shapes and parameters of every module compared with
// torchvision's, sums over containers, tied and frozen parameters, equal neighbours.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/report/layer_tree.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

// ---- reading the tree --------------------------------------------------------------------------
enum { MOST_ROWS = 400, MOST_DEPTH = 12, NAME = 40 };

typedef struct Row { // of one layer, or of equal neighbours `first` to `last`
    int depth;
    char first[MOST_DEPTH][NAME], last[MOST_DEPTH][NAME]; // names from the outermost on
    char output[40], parameters[16], trains[8], macs[16];
} Row;

typedef struct Rows {
    Row row[MOST_ROWS];
    int n;
} Rows;

static void read_name(const char *label, char first[NAME], char last[NAME]) {
    int times;
    snprintf(first, NAME, "%.*s", (int)strcspn(label, ": "), label);
    char *dots = strstr(first, "..");
    memcpy(last, first, NAME);
    if (!dots) return;
    snprintf(last, NAME, "%.*s", NAME - 1, dots + 2);
    *dots = '\0';
    ck_assert_int_eq(sscanf(strchr(label, ' '), " x%d:", &times), 1);
    ck_assert_int_ge(times, 2);
}

static void read_cell(const char *line, int from, int width, char *cell) {
    char text[80];
    snprintf(text, sizeof text, "%.*s", width, line + from);
    size_t blanks = strspn(text, " ");
    snprintf(cell, (size_t)width + 1, "%s", text + blanks);
    for (size_t n = strlen(cell); n > 0 && cell[n - 1] == ' ';) cell[--n] = '\0';
}

static Rows *rows_new(const char *text) {
    Rows *rows = calloc(1, sizeof *rows);
    const char *line = strchr(strchr(text, '\n') + 1, '\n') + 1; // after the two headings
    for (; *line != '\n'; line = strchr(line, '\n') + 1) {
        Row *row = &rows->row[rows->n++];
        row->depth = (int)strspn(line, " ") / 2;
        ck_assert_int_le((int)strcspn(line, "\n"), 80);
        if (row->depth > 0) memcpy(row, row - 1, offsetof(Row, output)); // enclosing names
        row->depth = (int)strspn(line, " ") / 2;
        int at = row->depth - 1;
        if (at >= 0) read_name(line + 2 * row->depth, row->first[at], row->last[at]);
        read_cell(line, 36, 20, row->output);
        read_cell(line, 56, 9, row->parameters);
        read_cell(line, 65, 6, row->trains);
        read_cell(line, 71, (int)strcspn(line, "\n") - 71, row->macs);
    }
    return rows;
}

static bool within(const char *name, const char *first, const char *last) {
    char *end;
    long n = strtol(name, &end, 10);
    bool number = !*end && first[0] >= '0' && first[0] <= '9';
    return number ? n >= atol(first) && n <= atol(last)
                  : strcmp(name, first) == 0 || strcmp(name, last) == 0;
}

static const Row *row_of(const Rows *rows, const char *path) {
    for (int i = 0; i < rows->n; i++) {
        char copy[160], *rest = copy;
        int depth = 0;
        bool same = true;
        snprintf(copy, sizeof copy, "%s", path);
        for (char *name; (name = strsep(&rest, ".")); depth++)
            same = same && depth < rows->row[i].depth &&
                   within(name, rows->row[i].first[depth], rows->row[i].last[depth]);
        if (same && depth == rows->row[i].depth) return &rows->row[i];
    }
    ck_abort_msg("no row of %s", path);
    return NULL;
}

static ProgramRun run(const char *arguments) {
    ProgramRun got = program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s: %s", arguments, got.err);
    return got;
}

static Rows *summary_new(const char *arguments) {
    char all[320];
    snprintf(all, sizeof all, "%s --summary --depth 9", arguments);
    ProgramRun got = run(all);
    Rows *rows = rows_new(got.out);
    program_run_free(&got);
    return rows;
}

// ---- compared with torchvision -----------------------------------------------------------------
// Removes spaces, as the fixture does.
static void close_up(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ') *to++ = *from;
    *to = '\0';
}

START_TEST(every_module_is_torchvisions) {
    static const char *const names[] = {"resnet18", "mobilenet_v2", "squeezenet1_1"};
    char line[200], network[40], path[100], shape[40], arguments[80];
    long long parameters;
    int compared = 0;
    snprintf(arguments, sizeof arguments, "%s --batch 2 --image 64", names[_i]);
    Rows *rows = summary_new(arguments);
    FILE *file = fopen("tests/fixtures/layer_tree.txt", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%39s %99s %39s %lld", network, path, shape, &parameters) != 4 ||
            strcmp(network, names[_i]) != 0)
            continue;
        Row row = *row_of(rows, path);
        close_up(row.output);
        const char *count = parameters ? text_short_count(parameters).s : "-";
        ck_assert_msg(strcmp(row.output, shape) == 0, "%s: %s, not %s", path, row.output, shape);
        ck_assert_msg(strcmp(row.parameters, count) == 0, "%s: %s", path, row.parameters);
        compared++;
    }
    fclose(file);
    free(rows);
    ck_assert_int_ge(compared, 50);
}
END_TEST

// ---- rows --------------------------------------------------------------------------------------
static void check_row(const Row *row, const char *parameters, const char *trains,
                      const char *macs) {
    ck_assert_str_eq(row->parameters, parameters);
    ck_assert_str_eq(row->trains, trains);
    ck_assert_str_eq(row->macs, macs);
}

START_TEST(a_container_is_the_sum_of_what_is_in_it) {
    Rows *rows = summary_new("4*Sequential(Linear(3,3)Tanh)Linear(3,17)@7x3");
    ck_assert_int_eq(rows->n, 5); // four equal ones are one row, with two inside
    check_row(&rows->row[0], "116", "yes", "609");
    check_row(row_of(rows, "0"), "12", "yes", "63");
    ck_assert_ptr_eq(row_of(rows, "3"), row_of(rows, "0"));
    check_row(row_of(rows, "2.0"), "12", "yes", "63");
    check_row(row_of(rows, "2.1"), "-", "", "-");
    check_row(row_of(rows, "4"), "68", "yes", "357");
    free(rows);
    rows = summary_new("Linear(3,3)Linear(3,3)Linear(3,4)Linear(4,3)Identity@0x3");
    ck_assert_int_eq(rows->n, 5);
    check_row(row_of(rows, "1"), "12", "yes", "-"); // the batch is empty
    ck_assert_str_eq(row_of(rows, "1")->output, "(0, 3)");
    ck_assert_str_eq(row_of(rows, "4")->output, "-");
    free(rows);
    rows = summary_new("MaxPool2d(2)MaxPool2d(2)Conv2d(1,1,1)@1x1x8x8"); // their outputs differ
    ck_assert_int_eq(rows->n, 4);
    free(rows);
}
END_TEST

START_TEST(tied_and_frozen_parameters) {
    Rows *rows = summary_new("a:Linear(3,3,bias=false)b:Linear(3,3,bias=false)c:Linear(3,3)"
                             "tie(b.weight,a.weight)tie(c.weight,a.weight)freeze(a)@2x3");
    check_row(&rows->row[0], "12", "part", "54");
    check_row(row_of(rows, "a"), "9", "no", "18");
    check_row(row_of(rows, "b"), "(tied)", "", "18");
    check_row(row_of(rows, "c"), "3", "yes", "18");
    free(rows);
}
END_TEST

// A path too long for a call site: its cost appears at the enclosing layer.
START_TEST(long_names_and_deep_ones) {
#define LONG "a1234567890123456789012345678901234"
    Rows *rows = summary_new(LONG ":Sequential(" LONG ":Sequential(" LONG
                                  ":Sequential(x:Linear(3,5))))@2x3");
    ck_assert_int_eq(rows->n, 5);
    for (int i = 0; i < 3; i++) check_row(&rows->row[i], "20", "yes", "30");
    check_row(&rows->row[4], "20", "yes", "-");
    free(rows);
}
END_TEST

// ---- totals ------------------------------------------------------------------------------------
// Totals equal those of the document.
START_TEST(totals_are_the_profiles) {
#define HALF "resnet18 --freeze layer1* "
    ProgramRun got = run(HALF "--summary --depth 0");
    json_t *document = document_of("profile_model", HALF "--device meta");
    int64_t all = document_integer(document, "model.parameters");
    int64_t frozen = all - document_integer(document, "model.trainable_parameters");
    char totals[1400];
    ck_assert_int_gt(frozen, 0);
    snprintf(totals, sizeof totals,
             "of them frozen %s\n"
             "MACs                %s forward, of the whole batch\n"
             "inference           %s at its peak\n"
             "activations         %s kept by forward for backward\n"
             "a training step     %s at its peak with Adam: all of the above,\n"
             "                    gradients, state, batch; %s of it activations\n",
             text_count(frozen).s, text_count(document_integer(document, "totals.forward.macs")).s,
             text_bytes_si(document_integer(document, "memory.inference_peak_bytes")).s,
             text_bytes_si(document_integer(document, "memory.predicted.saved_bytes")).s,
             text_bytes_si(document_integer(document, "memory.predicted.peak_bytes")).s,
             text_bytes_si(document_integer(document, "memory.predicted.activation_bytes")).s);
    ck_assert_msg(strstr(got.out, totals) != NULL, "no %s in %s", totals, got.out);
    json_decref(document);
    program_run_free(&got);
}
END_TEST

START_TEST(depth_and_totals) {
    ProgramRun got = run("resnet18 --summary --depth 0");
    ck_assert_int_eq(program_count_lines(got.out), 3 + 1 + 6);
    ck_assert_ptr_nonnull(strstr(got.out, "11,689,512 (46.8 MB), of them frozen 0\n"));
    ck_assert_ptr_nonnull(strstr(got.out, " 1,814,073,344 forward"));
    program_run_free(&got);
    got = run("gpt2 --summary --inference --depth 2");
    ck_assert_ptr_nonnull(strstr(got.out, " 124,439,808 ("));
    ck_assert_ptr_nonnull(strstr(got.out, "\n    h: ModuleList "));
    ck_assert_ptr_null(strstr(got.out, "0..11"));
    ck_assert_ptr_null(strstr(got.out, "training step"));
    program_run_free(&got);
    got = program_run(program_path("profile_mlp"), "--summary", PROGRAM_CAPTURED);
    ck_assert_msg(strstr(got.out, "\n  fc1: Linear ") && strstr(got.out, " 535,818 "), "%s",
                  got.out);
    program_run_free(&got);
    got = run("lenet5 --summary --weights --iterations 1 --warmup 2"); // runs the model
    ck_assert_ptr_nonnull(strstr(got.out, "\n\nWEIGHTS"));
    program_run_free(&got);
    got = run("Linear(64,64)Linear(64,64)Linear(64,64)Linear(64,64)@16777216x64 --accumulate 1024 "
              "--summary --memory-budget 1TB --device meta");
    ck_assert_ptr_nonnull(strstr(got.out, ", batch 16777216 x 1024, fp32\n"));
    ck_assert_ptr_nonnull(strstr(got.out, " with Adam,\n  of 1,024 batches\n"));
    program_check_columns(got.out);
    program_run_free(&got);
}
END_TEST

START_TEST(without_memory_nothing_is_printed) {
    context_set_device(device_meta());
    Layer *model = mlp_new((int64_t[]){3, 4, 2}, 3, mlp_defaults());
    Tensor *x = tensor_uniform_new(SHAPE(5, 3), 0.0f, 1.0f);
    Profile profile;
    ck_assert_int_eq(profile_inference(model, x, profile_defaults(), &profile), STATUS_OK);
    FILE *file = tmpfile();
    ck_assert_int_eq(layer_tree_print(&profile, model, -1, file), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "-1");
    uint64_t n = 1;
    for (Status status = STATUS_OUT_OF_MEMORY; status; n++) {
        memory_fail_at(n);
        status = layer_tree_print(&profile, model, 3, file);
        memory_fail_at(0);
        if (!status) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(ftell(file), 0);
    }
    ck_assert_int_eq((int)n, 4);
    ck_assert_int_gt(ftell(file), 0);
    fclose(file);
    profile_free(&profile);
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_module_is_torchvisions, 3},      {a_container_is_the_sum_of_what_is_in_it, 0},
        {tied_and_frozen_parameters, 0},        {long_names_and_deep_ones, 0},
        {totals_are_the_profiles, 0},           {depth_and_totals, 0},
        {without_memory_nothing_is_printed, 0}, {NULL, 0},
    };
    return harness_main("layer_tree", tests);
}

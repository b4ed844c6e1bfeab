// test_cuda_support.c -- writes cuda/SUPPORT.md, the list of ops whose results on cuda have the
// CPU's bits, and as a test checks that the committed file is still true. With a GPU's plug-in it
// writes the GPU's column, with the emulated one the emulator's, and keeps the other:
//
//     [RIDGEPOINT_CUDA_PLUGIN=...] build/normal/tests/test_cuda_support --write
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cuda_device.h"
#include "tests/cuda/cuda_runs.h"
#include "tests/helpers/expect.h"

#define SUPPORT "cuda/SUPPORT.md"
#define ON_GPU "On a GPU: "
enum { EMULATED, GPU, DEVICES, COLUMNS = 3, NAME = 64 };

typedef struct Support {
    char state[OP_COUNT][DEVICES][NAME];
    char gpu[DEVICE_REASON];
} Support;

// ---- measuring ---------------------------------------------------------------------------------
// Products come from a BLAS, whose order of summation is its own and differs between machines.
static bool is_product(const Op *op) { return op->story && op->story->factors; }

static bool same_bits(const Outcome *a, const Outcome *b, int record) {
    const OutcomeRecord *of_a = &a->records[record], *of_b = &b->records[record];
    size_t bytes = of_a->end - of_a->begin;
    if (bytes != of_b->end - of_b->begin || bytes == 0) return bytes == 0;
    return memcmp(a->written + of_a->begin, b->written + of_b->begin, bytes) == 0;
}

// An op with other inputs is not judged by its other results; nor do its bits count as equal if
// that happened to the largest result that it ever wrote.
typedef struct Verdict { // on an op, over all cases
    bool ran, differs;
    size_t judged, met; // bytes of its largest result with equal inputs, and with any
} Verdict;

static void judge(const Outcome *cuda, const Outcome *cpu, Verdict verdicts[OP_COUNT]) {
    ck_assert_int_eq(cuda->n_records, cpu->n_records);
    for (int r = 0; r < cuda->n_records; r++) {
        const OutcomeRecord *record = &cuda->records[r];
        Verdict *verdict = &verdicts[record->op];
        size_t bytes = record->end - record->begin;
        verdict->ran = true;
        if (bytes > verdict->met) verdict->met = bytes;
        if (record->inputs != cpu->records[r].inputs) continue;
        if (bytes > verdict->judged) verdict->judged = bytes;
        verdict->differs = verdict->differs || !same_bits(cuda, cpu, r);
    }
}

static const char *verdict_text(const Verdict *self, const Op *op) {
    if (!self->ran) return "-";
    if (op->flags & OP_VIEW) return "view";
    return self->differs || is_product(op) || self->judged < self->met ? "close" : "bits";
}

static void measure(Support *self) {
    harness_allow(4); // all cases of all ops, twice: 36 seconds, and growing
    Device *device = cuda_device_use();
    DeviceState devices[3];
    device_list(devices, 3);
    bool emulated = strncmp(devices[2].reason, "Fake GPU", 8) == 0;
    int column = emulated ? EMULATED : GPU;
    if (!emulated) snprintf(self->gpu, sizeof self->gpu, "%s", devices[2].reason);
    Verdict verdicts[OP_COUNT] = {{0}};
    for (int i = 0; i < op_case_count(); i++) {
        OpCase one = op_case_at(i);
        Outcome *cpu = outcome_of_case(&one, device_cpu(), true);
        Outcome *cuda = outcome_of_case(&one, device, true);
        judge(cuda, cpu, verdicts);
        outcome_free(cpu);
        outcome_free(cuda);
    }
    for (int i = 1; i < OP_COUNT; i++)
        snprintf(self->state[i][column], NAME, "%s", verdict_text(&verdicts[i], op_by_id(i)));
}

// ---- the file ----------------------------------------------------------------------------------
static void take_cells(Support *self, const char *line) {
    char name[NAME], states[DEVICES][NAME];
    int length;
    while (sscanf(line, "| `%63[a-z0-9_]` | %63[^ |] | %63[^|]%n", name, states[0], states[1],
                  &length) == 3) {
        line += length;
        for (int i = 1; i < OP_COUNT; i++) {
            if (strcmp(op_by_id(i)->name, name) != 0) continue;
            states[GPU][strcspn(states[GPU], "\n")] = '\0';
            size_t end = strlen(states[GPU]);
            while (end > 0 && states[GPU][end - 1] == ' ') states[GPU][--end] = '\0';
            for (int d = 0; d < DEVICES; d++) memcpy(self->state[i][d], states[d], NAME);
        }
    }
}

// Reads the file's word on each op; returns the text. An op that the file omits did not run.
static char *read_file(Support *self) {
    char *text = NULL, line[1024];
    size_t size = 0;
    snprintf(self->gpu, sizeof self->gpu, "none was there yet.");
    for (int i = 1; i < OP_COUNT; i++)
        for (int d = 0; d < DEVICES; d++) snprintf(self->state[i][d], NAME, "not run");
    FILE *copy = open_memstream(&text, &size), *file = fopen(SUPPORT, "r");
    while (file && fgets(line, sizeof line, file)) {
        fputs(line, copy);
        take_cells(self, line);
        if (strncmp(line, ON_GPU, strlen(ON_GPU)) == 0)
            sscanf(line + strlen(ON_GPU), "%511[^\n]", self->gpu);
    }
    if (file) fclose(file);
    fclose(copy);
    return text;
}

static char *text_new(const Support *self) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    fprintf(file, "# What runs on cuda\n\n"
                  "Each op beside the cpu, over all op cases of the tests, forward and backward. "
                  "`bits`: from the same\ninputs the same bits, every time. `close`: within the "
                  "tolerance of its case, because sums are added in\nanother order, by itself or "
                  "by what it was given. `view`: there is no kernel. Written by\n"
                  "`build/normal/tests/test_cuda_support --write`; `make test` says when it is no "
                  "longer true.\n\n");
    for (int c = 0; c < COLUMNS; c++) fprintf(file, "| op | emulated | GPU ");
    fprintf(file, "|\n");
    for (int c = 0; c < COLUMNS; c++) fprintf(file, "|---|---|---");
    fprintf(file, "|\n");
    int rows = (OP_COUNT - 1 + COLUMNS - 1) / COLUMNS;
    for (int row = 1; row <= rows; row++) {
        for (int i = row; i <= COLUMNS * rows; i += rows)
            if (i < OP_COUNT)
                fprintf(file, "| `%s` | %s | %s ", op_by_id(i)->name, self->state[i][EMULATED],
                        self->state[i][GPU]);
            else
                fprintf(file, "| | | ");
        fprintf(file, "|\n");
    }
    fprintf(file, "\n" ON_GPU "%s\n", self->gpu);
    fclose(file);
    return text;
}

START_TEST(the_committed_file_is_true) {
    Support support;
    cuda_device_fake("fake_calls"); // skips on a GPU, which the file may not cover yet
    char *committed = read_file(&support);
    measure(&support);
    char *text = text_new(&support);
    int line = 1;
    size_t i = 0;
    for (; text[i] && text[i] == committed[i]; i++) line += text[i] == '\n';
    ck_assert_msg(text[i] == committed[i],
                  SUPPORT ":%d is no longer true. HINT: build/normal/tests/test_cuda_support "
                          "--write, and look at the difference",
                  line);
    free(committed);
    free(text);
}
END_TEST

START_TEST(write_the_file) {
    Support support;
    free(read_file(&support));
    measure(&support);
    char *text = text_new(&support);
    FILE *file = fopen(SUPPORT, "w");
    ck_assert_msg(file && fputs(text, file) >= 0 && fclose(file) == 0, SUPPORT ": not written");
    free(text);
}
END_TEST

int main(int argc, char **argv) {
    bool write = argc > 1 && strcmp(argv[1], "--write") == 0;
    const HarnessTest tests[] = {{write ? write_the_file : the_committed_file_is_true, 0},
                                 {NULL, 0}};
    return harness_main("cuda_support", tests);
}

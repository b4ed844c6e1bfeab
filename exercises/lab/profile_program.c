// profile_program.c -- the program that ./lab profile runs: it prints a real report, and the
// numbers of the library beside those of the student's functions, with the real clock and without a
// worker. It is linked with those of the student's files that compile.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/ex01_count_parameters.h"
#include "exercises/ex02_count_flops.h"
#include "exercises/ex03_count_bytes.h"
#include "exercises/ex04_roofline.h"
#include "exercises/ex05_clock.h"
#include "exercises/ex06_measure_latency.h"
#include "exercises/ex08_memory.h"
#include "exercises/ex09_profile_forward_pass.h"
#include "exercises/lab/profile_library.h"
#include "exercises/support/model_line.h"
#include "profiler/base/text.h"
#include "tensor/context.h"

// The function of a file that does not compile is NULL.
#pragma weak count_parameters
#pragma weak count_flops
#pragma weak count_bytes
#pragma weak roofline
#pragma weak clock_elapsed
#pragma weak measure_latency
#pragma weak training_memory
#pragma weak profile_forward_pass

#define MODEL "Linear(784,512) ReLU Linear(512,256) ReLU Linear(256,10) @ 64x784"

typedef struct Bench {
    Layer *model;
    Tensor *x;
    const char *peaks; // a machine file; NULL: this machine
    LibraryNumbers library;
} Bench;

// ---- rows --------------------------------------------------------------------------------------
static const char *current = ""; // the exercise whose code runs, for a crash

static void row(const char *what, const char *yours, const char *library, const char *verdict) {
    printf("  %-24s %17s %17s   %s\n", what, yours, library, verdict);
}

static void count_row(const char *what, int64_t yours, int64_t library) {
    row(what, text_count(yours).s, text_count(library).s, yours == library ? "same" : "DIFFERENT");
}

static void real_row(const char *what, double yours, double library) {
    bool same = fabs(yours - library) <= 1e-9 * fabs(library);
    row(what, text_number(yours).s, text_number(library).s, same ? "same" : "DIFFERENT");
}

// Two measurements are never equal, so the row shows how close they are.
static void time_row(const char *what, double yours, double library) {
    char verdict[32];
    snprintf(verdict, sizeof verdict, "%.2f x", yours / library);
    row(what, text_duration(yours).s, text_duration(library).s, verdict);
}

// True if there is a number; else prints why not.
static bool is_there(const char *number, const char *what, bool linked, Status status) {
    char why[80];
    if (linked && !status) return true;
    if (!linked)
        snprintf(why, sizeof why, "does not compile (exercise %s)", number);
    else if (status == STATUS_NOT_IMPLEMENTED)
        snprintf(why, sizeof why, "not implemented (exercise %s)", number);
    else
        snprintf(why, sizeof why, "%s (exercise %s)", status_name(status), number);
    printf("  %-24s %s\n", what, why);
    return false;
}

// ---- the student's functions -------------------------------------------------------------------
static void counts(Bench *bench) {
    int64_t parameters = 0, flops = 0;
    Traffic traffic = {0, 0};
    Shape input = tensor_shape(bench->x);
    current = "01";
    Status status = count_parameters ? count_parameters(bench->model, &parameters) : STATUS_OK;
    if (is_there("01", "parameters", count_parameters, status))
        count_row("parameters", parameters, bench->library.parameters);
    current = "02";
    status = count_flops ? count_flops(bench->model, input, &flops) : STATUS_OK;
    if (is_there("02", "FLOPs of a sample", count_flops, status))
        count_row("FLOPs of a sample", flops, bench->library.flops);
    current = "03";
    status = count_bytes ? count_bytes(bench->model, input, &traffic) : STATUS_OK;
    if (!is_there("03", "bytes of a forward", count_bytes, status)) return;
    count_row("bytes read", traffic.bytes_read, bench->library.bytes_read);
    count_row("bytes written", traffic.bytes_written, bench->library.bytes_written);
}

static void roof(Bench *bench) {
    const LibraryNumbers *library = &bench->library;
    RooflineInput input = {.flops = library->flops * tensor_shape(bench->x).dims[0],
                           .bytes = library->bytes_read + library->bytes_written,
                           .peak_flops_per_second = library->peak_flops_per_second,
                           .bytes_per_second = library->bytes_per_second,
                           .measured_seconds = library->median_seconds};
    RooflineResult result = {0};
    current = "04";
    Status status = roofline ? roofline(&input, &result) : STATUS_OK;
    if (!is_there("04", "roofline", roofline, status)) return;
    real_row("intensity, FLOP/B", result.intensity, library->intensity);
    real_row("ridge, FLOP/B", result.ridge, library->ridge);
    real_row("roof, us", 1e6 * result.roof_seconds, 1e6 * library->roof_seconds);
    bool same = (result.bound == COMPUTE_BOUND) == library->compute_bound;
    row("bound", result.bound == COMPUTE_BOUND ? "compute" : "memory",
        library->compute_bound ? "compute" : "memory", same ? "same" : "DIFFERENT");
}

static void run_forward(void *argument) {
    Bench *bench = argument;
    Scope *scope = scope_open();
    if (scope) layer_forward(bench->model, bench->x);
    scope_close(scope);
}

static void times(Bench *bench) {
    double seconds = 0.0;
    LatencyResult latency = {0};
    LatencyOptions options = {.warmup = 10, .iterations = 100};
    current = "05";
    Status status = clock_elapsed ? clock_elapsed(run_forward, bench, &seconds) : STATUS_OK;
    if (is_there("05", "one forward", clock_elapsed, status))
        time_row("one forward", seconds, bench->library.median_seconds);
    current = "06";
    status = measure_latency ? measure_latency(run_forward, bench, options, &latency) : STATUS_OK;
    if (!is_there("06", "latency of a forward", measure_latency, status)) return;
    time_row("median of 100 forwards", latency.median, bench->library.median_seconds);
    time_row("the fastest of them", latency.min, bench->library.min_seconds);
}

static void memory(Bench *bench) {
    TrainingMemory bytes = {0};
    current = "08";
    Status status = training_memory ? training_memory(bench->model, tensor_shape(bench->x),
                                                      OPTIMIZER_ADAM, &bytes)
                                    : STATUS_OK;
    if (!is_there("08", "memory of a step, Adam", training_memory, status)) return;
    count_row("parameters, B", bytes.parameter_bytes, bench->library.parameter_bytes);
    count_row("gradients, B", bytes.gradient_bytes, bench->library.gradient_bytes);
    count_row("optimizer state, B", bytes.optimizer_bytes, bench->library.optimizer_bytes);
    count_row("saved activations, B", bytes.activation_bytes, bench->library.saved_bytes);
}

static void forward_pass(Bench *bench) {
    ForwardMachine machine = {bench->library.peak_flops_per_second,
                              bench->library.bytes_per_second};
    static ForwardProfile profile;
    current = "09";
    Status status = profile_forward_pass
                        ? profile_forward_pass(bench->model, bench->x, machine, &profile)
                        : STATUS_OK;
    if (!is_there("09", "profile of a forward", profile_forward_pass, status)) return;
    double batch = (double)tensor_shape(bench->x).dims[0];
    count_row("its FLOPs", profile.flops, bench->library.flops * tensor_shape(bench->x).dims[0]);
    time_row("its time", profile.seconds, bench->library.median_seconds);
    row("samples/s", text_number(profile.samples_per_second).s,
        text_number(batch / bench->library.median_seconds).s, "");
}

// ---- the program -------------------------------------------------------------------------------
static void on_crash(int number) {
    static const char message[] = "lab: your code crashed; ./lab check shows where: exercise ";
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    written += write(STDERR_FILENO, current, strlen(current));
    written += write(STDERR_FILENO, "\n", 1);
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

static Status compare(Bench *bench) {
    Status status = library_profile(bench->model, bench->x, bench->peaks, stdout, &bench->library);
    if (status) return status;
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (int i = 0; i < 5; i++) signal(crashes[i], on_crash);
    printf("\nYOUR NUMBERS  %s\n", MODEL);
    printf("  ceilings %s GFLOP/s and %s GB/s (%s), as your roofline is given them\n",
           text_number(1e-9 * bench->library.peak_flops_per_second).s,
           text_number(1e-9 * bench->library.bytes_per_second).s, bench->library.level);
    row("", "yours", "the library's", "");
    static void (*const parts[])(Bench *) = {counts, roof, times, memory, forward_pass};
    for (int i = 0; i < 5; i++) {
        parts[i](bench);
        fflush(stdout); // keeps the output if the next function crashes
        error_clear();
    }
    return STATUS_OK;
}

int main(int argc, char **argv) {
    Bench bench = {.peaks = argc > 1 ? argv[1] : NULL};
    Shape input;
    bench.model = model_from_line(MODEL, &input);
    bench.x = bench.model ? tensor_new_as(input, DTYPE_FLOAT32, MEM_DATA) : NULL;
    Status status = bench.x ? tensor_fill_uniform(bench.x, 0.0f, 1.0f) : error_status();
    if (!status) status = compare(&bench);
    if (status) fprintf(stderr, "lab: %s\n", error_message());
    tensor_free(bench.x);
    layer_free(bench.model);
    context_release_thread();
    return status ? 1 : 0;
}

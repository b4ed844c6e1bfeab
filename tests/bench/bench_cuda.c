// bench_cuda.c -- the cuda device beside what the same card can do: a device copy, cuBLAS's own
// product, PyTorch; in one run and in turns, so that only ratios count. Exit status 1 when a ratio
// misses its gate, 77 where there is no GPU.
//
//     make bench-cuda                                 RIDGEPOINT_BENCH_SECONDS=120 for calmer
//     figures bench_cuda RAW [--smoke] [--gates PERCENT]      small sizes, and gates so much as
//     high: for
//                                                     the test of this program, over the emulator
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/plugin.h"
#include "tests/bench/cuda_raw.h"
#include "tests/bench/cuda_work.h"
#include "tests/bench/measure.h"
#include "tests/bench/peer.h"

enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 100, SKIPPED = 77 };

typedef struct Bench {
    const CudaRaw *raw;
    CudaSizes sizes;
    Device *device;
    double budget, gates; // seconds per case; factor for the gates
    int least_rounds;
} Bench;

// ---- both sides as work ------------------------------------------------------------------------
typedef struct Ours {
    CudaSubject subject;
    const CudaCase *of;
} Ours;

static void run_ours(void *argument, int64_t times) {
    Ours *ours = argument;
    for (int64_t i = 0; i < times; i++) ours->of->step(&ours->subject);
    device_synchronize(ours->subject.device);
    ours_check();
}

static void check_raw(const char *error) {
    if (!error) return;
    fprintf(stderr, "bench_cuda: %s\n", error);
    exit(3);
}

static void run_copy(void *raw, int64_t times) { check_raw(((const CudaRaw *)raw)->copy(times)); }
static void run_product(void *raw, int64_t times) {
    check_raw(((const CudaRaw *)raw)->product(times));
}

static double sample_rival(const Bench *bench, CudaRival rival, Work *raw, double seconds) {
    char workload[96];
    if (raw->run) return measure_work(raw, seconds);
    snprintf(workload, sizeof workload, "mlp 784-512-256-10 %lld %s", (long long)bench->sizes.batch,
             rival == RIVAL_EAGER ? "eager" : "compiled");
    return peer_sample(workload, 1, seconds);
}

// ---- a row -------------------------------------------------------------------------------------
typedef struct Row {
    double ours, rival, ratio; // medians: seconds, and the share of the rival's speed
    int rounds;
} Row;

static Row measure_row(const Bench *bench, Ours *ours) {
    static void (*const raw_work[])(void *, int64_t) = {
        [RIVAL_COPY] = run_copy, [RIVAL_PRODUCT] = run_product, [RIVAL_COMPILED] = NULL};
    double own[MOST_ROUNDS], other[MOST_ROUNDS], ratio[MOST_ROUNDS];
    CudaRival rival = ours->of->rival;
    Work work = {.run = run_ours, .state = ours};
    Work raw = {.run = raw_work[rival], .state = (void *)(uintptr_t)bench->raw};
    // Equal work on both sides, or for a copy equal bytes moved.
    double copied = 2.0 * (double)(bench->sizes.rows * bench->sizes.columns) * sizeof(float);
    double scale =
        rival == RIVAL_COPY ? (double)cuda_subject_bytes(&ours->subject, ours->of) / copied : 1.0;
    double slice = bench->budget / 40.0;
    sample_rival(bench, rival, &raw, slice); // compiles now, outside the budget
    double start = measure_now();
    bool missing = false;
    int n = 0;
    for (; n < MOST_ROUNDS; n++) {
        if (n >= bench->least_rounds && measure_now() - start > bench->budget) break;
        bool rival_first = n % 2 == 1;
        if (rival_first) other[n] = sample_rival(bench, rival, &raw, slice);
        own[n] = measure_work(&work, slice);
        if (!rival_first) other[n] = sample_rival(bench, rival, &raw, slice);
        ratio[n] = other[n] * scale / own[n];
        missing = missing || isnan(other[n]);
    }
    return (Row){.ours = measure_median(own, n),
                 .rival = missing ? (double)NAN : measure_median(other, n),
                 .ratio = missing ? (double)NAN : measure_median(ratio, n),
                 .rounds = n};
}

// ---- the table ---------------------------------------------------------------------------------
static const char *const rivals[] = {[RIVAL_COPY] = "device copy",
                                     [RIVAL_PRODUCT] = "cuBLAS",
                                     [RIVAL_EAGER] = "PyTorch eager",
                                     [RIVAL_COMPILED] = "PyTorch graph"};

static char *share_text(double share, char text[MEASURE_TEXT]) {
    snprintf(text, MEASURE_TEXT, share > 0.0 ? "%.2f" : "-", share);
    return text;
}

// Prints the row; false if it misses the gate.
static bool print_row(const Bench *bench, const CudaCase *of, Row row) {
    char ours[MEASURE_TEXT], rival[MEASURE_TEXT], ratio[MEASURE_TEXT], gate[MEASURE_TEXT];
    char good[MEASURE_TEXT];
    bool missed = row.ratio < of->gate * bench->gates;
    bool is_good = of->good > 0.0 && row.ratio >= of->good * bench->gates;
    const char *verdict = isnan(row.ratio) ? "no rival here"
                          : missed         ? "MISSED"
                          : is_good        ? "good"
                          : of->gate > 0.0 ? "ok"
                                           : "not yet";
    printf("%-16s %9s  %-14s %9s %6s %6s %6s  %s\n", of->name, measure_text(row.ours, ours),
           rivals[of->rival], measure_text(row.rival, rival), share_text(row.ratio, ratio),
           share_text(of->gate, gate), share_text(of->good, good), verdict);
    fflush(stdout);
    return !missed;
}

static bool run_cases(const Bench *bench) {
    bool met = true;
    printf("\n%-16s %9s  %-14s %9s %6s %6s %6s\n", "workload", "ours", "rival", "rival's", "ratio",
           "gate", "good");
    for (int i = 0; i < n_cuda_cases; i++) {
        Ours ours = {.of = &cuda_cases[i]};
        cuda_subject_new(&ours.subject, ours.of, bench->device, &bench->sizes);
        met = print_row(bench, ours.of, measure_row(bench, &ours)) && met;
        cuda_subject_free(&ours.subject);
    }
    return met;
}

// ---- around the table --------------------------------------------------------------------------
static Device *open_device(void) {
    DeviceState states[3];
    int count = device_list(states, 3);
    const DeviceState *cuda = &states[count - 1];
    if (!cuda->usable) {
        printf("bench-cuda: SKIP: %s\n", cuda->reason);
        exit(SKIPPED);
    }
    Device *device = device_open("cuda");
    ours_check();
    context_set_device(device);
    printf("%s\n", cuda->reason);
    return device;
}

static void print_legend(const Bench *bench) {
    printf(
        "\nMedians of interleaved rounds. Ratio: the share of the rival's speed; beside a copy, "
        "of its bytes per\nsecond. Matrices (%lld, %lld), products %lld^3, float32 without TF32; "
        "MLP: 784-512-256-10, batch %lld, Adam.\n",
        (long long)bench->sizes.rows, (long long)bench->sizes.columns, (long long)bench->sizes.n,
        (long long)bench->sizes.batch);
}

int main(int argc, char **argv) {
    Bench bench = {.sizes = {65536, 1024, 4096, 128}, .gates = 1.0, .least_rounds = LEAST_ROUNDS};
    bool smoke = false;
    for (int i = 2; i < argc; i++) {
        smoke = smoke || strcmp(argv[i], "--smoke") == 0;
        if (strcmp(argv[i - 1], "--gates") == 0) bench.gates = strtod(argv[i], NULL) / 100.0;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: bench_cuda RAW [--smoke] [--gates PERCENT]\n");
        return 2;
    }
    if (smoke) {
        bench.sizes = (CudaSizes){8, 64, 33, 4};
        bench.least_rounds = 2;
    }
    bench.budget = smoke ? 1e-3 : measure_budget(40.0) / n_cuda_cases;
    bench.device = open_device();
    bench.raw = cuda_raw_load(argv[1]);
    check_raw(bench.raw->open((size_t)(bench.sizes.rows * bench.sizes.columns) * sizeof(float),
                              (int)bench.sizes.n));
    if (!smoke && peer_start("tests/bench/peer_cuda.py"))
        printf("PyTorch %s\n", peer_version());
    else
        printf("no PyTorch with CUDA here (RIDGEPOINT_PYTHON=... names a Python that has it)\n");
    bool met = run_cases(&bench);
    print_legend(&bench);
    peer_stop();
    bench.raw->close();
    context_release_thread();
    return met ? 0 : 1;
}

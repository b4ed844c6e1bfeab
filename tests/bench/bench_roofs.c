// bench_roofs.c -- thirteen ops, warm, at each level of memory, on one thread and on all: compares
// each with its roof, without dispatching and handing work to threads. A roof is a bound: no op may
// exceed 110 %. It is a close one, too: ops that only move memory must reach 75 %. Exits with 1 if
// that fails in three tries.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/session/profiler_parts.h"
#include "tests/bench/measure.h"
#include "tests/bench/ours.h"

enum { TRIES = 3, SESSIONS = 20, ROW_FLOATS = 256, MOST_TENSORS = 5 };
static const double session_seconds = 3e-3, most_fraction = 1.10, least_fraction = 0.75;

typedef struct Operands {
    Tensor *t[MOST_TENSORS];
} Operands;

// ---- the ops -----------------------------------------------------------------------------------
static void run_copy(Operands *o) { tensor_release(OP_RUN(op_contiguous, NULL, o->t[0])); }
static void run_scale(Operands *o) { tensor_release(tensor_mul_scalar(o->t[0], 0.5f)); }
static void run_scale_in_place(Operands *o) {
    OpParams params = {.value = {-1.0f}};
    OP_INTO(&o->t[0], op_mul_scalar, &params, o->t[0]);
}
static void run_add(Operands *o) { tensor_release(tensor_add(o->t[0], o->t[1])); }
static void run_relu(Operands *o) { tensor_release(tensor_relu(o->t[0])); }
static void run_relu_in_place(Operands *o) { OP_INTO(&o->t[0], op_relu, NULL, o->t[0]); }
static void run_sgd(Operands *o) {
    Tensor *inputs[] = {o->t[4], o->t[0], o->t[1]};
    tensor_sgd_step(inputs, 1, (SgdParams){0});
}
static void run_adam(Operands *o) {
    Tensor *inputs[] = {o->t[4], o->t[0], o->t[1], o->t[2], o->t[3]};
    tensor_adam_step(inputs, 1, (AdamParams){.beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f});
}
static void run_softmax(Operands *o) { tensor_release(tensor_softmax(o->t[0], -1)); }
static void run_layer_norm(Operands *o) {
    Shape row = SHAPE(o->t[0]->shape.dims[1]);
    tensor_release(tensor_layer_norm(o->t[0], row, NULL, NULL, 1e-5f));
}
static void run_sum(Operands *o) { tensor_release(tensor_sum(o->t[0], DIM_ALL, false)); }
static void run_product(Operands *o) { tensor_release(tensor_matmul(o->t[0], o->t[1])); }
static void run_transpose(Operands *o) {
    tensor_release(tensor_contiguous(tensor_transpose(o->t[0], 0, 1)));
}

typedef struct Kernel {
    const char *name, *op; // op: its row in the session
    void (*run)(Operands *operands);
    int tensors; // number of input tensors
    int arrays;  // arrays moved, with the result
    bool moves;  // only memory bounds it, at least beyond the first levels
    bool square; // operands are square matrices
} Kernel;

static const Kernel kernels[] = {
    {"copy", "contiguous", run_copy, 1, 2, false, false}, // copies as the C library does
    {"scale", "mul_scalar", run_scale, 1, 2, true, false},
    {"scale in place", "mul_scalar", run_scale_in_place, 1, 1, true, false},
    {"add", "add", run_add, 2, 3, true, false},
    {"relu", "relu", run_relu, 1, 2, true, false},
    {"relu in place", "relu", run_relu_in_place, 1, 1, true, false},
    {"sgd", "sgd_step", run_sgd, 2, 2, true, false},
    {"adam", "adamw_step", run_adam, 4, 4, true, false},
    {"softmax", "softmax", run_softmax, 1, 2, false, false},
    {"layer norm", "layer_norm", run_layer_norm, 1, 2, false, false},
    {"sum", "sum", run_sum, 1, 1, true, false},
    {"product", "matmul", run_product, 2, 3, false, true},
    {"transpose", "contiguous", run_transpose, 1, 2, false, true},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

// ---- one op ------------------------------------------------------------------------------------
static int64_t side_of(int64_t floats) {
    int64_t side = 16;
    while ((side + 16) * (side + 16) <= floats) side += 16;
    return side;
}

static void operands_new(Operands *o, const Kernel *kernel, int64_t bytes) {
    int64_t floats = bytes / (int64_t)sizeof(float) / kernel->arrays, side = side_of(floats);
    int64_t rows = kernel->square ? side : floats / ROW_FLOATS;
    int64_t columns = kernel->square ? side : ROW_FLOATS;
    if (floats == 0) rows = columns = kernel->square ? 2 : 1;
    *o = (Operands){0};
    for (int i = 0; i < kernel->tensors; i++)
        o->t[i] = tensor_uniform_new(SHAPE(rows, columns), 0.5f, 1.0f);
    o->t[4] = tensor_full_new(SHAPE(strcmp(kernel->op, "adamw_step") ? 1 : 2), 1e-6f);
    ours_check();
}

static void operands_free(Operands *o) {
    for (int i = 0; i < MOST_TENSORS; i++) tensor_free(o->t[i]);
}

static double run_times(const Kernel *kernel, Operands *o, int64_t times) {
    double start = measure_now();
    Scope *scope = scope_open();
    for (int64_t i = 0; i < times; i++) kernel->run(o);
    scope_close(scope);
    ours_check();
    return measure_now() - start;
}

static ProfilerRow profile_once(const Machine *machine, const Kernel *kernel, Operands *o,
                                int64_t times) {
    ProfilerOptions options = profiler_defaults();
    options.machine = machine;
    options.capacity = 6 * times;
    Profiler *profiler = profiler_new(options);
    profiler_start(profiler);
    ours_check();
    run_times(kernel, o, times);
    profiler_stop(profiler);
    ProfilerSummary summary;
    ProfilerRow row = {0};
    profiler_summarise(profiler, &summary);
    ours_check();
    for (int i = 0; i < summary.n_rows; i++)
        if (summary.rows[i].kind == EVENT_OP && !strcmp(summary.rows[i].name, kernel->op))
            row = summary.rows[i];
    profiler_summary_free(&summary);
    profiler_free(profiler);
    return row;
}

static double call_seconds(const ProfilerRow *row) {
    return row->self_seconds / (double)row->calls;
}

// The fastest of short sessions, since other work on the machine only ever adds time.
static ProfilerRow fastest(const Machine *machine, const Kernel *kernel, Operands *o) {
    enum { WARM_UP = 3, MOST = 10000 };
    double once = run_times(kernel, o, WARM_UP) / WARM_UP, wanted = session_seconds / once;
    int64_t times = wanted < 2 ? 2 : wanted > MOST ? MOST : (int64_t)wanted;
    ProfilerRow best = profile_once(machine, kernel, o, times);
    for (int i = 1; i < SESSIONS; i++) {
        ProfilerRow row = profile_once(machine, kernel, o, times);
        if (call_seconds(&row) < call_seconds(&best)) best = row;
    }
    return best;
}

// Seconds of dispatching and watching, which are not part of a kernel: those of an op so small that
// its own time is negligible.
static double around_kernel(const Machine *machine, const Kernel *kernel) {
    Operands o;
    operands_new(&o, kernel, 1);
    ProfilerRow row = fastest(machine, kernel, &o);
    operands_free(&o);
    return call_seconds(&row);
}

// Measures memory's rates close to the kernels judged by them.
static bool check(Machine *machine, const Kernel *kernel, int64_t bytes, bool memory_too) {
    Operands o;
    operands_new(&o, kernel, bytes);
    double around = around_kernel(machine, kernel);
    bool good = false;
    for (int tries = 0; !good && tries < TRIES; tries++) {
        if (memory_too) machine_look(machine, true, true);
        ProfilerRow row = fastest(machine, kernel, &o);
        const LevelTraffic *alone = row.traffic.level[TEAM_ONE];
        bool divided = true;
        for (int i = 0; i < MACHINE_MAX_LEVELS; i++)
            divided = divided && alone[i].read + alone[i].written == 0;
        double handing = divided && machine->threads > 1 ? machine->spin_seconds : 0.0;
        double seconds = call_seconds(&row) - around - handing, calls = (double)row.calls;
        double roof = row.roofline.roof_seconds / calls, fraction = roof / seconds;
        bool memory = row.roofline.memory_seconds >= row.roofline.compute_seconds;
        good = seconds > 0.0 && fraction <= most_fraction &&
               (fraction >= least_fraction || !kernel->moves || !memory);
        printf("  %-15s%9s %9s%6s  %-8s%s\n", kernel->name, text_duration(seconds).s,
               text_duration(roof).s, text_percent(fraction).s,
               memory              ? machine->levels[row.roofline.level].name
               : row.roofline.slow ? "roots"
                                   : "compute",
               good                       ? ""
               : fraction > most_fraction ? "  ABOVE"
                                          : "  BELOW");
        fflush(stdout);
    }
    operands_free(&o);
    return good;
}

// A working set well inside the level, for the team of threads that an op of that size has.
static int64_t bytes_at(const Machine *machine, int level) {
    const MachineLevel *here = &machine->levels[level];
    int64_t before = level ? here[-1].bytes : 0;
    if (level == machine->n_levels - 1) return 8 * before > (256 << 20) ? 8 * before : 256 << 20;
    if (level == 0) return here->bytes_alone > 0 ? here->bytes_alone / 2 : here->bytes / 2;
    return before + (here->bytes - before) / (level == machine->n_levels - 2 ? 4 : 2);
}

static int run_all(int threads) {
    int good = 0;
    Machine machine;
    context_set_threads(threads);
    machine_calibrate(NULL, NULL, &machine);
    ours_check();
    printf("\n%s\n", machine.fingerprint);
    for (int level = 0; level < machine.n_levels; level++) {
        int64_t bytes = bytes_at(&machine, level);
        printf("%s: %lld KiB\n  %-15s%9s %9s%6s  limit\n", machine.levels[level].name,
               (long long)(bytes >> 10), "op", "measured", "roof", "");
        for (int k = 0; k < KERNELS; k++)
            good += check(&machine, &kernels[k], bytes, level == machine.n_levels - 1);
    }
    return machine.n_levels * KERNELS - good;
}

int main(void) {
    int threads = context_current()->threads;
    printf("Is a roof a bound, and a near one? Kernels alone and warm.\n");
    int bad = run_all(1);
    if (threads > 1) bad += run_all(threads);
    printf("\n%d are above %.0f %% of their roof, or move memory and are below %.0f %%.\n", bad,
           100.0 * most_fraction, 100.0 * least_fraction);
    context_release_thread();
    return bad == 0 ? 0 : 1;
}

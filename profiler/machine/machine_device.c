// machine_device.c -- the ops, sizes and time limits that measure a card's ceilings.
#include "profiler/machine/machine_parts.h"

#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"

static const double peak_seconds = 0.6, cache_seconds = 0.2, memory_seconds = 0.4,
                    dispatch_seconds = 0.1, call_seconds = 0.05, copy_seconds = 0.1;

enum {
    LEAST_SIDE = 256, // smallest matrices of a product
    MOST_SIDE = 8192,
    LEAST_MEMORY = 8 << 20, // bytes beyond any unknown cache
    USUAL_MEMORY = 64 << 20,
    MOST_MEMORY = 1 << 30,
    MEMORY_CACHES = 16, // a working set this many times the cache does not profit from it
    COPY_BYTES = 32 << 20,
    COLUMNS = 4096,
    OPERANDS = 3, // operands of an add: two read, one written
};

typedef struct Card {
    Device *device;
    DeviceMemory memory;
    int64_t most; // bytes that the measurement may take
    Machine *machine;
} Card;

// Row-major (rows >= 2, columns), the same random numbers in every row: zeros would draw less
// power.
static Tensor *rows_new(int64_t rows, int64_t columns) {
    Tensor *row = tensor_uniform_new(SHAPE(columns), 0.5f, 1.0f);
    Scope *scope = scope_open();
    Tensor *dense = tensor_keep(tensor_contiguous(tensor_expand(row, SHAPE(rows, columns))));
    scope_close(scope);
    tensor_free(row);
    return dense;
}

// ---- two operands ------------------------------------------------------------------------------
typedef struct Pair {
    Tensor *a, *b;
    Tensor *(*op)(Tensor *a, Tensor *b);
} Pair;

// Each result reuses the previous result's block.
static void pair_run(void *argument, int64_t times) {
    const Pair *pair = argument;
    for (int64_t i = 0; i < times; i++) {
        Scope *scope = scope_open();
        pair->op(pair->a, pair->b);
        scope_close(scope);
    }
}

static Status time_pair(Tensor *(*op)(Tensor *, Tensor *), int64_t rows, int64_t columns,
                        double seconds, MachineTime *once) {
    Pair pair = {rows_new(rows, columns), rows_new(rows, columns), op};
    Status status =
        pair.a && pair.b ? machine_time_queued(pair_run, &pair, seconds, once) : error_status();
    tensor_free(pair.a);
    tensor_free(pair.b);
    Ledger *ledger = context_current()->ledger; // NULL: not even the ledger could be allocated
    if (ledger) ledger_trim(ledger);            // the next size cannot use these blocks
    return status;
}

// ---- measurements ------------------------------------------------------------------------------
static Status measure_peak(const Card *card) {
    const int sizes = 6;
    double *peak = &card->machine->peak_flops_per_second, end = clock_seconds() + peak_seconds;
    for (int64_t n = LEAST_SIDE; n <= MOST_SIDE; n *= 2) {
        MachineTime once;
        if (OPERANDS * n * n * (int64_t)sizeof(float) > card->most) break;
        Status status = time_pair(tensor_matmul, n, n, peak_seconds / sizes, &once);
        if (status) return status;
        double rate = 2.0 * (double)n * (double)n * (double)n / once.device;
        if (rate > *peak) *peak = rate;
        if (8.0 * once.waited > end - clock_seconds()) break;
    }
    return STATUS_OK;
}

// Counts bytes as the roofline does for the op: 12 bytes an element.
static Status measure_bandwidth(int64_t bytes, double seconds, double *bytes_per_second,
                                double *waited) {
    const int64_t row_bytes = (int64_t)OPERANDS * COLUMNS * (int64_t)sizeof(float);
    int64_t rows = bytes / row_bytes > 2 ? bytes / row_bytes : 2;
    MachineTime once;
    Status status = time_pair(tensor_add, rows, COLUMNS, seconds, &once);
    if (status) return status;
    *bytes_per_second = (double)(rows * row_bytes) / once.device;
    *waited = once.waited;
    return STATUS_OK;
}

static Status measure_cache(const Card *card) {
    MachineLevel *level = &card->machine->levels[0];
    double waited;
    if (card->machine->n_levels == 1) return STATUS_OK; // no known cache
    return measure_bandwidth(level->bytes / 2, cache_seconds, &level->bytes_per_second, &waited);
}

// Measures with the largest working set that time and memory allow: smaller for a slow device.
static Status measure_memory(const Card *card) {
    MachineLevel *level = &card->machine->levels[card->machine->n_levels - 1];
    int64_t target = MEMORY_CACHES * card->memory.cache;
    if (target < USUAL_MEMORY) target = USUAL_MEMORY;
    if (target > MOST_MEMORY) target = MOST_MEMORY;
    if (target > card->most) target = card->most;
    int64_t bytes = target;
    while (bytes / 2 >= 2 * card->memory.cache && bytes / 2 >= LEAST_MEMORY) bytes /= 2;
    double end = clock_seconds() + memory_seconds, waited;
    for (; bytes <= target; bytes *= 2) {
        double slice = bytes == target ? memory_seconds / 2 : memory_seconds / 16;
        Status status = measure_bandwidth(bytes, slice, &level->bytes_per_second, &waited);
        if (status) return status;
        if (4.0 * waited > end - clock_seconds()) break; // the next size takes twice as long
    }
    return STATUS_OK;
}

static Status measure_dispatch(const Card *card) {
    Machine *machine = card->machine;
    Status status = machine_measure_dispatch(dispatch_seconds, &machine->dispatch_seconds);
    return status ? status : machine_measure_call(call_seconds, &machine->call_seconds);
}

// ---- copies ------------------------------------------------------------------------------------
typedef struct Copy {
    Tensor *there;
    void *here;
    size_t bytes;
} Copy;

static void copy_there(void *argument, int64_t times) {
    const Copy *copy = argument;
    Device *device = copy->there->device;
    for (int64_t i = 0; i < times; i++)
        if (device_from_host(device, tensor_raw(copy->there), copy->here, copy->bytes)) return;
}

static void copy_back(void *argument, int64_t times) {
    const Copy *copy = argument;
    Device *device = copy->there->device;
    for (int64_t i = 0; i < times; i++)
        if (device_to_host(device, copy->here, tensor_raw(copy->there), copy->bytes)) return;
}

static Status measure_copies(const Card *card) {
    int64_t bytes = card->most < COPY_BYTES ? card->most : COPY_BYTES;
    Copy copy = {rows_new(bytes / COLUMNS / (int64_t)sizeof(float), COLUMNS),
                 memory_request() ? memory_new_data((size_t)bytes) : NULL, (size_t)bytes};
    MachineTime there, back;
    Status status = STATUS_OK;
    if (copy.there) copy.bytes = (size_t)tensor_bytes(copy.there);
    if (!copy.here && !error_pending())
        status =
            error_set(STATUS_OUT_OF_MEMORY,
                      "machine: no room for %lld bytes to copy. HINT: free memory, or give the "
                      "ceilings with --peaks FILE",
                      (long long)bytes);
    if (!status && !copy.there) status = error_status();
    // Copies back first, which touches the host's memory.
    if (!status) status = machine_time(copy_back, &copy, copy_seconds, &back);
    if (!status) status = machine_time(copy_there, &copy, copy_seconds, &there);
    if (!status) {
        card->machine->to_host_bytes_per_second = (double)copy.bytes / back.device;
        card->machine->from_host_bytes_per_second = (double)copy.bytes / there.device;
    }
    memory_free_data(copy.here);
    tensor_free(copy.there);
    return status;
}

// ---- all ---------------------------------------------------------------------------------------
static Status find_card(Card *card) {
    Device *device = card->device;
    card->memory = (DeviceMemory){.free = (int64_t)2 * MOST_MEMORY}; // unless the device reports it
    Status status = device->memory ? device->memory(device, &card->memory) : STATUS_OK;
    if (status) return status;
    card->most = card->memory.free / 2;
    if (card->most < LEAST_MEMORY || card->most < 2 * card->memory.cache)
        return error_set(STATUS_OUT_OF_MEMORY,
                         "machine: %lld of %lld bytes are free on %s: too few to measure its "
                         "ceilings. HINT: free memory, or give the ceilings with --peaks FILE",
                         (long long)card->memory.free, (long long)card->memory.total, device->name);
    MachineLevel *level = card->machine->levels;
    if (card->memory.cache > 0)
        *level++ = (MachineLevel){.name = "L2", .bytes = card->memory.cache};
    *level++ = (MachineLevel){.name = "DRAM", .bytes = INT64_MAX};
    card->machine->n_levels = (int)(level - card->machine->levels);
    return STATUS_OK;
}

Status machine_measure_device(MachineProgress progress, void *argument, Machine *machine) {
    static const struct {
        const char *what;
        Status (*measure)(const Card *card);
    } steps[] = {{"matrix product", measure_peak},
                 {"bandwidth of the cache", measure_cache},
                 {"bandwidth of the memory", measure_memory},
                 {"launches", measure_dispatch},
                 {"copies", measure_copies}};
    enum { STEPS = sizeof(steps) / sizeof(steps[0]) };
    Card card = {.device = context_current()->device, .machine = machine};
    Status status = find_card(&card);
    for (int i = 0; i < STEPS && !status; i++) {
        if (progress) progress(argument, steps[i].what, (double)i / STEPS);
        status = steps[i].measure(&card);
    }
    if (progress && !status) progress(argument, "done", 1.0);
    return status;
}

// ex09_profile_forward_pass.c -- exercise 09, solved.
#include "exercises/ex09_profile_forward_pass.h"

#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Times one forward pass; *x becomes its output.
static Status run(Layer *layer, Tensor **x, double *seconds) {
    double start = now();
    Tensor *y = layer_forward(layer, *x);
    *seconds = now() - start;
    *x = y;
    return y ? STATUS_OK : error_status();
}

static Status find_bound(const Layer *layer, Shape input, ForwardMachine machine, ForwardRow *row) {
    Traffic traffic;
    RooflineResult result;
    Status status = reference_count_bytes(layer, input, &traffic);
    if (status) return status;
    RooflineInput work = {.flops = row->flops,
                          .bytes = traffic.bytes_read + traffic.bytes_written,
                          .peak_flops_per_second = machine.peak_flops_per_second,
                          .bytes_per_second = machine.bytes_per_second,
                          .measured_seconds = row->seconds};
    row->bound = FORWARD_NEITHER;
    if (work.bytes == 0) return STATUS_OK;
    status = reference_roofline(&work, &result);
    row->bound = result.bound == COMPUTE_BOUND ? FORWARD_COMPUTE : FORWARD_MEMORY;
    return status;
}

static Status add_row(Layer *layer, Tensor **x, ForwardMachine machine, ForwardProfile *profile) {
    if (profile->n_rows == FORWARD_MOST_ROWS) return STATUS_INVALID_ARGUMENT;
    ForwardRow *row = &profile->rows[profile->n_rows++];
    Shape input = tensor_shape(*x);
    Status status = reference_count_flops(layer, input, &row->flops);
    if (status) return status;
    row->flops *= input.dims[0];
    status = run(layer, x, &row->seconds);
    if (status) return status;
    row->flops_per_second = (double)row->flops / row->seconds;
    return find_bound(layer, input, machine, row);
}

static Status add_rows(Layer *layer, Tensor **x, ForwardMachine machine, ForwardProfile *profile) {
    if (layer->n_children == 0) return add_row(layer, x, machine, profile);
    Status status = STATUS_OK;
    for (int i = 0; i < layer->n_children && !status; i++)
        status = add_rows(layer->children[i], x, machine, profile);
    return status;
}

static void add_up(ForwardProfile *profile, int64_t batch) {
    double in_rows = 0.0, slowest = 0.0;
    profile->flops = 0;
    for (int64_t i = 0; i < profile->n_rows; i++) {
        ForwardRow *row = &profile->rows[i];
        row->share = row->seconds / profile->seconds;
        if (row->share > slowest) slowest = row->share;
        in_rows += row->seconds;
        profile->flops += row->flops;
    }
    profile->unattributed_seconds = profile->seconds - in_rows;
    profile->flops_per_second = (double)profile->flops / profile->seconds;
    profile->samples_per_second = (double)batch / profile->seconds;
    profile->amdahl_limit = 1.0 / (1.0 - slowest);
}

Status profile_forward_pass(Layer *model, Tensor *x, ForwardMachine machine,
                            ForwardProfile *profile) {
    Tensor *output = x;
    Status status = run(model, &output, &profile->seconds); // warm-up: thrown away
    if (status) return status;
    output = x;
    status = run(model, &output, &profile->seconds);
    if (status) return status;
    Tensor *moving = x;
    profile->n_rows = 0;
    status = add_rows(model, &moving, machine, profile);
    if (status) return status;
    add_up(profile, tensor_shape(x).dims[0]);
    return STATUS_OK;
}

// profile.c -- makes a Profile: run two steps and count, predict the same by a dry run, then time.
#include "profiler/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

ProfileOptions profile_defaults(void) { return (ProfileOptions){.warmup = 20, .seconds = 1.0}; }

// VmHWM of /proc/self/status: the most this process ever had resident. -1 where there is none.
static int64_t process_peak(void) {
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return -1;
    char line[128];
    long long kib = -1;
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1) break;
    fclose(file);
    return kib < 0 ? -1 : kib * 1024;
}

static Status describe(Layer *model, OptimizerConfig config, const Tensor *x, Profile *profile) {
    profile->input = tensor_shape(x);
    profile->batch = x->ndim ? x->shape[0] : 1;
    profile->parameters = layer_parameter_count(model);
    profile->trainable_parameters = layer_trainable_count(model);
    profile->parameter_bytes = profile->parameters * dtype_size(DTYPE_FLOAT32);
    profile->threads = context_current()->threads;
    snprintf(profile->optimizer, sizeof(profile->optimizer), "%s", optimizer_name(config.kind));
    snprintf(profile->device, sizeof(profile->device), "%s", x->device->name);
    return error_status();
}

static void add_bytes(MemoryUse *use, const Tensor *t) {
    if (!t || !t->storage) return;
    use->category[t->storage->category] += t->storage->bytes;
    use->total += t->storage->bytes;
}

// What was alive before the profile and is none of its business: all but the model, the gradients
// that its steps will write to, and the batch.
static Status bystanders(const Layer *model, Tensor *x, const Tensor *labels, MemoryUse *others) {
    ParameterList list;
    Status status = layer_parameters(model, &list);
    if (status) return status;
    MemoryUse own = {0};
    add_bytes(&own, x);
    add_bytes(&own, labels);
    if (x->flags & TENSOR_LEAF_GRAD) add_bytes(&own, x->grad);
    for (int i = 0; i < list.count; i++) {
        const Tensor *parameter = list.items[i].tensor;
        add_bytes(&own, parameter);
        if (parameter->flags & TENSOR_LEAF_GRAD) add_bytes(&own, parameter->grad);
    }
    parameter_list_free(&list);
    *others = context_current()->ledger->live;
    for (int c = 0; c < MEM_COUNT; c++) others->category[c] -= own.category[c];
    others->total -= own.total;
    return STATUS_OK;
}

static void leave_out(MemoryUse *use, const MemoryUse *others) {
    for (int c = 0; c < MEM_COUNT; c++) use->category[c] -= others->category[c];
    use->total -= others->total;
}

// The first step ever pays for page faults and caches; it is timed apart.
static Status count(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                    const Machine *machine, CostTable *executed, Profile *profile) {
    StepTimes cold;
    Status status = profile_step(model, optimizer, x, labels, &cold);
    if (status) return status;
    profile->cold_seconds = x->device->has_data ? cold.total : (double)NAN;
    status = profile_count_step(model, optimizer, x, labels, machine, executed, &profile->measured);
    return status ? status : profile_take_counts(profile, executed, model);
}

// A learning rate of 0 leaves weights alone, but 0 x NaN is NaN: such a batch must not be stepped
// on.
static Status check_finite(Layer *model, Tensor *x, Tensor *labels) {
    no_grad_begin();
    Scope *scope = scope_open();
    Tensor *loss = loss_cross_entropy(layer_forward(model, x), labels);
    double value = loss && loss->device->has_data ? tensor_item(loss) : 0.0;
    scope_close(scope);
    no_grad_end();
    if (error_pending() || isfinite(value)) return error_status();
    return train_explain_non_finite(model, x, 0, value);
}

static Status run(Layer *model, OptimizerConfig config, Tensor *x, Tensor *labels,
                  ProfileOptions options, Profile *profile) {
    MemoryUse others;
    Status status = bystanders(model, x, labels, &others);
    if (status) return status;
    Optimizer *optimizer = optimizer_new(model, config);
    if (!optimizer) return error_status();
    CostTable executed = {0};
    status = count(model, optimizer, x, labels, options.machine, &executed, profile);
    leave_out(&profile->measured.peak, &others);
    if (!status) status = profile_predict(model, config, x, labels, profile);
    if (!status && x->device->has_data)
        status = profile_measure(model, optimizer, x, labels, options, &executed, profile);
    if (!status && profile->has_machine) profile_judge(profile);
    const Ledger *ledger = context_current()->ledger;
    profile->unaccounted_bytes = ledger_unaccounted(ledger);
    profile->reserved_bytes = ledger->reserved_bytes;
    profile->process_peak_bytes = process_peak();
    cost_table_free(&executed);
    optimizer_free(optimizer);
    return status;
}

Status profile_training(Layer *model, OptimizerConfig config, Tensor *x, Tensor *labels,
                        ProfileOptions options, Profile *profile) {
    memset(profile, 0, sizeof(*profile));
    profile->unattributed_seconds = profile->overhead_fraction = (double)NAN;
    if (options.warmup < 2) options.warmup = 2;
    if (error_pending()) return error_status();
    if (!model || !x || !labels)
        return error_set(STATUS_INVALID_ARGUMENT, "profile_training: %s is NULL",
                         !model ? "the model"
                         : !x   ? "x"
                                : "labels");
    Status status = describe(model, config, x, profile);
    if (status) return status;
    profile->has_machine = options.machine != NULL;
    if (options.machine) profile->machine = *options.machine;
    config.learning_rate = 0.0f; // the same work, and the model stays as it is
    LayerModes modes;
    status = layer_modes_save(model, &modes);
    if (status) return status;
    layer_train(model, true);
    status = check_finite(model, x, labels);
    if (!status) status = run(model, config, x, labels, options, profile);
    layer_modes_restore(model, &modes);
    return status;
}

static void free_latencies(ProfilePhase phases[REPORT_COUNT]) {
    for (int p = 0; p < REPORT_COUNT; p++) memory_free(phases[p].latency.samples);
}

void profile_free(Profile *profile) {
    for (int i = 0; i < profile->n_layers; i++) free_latencies(profile->layers[i].phase);
    free_latencies(profile->totals);
    memory_free(profile->inference.samples);
    memory_free(profile->layers);
    memset(profile, 0, sizeof(*profile));
}

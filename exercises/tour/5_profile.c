// 5_profile.c -- a training step, profiled; and what a profiler hangs on: an observer, which
// dispatch tells of every op. Off, it costs the engine one test of a pointer.
#include <ridgepoint/ridgepoint.h>

typedef struct Counter {
    Observer observer; // first
    int ops;
    uint64_t macs;
} Counter;

static void op_end(Observer *self, const OpCall *call) {
    Counter *counter = (Counter *)self;
    counter->ops++;
    counter->macs += op_cost(call).macs;
}

int main(void) {
    Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults());
    Tensor *x = tensor_uniform_new(SHAPE(64, 784), 0.0f, 1.0f);
    Tensor *labels = tensor_new(SHAPE(64), DTYPE_INT64);
    for (int i = 0; labels && i < 64; i++) tensor_labels(labels)[i] = i % 10;

    Counter counter = {.observer = {.op_end = op_end}};
    observer_add(&counter.observer);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    observer_remove(&counter.observer);
    printf("forward: %d ops, %llu multiply-adds\n\n", counter.ops,
           (unsigned long long)counter.macs);

    Profile profile;
    Status status = profile_training(model, optimizer_defaults(OPTIMIZER_ADAM), x, labels,
                                     profile_defaults(), &profile);
    if (!status) report_print(&profile, stdout);
    if (!status) status = explain_print(&profile, "fc2", stdout); // each of its numbers, derived
    if (status) printf("%s\n", error_message());
    bool right = counter.macs == profile.totals[REPORT_FORWARD].cost.macs && profile.reconciled;
    profile_free(&profile);
    tensor_free(labels);
    tensor_free(x);
    layer_free(model);
    context_release_thread();
    return status || !right;
}

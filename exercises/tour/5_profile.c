// 5_profile.c -- a training step, profiled. It also shows what a profiler is made of: an observer,
// which is a struct of functions that the engine calls before and after every op. Without an
// observer an op pays for two tests of a pointer, one before it and one after it.
#include <ridgepoint/ridgepoint.h>

typedef struct Counter {
    Observer observer; // the first member, so that the engine's Observer * is our Counter * as well
    int ops;
    uint64_t macs;
} Counter;

static void op_end(Observer *self, const OpCall *call) { // called after every op
    Counter *counter = (Counter *)self;
    counter->ops++;
    counter->macs += op_cost(call).macs; // multiply-adds
}

int main(void) {
    Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults());
    Tensor *x = tensor_uniform_new(SHAPE(64, 784), 0.0f, 1.0f);
    Tensor *labels = tensor_new(SHAPE(64), DTYPE_INT64);
    for (int i = 0; labels && i < 64; i++) tensor_labels(labels)[i] = i % 10;

    // First the observer above: it counts the ops of one forward.
    Counter counter = {.observer = {.op_end = op_end}};
    observer_add(&counter.observer);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    observer_remove(&counter.observer);
    printf("forward: %d ops, %llu multiply-adds\n\n", counter.ops,
           (unsigned long long)counter.macs);

    // Then the library's profiler: a report, and every number of layer fc2 with its formula.
    Profile profile;
    Status status = profile_training(model, optimizer_defaults(OPTIMIZER_ADAM), x, labels,
                                     profile_defaults(), &profile);
    if (!status) report_print(&profile, stdout);
    if (!status) status = explain_print(&profile, "fc2", stdout);
    if (status) printf("%s\n", error_message());
    // Both counted the same, and what ran is what was predicted.
    bool right = counter.macs == profile.totals[REPORT_FORWARD].cost.macs && profile.reconciled;
    profile_free(&profile);
    tensor_free(labels);
    tensor_free(x);
    layer_free(model);
    context_release_thread();
    return status || !right;
}

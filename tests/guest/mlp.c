// mlp.c -- a guest in ISO C: builds a model, trains it, inspects it with every macro of the
// headers, and profiles it. Exit status 0 and "fine" if all is right.
#include <ridgepoint/ridgepoint.h>
#include <string.h>

enum { BATCH = 16, FEATURES = 4, CLASSES = 3, STEPS = 50 };

static int wrong(const char *what) {
    printf("wrong: %s: %s\n", what, error_message());
    return 1;
}

static double train(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels) {
    Scope *scope = scope_open();
    optimizer_zero_grad(optimizer);
    Tensor *loss = loss_cross_entropy(layer_forward(model, x), labels);
    autograd_backward(loss);
    optimizer_step(optimizer);
    double value = tensor_item(loss);
    scope_close(scope);
    return value;
}

static Status negate_into(Tensor **slot, Tensor *x) { return OP_INTO(slot, op_neg, NULL, x); }

// An op called by its descriptor gives the same as by its function.
static int ops_by_descriptor(Tensor *x) {
    Scope *scope = scope_open();
    Tensor *sum = OP_RUN(op_add, NULL, x, x), *same = tensor_mul_scalar(x, -2.0f), *negative = NULL;
    negate_into(&negative, sum);
    int differ = !sum || !negative || !shape_equal(tensor_shape(negative), tensor_shape(same)) ||
                 memcmp(tensor_data(negative), tensor_data(same), (size_t)tensor_bytes(same)) != 0;
    scope_close(scope);
    return differ;
}

int main(int count, char *arguments[]) {
    if (strcmp(ridgepoint_version(), RIDGEPOINT_VERSION) != 0) return wrong("version");
    context_seed(1);
    int64_t sizes[] = {FEATURES, 8, CLASSES}, classes[BATCH];
    for (int i = 0; i < BATCH; i++) classes[i] = i % CLASSES;
    Tensor *x = tensor_normal_new(SHAPE(BATCH, FEATURES), 0.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(BATCH), classes);
    Tensor *scalar = tensor_zeros_new(SHAPE_SCALAR);
    Layer *model = mlp_new(sizes, 3, mlp_defaults());
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAMW));
    if (!scalar || tensor_shape(scalar).ndim != 0 || !optimizer) return wrong("making things");
    if (ops_by_descriptor(x)) return wrong("ops by their descriptors");

    Profiler *profiler = profiler_new(profiler_defaults());
    profiler_start(profiler);
    double first = train(model, optimizer, x, labels), last = first;
    for (int i = 1; i < STEPS; i++) {
        PROFILE_SCOPE("step") { last = train(model, optimizer, x, labels); }
        PROFILE_KERNEL("nothing", 1, 4) {
            PROFILE_KERNEL("within", 2, 8) {}
        }
        profiler_step(profiler);
    }
    profiler_stop(profiler);
    if (!(last < first)) return wrong("the loss does not fall");
    if (profiler_print(profiler, stdout) != STATUS_OK) return wrong("the table");
    profiler_free(profiler);

    Profile profile;
    ProfileOptions options = profile_defaults();
    options.warmup = options.iterations = 2;
    if (profile_backward(model, x, options, &profile)) return wrong("the profile");
    if (!profile.reconciled) return wrong("predicted and executed differ");
    if (count > 1 && profile_write_file(&profile, arguments[0], arguments[1])) return wrong("JSON");
    report_print(&profile, stdout);
    profile_free(&profile);

    LayerCost cost;
    if (layer_cost(model, &x, 1, &cost)) return wrong("the cost");
    uint64_t want = (uint64_t)BATCH * (FEATURES * 8 + 8 * CLASSES);
    if (cost.phase[PHASE_FORWARD].macs != want) return wrong("multiply-adds");

    if (error_pending()) return wrong("at the end");
    optimizer_free(optimizer);
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
    tensor_free(scalar);
    context_release_thread();
    printf("fine\n");
    return 0;
}

// null_values.c -- one object of each type that public functions take. They are made in a process
// that ends with the call, so nothing is freed.
#include "tests/guest/null_values.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/machine/machine_known.h"

bool value_is_said(Status status) { return status == error_status(); }

bool value_is_read(const volatile void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) (void)((const volatile char *)bytes)[i];
    return true;
}

// A failure to make a value is a mistake in this file, and must not count as a refusal.
static void *made(void *value) {
    if (!value || error_pending()) {
        fprintf(stderr, "null_values.c: %s\n", error_message());
        abort();
    }
    return value;
}
static void went(Status status) { made(status == STATUS_OK ? "" : NULL); }

void *value_zeros(size_t size) { return made(calloc(64, size)); }

Tensor *value_Tensor(void) { return made(tensor_uniform_new(SHAPE(2, 3), -1.0f, 1.0f)); }
Tensor *value_Tensor_labels(void) {
    return made(tensor_from_labels_new(SHAPE(2), (int64_t[]){0, 1}));
}
Tensor *value_Tensor_indices(void) { return value_Tensor_labels(); }
Tensor **value_each_Tensor(void) {
    Tensor **each = value_zeros(sizeof *each);
    for (int i = 0; i < 4; i++) each[i] = value_Tensor();
    return each;
}
Tensor ***value_slots_Tensor(void) {
    Tensor ***slots = value_zeros(sizeof *slots), **empty = value_zeros(sizeof *empty);
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) slots[i] = &empty[i];
    return slots;
}
Scope *value_Scope(void) { return made(scope_open()); }
Storage *value_Storage(void) { return made(storage_new(device_cpu(), 24, MEM_DATA)); }
Ledger *value_Ledger(void) { return made(ledger_new()); }
Context *value_Context(void) { return made(context_new()); }
Device *value_Device(void) { return device_cpu(); }
const Op *value_Op(void) { return &op_relu; }
OpCall *value_OpCall(void) {
    OpCall *call = value_zeros(sizeof *call);
    *call = (OpCall){.op = &op_relu, .in = value_each_Tensor(), .n_in = 1, .n_out = 1};
    call->out[0] = value_Tensor();
    return call;
}

Layer *value_Layer(void) { return made(mlp_new((int64_t[]){3, 4, 2}, 3, mlp_defaults())); }
Layer *value_Layer_child(void) { return made(linear_new(3, 2, true)); }
const LayerType *value_LayerType(void) { return value_Layer()->type; }
Optimizer *value_Optimizer(void) {
    return made(optimizer_new(value_Layer(), plain_OptimizerConfig()));
}
Dataset *value_Dataset(void) {
    Dataset *dataset = value_zeros(sizeof *dataset);
    went(digits_generate(8, 1, dataset));
    return dataset;
}
Loader *value_Loader(void) { return made(loader_new(value_Dataset(), plain_LoaderOptions())); }
Corpus *value_Corpus(void) {
    Corpus *corpus = value_zeros(sizeof *corpus);
    went(corpus_generate(500, 1, corpus));
    return corpus;
}
KvCache *value_KvCache(void) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.causal = true;
    return made(kv_cache_new(made(multihead_attention_new(3, 1, options)), 2, 4));
}
Safetensors *value_Safetensors(void) {
    went(safetensors_save(value_Layer(), "weights"));
    return made(safetensors_open("weights"));
}
Checkpoint *value_Checkpoint(void) {
    Checkpoint *checkpoint = value_zeros(sizeof *checkpoint);
    checkpoint->model = value_Layer();
    return checkpoint;
}
Machine *value_Machine(void) {
    Machine *machine = value_zeros(sizeof *machine);
    machine_of_known(machine_known_at(0), machine);
    return machine;
}
Profile *value_Profile(void) {
    Profile *profile = value_zeros(sizeof *profile); // of a real step, so that there is advice
    went(profile_training(value_Layer(), plain_OptimizerConfig(), value_Tensor(),
                          value_Tensor_labels(), plain_ProfileOptions(), profile));
    return profile;
}
OpTraffic *value_OpTraffic(void) {
    OpTraffic *traffic = value_zeros(sizeof *traffic);
    traffic->team = TEAM_ONE;
    return traffic;
}
Roofline *value_Roofline(void) {
    Roofline *roofline = value_zeros(sizeof *roofline);
    roofline->bound = BOUND_COMPUTE;
    return roofline;
}
Profiler *value_Profiler(void) { return made(profiler_new(plain_ProfilerOptions())); }
Timeline *value_Timeline(void) {
    Timeline *timeline = value_zeros(sizeof *timeline);
    went(timeline_new(timeline, plain_TimelineOptions()));
    return timeline;
}
Reuse *value_Reuse(void) { return made(reuse_new(value_Machine())); }
LeakTest *value_LeakTest(void) { return made(leak_new(3)); }
BudgetTask *value_BudgetTask(void) {
    BudgetTask *task = value_zeros(sizeof *task);
    *task = (BudgetTask){.model = value_Layer(), .x = value_Tensor()};
    return task;
}
const ZooModel *value_ZooModel(void) { return made((void *)zoo_find("lenet5")); }

char *value_char(void) {
    char *text = value_zeros(64);
    strcpy(text, "a");
    return text;
}
char *value_char_pattern(void) { return strcpy(value_zeros(64), "*"); }
char *value_char_path(void) { return strcpy(value_zeros(64), "file"); }
FILE *value_FILE(void) { return made(fopen("/dev/null", "w")); }
Shape plain_Shape(void) { return SHAPE(2, 3); }
LoaderOptions plain_LoaderOptions(void) { return (LoaderOptions){.batch = 2}; }
OptimizerConfig plain_OptimizerConfig(void) { return optimizer_defaults(OPTIMIZER_ADAM); }
ProfileOptions plain_ProfileOptions(void) {
    ProfileOptions options = profile_defaults();
    options.warmup = options.iterations = 1;
    options.probe_seconds = -1.0;
    return options;
}
ProfilerOptions plain_ProfilerOptions(void) {
    ProfilerOptions options = profiler_defaults();
    options.capacity = 64;
    return options;
}
TimelineOptions plain_TimelineOptions(void) { return (TimelineOptions){.capacity = 64}; }
GenerationOptions plain_GenerationOptions(void) { return generation_defaults(); }
FitOptions plain_FitOptions(void) { return (FitOptions){.epochs = 1}; }
GradcheckOptions plain_GradcheckOptions(void) { return gradcheck_defaults(); }

LossFunction plain_LossFunction(void) { return loss_cross_entropy; }
static Tensor *sum(Tensor *const inputs[], int n_inputs, void *user) {
    (void)n_inputs, (void)user;
    return tensor_sum(inputs[0], DIM_ALL, false);
}
GradcheckFunction plain_GradcheckFunction(void) { return sum; }
void value_task(void *argument, int64_t begin, int64_t end) {
    (void)argument, (void)begin, (void)end;
}
void value_function(void *argument) { (void)argument; }

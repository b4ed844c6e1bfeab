// fold.c -- folds batch norms of evaluation into the products before them: y = (w x + b - mean) s +
// shift, with s = weight / sqrt(variance + epsilon), is a product with the weight w s. A dry run
// shows which norm follows which product.
#include <math.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/op.h"
#include "tensor/shadow.h"

// ---- which op follows which --------------------------------------------------------------------
typedef struct Pair {
    Tensor *made;           // by the product; retained, so that its address stays unique
    int channels_at;        // `made`'s dimension of the weight's rows; a norm's is 1
    const Tensor *weight;   // of the product; NULL, as `made`: a norm not first on a product
    const Tensor *variance; // of the norm that took it; NULL: none
    float epsilon;
    int uses; // of `made`, counting results of the whole
} Pair;

typedef struct Watch {
    Observer observer; // first
    Pair *pairs;
    int count, room; // full: some may be missing
} Watch;

enum { PRODUCT_WEIGHT = 1, NORM_X = 0, NORM_VARIANCE = 4 }; // input indices
enum { NORM_CHANNELS_AT = 1 };                              // in x

// Counts one more use of a pair's product; returns the pair, NULL if no product made `used`.
static Pair *note_use(Watch *watch, const Tensor *used) {
    for (int i = 0; used && i < watch->count; i++) {
        if (watch->pairs[i].made != used) continue;
        watch->pairs[i].uses++;
        return &watch->pairs[i];
    }
    return NULL;
}

static void look(Observer *self, const OpCall *call) {
    Watch *watch = (Watch *)self;
    bool linear = call->op->id == OP_linear, product = linear || call->op->id == OP_conv2d;
    bool norm = call->op->id == OP_batch_norm_eval, full = watch->count == watch->room;
    Pair *taken = note_use(watch, call->in[NORM_X]);
    for (int i = NORM_X + 1; i < call->n_in; i++) note_use(watch, call->in[i]);
    if (product && call->out[0] && !full)
        watch->pairs[watch->count++] =
            (Pair){.made = tensor_retain(call->out[0]),
                   .channels_at = linear ? call->out[0]->shape.ndim - 1 : NORM_CHANNELS_AT,
                   .weight = call->in[PRODUCT_WEIGHT]};
    if (norm && (!taken || taken->variance) && !full) taken = &watch->pairs[watch->count++];
    if (!norm || !taken) return;
    taken->variance = call->in[NORM_VARIANCE];
    taken->epsilon = call->params.value[0];
}

static int count_layers(const Layer *self) {
    int count = 1;
    for (int i = 0; i < self->n_children; i++) count += count_layers(self->children[i]);
    return count;
}

// ---- one fold ----------------------------------------------------------------------------------
static const LayerType identity_type; // below

typedef struct Fold {
    Layer *product, *norm;
    float epsilon;
    int64_t channels;
} Fold;

static Tensor *parameter_or_null(const Layer *self, const char *name) {
    for (int i = 0; i < self->n_parameters; i++)
        if (strcmp(self->parameters[i].name, name) == 0) return self->parameters[i].tensor;
    return NULL;
}

// Reads `count` numbers, or fills in `otherwise` where there is no tensor.
static Status read_or(const Tensor *tensor, int64_t count, float otherwise, float *values) {
    if (tensor) return tensor_read_floats(tensor, values);
    for (int64_t i = 0; i < count; i++) values[i] = otherwise;
    return STATUS_OK;
}

// weight (o, ...), bias (o), and four rows (o) of the norm: its weight, bias, mean and variance.
static void fold_numbers(const Fold *fold, float *weight, int64_t each, float *bias,
                         const float *norm) {
    int64_t n = fold->channels;
    for (int64_t o = 0; o < n; o++) {
        double scale = (double)norm[o] / sqrt((double)norm[3 * n + o] + (double)fold->epsilon);
        for (int64_t i = 0; i < each; i++)
            weight[o * each + i] = (float)((double)weight[o * each + i] * scale);
        bias[o] =
            (float)(((double)bias[o] - (double)norm[2 * n + o]) * scale + (double)norm[n + o]);
    }
}

static Status fold_values(const Fold *fold, Tensor *bias) {
    const Layer *norm = fold->norm;
    Tensor *weight = fold->product->parameters[0].tensor;
    int64_t n = fold->channels;
    float *room = memory_new((size_t)(weight->numel + 5 * n) * sizeof(float));
    if (!room) return error_status();
    float *old = room + weight->numel, *rows = old + n;
    Status status = tensor_read_floats(weight, room);
    if (!status) status = read_or(parameter_or_null(fold->product, "bias"), n, 0.0f, old);
    if (!status) status = read_or(parameter_or_null(norm, "weight"), n, 1.0f, rows);
    if (!status) status = read_or(parameter_or_null(norm, "bias"), n, 0.0f, rows + n);
    if (!status) status = tensor_read_floats(norm->buffers[0].tensor, rows + 2 * n);
    if (!status) status = tensor_read_floats(norm->buffers[1].tensor, rows + 3 * n);
    if (!status) {
        fold_numbers(fold, room, n ? weight->numel / n : 0, old, rows);
        status = tensor_write_floats(weight, room);
    }
    if (!status) status = tensor_write_floats(bias, old);
    memory_free(room);
    return status;
}

// NULL: the layer cannot get a bias, or is in a file's program, which would not read one.
static bool *bias_flag(Layer *self) {
    if (!self->type->forward) return NULL;
    for (int i = 0; i < self->type->n_attributes; i++)
        if (strcmp(self->type->attributes[i].name, "bias") == 0)
            return (bool *)(void *)((char *)self + self->type->attributes[i].offset);
    return NULL;
}

// Gives the product a bias, initially 0, if it has none, and makes the norm an identity.
static Status fold_pair(const Fold *fold) {
    Layer *product = fold->product;
    if (!parameter_or_null(product, "bias")) {
        Tensor *bias = layer_filled_new(SHAPE(fold->channels), 0.0f);
        if (layer_add_parameter(product, "bias", bias)) return error_status();
        *bias_flag(product) = true;
    }
    bool values = product->parameters[0].tensor->device->has_data;
    if (values && fold_values(fold, parameter_or_null(product, "bias"))) return error_status();
    layer_drop_state(fold->norm);
    fold->norm->type = &identity_type;
    return STATUS_OK;
}

static Tensor *identity_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return in[0];
}
// The type of a former norm, whose struct keeps its size: the type needs no more of it.
static const LayerType identity_type = {.name = "Identity",
                                        .size = sizeof(Layer),
                                        .forward = identity_forward};

// ---- finding all -------------------------------------------------------------------------------
typedef struct Owners {
    Layer *layer;
    int count; // number of layers that hold the tensor
} Owners;

static void find_owners(Layer *self, const Tensor *twin, Owners *owners) {
    for (int i = 0; i < self->n_parameters + self->n_buffers; i++) {
        const Parameter *p =
            i < self->n_parameters ? &self->parameters[i] : &self->buffers[i - self->n_parameters];
        if (tensor_here(p->tensor) != twin) continue;
        owners->layer = self;
        owners->count++;
    }
    for (int i = 0; i < self->n_children; i++) find_owners(self->children[i], twin, owners);
}

// True if the weight is the first parameter and no other layer has the bias.
static bool is_simple(Layer *model, const Layer *product, const Tensor *weight) {
    if (product->n_parameters == 0 || tensor_here(product->parameters[0].tensor) != weight)
        return false;
    Owners owners = {0};
    Tensor *bias = parameter_or_null(product, "bias");
    if (bias) find_owners(model, tensor_here(bias), &owners);
    return owners.count < 2;
}

// Finds a product whose only use is one norm over its channels, where no other layer uses the
// weights of either. Runs in the dry run.
static bool find_fold(Layer *model, const Watch *watch, const Pair *pair, Fold *fold) {
    Owners product = {0}, norm = {0};
    int64_t activation = 0;
    if (pair->uses != 1 || !pair->variance || pair->channels_at != NORM_CHANNELS_AT) return false;
    for (int i = 0; i < watch->count; i++) {
        const Pair *other = &watch->pairs[i];
        if (other != pair && (other->weight == pair->weight || other->variance == pair->variance))
            return false; // one of them runs twice
    }
    find_owners(model, pair->weight, &product);
    find_owners(model, pair->variance, &norm);
    if (product.count != 1 || norm.count != 1 || !bias_flag(product.layer)) return false;
    if (!is_simple(model, product.layer, pair->weight)) return false;
    layer_attribute(product.layer, "activation", &activation);
    *fold = (Fold){product.layer, norm.layer, pair->epsilon, pair->variance->numel};
    return activation == 0;
}

static Status watch_forward(Layer *model, Tensor *const in[], int n_in, Watch *watch) {
    Layer *twin = layer_here(model);
    if (!twin) return error_status();
    layer_train(twin, false);
    observer_add(&watch->observer);
    no_grad_begin();
    Scope *scope = scope_open();
    Tensor *results[LAYER_MAX_OUTPUTS] = {NULL};
    layer_forward_each(twin, in, n_in, results,
                       twin->type->forward_each ? twin->type->n_outputs : 1);
    for (int i = 0; i < LAYER_MAX_OUTPUTS; i++) note_use(watch, results[i]);
    scope_close(scope);
    no_grad_end();
    observer_remove(&watch->observer);
    return error_status();
}

Status layer_fold_norms(Layer *self, Tensor *const in[], int n_in, int64_t *count) {
    if (!GIVEN(count)) return STATUS_INVALID_ARGUMENT;
    *count = 0;
    Context *context = dry_run_begin(self);
    if (!context) return error_status();
    int room = 8 * count_layers(self) + 1, n = 0; // with more runs per layer none is folded
    Watch watch = {.observer = {.op_end = look}, .room = room};
    watch.pairs = memory_new((size_t)room * sizeof(Pair));
    Fold *folds = memory_new((size_t)room * sizeof(Fold));
    Status status = watch.pairs && folds ? watch_forward(self, in, n_in, &watch) : error_status();
    for (int i = 0; i < watch.count && watch.count < watch.room && !status; i++)
        n += find_fold(self, &watch, &watch.pairs[i], &folds[n]);
    for (int i = 0; i < watch.count; i++) tensor_free(watch.pairs[i].made);
    memory_free(watch.pairs);
    dry_run_end(context);
    if (!status) status = error_status();
    for (int i = 0; i < n && !status; i++) status = fold_pair(&folds[i]);
    if (!status) *count = n;
    memory_free(folds);
    return status;
}

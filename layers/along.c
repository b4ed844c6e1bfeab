// along.c -- layers without weights that work along one dimension: Softmax, LogSoftmax and GLU
#include "layers/layer.h"

typedef struct Along {
    Layer layer;
    int64_t dim; // as given: a negative one counts from the end
} Along;

static const LayerAttribute attributes[] = {{"dim", ATTRIBUTE_INTEGER, offsetof(Along, dim)}};

static int dim_of(const Layer *self) { return (int)((const Along *)self)->dim; }

static Tensor *softmax(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_softmax(in[0], dim_of(self));
}

static Tensor *log_softmax(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_log_softmax(in[0], dim_of(self));
}

static Tensor *glu(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_glu(in[0], dim_of(self));
}

#define ALONG .size = sizeof(Along), .attributes = attributes, .n_attributes = 1
static const LayerType softmax_type = {.name = "Softmax", ALONG, .forward = softmax};
static const LayerType log_softmax_type = {.name = "LogSoftmax", ALONG, .forward = log_softmax};
static const LayerType glu_type = {.name = "GLU", ALONG, .forward = glu};

static Layer *along_new(const LayerType *type, int dim) {
    Along *self = (Along *)layer_new(type);
    if (!self) return NULL;
    self->dim = dim;
    return &self->layer;
}

Layer *softmax_new(int dim) { return along_new(&softmax_type, dim); }
Layer *log_softmax_new(int dim) { return along_new(&log_softmax_type, dim); }
Layer *glu_new(int dim) { return along_new(&glu_type, dim); }

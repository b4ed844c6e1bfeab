// token_parts.c -- parts that the models of transformers.h share: initial weights, a head that uses
// the embedding's table, and the checks of options and tokens.
#include "layers/models/token_parts.h"

#include "tensor/context.h"

Status model_check_sizes(const char *who, const SizeOption sizes[], int n) {
    for (int i = 0; i < n; i++)
        if (sizes[i].value < 1 || sizes[i].value > INT32_MAX)
            return error_set(STATUS_INVALID_ARGUMENT, "%s: %s is %lld. HINT: from 1 to 2^31 - 1",
                             who, sizes[i].name, (long long)sizes[i].value);
    return STATUS_OK;
}

Status model_check_heads(const char *who, int64_t features, int64_t heads) {
    if (features % heads == 0) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: %lld features, %lld heads. HINT: each has as many", who,
                     (long long)features, (long long)heads);
}

Status model_check_tokens(const Layer *self, const Tensor *ids, int64_t context) {
    const char *who = self->type->name;
    char text[SHAPE_TEXT];
    if (ids->dtype != DTYPE_INT64 || ids->shape.ndim != 2)
        return error_set(STATUS_SHAPE, "%s: token ids are %s of %s. HINT: (batch, tokens) of int64",
                         who, shape_text(ids->shape, text), dtype_name(ids->dtype));
    int64_t past = layer_past(self), tokens = ids->shape.dims[1];
    if (tokens >= 1 && tokens <= context - past) return STATUS_OK;
    if (past > 0)
        return error_set(STATUS_SHAPE,
                         "%s: %lld tokens behind %lld, in a context of %lld. HINT: begin anew with "
                         "the last of them, or make the model with a longer context",
                         who, (long long)tokens, (long long)past, (long long)context);
    return error_set(STATUS_SHAPE,
                     "%s: %lld tokens, in a context of %lld. HINT: at least one; cut the sequence, "
                     "or make the model with a longer context",
                     who, (long long)tokens, (long long)context);
}

Layer *normal_linear_new(int64_t in_features, int64_t out_features, bool bias) {
    Layer *layer = linear_new(in_features, out_features, bias);
    if (!layer) return NULL;
    no_grad_begin();
    tensor_fill_normal(layer->parameters[0].tensor, 0.0f, 0.02f);
    if (bias) tensor_fill(layer->parameters[1].tensor, 0.0f);
    no_grad_end();
    return layer_finished(layer);
}

Layer *normal_embedding_new(int64_t count, int64_t features) {
    return layer_embedding_new(count, features, 0.02f, NULL);
}

// The head's own weight, which the table replaces, is on the meta device and takes no memory.
Layer *token_head_new(const Layer *embedding, int64_t count, int64_t features) {
    if (!embedding) return normal_linear_new(features, count, false);
    Device *device = context_current()->device;
    context_set_device(device_meta());
    Layer *head = linear_new(features, count, false);
    context_set_device(device);
    if (!head) return NULL;
    tensor_free(head->parameters[0].tensor);
    head->parameters[0].tensor = tensor_retain(embedding->parameters[0].tensor);
    return head;
}

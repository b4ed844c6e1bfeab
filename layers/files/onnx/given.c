// given.c -- numbers of inputs that are told when a file is loaded, for nodes that need numbers
// then (a shape, a k). Everything between is computed on the CPU, as constants are, and only for
// that. An input that no such node needs is like any other.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// ---- telling an input's numbers ---------------------------------------------------------------
// Checks that numbers told as int64 fit the input's narrower type.
static Status check_range(Import *import, const Value *value, const Tensor *numbers) {
    bool is_signed = false;
    int bits = value->type == ONNX_BOOL ? 1 : onnx_bits(value->type, &is_signed);
    if (numbers->dtype != DTYPE_INT64 || bits == 0 || bits > 63) return STATUS_OK;
    int64_t most = (int64_t)1 << (is_signed ? bits - 1 : bits), least = is_signed ? -most : 0;
    const int64_t *at = tensor_labels((Tensor *)(uintptr_t)numbers);
    for (int64_t i = 0; i < numbers->numel; i++)
        if (at[i] < least || at[i] >= most)
            return error_set(STATUS_INVALID_ARGUMENT,
                             "onnx: %s: %lld is told of input \"%s\", and is no %s. HINT: numbers "
                             "from %lld to %lld",
                             import->path, (long long)at[i], value->name,
                             onnx_type_name(value->type), (long long)least, (long long)(most - 1));
    return STATUS_OK;
}

Status import_give(Import *import, Value *value, const Tensor *numbers) {
    DType wanted = onnx_dtype(value->type);
    if (value->type == ONNX_BOOL) wanted = DTYPE_INT64;
    if (!numbers->device->has_data || !numbers->device->on_host || !tensor_is_contiguous(numbers))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "onnx: %s: the numbers told of input \"%s\" are not in the host's memory, "
                         "side by side. HINT: tensor_contiguous, on the CPU",
                         import->path, value->name);
    if ((DType)numbers->dtype != wanted)
        return error_set(STATUS_DTYPE,
                         "onnx: %s: input \"%s\" is %s, and the numbers told of it are %s. "
                         "HINT: numbers.astype(\"%s\")",
                         import->path, value->name, onnx_type_name(value->type),
                         numbers->dtype == DTYPE_INT64 ? "whole numbers" : "reals",
                         wanted == DTYPE_INT64 ? onnx_type_name(value->type) : "float32");
    if (!shape_equal(numbers->shape, value->shape)) {
        char told[SHAPE_TEXT], has[SHAPE_TEXT];
        if (import->options->other_batch) return STATUS_OK; // for another batch
        return error_set(STATUS_SHAPE,
                         "onnx: %s: input \"%s\" is %s, and the numbers told of it are %s. HINT: "
                         "numbers.reshape",
                         import->path, value->name, shape_text(value->shape, has),
                         shape_text(numbers->shape, told));
    }
    value->given = numbers;
    return check_range(import, value, numbers);
}

// Notes once that the model is made for these numbers.
static Status note_use(Import *import, Value *value) {
    enum { SAID = 8 }; // numbers shown
    char what[160], text[400] = "";
    size_t used = 0;
    if (value->decides) return STATUS_OK;
    OnnxModel *about = import->about;
    for (int i = 0; i < about->n_inputs; i++)
        if (strcmp(about->inputs[i].name, value->name) == 0) about->inputs[i].decides = true;
    value->decides = true;
    if (import->options->other_batch)
        return error_set(STATUS_SHAPE,
                         "onnx: %s: the numbers told of input \"%s\" decide shapes, and are for "
                         "the batch that they were told with. HINT: a run of its own for each "
                         "batch, with --input %s=FILE.npy",
                         import->path, value->name, value->name);
    for (int64_t i = 0; i < value->given->numel && i < SAID; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.9g", i ? ", " : "",
                                 value_number(value, i));
    snprintf(what, sizeof what, "numbers of input \"%.100s\"", value->name);
    return import_assume(import, what,
                         "%s%s, as they were told: they decide shapes, and the model "
                         "takes no others",
                         text, value->given->numel > SAID ? " ..." : "");
}

static Status take_given(Import *import, Value *value) {
    const Tensor *given = value->given;
    if (import_room(import, given->numel)) return error_status();
    context_push(import->host);
    value->data =
        given->dtype == DTYPE_FLOAT32
            ? tensor_from_floats_new(given->shape, tensor_data((Tensor *)(uintptr_t)given))
            : tensor_from_labels_new(given->shape, tensor_labels((Tensor *)(uintptr_t)given));
    context_pop();
    if (value->data && (DType)value->data->dtype != onnx_dtype(value->type)) { // truth values
        Tensor *whole = value->data;
        value->data = NULL;
        context_push(import->host);
        float *numbers = memory_new((size_t)(whole->numel + 1) * sizeof(float));
        for (int64_t i = 0; i < whole->numel && numbers; i++)
            numbers[i] = (float)tensor_labels(whole)[i];
        if (numbers) value->data = tensor_from_floats_new(whole->shape, numbers);
        memory_free(numbers);
        tensor_free(whole);
        context_pop();
    }
    if (!value->data) return error_status();
    import->held += value->data->numel;
    return note_use(import, value);
}

// ---- computing from them ----------------------------------------------------------------------
// The steps that compute a value from known numbers; excludes steps whose results are known.
typedef struct Chain {
    bool *needed;         // for each of the import's steps
    char inputs[300];     // those not told, as " --input n=FILE.npy"
    const Value *first;   // the first of those inputs
    const Step *obstacle; // a step that import does not compute; NULL: none
} Chain;

static bool is_there(const Value *value) {
    return value->data || value->given || value->kind != VALUE_RUN;
}

static void look_at(Chain *chain, Value *value) {
    if (is_there(value)) return;
    if (value->step >= 0) {
        chain->needed[value->step] = true;
        return;
    }
    size_t used = strlen(chain->inputs);
    char one[200];
    snprintf(one, sizeof one, " --input %.120s=FILE.npy", value->name);
    if (!chain->first) chain->first = value;
    if (!strstr(chain->inputs, one))
        snprintf(chain->inputs + used, sizeof chain->inputs - used, "%s", one);
}

// Goes backwards, because a step reads the results of earlier steps.
static Status find_chain(Import *import, Value *value, Chain *chain) {
    *chain = (Chain){.needed = memory_new((size_t)(import->n_steps + 1) * sizeof(bool))};
    if (!chain->needed || import_work(import, import->n_steps)) return error_status();
    look_at(chain, value);
    for (int i = value->step; i >= 0; i--) {
        const Step *step = import->steps[i];
        if (!chain->needed[i]) continue;
        if (!onnx_is_quick(step->op)) chain->obstacle = step;
        for (int k = 0; k < step->n_in && !chain->obstacle; k++) {
            Value *in = import_value(import, step->in[k]);
            if (in && in->kind == VALUE_PARAMETER && (in->flipped || in->rows.gates > 0))
                chain->obstacle = step;
            else if (in)
                look_at(chain, in);
        }
        if (chain->obstacle) break;
    }
    return error_status();
}

Known import_known(Import *import, Value *value) {
    Chain chain = {0};
    Known known = KNOWN_NEVER;
    if (value->kind == VALUE_CONSTANT || (value->kind == VALUE_PARAMETER && value->stored))
        return KNOWN;
    if (value->kind != VALUE_RUN || find_chain(import, value, &chain) || chain.obstacle)
        known = KNOWN_NEVER;
    else
        known = chain.first ? KNOWN_IF_TOLD : KNOWN;
    memory_free(chain.needed);
    return known;
}

static Status refuse(const Import *import, const Value *value, const Chain *chain) {
    if (chain->obstacle)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "\"%s\" is not known before the model runs, and must be here: %s "
                            "computes it then",
                            value->name, chain->obstacle->node->op_type);
    return import_error(
        import, STATUS_NOT_IMPLEMENTED,
        "\"%s\" is not known before the model runs, and must be here: it is %sinput "
        "\"%s\". HINT:%s tells its numbers",
        value->name, chain->first == value ? "" : "computed from ", chain->first->name,
        chain->inputs);
}

Status import_given_data(Import *import, Value *value) {
    Chain chain;
    Status status = value->given ? take_given(import, value) : STATUS_OK;
    if (status || value->data) return status;
    status = find_chain(import, value, &chain);
    if (!status && (chain.first || chain.obstacle)) status = refuse(import, value, &chain);
    for (int i = 0; i <= value->step && !status; i++)
        if (chain.needed[i]) status = step_compute(import, import->steps[i]);
    memory_free(chain.needed);
    if (status || value->data) return status;
    return import_error(import, STATUS_NOT_IMPLEMENTED,
                        "\"%s\" is not known before the model runs, and must be here", value->name);
}

// Adds "HINT: other numbers in --input n=FILE.npy" where told numbers led to the pending error.
void import_blame_given(const Import *import) {
    char said[512], inputs[200] = "";
    Status status = error_status();
    for (int i = 0; i < import->n_values; i++) {
        size_t used = strlen(inputs);
        if (import->values[i]->decides)
            snprintf(inputs + used, sizeof inputs - used, " --input %.80s=FILE.npy",
                     import->values[i]->name);
    }
    if (!inputs[0] || !status || status == STATUS_OUT_OF_MEMORY) return;
    snprintf(said, sizeof said, "%s", error_message());
    char *hint = strstr(said, "HINT: ");
    if (hint) *hint = '\0';
    size_t length = strlen(said);
    while (length > 0 && (said[length - 1] == ' ' || said[length - 1] == '.'))
        said[--length] = '\0';
    error_clear();
    error_set(status, "%.*s. HINT: other numbers in%s; those given lead to this", 400, said,
              inputs);
}

// inputs.c -- a graph's inputs and their sizes. A size that the file leaves open may have a name
// there ("batch", "seq"): a symbol. A symbol is one size in every input, and is told once. given.c
// handles the inputs' numbers.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

enum {
    MOST_SYMBOLS = 256,
    NOT_TOLD = -1,     // a size
    NO_SYMBOL = -1,    // the size is fixed in the file, or has no name
    UNNAMED_BATCH = 0, // the symbol of unnamed first sizes, if they are the batch
};

typedef struct Symbol {
    const char *name; // NULL: UNNAMED_BATCH
    int64_t size;     // or NOT_TOLD
    char by[96];      // the option or input that told it
    int leads;        // number of inputs whose first size it is
} Symbol;

typedef struct Input {
    const Onnx__ValueInfo *info;
    Value *value;
    const Onnx__Sizes *dims;      // NULL: the file does not state the number of dimensions
    const OnnxShape *given;       // or NULL
    int symbols[TENSOR_MAX_DIMS]; // one per size, or NO_SYMBOL
} Input;

typedef struct Inputs {
    Import *import;
    Input *at;
    int n, n_led; // n_led: inputs whose first size is open
    Symbol symbols[MOST_SYMBOLS];
    int n_symbols;
    int batch; // the batch's symbol, or NO_SYMBOL
} Inputs;

// ---- the file's inputs -------------------------------------------------------------------------
static bool is_fixed(const Onnx__Dimension *dim) {
    return dim->has_dim_value && dim->dim_value >= 0;
}

// PyTorch calls a size without a name "x_dynamic_axes_1".
static bool has_name(const Onnx__Dimension *dim) {
    return dim->dim_param[0] && !strstr(dim->dim_param, "_dynamic_axes_");
}

static int find_symbol(const Inputs *all, const char *name) {
    for (int i = UNNAMED_BATCH + 1; i < all->n_symbols; i++)
        if (strcmp(all->symbols[i].name, name) == 0) return i;
    return NO_SYMBOL;
}

static Status note_symbols(Inputs *all, Input *input) {
    for (int i = 0; i < TENSOR_MAX_DIMS; i++) input->symbols[i] = NO_SYMBOL;
    for (size_t i = 0; input->dims && i < input->dims->n_dim; i++) {
        const Onnx__Dimension *dim = input->dims->dim[i];
        if (is_fixed(dim)) continue;
        if (i == 0) all->n_led++;
        if (!has_name(dim)) continue;
        int symbol = find_symbol(all, dim->dim_param);
        if (symbol == NO_SYMBOL && all->n_symbols == MOST_SYMBOLS)
            return error_set(STATUS_NOT_IMPLEMENTED,
                             "onnx: %s: its inputs have more than %d names for sizes",
                             all->import->path, MOST_SYMBOLS - 1);
        if (symbol == NO_SYMBOL) {
            symbol = all->n_symbols++;
            all->symbols[symbol] = (Symbol){.name = dim->dim_param, .size = NOT_TOLD};
        }
        input->symbols[i] = symbol;
        if (i == 0) all->symbols[symbol].leads++;
    }
    return STATUS_OK;
}

static Status note_input(Inputs *all, const Onnx__ValueInfo *info) {
    Import *import = all->import;
    OnnxModel *about = import->about;
    if (!info->name[0])
        return error_set(STATUS_FORMAT, "onnx: %s: an input without a name", import->path);
    if (import_find(import, info->name) >= 0) return STATUS_OK; // stored: a default, as of old
    const Onnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
    if (!type)
        return error_set(STATUS_NOT_IMPLEMENTED, "onnx: %s: input \"%s\" is no tensor",
                         import->path, info->name);
    if (!onnx_is_known(type->elem_type))
        return error_set(STATUS_NOT_IMPLEMENTED,
                         "onnx: %s: input \"%s\" is of type %s (%d), which is not read",
                         import->path, info->name, onnx_type_name(type->elem_type),
                         type->elem_type);
    if (type->shape && type->shape->n_dim > TENSOR_MAX_DIMS)
        return error_set(STATUS_SHAPE,
                         "onnx: %s: input \"%s\" has %zu dimensions; at most %d are "
                         "taken",
                         import->path, info->name, type->shape->n_dim, TENSOR_MAX_DIMS);
    int at = import_value_new(import, info->name);
    if (at < 0) return error_status();
    Input *input = &all->at[all->n];
    *input = (Input){.info = info, .value = import->values[at], .dims = type->shape};
    OnnxPort *port = &about->inputs[about->n_inputs];
    if (note_symbols(all, input)) return error_status();
    port->name = memory_copy_string(info->name);
    if (!port->name) return error_status();
    input->value->kind = VALUE_RUN;
    input->value->type = type->elem_type;
    port->numpy = onnx_numpy(type->elem_type);
    port->dtype = onnx_is_float(type->elem_type) ? DTYPE_FLOAT32 : DTYPE_INT64;
    all->n = ++about->n_inputs;
    return STATUS_OK;
}

// ---- the batch ---------------------------------------------------------------------------------
static bool is_called_batch(const char *name) {
    static const char *const names[] = {"n", "b", "bs", "bsz"};
    char lower[64];
    size_t i = 0;
    for (; name[i] && i < sizeof lower - 1; i++) lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = '\0';
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(lower, names[k]) == 0) return true;
    return strstr(lower, "batch") != NULL;
}

// The symbol with a batch's name, if some input begins with it. Without such a name, the only
// symbol with which inputs with an open first size begin, or unnamed first sizes. If these differ,
// there is no batch.
static int find_batch(const Inputs *all) {
    int called = NO_SYMBOL, leading = NO_SYMBOL, unnamed = all->n_led;
    for (int i = UNNAMED_BATCH + 1; i < all->n_symbols; i++) {
        const Symbol *symbol = &all->symbols[i];
        unnamed -= symbol->leads;
        if (symbol->leads > 0) leading = i;
        if (is_called_batch(symbol->name) &&
            (called == NO_SYMBOL || symbol->leads > all->symbols[called].leads))
            called = i;
    }
    if (called != NO_SYMBOL) return all->symbols[called].leads > 0 ? called : NO_SYMBOL;
    if (all->n_led == 0) return NO_SYMBOL;
    if (unnamed == all->n_led) return UNNAMED_BATCH;
    return unnamed + all->symbols[leading].leads == all->n_led ? leading : NO_SYMBOL;
}

// Makes unnamed first sizes the batch, if there is one, and marks the inputs that it leads.
static void lead_by_batch(Inputs *all) {
    all->batch = find_batch(all);
    for (int i = 0; i < all->n; i++) {
        Input *input = &all->at[i];
        bool led = input->dims && input->dims->n_dim > 0 && !is_fixed(input->dims->dim[0]);
        if (led && input->symbols[0] == NO_SYMBOL) input->symbols[0] = all->batch;
        all->import->about->inputs[i].batched =
            led && all->batch != NO_SYMBOL && input->symbols[0] == all->batch;
    }
}

// Moves the first input that the batch leads to the front.
static void put_batch_first(Inputs *all) {
    OnnxPort *ports = all->import->about->inputs;
    int lead = 0;
    while (lead < all->n && !ports[lead].batched) lead++;
    if (lead == all->n) return;
    const OnnxPort port = ports[lead];
    const Input input = all->at[lead];
    for (; lead > 0; lead--) {
        ports[lead] = ports[lead - 1];
        all->at[lead] = all->at[lead - 1];
    }
    ports[0] = port;
    all->at[0] = input;
}

// ---- telling sizes -----------------------------------------------------------------------------
static const char *name_of(const Symbol *symbol) {
    return symbol->name ? symbol->name : "the batch";
}

static Status tell(Inputs *all, int at, int64_t size, const char *by) {
    Symbol *symbol = &all->symbols[at];
    if (all->import->options->other_batch && at == all->batch) size = all->import->options->batch;
    if (symbol->size != NOT_TOLD && symbol->size != size)
        return error_set(STATUS_SHAPE,
                         "onnx: %s: \"%s\" is %lld by %s, and %lld by %s. HINT: it is one size "
                         "wherever it stands; tell it once",
                         all->import->path, name_of(symbol), (long long)symbol->size, symbol->by,
                         (long long)size, by);
    symbol->size = size;
    snprintf(symbol->by, sizeof symbol->by, "%s", by);
    return STATUS_OK;
}

static const OnnxShape *shape_named(const Import *import, const char *name) {
    const OnnxOptions *options = import->options;
    for (int i = 0; i < options->n_shapes; i++)
        if (options->shapes[i].name && strcmp(options->shapes[i].name, name) == 0)
            return &options->shapes[i];
    return NULL;
}

// Assigns shapes; those without a name go to the inputs that no other names, in the graph's order.
static void find_given(Inputs *all) {
    const OnnxOptions *options = all->import->options;
    int next = 0;
    for (int i = 0; i < all->n; i++) {
        Input *input = &all->at[i];
        input->given = shape_named(all->import, input->info->name);
        while (next < options->n_shapes && options->shapes[next].name) next++;
        if (!input->given && next < options->n_shapes) input->given = &options->shapes[next++];
        all->import->about->inputs[i].told =
            input->given ? (int)(input->given - options->shapes) : -1;
    }
}

// Checks a given shape against the sizes that the file fixes.
static Status check_shape(const Inputs *all, const Input *input) {
    const Import *import = all->import;
    const char *name = input->info->name;
    if (!input->given || !input->dims) return STATUS_OK;
    if (input->given->shape.ndim != (int)input->dims->n_dim)
        return error_set(
            STATUS_SHAPE,
            "onnx: %s: input \"%s\" has %zu dimensions, and what was asked for has %d. "
            "HINT: --input %s=1x3x224x224",
            import->path, name, input->dims->n_dim, input->given->shape.ndim, name);
    for (size_t i = 0; i < input->dims->n_dim; i++) {
        const Onnx__Dimension *dim = input->dims->dim[i];
        int64_t size = input->given->shape.dims[i];
        if (is_fixed(dim) && dim->dim_value != size)
            return error_set(STATUS_SHAPE,
                             "onnx: %s: input \"%s\" has the size %lld as dimension %zu, not %lld. "
                             "HINT: torch.onnx.export(..., dynamic_shapes=...) leaves sizes open",
                             import->path, name, (long long)dim->dim_value, i, (long long)size);
    }
    return STATUS_OK;
}

static Status tell_shape(Inputs *all, const Input *input) {
    char by[96];
    if (check_shape(all, input)) return error_status();
    snprintf(by, sizeof by, "input \"%.60s\"", input->info->name);
    for (size_t i = 0; input->given && input->dims && i < input->dims->n_dim; i++)
        if (!is_fixed(input->dims->dim[i]) && has_name(input->dims->dim[i]) &&
            tell(all, input->symbols[i], input->given->shape.dims[i], by))
            return error_status();
    return STATUS_OK;
}

// A first size without a name gives the batch, where nothing else does.
static void tell_unnamed(Inputs *all, const Input *input) {
    bool first = input->given && input->dims && input->dims->n_dim > 0 && all->batch != NO_SYMBOL &&
                 !is_fixed(input->dims->dim[0]) && !has_name(input->dims->dim[0]);
    char by[96];
    snprintf(by, sizeof by, "input \"%.60s\"", input->info->name);
    if (first && all->symbols[all->batch].size == NOT_TOLD)
        tell(all, all->batch, input->given->shape.dims[0], by);
}

static Status unknown(const Inputs *all, const char *name) {
    char names[200] = "";
    for (int i = UNNAMED_BATCH + 1; i < all->n_symbols; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", all->symbols[i].name);
    }
    return error_set(STATUS_INVALID_ARGUMENT, "onnx: %s: no input has a size \"%s\". HINT: %s%s",
                     all->import->path, name,
                     names[0] ? "those that are open are " : "no size of this file has a name",
                     names);
}

// Sets the batch; a file with a fixed batch accepts only that.
static Status tell_batch(Inputs *all, int64_t batch) {
    const Onnx__Sizes *dims = all->n > 0 ? all->at[0].dims : NULL;
    if (batch == 0) return STATUS_OK;
    if (all->batch != NO_SYMBOL) return tell(all, all->batch, batch, "--batch");
    for (int i = UNNAMED_BATCH + 1; i < all->n_symbols; i++)
        if (is_called_batch(all->symbols[i].name))
            return error_set(STATUS_SHAPE,
                             "onnx: %s: --batch %lld: no input begins with \"%s\", so that it is "
                             "told as others are. HINT: --size %s=%lld",
                             all->import->path, (long long)batch, all->symbols[i].name,
                             all->symbols[i].name, (long long)batch);
    if (!dims || dims->n_dim == 0 || !is_fixed(dims->dim[0]))
        return error_set(STATUS_SHAPE,
                         "onnx: %s: --batch %lld: which of its sizes is the batch cannot be told. "
                         "HINT: --size NAME=%lld, or --input %s=1x3x224x224",
                         all->import->path, (long long)batch, (long long)batch,
                         all->n > 0 ? all->at[0].info->name : "NAME");
    if (dims->dim[0]->dim_value == batch) return STATUS_OK;
    const char *name = all->at[0].info->name;
    return error_set(STATUS_SHAPE,
                     "onnx: %s: --batch %lld: \"%s\" takes %lld at a time. HINT: "
                     "torch.onnx.export(..., dynamic_shapes={\"%s\": {0: "
                     "torch.export.Dim(\"batch\")}}) leaves that open; with dynamo=False it is "
                     "dynamic_axes={\"%s\": {0: \"batch\"}}",
                     all->import->path, (long long)batch, name, (long long)dims->dim[0]->dim_value,
                     name, name);
}

static Status tell_all(Inputs *all) {
    const OnnxOptions *options = all->import->options;
    for (int i = 0; i < options->n_sizes; i++) {
        char by[96];
        int symbol = find_symbol(all, options->sizes[i].name);
        snprintf(by, sizeof by, "--size %.60s", options->sizes[i].name);
        if (symbol == NO_SYMBOL) return unknown(all, options->sizes[i].name);
        if (tell(all, symbol, options->sizes[i].size, by)) return error_status();
    }
    for (int i = 0; i < all->n; i++) {
        if (tell_shape(all, &all->at[i])) return error_status();
    }
    for (int i = 0; i < all->n; i++) tell_unnamed(all, &all->at[i]);
    return tell_batch(all, options->batch);
}

// ---- sizes that were not told ------------------------------------------------------------------
// A plausible size: a batch, an image's side, or a sequence's length.
static int example(const Input *input, size_t i) {
    const Onnx__Dimension *dim = input->dims->dim[i];
    if (i == 0 ? !has_name(dim) : has_name(dim) && is_called_batch(dim->dim_param)) return 1;
    return input->dims->n_dim > 3 && i > 1 ? 224 : 128;
}

static Status refuse_shapeless(const Inputs *all, const Input *input) {
    return error_set(STATUS_SHAPE,
                     "onnx: %s: of input \"%s\" the file does not say how many dimensions it has. "
                     "HINT: --input %s=1x3x224x224",
                     all->import->path, input->info->name, input->info->name);
}

// Refuses with "--input x=1x3x224x224", filled in with the known sizes.
static Status refuse_unnamed(const Inputs *all, const Input *input, size_t at) {
    char shape[200] = "";
    for (size_t i = 0; i < input->dims->n_dim; i++) {
        const Onnx__Dimension *dim = input->dims->dim[i];
        size_t used = strlen(shape);
        int64_t told =
            input->symbols[i] == NO_SYMBOL ? NOT_TOLD : all->symbols[input->symbols[i]].size;
        long long size = is_fixed(dim)      ? dim->dim_value
                         : told != NOT_TOLD ? told
                                            : example(input, i);
        snprintf(shape + used, sizeof shape - used, "%s%lld", used ? "x" : "", size);
    }
    return error_set(STATUS_SHAPE,
                     "onnx: %s: nobody has said how large dimension %zu of input \"%s\" is, which "
                     "the file leaves open. HINT: --input %s=%s, for example",
                     all->import->path, at, input->info->name, input->info->name, shape);
}

// Names all open symbols, so that one more try is enough: "--size H=224 --size W=224".
static Status refuse_symbols(const Inputs *all) {
    char names[200] = "", flags[300] = "";
    bool seen[MOST_SYMBOLS] = {false};
    for (int i = 0; i < all->n; i++)
        for (size_t d = 0; all->at[i].dims && d < all->at[i].dims->n_dim; d++) {
            int at = all->at[i].symbols[d];
            if (at == NO_SYMBOL || seen[at] || all->symbols[at].size != NOT_TOLD) continue;
            size_t used = strlen(names), typed = strlen(flags);
            seen[at] = true;
            snprintf(names + used, sizeof names - used, "%s\"%s\"", used ? ", " : "",
                     name_of(&all->symbols[at]));
            snprintf(flags + typed, sizeof flags - typed, "%s--size %s=%d", typed ? " " : "",
                     name_of(&all->symbols[at]), example(&all->at[i], d));
        }
    return error_set(STATUS_SHAPE,
                     "onnx: %s: nobody has said how large %s %s, which the file leaves open. HINT: "
                     "%s, for example",
                     all->import->path, names, strchr(names, ',') ? "are" : "is", flags);
}

static Status refuse_open(const Inputs *all) {
    bool symbols = false;
    for (int i = 0; i < all->n; i++) {
        const Input *input = &all->at[i];
        if (!input->dims && !input->given) return refuse_shapeless(all, input);
        for (size_t d = 0; input->dims && !input->given && d < input->dims->n_dim; d++) {
            if (is_fixed(input->dims->dim[d])) continue;
            int at = input->symbols[d];
            if (at == NO_SYMBOL) return refuse_unnamed(all, input, d);
            symbols = symbols || all->symbols[at].size == NOT_TOLD;
        }
    }
    return symbols ? refuse_symbols(all) : STATUS_OK;
}

// Notes that the first input's first size counts samples, where no input begins with the batch.
static Status assume_first(const Inputs *all) {
    bool called = false;
    for (int i = UNNAMED_BATCH + 1; i < all->n_symbols; i++)
        called = called || is_called_batch(all->symbols[i].name);
    if (!called || all->n == 0) return STATUS_OK;
    char taken[160];
    snprintf(taken, sizeof taken, "the first size of input \"%.100s\"", all->at[0].info->name);
    return import_assume(all->import, "the batch, with which no input begins", "%s", taken);
}

static Status assume_batch(Inputs *all) {
    if (all->batch == NO_SYMBOL) return assume_first(all);
    if (all->symbols[all->batch].size != NOT_TOLD) return STATUS_OK;
    Symbol *batch = &all->symbols[all->batch];
    char what[160];
    batch->size = 1;
    const char *quote = batch->name ? "\"" : "";
    snprintf(what, sizeof what, "batch size%s%s%.100s%s", batch->name ? " " : "", quote,
             batch->name ? batch->name : "", quote);
    return import_assume(all->import, what, "1");
}

// ---- shapes ------------------------------------------------------------------------------------
static bool is_batch(const Inputs *all, const Input *input, int i) {
    return all->batch != NO_SYMBOL && input->symbols[i] == all->batch;
}

static Shape shape_of(const Inputs *all, const Input *input) {
    if (!input->dims) return input->given->shape;
    bool other = all->import->options->other_batch;
    Shape shape = {.ndim = (int)input->dims->n_dim};
    for (int i = 0; i < shape.ndim; i++) {
        const Onnx__Dimension *dim = input->dims->dim[i];
        bool given = input->given && !(other && is_batch(all, input, i));
        shape.dims[i] = is_fixed(dim) ? dim->dim_value
                        : given       ? input->given->shape.dims[i]
                                      : all->symbols[input->symbols[i]].size;
    }
    return shape;
}

// Keeps the sizes of symbols for import_size.
static Status keep_symbols(const Inputs *all) {
    Import *import = all->import;
    import->sizes = memory_new((size_t)all->n_symbols * sizeof(OnnxSize));
    for (int i = UNNAMED_BATCH + 1; i < all->n_symbols && import->sizes; i++)
        import->sizes[import->n_sizes++] = (OnnxSize){all->symbols[i].name, all->symbols[i].size};
    return error_status();
}

int64_t import_size(const Import *import, const Onnx__Dimension *dim) {
    if (is_fixed(dim)) return dim->dim_value;
    for (int i = 0; i < import->n_sizes && dim->dim_param; i++)
        if (strcmp(import->sizes[i].name, dim->dim_param) == 0) return import->sizes[i].size;
    return -1;
}

static Status take_sizes(Inputs *all) {
    OnnxModel *about = all->import->about;
    find_given(all);
    lead_by_batch(all);
    if (all->import->options->batch_first) put_batch_first(all);
    if (tell_all(all) || assume_batch(all) || refuse_open(all) || keep_symbols(all))
        return error_status();
    for (int i = 0; i < all->n; i++) {
        Value *value = all->at[i].value;
        value->shape = about->inputs[i].shape = shape_of(all, &all->at[i]);
        value->tensor = tensor_new(value->shape, about->inputs[i].dtype);
        if (!value->tensor) return error_status();
        const OnnxShape *given = all->at[i].given;
        if (given && given->numbers && import_give(all->import, value, given->numbers))
            return error_status();
    }
    return STATUS_OK;
}

Status import_inputs(Import *import) {
    const Onnx__Graph *graph = import->graph;
    Inputs all = {.import = import, .n_symbols = 1, .batch = NO_SYMBOL};
    all.symbols[UNNAMED_BATCH] = (Symbol){.size = NOT_TOLD};
    import->about->inputs = memory_new((graph->n_input + 1) * sizeof(OnnxPort));
    all.at = import->about->inputs ? memory_new((graph->n_input + 1) * sizeof(Input)) : NULL;
    for (size_t i = 0; i < graph->n_input && !error_pending(); i++)
        note_input(&all, graph->input[i]);
    if (!error_pending()) take_sizes(&all);
    memory_free(all.at);
    return error_status();
}

// program_network.c -- resolves profile_model's argument, a network's name, a model as text or a
// file, and the network's input.
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "layers/cost.h"
#include "layers/files/model_text.h"
#include "layers/models/zoo.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"

// ---- by name -----------------------------------------------------------------------------------
static const char *network_at(const void *line, int i) {
    return ((const ProgramLine *)line)->network(i);
}

static Status unknown(const Options *options) {
    const char *name = options->model, *nearest = nearest_name(name, network_at, options->line);
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: there is no network of this name, and no such file. HINT: %s%s%s", name,
                     nearest ? "did you mean " : "--list names the networks",
                     nearest ? nearest : "", nearest ? "? --list names them" : "");
}

static Status misfit(const char *flag, const ZooModel *network) {
    return error_set(STATUS_INVALID_ARGUMENT, "--%s: %s takes %s. HINT: leave it out, or say --%s",
                     flag, network->name, network->vocabulary ? "texts" : "images",
                     network->vocabulary ? "tokens" : "image");
}

char *program_input_text(const ZooModel *network, const int64_t *dims,
                         char text[PROGRAM_INPUT_TEXT]) {
    if (network->vocabulary)
        snprintf(text, PROGRAM_INPUT_TEXT, "%.32s token%s", text_count(dims[0]).s,
                 dims[0] == 1 ? "" : "s");
    else
        snprintf(text, PROGRAM_INPUT_TEXT, "%lldx%lldx%lld", (long long)dims[0], (long long)dims[1],
                 (long long)dims[2]);
    return text;
}

// The prompt leaves room for the generated tokens; the model does not read the last of them.
static Status prompt_tokens(const ZooModel *network, const Options *options, int64_t *tokens) {
    enum { PROMPT = 128 };
    int64_t most = network->input[0] - (options->generate - 1), said = options->tokens;
    *tokens = said ? said : most < PROMPT ? most : PROMPT;
    if (!network->vocabulary)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--generate: %s takes images. HINT: gpt2, llama-2-7b and char-gpt write",
                         network->name);
    if (*tokens >= 1 && *tokens <= most) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--generate: %lld tokens behind %lld are more than the %lld positions of %s. "
                     "HINT: fewer of either",
                     (long long)options->generate, (long long)(said ? said : 1),
                     (long long)network->input[0], network->name);
}

static Status find_named(const ZooModel *network, const Options *options, Subject *subject) {
    const int64_t *input = network->input, *image = options->image;
    bool texts = network->vocabulary > 0;
    if (texts && image[0]) return misfit("image", network);
    if (texts && options->classes) return misfit("classes", network);
    if (!texts && options->tokens) return misfit("tokens", network);
    int64_t tokens = options->tokens ? options->tokens : input[0];
    if (options->generate && prompt_tokens(network, options, &tokens)) return error_status();
    *subject = (Subject){.network = network,
                         .vocabulary = network->vocabulary,
                         .classes = options->classes ? options->classes : network->classes,
                         .batch = options->batch ? options->batch : 1};
    if (texts) {
        subject->sample = SHAPE(tokens);
        subject->unit = "tokens";
        subject->units_per_sample = subject->sample.dims[0];
    } else {
        subject->sample =
            image[0] ? SHAPE(input[0], image[0], image[1]) : SHAPE(input[0], input[1], input[2]);
        subject->unit = "images";
        subject->units_per_sample = 1;
    }
    char takes[PROGRAM_INPUT_TEXT];
    snprintf(subject->name, sizeof(subject->name), "%s %s", network->name,
             program_input_text(network, subject->sample.dims, takes));
    return STATUS_OK;
}

// ---- as text -----------------------------------------------------------------------------------
static Layer *read_text(const Subject *subject, Shape *input) {
    return subject->file ? model_text_read_file(subject->file, input)
                         : model_text_read(subject->text, input);
}

// The vocabulary of a model that begins with an embedding; else 0.
static int64_t vocabulary_of(const Layer *model) {
    int64_t count = 0;
    while (model->n_children > 0) model = model->children[0];
    if (strcmp(model->type->name, "Embedding") == 0)
        layer_attribute(model, "num_embeddings", &count);
    return count;
}

// The batch is the first dimension in the text, unless --batch gives another.
static Status take_shape(const Options *options, Shape input, Subject *subject) {
    if (input.ndim == 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: the input's shape is missing. HINT: end it with one, as @ 64x784",
                         subject->name);
    if (options->image[0] || options->tokens || options->classes)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--image, --tokens and --classes are for networks of --list. HINT: a "
                         "text has its input's shape behind the @");
    bool runs = strcmp(options->device, "meta") != 0;
    if (shape_numel(input) == 0 && runs && !options->inference)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: nothing trains on an empty input. HINT: sizes of at least 1 behind "
                         "its @",
                         subject->name);
    subject->batch = options->batch ? options->batch : input.dims[0];
    subject->sample = (Shape){.ndim = input.ndim - 1};
    for (int d = 1; d < input.ndim; d++) subject->sample.dims[d - 1] = input.dims[d];
    bool image = input.ndim == 4, words = subject->vocabulary > 0;
    subject->unit = words ? "tokens" : image ? "images" : "samples";
    subject->units_per_sample = words ? shape_numel(subject->sample) : 1;
    return STATUS_OK;
}

// Makes the error one of the arguments, since the text was typed and is in no file.
static Status blame_argument(void) {
    char message[256];
    snprintf(message, sizeof(message), "%s", error_message());
    error_clear();
    return error_set(STATUS_INVALID_ARGUMENT, "%s", message);
}

// Replaces the error on a file that is not text if its extension names another framework.
static Status explain_foreign(const char *file) {
    static const char torch[] = "torch.onnx.export(model, x, 'model.onnx')";
    static const char keras[] = "model.export('model.onnx', format='onnx')";
    static const char tensorflow[] = "python -m tf2onnx.convert";
    static const struct {
        const char *ending, *way; // extension; how to make an ONNX file
    } foreign[] = {{".pt", torch},          {".pth", torch},        {".pt2", torch},
                   {".ckpt", torch},        {".bin", torch},        {".gguf", torch},
                   {".h5", keras},          {".keras", keras},      {".pb", tensorflow},
                   {".tflite", tensorflow}, {".safetensors", torch}};
    size_t length = strlen(file);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        size_t n = strlen(foreign[i].ending);
        if (length <= n || strcasecmp(file + length - n, foreign[i].ending) != 0) continue;
        Status status = error_status();
        error_clear();
        return error_set(status,
                         "%s: a %s file cannot be read. HINT: make an ONNX file of the "
                         "model: %s",
                         file, foreign[i].ending, foreign[i].way);
    }
    return error_status();
}

// Reads the model on the meta device, where values take no memory, to learn its size first.
static Status find_text(const Options *options, Subject *subject) {
    Context *context = context_new();
    if (!context) return error_status();
    Shape input;
    context_push(context);
    context_set_device(device_meta());
    Layer *model = read_text(subject, &input);
    if (model) subject->vocabulary = vocabulary_of(model);
    layer_free(model);
    context_pop();
    context_free(context);
    if (model) return take_shape(options, input, subject);
    return subject->file ? explain_foreign(subject->file) : blame_argument();
}

static Status no_sizes(const char *given) {
    return error_set(STATUS_INVALID_ARGUMENT, "--size is for ONNX files. HINT: %s is not one",
                     given);
}

// ---- any ---------------------------------------------------------------------------------------
Status program_find_network(Program *program) {
    const Options *options = program->options;
    const char *given = options->model;
    Subject *subject = &program->subject;
    const ZooModel *network = zoo_find(given);
    if (options->partial && !options_is_onnx(given))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--partial is for ONNX files. HINT: %s is not one", given);
    if (network && options->n_inputs > 0)
        return error_set(STATUS_INVALID_ARGUMENT, "--input: %s takes %s. HINT: --%s", given,
                         network->vocabulary ? "texts" : "images",
                         network->vocabulary ? "tokens" : "image");
    if (network && options->n_sizes > 0) return no_sizes(given);
    if (network) return find_named(network, options, subject);
    if (options->generate)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--generate: %s is no network of --list. HINT: gpt2, llama-2-7b and "
                         "char-gpt write",
                         given);
    bool there = access(given, F_OK) == 0; // a file's name may be "net@2.onnx"
    bool text = !there && strpbrk(given, "(@") && !options_is_onnx(given);
    if (!text && !there) return unknown(options);
    if (!text && options_is_onnx(given)) return program_find_onnx(program);
    if (options->n_inputs > 0)
        return error_set(STATUS_INVALID_ARGUMENT, "--input is for ONNX files. HINT: %s is not one",
                         given);
    if (options->n_sizes > 0) return no_sizes(given);
    *subject = (Subject){.text = text ? given : NULL, .file = text ? NULL : given};
    snprintf(subject->name, sizeof(subject->name), "%s", given);
    return find_text(options, subject);
}

Layer *program_network_new(const Program *program) {
    const Subject *subject = &program->subject;
    Shape input;
    if (subject->is_onnx) return program_onnx_new(program);
    if (!subject->network) return read_text(subject, &input);
    ZooModel network = *subject->network;
    network.vocabulary = subject->vocabulary; // its own, or the training text's
    return zoo_new(&network, program->options->classes);
}

// profile_model.c -- the program: profile a network by its name.
#include <stdio.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/models/zoo.h"
#include "profiler/program/program.h"
#include "profiler/report/text.h"

// ---- which network -----------------------------------------------------------------------------
static Status unknown(const char *name) {
    const char *nearest = zoo_nearest(name);
    return error_set(STATUS_INVALID_ARGUMENT, "%s: there is no network of this name. HINT: %s%s%s",
                     name, nearest ? "did you mean " : "--list names them", nearest ? nearest : "",
                     nearest ? "? --list names them" : "");
}

static Status misfit(const char *flag, const ZooModel *network) {
    return error_set(STATUS_INVALID_ARGUMENT, "--%s: %s takes %s. HINT: leave it out, or say --%s",
                     flag, network->name, network->vocabulary ? "texts" : "images",
                     network->vocabulary ? "tokens" : "image");
}

// "3x224x224", "1,024 tokens"
static Text input_text(const ZooModel *network, const int64_t *dims) {
    Text text;
    if (network->vocabulary)
        snprintf(text.s, sizeof(text.s), "%.32s tokens", text_count(dims[0]).s);
    else
        snprintf(text.s, sizeof(text.s), "%lldx%lldx%lld", (long long)dims[0], (long long)dims[1],
                 (long long)dims[2]);
    return text;
}

static Status find(Program *program) {
    const Options *options = program->options;
    const ZooModel *network = zoo_find(options->model);
    if (!network) return unknown(options->model);
    const int64_t *input = network->input, *image = options->image;
    bool texts = network->vocabulary > 0;
    if (texts && image[0]) return misfit("image", network);
    if (!texts && options->tokens) return misfit("tokens", network);
    Subject *subject = &program->subject;
    *subject = (Subject){.network = network,
                         .vocabulary = network->vocabulary,
                         .classes = options->classes ? options->classes : network->classes,
                         .batch = options->batch};
    if (texts) {
        subject->sample = SHAPE(options->tokens ? options->tokens : input[0]);
        subject->unit = "tokens";
        subject->units_per_sample = subject->sample.dims[0];
    } else {
        subject->sample =
            image[0] ? SHAPE(input[0], image[0], image[1]) : SHAPE(input[0], input[1], input[2]);
        subject->unit = "images";
        subject->units_per_sample = 1;
    }
    snprintf(subject->name, sizeof(subject->name), "%s %s", network->name,
             input_text(network, subject->sample.dims).s);
    return STATUS_OK;
}

static Layer *model_new(const Program *program) {
    return zoo_new(program->subject.network, program->options->classes);
}

// ---- all of them -------------------------------------------------------------------------------
static void list(void) {
    printf("%-20s %14s  %-14s %s\n", "network", "parameters", "takes", "");
    context_set_device(device_meta()); // they are counted, not made
    const ZooModel *network;
    for (int i = 0; (network = zoo_at(i)); i++) {
        Layer *model = zoo_new(network, 0);
        Text takes = input_text(network, network->input);
        printf("%-20s %14s  %-14s %s\n", network->name, text_count(layer_parameter_count(model)).s,
               takes.s, network->source);
        layer_free(model);
    }
}

int main(int argc, char **argv) {
    static const ProgramKind kind = {
        .line = {.name = "profile_model",
                 .program = PROGRAM_MODEL,
                 .argument = "NAME",
                 .examples = {"resnet50 --batch 8 --image 224",
                              "mobilenet_v2 --by op --sort time --top 5",
                              "vgg16 --device meta --memory-budget 8GB"},
                 .about = "Profiles training steps of a published network, by its name.",
                 .batch = 1,
                 .epochs = 0},
        .find = find,
        .model_new = model_new,
        .list = list};
    return program_main(argc, argv, &kind);
}

// profile_mlp.c -- the program: profile a multilayer perceptron, then train it on images.
#include <stdio.h>

#include "profiler/program/program.h"

static Layer *model_new(const Program *program) {
    const Options *options = program->options;
    MlpOptions mlp = mlp_defaults();
    mlp.activation = options->activation;
    mlp.fuse = options->fuse;
    return mlp_new(options->layers, options->n_layers, mlp);
}

// "MLP 784-512-10 relu"; cut with "..." where there are very many layers.
static void name_model(const Options *options, char *name, size_t size) {
    size_t used = (size_t)snprintf(name, size, "MLP ");
    for (int i = 0; i < options->n_layers; i++) {
        bool room = used + 32 < size;
        used += (size_t)snprintf(name + used, size - used, "%s", i ? "-" : "");
        used +=
            room ? (size_t)snprintf(name + used, size - used, "%lld", (long long)options->layers[i])
                 : (size_t)snprintf(name + used, size - used, "...");
        if (!room) break;
    }
    if (options->n_layers > 2) // else there is no activation
        snprintf(name + used, size - used, " %s",
                 options->activation ? options->activation->name : "none");
}

static Status find(Program *program) {
    const Options *options = program->options;
    program->subject = (Subject){.sample = SHAPE(options->layers[0]),
                                 .classes = options->layers[options->n_layers - 1],
                                 .batch = options->batch,
                                 .unit = "samples",
                                 .units_per_sample = 1};
    name_model(options, program->subject.name, sizeof(program->subject.name));
    return STATUS_OK;
}

int main(int argc, char **argv) {
    static const ProgramKind kind = {
        .line = {.name = "profile_mlp",
                 .program = PROGRAM_MLP,
                 .examples = {"--layers 784,1024,10 --batch 256 --optimizer sgd", "--explain fc1",
                              "--device meta --layers 12288,49152,12288 --batch 2048"},
                 .purpose = "what each layer of a perceptron computes, moves, keeps and takes",
                 .about = "Profiles training steps of a multilayer perceptron, then trains it on "
                          "images.",
                 .batch = 64,
                 .epochs = 5,
                 .schedule = SCHEDULE_CONSTANT}, // five epochs are too few to come down in
        .find = find,
        .model_new = model_new};
    return program_main(argc, argv, &kind);
}

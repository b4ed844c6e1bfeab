// profile_model.c -- the program: profile a network by its name, or from a file. How its argument
// is understood: program/program_network.c.
#include <stdio.h>

#include "layers/models/zoo.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"

// ---- all of them -------------------------------------------------------------------------------
static void list(void) {
    printf("%-20s %14s  takes\n", "network", "parameters");
    context_set_device(device_meta()); // they are counted, not made
    const ZooModel *network;
    for (int i = 0; (network = zoo_at(i)); i++) {
        Layer *model = zoo_new(network, 0);
        char takes[PROGRAM_INPUT_TEXT];
        printf("%-20s %14s  %-14s %s\n", network->name, text_count(layer_parameter_count(model)).s,
               program_input_text(network, network->input, takes), network->source);
        layer_free(model);
    }
}

static const char *network(int i) {
    const ZooModel *model = zoo_at(i);
    return model ? model->name : NULL;
}

int main(int argc, char **argv) {
    static const ProgramKind kind = {
        .line =
            {.name = "profile_model",
             .program = PROGRAM_MODEL,
             .argument = "NAME|FILE ...",
             .examples = {"resnet50 --batch 8 --image 224", "resnet18 mobilenet_v2 --device meta",
                          "vgg16 --device meta --memory-budget 8GB"},
             .network = network,
             .purpose = "what each layer of a network computes, moves, keeps and takes",
             .about =
                 "Profiles training steps of a published network, by its name (--list), or of a\n"
                 "model written as text, in a file or as 'Linear(784,10) ReLU @ 64x784'; and\n"
                 "inference with an ONNX file (.onnx). Several are compared.",
             .epochs = 0,
             .schedule = SCHEDULE_COSINE},
        .find = program_find_network,
        .model_new = program_network_new,
        .list = list};
    return program_main(argc, argv, &kind);
}

// options_help.c -- what --help prints: the options, from the table that parses them, and the
// topics.
#include <stdio.h>
#include <string.h>

#include "profiler/machine/roofline.h"
#include "profiler/program/options_table.h"

static void print_options(void) {
    printf("usage: profile_mlp [options]\n\n"
           "Profiles training steps of a multilayer perceptron, then trains it on images.\n");
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        if (flag->group) printf("\n%s\n", flag->group);
        char left[40];
        snprintf(left, sizeof(left), "--%s%s%s", flag->name, flag->argument ? " " : "",
                 flag->argument ? flag->argument : "");
        printf("  %-22s %s\n", left, flag->help);
    }
    printf("\nExit status: 0 done, 1 the training diverged, prediction and execution differ,\n"
           "a budget holds no sample, or --strict found what is not counted; 2 wrong usage;\n"
           "3 a file or device could not be used.\n"
           "Examples:\n"
           "  ./profile_mlp --layers 784,1024,10 --batch 256 --optimizer sgd\n"
           "  ./profile_mlp --explain fc1\n"
           "  ./profile_mlp --by op --sort time --top 5\n"
           "  ./profile_mlp --device meta --layers 12288,49152,12288 --batch 2048\n");
}

static const char counts_text[] =
    "What every number means\n\n"
    "macs                  multiply-adds of matrix products\n"
    "flops                 2 x macs: as PyTorch's FlopCounterMode counts\n"
    "bias_flops            one per output element that gets a bias\n"
    "elementwise_flops     + - * / and comparisons of an op's declared formula\n"
    "transcendental_flops  exp, log, tanh, erf, sqrt, pow: one each\n"
    "total_flops           the sum of the four; a view costs nothing\n"
    "bytes_read, _written  compulsory traffic: each distinct operand once, cold\n"
    "saved_bytes           activations kept for backward, each buffer once, by the\n"
    "                      layer that saved it first\n"
    "intensity (FLOP/B)    total_flops / (bytes_read + bytes_written)\n\n"
    "All counts are of one step, batch included. Phases: forward; backward, of which\n"
    "backward_input and backward_weight (weights and biases) are parts, the rest\n"
    "being accumulation, broadcasting reductions and what a rule does on the way;\n"
    "optimizer. A first layer whose input needs no gradient has no backward_input, so\n"
    "backward is not twice forward: MLP 784-512-10 has 813,056 flops forward and\n"
    "823,296 backward per sample.\n\n"
    "A layer is a call site, exclusive of what runs inside other sites; (model) is\n"
    "work outside any layer, loss the loss. Layers add up to the totals, exactly in\n"
    "counts; in time, layers + unattributed = step.\n\n"
    "Times: CLOCK_MONOTONIC; medians, with a distribution-free 95 % confidence\n"
    "interval. On a GPU phases, layers and ops have the GPU's own time, from events\n"
    "read after one wait, and a whole step the host's, from before it to the end of\n"
    "that wait; `unattributed` is then what the GPU did not work. Memory: requested bytes by "
    "category, at the highest moment of a steady\n"
    "step; predicted by a dry run, measured by the ledger. kB, MB, GB are decimal.\n"
    "The optimizer keeps 0 (SGD), 4 (momentum) or 8 (Adam, AdamW) bytes a parameter.\n";

static void print_activations(void) {
    printf("Activations, to be named by --activation, and what they compute:\n\n");
    printf("  %-12s no activation at all\n", "none");
    const Op *op;
    for (int i = 0; (op = op_activation_at(i)); i++)
        printf("  %-12s %s\n", op->name, op->story ? op->story->formula : op->module);
}

bool options_print_help(const char *topic) {
    if (!topic) {
        print_options();
        return true;
    }
    static const struct {
        const char *name, *text;
    } topics[] = {{"counts", counts_text}, {"roofline", roofline_help_text}};
    for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
        if (strcmp(topic, topics[i].name) != 0) continue;
        printf("%s", topics[i].text);
        return true;
    }
    if (strcmp(topic, "activations") == 0) {
        print_activations();
        return true;
    }
    fprintf(stderr,
            "profile_mlp: --help %s: there is no such topic; there are: activations, counts, "
            "roofline\n",
            topic);
    return false;
}

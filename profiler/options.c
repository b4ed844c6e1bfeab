// options.c -- parses the command line with getopt_long, and prints the help from the same table.
#include "profiler/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/roofline.h"

typedef struct Flag {
    const char *name, *argument; // argument NULL: takes none
    const char *help;
    bool (*take)(Options *options, const struct Flag *flag, const char *text);
    size_t offset; // of an int64_t, for take_count
    int64_t least, most;
} Flag;

static bool refuse(const Flag *flag, const char *text, const char *expected) {
    fprintf(stderr, "profile_mlp: --%s %s: expected %s\n", flag->name, text, expected);
    return false;
}

static bool whole_number(const char *text, char **end, int64_t *value) {
    errno = 0;
    *value = strtoll(text, end, 10);
    return *end != text && errno == 0;
}

static bool take_count(Options *options, const Flag *flag, const char *text) {
    char *end, expected[80];
    int64_t value;
    if (whole_number(text, &end, &value) && !*end && value >= flag->least && value <= flag->most) {
        *(int64_t *)(void *)((char *)options + flag->offset) = value;
        return true;
    }
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)flag->least,
             (long long)flag->most);
    return refuse(flag, text, expected);
}

static bool take_layers(Options *options, const Flag *flag, const char *text) {
    int n = 0;
    const char *at = text;
    for (;;) {
        char *end;
        int64_t size;
        if (n == OPTIONS_MAX_LAYERS) return refuse(flag, text, "at most 64 sizes");
        if (!whole_number(at, &end, &size) || size < 1 || size > INT32_MAX)
            return refuse(flag, text, "sizes of at least 1 with commas between, as 784,512,10");
        options->layers[n++] = size;
        if (!*end) break;
        if (*end != ',') return refuse(flag, text, "sizes with commas between, as 784,512,10");
        at = end + 1;
    }
    options->n_layers = n;
    return n >= 2 || refuse(flag, text, "an input and an output size, as 784,10");
}

static bool take_activation(Options *options, const Flag *flag, const char *text) {
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (strcmp(text, activation_name((Activation)a)) == 0) {
            options->activation = (Activation)a;
            return true;
        }
    return refuse(flag, text, "relu, sigmoid, tanh, gelu, gelu_tanh or none");
}

static bool take_optimizer(Options *options, const Flag *flag, const char *text) {
    for (int k = 0; k < OPTIMIZER_COUNT; k++)
        if (strcmp(text, optimizer_flag((OptimizerKind)k)) == 0) {
            options->optimizer = (OptimizerKind)k;
            return true;
        }
    return refuse(flag, text, "sgd, momentum, adam or adamw");
}

static bool take_learning_rate(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    bool usable = (float)value > 0.0f && isfinite((float)value); // as the steps will use it
    if (end == text || *end || !usable)
        return refuse(flag, text, "a number above 0 that a float can hold, as 0.001");
    options->learning_rate = value;
    return true;
}

static bool take_device(Options *options, const Flag *flag, const char *text) {
    options->device = device_by_name(text);
    return options->device || refuse(flag, text, "cpu or meta");
}

static bool take_data(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->data = text;
    return true;
}
static bool take_json(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->json = text;
    return true;
}
static bool take_peaks(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->peaks = text;
    return true;
}
static bool take_calibrate(Options *options, const Flag *flag, const char *text) {
    (void)flag, (void)text;
    return options->calibrate = true;
}
static bool take_quiet(Options *options, const Flag *flag, const char *text) {
    (void)flag, (void)text;
    return options->quiet = true;
}
static bool take_help(Options *options, const Flag *flag, const char *text) {
    (void)flag, (void)text;
    return options->help = true;
}
static bool take_version(Options *options, const Flag *flag, const char *text) {
    (void)flag, (void)text;
    return options->version = true;
}

#define COUNT(member, least, most) take_count, offsetof(Options, member), least, most
static const Flag flags[] = {
    {"layers", "N,N,...", "sizes of the layers (784,512,256,10)", take_layers, 0, 0, 0},
    {"activation", "NAME", "relu, sigmoid, tanh, gelu, gelu_tanh, none (relu)", take_activation, 0,
     0, 0},
    {"batch", "N", "samples in a step (64)", COUNT(batch, 1, 1 << 24)},
    {"optimizer", "NAME", "sgd, momentum, adam, adamw (adam)", take_optimizer, 0, 0, 0},
    {"lr", "RATE", "learning rate (sgd 0.1, momentum 0.05, adam, adamw 0.001)", take_learning_rate,
     0, 0, 0},
    {"epochs", "N", "passes over the training data; 0: profile only (5)",
     COUNT(epochs, 0, 1 << 20)},
    {"steps", "N", "stop training after so many steps; 0: no limit (0)",
     COUNT(steps, 0, INT32_MAX)},
    {"data", "DIR", "folder of IDX files (MNIST); else digits are drawn", take_data, 0, 0, 0},
    {"seed", "N", "of weights, digits and shuffles (1)", COUNT(seed, 0, INT64_MAX)},
    {"threads", "N", "threads that compute (all cores)", COUNT(threads, 1, 64)},
    {"device", "NAME", "cpu; meta: count any model without running it (cpu)", take_device, 0, 0, 0},
    {"iterations", "N", "samples of each latency; 0: 10 to 200 in a second (0)",
     COUNT(iterations, 0, 1000000)},
    {"warmup", "N", "steps before the first sample (until steady, 10 to 200)",
     COUNT(warmup, 2, 1000000)},
    {"calibrate", NULL, "measure this machine's ceilings again", take_calibrate, 0, 0, 0},
    {"peaks", "FILE", "ceilings from a file (JSON) instead of measured ones", take_peaks, 0, 0, 0},
    {"json", "FILE", "also write the profile as JSON; - for standard output", take_json, 0, 0, 0},
    {"quiet", NULL, "no report and no progress", take_quiet, 0, 0, 0},
    {"help", NULL, "this text; also --help counts, --help roofline", take_help, 0, 0, 0},
    {"version", NULL, "the version", take_version, 0, 0, 0},
};
enum { FLAG_COUNT = sizeof(flags) / sizeof(flags[0]) };

static void print_options(void) {
    printf("usage: profile_mlp [options]\n\n"
           "Profiles training steps of a multilayer perceptron, then trains it on images.\n\n");
    for (int i = 0; i < FLAG_COUNT; i++) {
        char left[32];
        snprintf(left, sizeof(left), "--%s%s%s", flags[i].name, flags[i].argument ? " " : "",
                 flags[i].argument ? flags[i].argument : "");
        printf("  %-18s %s\n", left, flags[i].help);
    }
    printf("\nExit status: 0 done, 1 the training diverged or prediction and execution differ,\n"
           "2 wrong usage, 3 a file or device could not be used.\n"
           "Examples:\n"
           "  ./profile_mlp --layers 784,1024,10 --batch 256 --optimizer sgd\n"
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
    "interval. Memory: requested bytes by category, at the highest moment of a steady\n"
    "step; predicted by a dry run, measured by the ledger. kB, MB, GB are decimal.\n"
    "The optimizer keeps 0 (SGD), 4 (momentum) or 8 (Adam, AdamW) bytes a parameter.\n";

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
    fprintf(stderr, "profile_mlp: --help %s: there is no such topic; there are: counts, roofline\n",
            topic);
    return false;
}

static bool ambiguous(const char *given) {
    int matches = 0;
    size_t length = strncmp(given, "--", 2) == 0 ? strcspn(given + 2, "=") : 0;
    for (int i = 0; i < FLAG_COUNT; i++)
        matches += length > 0 && strncmp(given + 2, flags[i].name, length) == 0;
    return matches > 1;
}

static bool unknown(int argc, char **argv) {
    const char *given = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
    const Flag *flag = optopt >= 256 ? &flags[optopt - 256] : NULL;
    if (flag && flag->argument)
        fprintf(stderr, "profile_mlp: --%s needs a value, as in --%s %s\n", flag->name, flag->name,
                flag->argument);
    else if (flag)
        fprintf(stderr, "profile_mlp: --%s takes no value\n", flag->name);
    else if (optopt > 0 && optopt < 256)
        fprintf(stderr,
                "profile_mlp: -%c: unknown option; long options take two dashes; see "
                "profile_mlp --help\n",
                optopt);
    else
        fprintf(stderr, "profile_mlp: %s: %s option; see profile_mlp --help\n", given,
                ambiguous(given) ? "ambiguous" : "unknown");
    return false;
}

bool options_parse(int argc, char **argv, Options *options) {
    *options = (Options){.layers = {784, 512, 256, 10},
                         .n_layers = 4,
                         .batch = 64,
                         .epochs = 5,
                         .activation = ACTIVATION_RELU,
                         .optimizer = OPTIMIZER_ADAM,
                         .learning_rate = (double)NAN,
                         .device = device_cpu(),
                         .seed = 1};
    struct option table[FLAG_COUNT + 1] = {{0}};
    for (int i = 0; i < FLAG_COUNT; i++)
        table[i] =
            (struct option){flags[i].name, flags[i].argument ? required_argument : no_argument,
                            NULL, 256 + i};
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, ":h", table, NULL);
        if (found == -1) break;
        if (found == 'h') {
            options->help = true;
            continue;
        }
        if (found < 256) return unknown(argc, argv);
        const Flag *flag = &flags[found - 256];
        if (!flag->take(options, flag, optarg)) return false;
    }
    if (options->help && optind + 1 == argc) options->topic = argv[optind++];
    if (optind == argc) return true;
    fprintf(stderr, "profile_mlp: %s: unexpected argument; see profile_mlp --help\n", argv[optind]);
    return false;
}

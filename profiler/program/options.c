// options.c -- parses the command line with getopt_long: what was asked for, and whether it fits
// together. Not here: what each flag takes (options_table.c), what the help says (options_help.c).
#include "profiler/program/options_table.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 64 }; // asserted where the table for getopt_long is made

bool options_ask(const Options *options) {
    return options->explain || options->has_view || options->memory || options->leaks ||
           options->weights || options->memory_budget > 0 || options->has_preset;
}

static bool ambiguous(const char *given) {
    int matches = 0;
    size_t length = strncmp(given, "--", 2) == 0 ? strcspn(given + 2, "=") : 0;
    for (int i = 0; i < options_flag_count; i++)
        matches += length > 0 && strncmp(given + 2, options_flags[i].name, length) == 0;
    return matches > 1;
}

static bool unknown(int argc, char **argv) {
    const char *given = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
    const Flag *flag = optopt >= 256 ? &options_flags[optopt - 256] : NULL;
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

static bool something_runs(const Options *options) {
    const struct {
        const char *name;
        bool given;
    } runs[] = {{"trace", options->trace != NULL},
                {"weights", options->weights},
                {"leaks", options->leaks},
                {"percentiles", options->percentiles},
                {"calibrate", options->calibrate}};
    for (size_t i = 0; strcmp(options->device, "meta") == 0 && i < sizeof(runs) / sizeof(runs[0]);
         i++)
        if (runs[i].given) {
            fprintf(stderr, "profile_mlp: --%s: nothing runs on the meta device; --device cpu\n",
                    runs[i].name);
            return false;
        }
    return true;
}

static bool files_differ(const Options *options) {
    const struct {
        const char *name, *path;
    } files[] = {{"json", options->json},
                 {"trace", options->trace},
                 {"memory-json", options->memory_json},
                 {"tinytorch", options->tinytorch}};
    const char *taken = NULL;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++)
            if (files[i].path && files[k].path && strcmp(files[i].path, "-") != 0 &&
                strcmp(files[i].path, files[k].path) == 0) {
                fprintf(stderr, "profile_mlp: --%s %s: --%s writes this file; name another\n",
                        files[i].name, files[i].path, files[k].name);
                return false;
            }
        if (!files[i].path || strcmp(files[i].path, "-") != 0) continue;
        if (taken) {
            fprintf(stderr, "profile_mlp: --%s -: standard output is --%s's; name a file\n",
                    files[i].name, taken);
            return false;
        }
        taken = files[i].name;
    }
    if (taken && options_ask(options)) {
        fprintf(stderr,
                "profile_mlp: --%s -: standard output has the answer to a question; name a file\n",
                taken);
        return false;
    }
    return true;
}

static bool fit_together(const Options *options) {
    if (options->fuse && options->no_fuse) {
        fprintf(stderr, "profile_mlp: --fuse and --no-fuse exclude each other\n");
        return false;
    }
    return something_runs(options) && files_differ(options);
}

bool options_parse(int argc, char **argv, Options *options) {
    *options = (Options){.layers = {784, 512, 256, 10},
                         .n_layers = 4,
                         .batch = 64,
                         .epochs = -1,
                         .activation = &op_relu,
                         .optimizer = OPTIMIZER_ADAM,
                         .learning_rate = (double)NAN,
                         .device = "cpu",
                         .seed = 1};
    struct option table[MOST_FLAGS + 1] = {{0}};
    assert(options_flag_count <= MOST_FLAGS);
    for (int i = 0; i < options_flag_count; i++) {
        const char *argument = options_flags[i].argument;
        int has = !argument            ? no_argument
                  : argument[0] == '[' ? optional_argument
                                       : required_argument;
        table[i] = (struct option){options_flags[i].name, has, NULL, 256 + i};
    }
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, ":h", table, NULL);
        if (found == -1) break;
        if (found == 'h') {
            options->help = true;
            continue;
        }
        if (found < 256) return unknown(argc, argv);
        const Flag *flag = &options_flags[found - 256];
        bool left_out = flag->argument && flag->argument[0] == '[' && !optarg;
        if (left_out && optind < argc && argv[optind][0] != '-') optarg = argv[optind++];
        if (!flag->take(options, flag, optarg)) return false;
    }
    if (!fit_together(options)) return false;
    if (options->epochs < 0) options->epochs = options_ask(options) ? 0 : 5;
    if (options->help && optind + 1 == argc) options->topic = argv[optind++];
    if (optind == argc) return true;
    fprintf(stderr, "profile_mlp: %s: unexpected argument; see profile_mlp --help\n", argv[optind]);
    return false;
}

// options.c -- parses a command line with getopt_long: what was asked for, and whether it fits
// together. Not here: what each flag takes (options_table.c), what the help says (options_help.c).
#include "profiler/program/options_table.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/train/dataset.h"

enum { MOST_FLAGS = 64 }; // asserted where the table for getopt_long is made

bool options_refuse(const Options *options, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", options->line->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

bool options_ask(const Options *options) {
    return options->summary || options->explain || options->has_view || options->memory ||
           options->leaks || options->weights || options->memory_budget > 0 || options->has_preset;
}

static bool takes(const Options *options, int flag) {
    return (options_flags[flag].programs & options->line->program) != 0;
}

static bool ambiguous(const Options *options, const char *given) {
    int matches = 0;
    size_t length = strncmp(given, "--", 2) == 0 ? strcspn(given + 2, "=") : 0;
    for (int i = 0; i < options_flag_count; i++)
        matches += takes(options, i) && length > 0 &&
                   strncmp(given + 2, options_flags[i].name, length) == 0;
    return matches > 1;
}

static bool unknown(const Options *options, int argc, char **argv) {
    const char *given = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
    const char *program = options->line->name;
    const Flag *flag = optopt >= 256 ? &options_flags[optopt - 256] : NULL;
    if (flag && flag->argument)
        return options_refuse(options, "--%s needs a value, as in --%s %s", flag->name, flag->name,
                              flag->argument);
    if (flag) return options_refuse(options, "--%s takes no value", flag->name);
    if (optopt > 0 && optopt < 256)
        return options_refuse(options,
                              "-%c: unknown option; long options take two dashes; see %s --help",
                              optopt, program);
    return options_refuse(options, "%s: %s option; see %s --help all", given,
                          ambiguous(options, given) ? "ambiguous" : "unknown", program);
}

static bool something_runs(const Options *options) {
    const struct {
        const char *name;
        bool given;
    } runs[] = {{"trace", options->trace != NULL},     {"output", options->output != NULL},
                {"weights", options->weights},         {"leaks", options->leaks},
                {"percentiles", options->percentiles}, {"calibrate", options->calibrate}};
    for (size_t i = 0; strcmp(options->device, "meta") == 0 && i < sizeof(runs) / sizeof(runs[0]);
         i++)
        if (runs[i].given)
            return options_refuse(options, "--%s: nothing runs on the meta device; --device cpu",
                                  runs[i].name);
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
                strcmp(files[i].path, files[k].path) == 0)
                return options_refuse(options, "--%s %s: --%s writes this file; name another",
                                      files[i].name, files[i].path, files[k].name);
        if (!files[i].path || strcmp(files[i].path, "-") != 0) continue;
        if (taken)
            return options_refuse(options, "--%s -: standard output is --%s's; name a file",
                                  files[i].name, taken);
        taken = files[i].name;
    }
    if (taken && options_ask(options))
        return options_refuse(options,
                              "--%s -: standard output has the answer to a question; name a file",
                              taken);
    return true;
}

// Which key that is depends on how many networks there are.
static bool sorts(Options *options) {
    const char *key = options->sort;
    bool several = options->n_models > 1, found = !key;
    for (int i = 0; several && !found && i < COMPARISON_SORT_COUNT; i++) {
        options->comparison_sort = (ComparisonSort)i;
        found = strcmp(key, comparison_sort_name(options->comparison_sort)) == 0;
    }
    for (int i = 0; !several && !found && i < VIEW_SORT_COUNT; i++) {
        options->view.sort = (ViewSort)i;
        found = options->has_view = strcmp(key, view_sort_name(options->view.sort)) == 0;
    }
    if (!found)
        return options_refuse(options, "--sort %s: expected %s", key,
                              several ? "order, parameters, flops, bytes, memory or time"
                                      : "order, time, flops, bytes or roof");
    if (several && options->comparison_sort == COMPARISON_TIME &&
        strcmp(options->device, "meta") == 0)
        return options_refuse(options,
                              "--sort time: nothing runs on the meta device; --sort flops");
    return true;
}

// What is asked of one network, and has no row in a table of several.
static bool compares(const Options *options) {
    const struct {
        const char *name;
        bool given;
    } alone[] = {{"summary", options->summary},
                 {"explain", options->explain},
                 {"by, --top and --layer", options->has_view},
                 {"memory", options->memory},
                 {"memory-budget", options->memory_budget > 0},
                 {"leaks", options->leaks},
                 {"weights", options->weights},
                 {"flop-convention", options->has_preset},
                 {"output", options->output != NULL},
                 {"trace", options->trace != NULL},
                 {"memory-json", options->memory_json != NULL},
                 {"tinytorch", options->tinytorch != NULL},
                 {"epochs, --steps", options->epochs > 0 || options->steps > 0},
                 {"checkpoint", options->checkpoint != NULL},
                 {"resume", options->resume != NULL}};
    for (size_t i = 0; options->n_models > 1 && i < sizeof(alone) / sizeof(alone[0]); i++)
        if (alone[i].given)
            return options_refuse(options, "--%s: of one network, and %d are named; leave out %s",
                                  alone[i].name, options->n_models, options->models[1]);
    return true;
}

// What --inference leaves out.
static bool trains(const Options *options) {
    const struct {
        const char *name;
        bool given;
    } needs[] = {{"trace", options->trace != NULL},
                 {"leaks", options->leaks},
                 {"memory-budget", options->memory_budget > 0},
                 {"epochs", options->epochs > 0},
                 {"freeze", options->n_freeze > 0},
                 {"recompute", options->recompute != NULL}};
    for (size_t i = 0; options->inference && i < sizeof(needs) / sizeof(needs[0]); i++)
        if (needs[i].given)
            return options_refuse(options, "--%s is about training; leave out --inference",
                                  needs[i].name);
    return true;
}

// Nothing computes with fewer bits than float32 has.
static bool counts_as(const Options *options) {
    const char *brief = precision_brief(options->precision);
    if (options->precision == PRECISION_FLOAT32) return true;
    if (strcmp(options->device, "meta") != 0)
        return options_refuse(options, "--dtype %s: counted, not computed with; --device meta",
                              brief);
    if (options->precision == PRECISION_INT8 && !options->inference)
        return options_refuse(options, "--dtype int8: nothing trains in it; %s",
                              options->line->program == PROGRAM_MODEL ? "--inference"
                                                                      : "--dtype bf16");
    return true;
}

static bool keeps_what_there_is(const Options *options) {
    if (options->every > 0 && !options->checkpoint)
        return options_refuse(options, "--every %lld: of what? --checkpoint FILE",
                              (long long)options->every);
    if (!options->checkpoint && !options->resume) return true;
    const char *flag = options->checkpoint ? "checkpoint" : "resume";
    if (options->epochs == 0)
        return options_refuse(options, "--%s is about training; add --epochs N", flag);
    bool meta = strcmp(options->device, "meta") == 0;
    if (meta)
        return options_refuse(options, "--%s: nothing runs on the meta device; --device cpu", flag);
    return true;
}

static bool fit_together(const Options *options) {
    if (options->fuse && options->no_fuse)
        return options_refuse(options, "--fuse and --no-fuse exclude each other");
    if (options->depth >= 0 && !options->summary)
        return options_refuse(options, "--depth %lld: of what? --summary",
                              (long long)options->depth);
    bool told = options->help || options->version || options->devices || options->list;
    if (options->line->argument && options->fuse && !options->inference)
        return options_refuse(options,
                              "--fuse is for networks that train no more; add --inference");
    if (options->line->argument && !options->model && !told)
        return options_refuse(options, "which network? %s --list names them; as in %s %s",
                              options->line->name, options->line->name, options->line->examples[0]);
    return compares(options) && something_runs(options) && files_differ(options) && trains(options);
}

// The flags of this program, for getopt_long; each is found again as 256 + its place.
static void fill_table(const Options *options, struct option table[MOST_FLAGS + 1]) {
    assert(options_flag_count <= MOST_FLAGS);
    for (int i = 0, n = 0; i < options_flag_count; i++) {
        const char *argument = options_flags[i].argument;
        int has = !argument            ? no_argument
                  : argument[0] == '[' ? optional_argument
                                       : required_argument;
        if (takes(options, i))
            table[n++] = (struct option){options_flags[i].name, has, NULL, 256 + i};
    }
}

// One flag after the other; what is none of their values moves to the end.
static bool take_flags(int argc, char **argv, Options *options) {
    struct option table[MOST_FLAGS + 1] = {{0}};
    fill_table(options, table);
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, ":h", table, NULL);
        if (found == -1) return true;
        if (found == 'h') {
            options->help = true;
            continue;
        }
        if (found < 256) return unknown(options, argc, argv);
        const Flag *flag = &options_flags[found - 256];
        bool left_out = flag->argument && flag->argument[0] == '[' && !optarg;
        if (left_out && optind < argc && argv[optind][0] != '-') optarg = argv[optind++];
        if (!flag->take(options, flag, optarg)) return false;
    }
}

// Of a program that takes none, and of more than there is room for, some are left over.
static void take_models(int argc, char **argv, Options *options) {
    bool takes = options->line->argument && !options->help;
    while (takes && optind < argc && options->n_models < OPTIONS_MAX_MODELS)
        options->models[options->n_models++] = argv[optind++];
    options->model = options->models[0];
}

// Where none are given by themselves, a limit of steps alone is one.
static int64_t epochs_unsaid(const Options *options) {
    if (options_ask(options)) return 0;
    bool steps_alone = options->line->epochs == 0 && options->steps > 0;
    return steps_alone ? LOADER_MOST_EPOCHS : options->line->epochs;
}

// The tree of layers alone is counted, so that nothing need run for it.
static bool needs_counts_only(const Options *options) {
    Options others = *options;
    others.summary = false;
    return options->summary && !options_ask(&others) && options->epochs <= 0 && !options->json &&
           !options->trace && !options->output && !options->tinytorch && !options->memory_json;
}

bool options_parse(int argc, char **argv, const ProgramLine *line, Options *options) {
    *options = (Options){.line = line,
                         .layers = {784, 512, 256, 10},
                         .n_layers = 4,
                         .batch = line->batch,
                         .epochs = -1,
                         .activation = &op_relu,
                         .optimizer = OPTIMIZER_ADAM,
                         .learning_rate = (double)NAN,
                         .device = "cpu",
                         .sample = 200,
                         .depth = -1,
                         .seed = 1};
    if (!take_flags(argc, argv, options)) return false;
    take_models(argc, argv, options);
    if (!sorts(options) || !fit_together(options)) return false;
    if (options->epochs < 0) options->epochs = epochs_unsaid(options);
    if (needs_counts_only(options)) options->device = "meta";
    if (!counts_as(options)) return false;
    if (!keeps_what_there_is(options)) return false;
    if (optind == argc) return true;
    if (options->n_models == OPTIONS_MAX_MODELS)
        return options_refuse(options, "%s: more than %d networks; compare some of them",
                              argv[optind], OPTIONS_MAX_MODELS);
    return options_refuse(options, "%s: unexpected argument; see %s --help", argv[optind],
                          line->name);
}

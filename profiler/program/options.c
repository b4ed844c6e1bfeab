// options.c -- parses a command line with getopt_long. Not here: checks that the options fit
// together (options_fit.c), the table of flags (options_table.c), the help (options_help.c).
#include "profiler/program/options_table.h"
#include "profiler/program/sweep_axes.h"

#include <assert.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/train/dataset.h"
#include "profiler/base/text.h"
#include "tensor/memory.h"

bool options_refuse(const Options *options, const char *format, ...) {
    char message[8192]; // a path and a list of names are shorter
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: ", options->line->name);
    text_print_plain(options->place, stderr);
    text_print_plain(message, stderr); // typed text may hold escape sequences
    fputc('\n', stderr);
    return false;
}

const char *options_beside(const Options *options) {
    return options->compare           ? "compare"
           : options->against         ? "against"
           : options->against_program ? "against-program"
                                      : NULL;
}

bool options_ask(const Options *options) {
    return options->brief || options->summary || options->explain || options->has_view ||
           options->memory || options->leaks || options->weights || options->shrink ||
           options->has_preset || options->generate > 0 || options->try_advice ||
           options_beside(options) || options->n_sweeps > 0 || options->trend ||
           (options->memory_budget > 0 && !options_choose_recompute(options));
}

static const struct {
    const char *name;      // flag
    const char *in_folder; // file name in --output's folder; NULL: not there
    size_t offset;
} outputs[] = {{"save", NULL, offsetof(Options, save)},
               {"json", "profile.json", offsetof(Options, json)},
               {"trace", "trace.json", offsetof(Options, trace)},
               {"memory-json", "memory.json", offsetof(Options, memory_json)},
               {"tinytorch", NULL, offsetof(Options, tinytorch)},
               {"html", "profile.html", offsetof(Options, html)},
               {"svg", "roofline.svg", offsetof(Options, svg[PAGE_ROOFLINE])},
               {"svg", "memory.svg", offsetof(Options, svg[PAGE_MEMORY])},
               {"svg", "step.svg", offsetof(Options, svg[PAGE_STEP])},
               {"svg", "time.svg", offsetof(Options, svg[PAGE_TIME])},
               {"svg", NULL, offsetof(Options, svg[PAGE_LOSS])},
               {"svg", NULL, offsetof(Options, svg[PAGE_SWEEP])},
               {"csv", "layers.csv", offsetof(Options, csv)},
               {"gbench", NULL, offsetof(Options, gbench)},
               {"openmetrics", NULL, offsetof(Options, openmetrics)},
               {"output", NULL, offsetof(Options, output)},
               {"junit", NULL, offsetof(Options, junit)},
               {"history", NULL, offsetof(Options, history)},
               {"output", "index.html", offsetof(Options, index)},
               {"checkpoint", NULL, offsetof(Options, checkpoint)}};
enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

static const char **output_of(Options *options, int i) {
    return (const char **)(void *)((char *)options + outputs[i].offset);
}

const char *options_output(const Options *options, int i, const char **path) {
    if (i >= OUTPUTS) return NULL;
    *path = *(const char *const *)(const void *)((const char *)options + outputs[i].offset);
    return outputs[i].name;
}

bool options_draw(const Options *options, unsigned drawings) {
    bool asked = false;
    for (int d = 0; d < PAGE_DRAWINGS; d++) asked = asked || (drawings >> d & 1 && options->svg[d]);
    return asked;
}

bool options_take_output(const Options *options) {
    const char *path;
    bool taken = false;
    for (int i = 0; options_output(options, i, &path); i++)
        taken = taken || (path && strcmp(path, "-") == 0);
    return taken;
}

// Names all folder files that are possible and that no other flag names.
static bool fill_folder(Options *options) {
    size_t length = strlen(options->folder), size = length + 16;
    while (length > 1 && options->folder[length - 1] == '/') length--;
    bool meta = strcmp(options->device, "meta") == 0;
    options->folder_paths = memory_new(OUTPUTS * size);
    if (!options->folder_paths) {
        options_refuse(options, "%s", error_message());
        error_clear();
        return false;
    }
    for (int i = 0; i < OUTPUTS; i++) {
        const char **path = output_of(options, i), *name = outputs[i].name;
        bool steps = strcmp(name, "trace") == 0;
        bool counted = path == &options->svg[PAGE_MEMORY];
        bool times = strcmp(name, "svg") == 0 && !counted;
        bool roofs = times && path != &options->svg[PAGE_STEP];
        if (!outputs[i].in_folder || *path || (steps && (meta || options->inference)) ||
            (times && meta) || (roofs && options->no_peaks) ||
            (options->save && strcmp(name, "json") == 0))
            continue;
        char *text = options->folder_paths + (size_t)i * size;
        snprintf(text, size, "%.*s/%s", (int)length, options->folder, outputs[i].in_folder);
        *path = text;
    }
    return options_files_differ(options);
}

bool options_is_in_folder(const Options *options, const char *path) {
    return path && options->folder_paths && path >= options->folder_paths &&
           path < options->folder_paths + OUTPUTS * (strlen(options->folder) + 16);
}

const char *options_in_folder(const Options *options, int i) {
    const char *path;
    bool there = options_output(options, i, &path) && options_is_in_folder(options, path);
    return there ? outputs[i].in_folder : NULL;
}

bool options_choose_recompute(const Options *options) {
    return options->recompute && strcmp(options->recompute, "auto") == 0;
}

void options_measure_only(Options *options, bool trains) {
    options->trains_too = trains;
    options->measure_only = options->quiet = options->no_peaks = true;
    options->runs = 1;
    for (int i = 0; i < OUTPUTS; i++) *output_of(options, i) = NULL;
    options->json = "-";
    options->peaks = options->folder = NULL;
    options->brief = options->summary = options->explain = options->has_view = options->memory =
        false;
    options->leaks = options->weights = options->shrink = options->has_preset = false;
    options->try_advice = false;
    options->compare = options->against = options->against_program = NULL;
    options->thresholds.n = options->n_sweeps = 0;
    options->calibrate = false;
    if (!options_choose_recompute(options)) options->memory_budget = 0; // then it is no question
}

static bool takes(const Options *options, int flag) {
    return (options_flags[flag].programs & options->line->program) != 0;
}

bool options_take(Options *options, const Flag *flag, const char *text) {
    options->given[flag - options_flags] = true;
    return flag->take(options, flag, text);
}

// ---- words that are not flags ------------------------------------------------------------------
static const char *flag_name(const void *options, int i) { // "" for another program's flag
    if (i >= options_flag_count) return NULL;
    return takes(options, i) ? options_flags[i].name : "";
}

bool options_unknown(const Options *options, const char *dashes, const char *name) {
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "="), name);
    const char *nearest = nearest_name(word, flag_name, options);
    if (nearest)
        return options_refuse(options, "%s%s: unknown option; did you mean %s%s?", dashes, name,
                              dashes, nearest);
    return options_refuse(options, "%s%s: unknown option; see %s --help all", dashes, name,
                          options->line->name);
}

// True if several flags begin with the given word; lists them.
static bool is_ambiguous(const Options *options, const char *given, char *list, size_t size) {
    int matches = 0;
    size_t length = strcspn(given, "="), used = 0;
    list[0] = '\0';
    for (int i = 0; i < options_flag_count; i++) {
        if (!takes(options, i) || length == 0 || strncmp(given, options_flags[i].name, length) != 0)
            continue;
        snprintf(list + used, size - used, "%s--%s", matches++ ? ", " : "", options_flags[i].name);
        used = strlen(list);
    }
    return matches > 1;
}

static bool needs_value(const Options *options, const Flag *flag) {
    const char *value = flag->take == take_against ? "'--batch 128 --fuse'" : flag->argument;
    return options_refuse(options, "--%s needs a value, as in --%s %s", flag->name, flag->name,
                          value);
}

// The refused word if a file has this name, or NULL; getopt stays at a word until its last letter.
static const char *file_like_flag(int argc, char **argv) {
    for (int i = optind - 1; i <= optind && i < argc; i++)
        if (i > 0 && argv[i][0] == '-' && argv[i][1] && access(argv[i], F_OK) == 0) return argv[i];
    return NULL;
}

static bool unknown(const Options *options, int argc, char **argv) {
    const char *given = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
    const Flag *flag = optopt >= 256 ? &options_flags[optopt - 256] : NULL;
    char list[2048];
    if (flag && flag->argument) return needs_value(options, flag);
    if (flag) return options_refuse(options, "--%s takes no value", flag->name);
    const char *file = options->line->argument ? file_like_flag(argc, argv) : NULL;
    if (file)
        return options_refuse(options, "%s: unknown option; if the file is meant, write ./%s", file,
                              file);
    if (optopt > 0 && optopt < 256)
        return options_refuse(options,
                              "-%c: unknown option; long options take two dashes; see %s --help",
                              optopt, options->line->name);
    if (strncmp(given, "--", 2) == 0 && is_ambiguous(options, given + 2, list, sizeof(list)))
        return options_refuse(options, "%s: ambiguous option: one of %s", given, list);
    return options_unknown(options, "--", given + strspn(given, "-"));
}

// ---- words, one after the other ----------------------------------------------------------------
// Fills the tables for getopt_long: this program's flags, whose values are 256 + their index; and
// the short flags' letters, whose values are themselves.
static void fill_tables(const Options *options, struct option table[OPTIONS_MOST_FLAGS + 1],
                        char letters[OPTIONS_MOST_FLAGS + 2]) {
    assert(options_flag_count <= OPTIONS_MOST_FLAGS);
    *letters++ = ':';
    for (int i = 0, n = 0; i < options_flag_count; i++) {
        const char *argument = options_flags[i].argument;
        int has = !argument            ? no_argument
                  : argument[0] == '[' ? optional_argument
                                       : required_argument;
        if (!takes(options, i)) continue;
        table[n++] = (struct option){options_flags[i].name, has, NULL, 256 + i};
        if (options_flags[i].letter) *letters++ = options_flags[i].letter;
    }
}

static const Flag *flag_found(int found) { // by index or letter
    for (int i = 0; found < 256 && i < options_flag_count; i++)
        if (options_flags[i].letter == found) return &options_flags[i];
    return &options_flags[found - 256];
}

// The argument of --against may be a flag of the other side, as in --against --fuse. It must be one
// word, and not a flag for files, questions or others that was meant for this side.
static bool is_others_flag(const Options *options, const char *word) {
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        size_t length = strlen(flag->name);
        if (!takes(options, i) || strncmp(word + 2, flag->name, length) != 0) continue;
        if (word[2 + length] == '=' && flag->argument) return true;
        if (word[2 + length] == '\0')
            return !flag->argument && strcmp(flag_topics[flag->topic].name, "other") != 0 &&
                   strcmp(flag_topics[flag->topic].name, "questions") != 0;
    }
    return true; // an unknown flag, which the other side's parser refuses
}

// A flag after another flag is not its value: --json --quiet.
static bool is_no_value(const Options *options, const Flag *flag, const char *word) {
    if (strncmp(word, "--", 2) != 0) return false;
    return flag->take != take_against || !is_others_flag(options, word);
}

// Takes each flag in turn; words that are not values move to the end.
static bool take_flags(int argc, char **argv, Options *options) {
    struct option table[OPTIONS_MOST_FLAGS + 1] = {{0}};
    char letters[OPTIONS_MOST_FLAGS + 2] = "";
    fill_tables(options, table, letters);
    opterr = optind = 0; // restart, since another line may have been parsed before
    for (;;) {
        int found = getopt_long(argc, argv, letters, table, NULL);
        if (found == -1) return true;
        if (found == '?' || found == ':') return unknown(options, argc, argv);
        const Flag *flag = flag_found(found);
        bool left_out = found >= 256 && flag->argument && flag->argument[0] == '[' && !optarg;
        if (left_out && optind < argc && argv[optind][0] != '-') optarg = argv[optind++];
        bool own_word = optarg && optarg == argv[optind - 1];
        if (own_word && is_no_value(options, flag, optarg)) return needs_value(options, flag);
        if (!options_take(options, flag, optarg)) return false;
    }
}

// Leaves words over if the program takes no argument or there are too many.
static void take_models(int argc, char **argv, Options *options) {
    while (options->line->argument && optind < argc && options->n_models < OPTIONS_MAX_MODELS)
        options->models[options->n_models++] = argv[optind++];
}

// A sweep trains if an axis changes what is learnt.
static bool sweep_learns(const Options *options) {
    bool learns = false, alone;
    for (int i = 0; i < options->n_sweeps; i++)
        learns = learns || sweep_axis_learns(options->sweeps[i], &alone);
    return learns;
}

// The default of --epochs; --steps alone can limit a training, too.
static int64_t epochs_unsaid(const Options *options) {
    if (options_ask(options) && !sweep_learns(options)) return 0;
    bool steps_alone = options->line->epochs == 0 && options->steps > 0;
    return steps_alone ? LOADER_MOST_EPOCHS : options->line->epochs;
}

// True if nothing else is asked for; the caller clears its own question first.
static bool want_nothing(const Options *others) {
    const char *path;
    bool nothing = !options_ask(others) && others->epochs <= 0 && !others->calibrate &&
                   !others->percentiles && !(others->time_limit > 0.0) && others->iterations == 0 &&
                   others->warmup == 0 && others->runs <= 1 && others->thresholds.n == 0 &&
                   !others->folder;
    for (int i = 0; options_output(others, i, &path); i++) nothing = nothing && !path;
    return nothing;
}

// The layer tree alone needs only counts, so that nothing runs for it.
static bool needs_counts_only(const Options *options) {
    Options others = *options;
    others.summary = false;
    return options->summary && want_nothing(&others);
}

bool options_need_weights_only(const Options *options) {
    Options others = *options;
    others.weights = false;
    return options->weights && want_nothing(&others);
}

// The default schedule: a training without a last epoch has no end to decay to.
static ScheduleKind schedule_unsaid(const Options *options) {
    return options->epochs < LOADER_MOST_EPOCHS ? options->line->schedule : SCHEDULE_CONSTANT;
}

// The default of --runs: comparisons measure in several processes if anything runs.
static int64_t runs_unsaid(const Options *options) {
    bool compared = (options->save && options->n_sweeps == 0) || options_beside(options) ||
                    options->history || options->gbench ||
                    threshold_needs_times(&options->thresholds);
    return compared && strcmp(options->device, "meta") != 0 ? OPTIONS_COMPARED_RUNS : 1;
}

bool options_parse(int argc, char **argv, const ProgramLine *line, Options *options) {
    *options = (Options){.line = line,
                         .layers = {784, 512, 256, 10},
                         .n_layers = 4,
                         .batch = line->batch,
                         .accumulate = 1,
                         .epochs = -1,
                         .activation = &op_relu,
                         .optimizer = OPTIMIZER_ADAM,
                         .rate = {.base = (double)NAN, .factor = (double)NAN},
                         .temperature = (double)NAN,
                         .device = "cpu",
                         .sample = -1,
                         .depth = -1,
                         .prune = (double)NAN,
                         .seed = 1};
    const char *file = options_file_typed(argv);
    if (file && !options_file_take(options, file)) return false;
    const Options filed = *options; // typed options override these
    options->n_models = options->n_inputs = 0;
    options->fuse = options->no_fuse = false;
    if (!take_flags(argc, argv, options)) return false;
    if (!options->fuse && !options->no_fuse) {
        options->fuse = filed.fuse;
        options->no_fuse = filed.no_fuse;
    }
    if (!options_inputs_merge(options, &filed)) return false;
    options->told = options->help || options->version || options->devices || options->list ||
                    options->man || options->completion;
    if (options->told)
        return true; // even if other flags are wrong, since the user may need the help
    take_models(argc, argv, options);
    if (options->n_models == 0) options->n_models = filed.n_models;
    options->model = options->models[0];
    if (!options_take_kind(options)) return false;
    if (options->runs == 0) options->runs = runs_unsaid(options);
    if (!options_fit_together(options)) return false;
    if (options->folder && !fill_folder(options)) return false;
    if (options->save) options->json = options->save;
    options->has_epochs = options->epochs >= 0;
    if (!options->has_epochs) options->epochs = epochs_unsaid(options);
    if (!options->rate.has_kind) options->rate.kind = schedule_unsaid(options);
    if (needs_counts_only(options)) options->device = "meta";
    if (!options_can_be_done(options)) return false;
    if (optind == argc) return true;
    if (options->n_models == OPTIONS_MAX_MODELS)
        return options_refuse(options, "%s: more than %d networks; compare some of them",
                              argv[optind], OPTIONS_MAX_MODELS);
    if (!line->argument && access(argv[optind], F_OK) == 0)
        return options_refuse(options, "%s: unexpected argument; profile_model profiles files",
                              argv[optind]);
    return options_refuse(options, "%s: unexpected argument; see %s --help", argv[optind],
                          line->name);
}

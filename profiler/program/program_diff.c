// program_diff.c -- --compare and --against: runs this command in fresh processes, beside a saved
// profile or in turns with another command or build, and reports the differences. Not here: their
// evaluation (compare/).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/base/text.h"
#include "profiler/compare/profile_diff.h"
#include "profiler/files/exports.h"
#include "profiler/files/saved.h"
#include "profiler/look/page.h"
#include "profiler/program/program.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

// Other programs may have had at most this share of the time that threads wanted a core, on both
// sides, if these were not measured in turns: the metronome's loop of 0.2 ms does not notice them.
static const double busy = 0.1;
// Default limits if times can be compared.
static const char limits_unsaid[] = "latency:+5%,layer:*:+5%";

typedef struct Side {    // one side of the comparison
    char **arguments;    // the command's words
    const char *program; // executable; NULL: this program
    char **documents;    // owned: JSON of each run
    int64_t n;
} Side;

typedef struct Comparing {
    Program *program;
    const Options *options;
    Side now, base;    // if the base is a file, it has no documents
    SavedProfile file; // the base if it is a file; else empty
    int64_t all;       // number of planned runs
    double begun;
} Comparing;

// ---- the other command -------------------------------------------------------------------------
// The part of "--batch 128" or "resnet34 --batch 2" that starts at the first flag; "": no flags.
static char *flags_of(char *other) {
    char *flags = strncmp(other, "--", 2) == 0 ? other : strstr(other, " --");
    return flags ? flags : other + strlen(other);
}

// The value of an --input, after its '=' or in the next word; getopt_long accepts prefixes down to
// "--inp". NULL: the word is another flag.
static const char *input_in(const char *word, const char *next) {
    size_t length = strcspn(word, "=");
    if (length < strlen("--inp") || strncmp(word, "--input", length) != 0) return NULL;
    return word[length] == '=' ? word + length + 1 : next;
}

static bool is_by_place(const char *word, const char *next) {
    const char *value = input_in(word, next);
    return value && options_input_value(value) == value;
}

// New inputs without a name replace all previous ones without a name; named ones replace singly.
static size_t drop_by_place(char *words[], size_t typed, size_t n) {
    bool others = false;
    size_t used = 0;
    words[n] = NULL;
    for (size_t i = typed; i < n; i++) others = others || is_by_place(words[i], words[i + 1]);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(words[i]);
        if (length > strlen("--a") && strncmp(words[i], "--against", length) == 0 && words[i + 1]) {
            words[used++] = words[i++]; // keep its value, which is the other command
            words[used++] = words[i];
            continue;
        }
        bool drop = others && i < typed && is_by_place(words[i], words[i + 1]);
        if (!drop)
            words[used++] = words[i];
        else if (!strchr(words[i], '='))
            i++;
    }
    return used;
}

// Adds the flags after the typed ones, because the last one counts, but before a "--".
char **program_other_words(const Options *options, const char *other, char *const typed[],
                           char **text) {
    size_t n = 0, used = 0;
    while (typed[n]) n++;
    *text = memory_copy_string(other);
    char **words = memory_new((n + strlen(other) + 2) * sizeof(char *));
    if (!*text || !words) return words;
    char *flags = flags_of(*text), *rest = NULL, *model = flags > *text ? *text : NULL;
    const char *old = model ? options->model : NULL; // or from a config file
    bool placed = false;
    if (*flags == ' ') *flags++ = '\0';
    size_t i = 0;
    for (size_t k = 0; k < n && old; k++) placed = placed || typed[k] == old;
    for (; i < n && strcmp(typed[i], "--") != 0; i++)
        words[used++] = old && typed[i] == old ? model : typed[i];
    if (model && !placed) words[used++] = model;
    size_t typed_flags = used;
    for (char *flag = strtok_r(flags, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest))
        words[used++] = flag;
    used = drop_by_place(words, typed_flags, used);
    for (; i < n; i++) words[used++] = old && typed[i] == old ? model : typed[i];
    words[used] = NULL;
    return words;
}

// ---- runs --------------------------------------------------------------------------------------
// True if both sides are measured now; else the base is a file.
static bool in_turns(const Comparing *all) { return !all->options->compare; }

static Status run_once(Comparing *all, Side *side) {
    Program program = *all->program;
    char what[64];
    program.arguments = side->arguments;
    program.executable = side->program;
    program_show_runs(&program, all->now.n + all->base.n, all->all, all->begun);
    snprintf(what, sizeof(what), "--%s", options_beside(all->options));
    Status status = program_measure_again(&program, "", what, &side->documents[side->n]);
    if (!status) side->n++;
    return status;
}

// Runs each side until it has `until` runs, in turns; the first side alternates.
static Status run_until(Comparing *all, int64_t until) {
    all->all = (in_turns(all) ? 2 : 1) * until;
    for (int64_t i = all->now.n; i < until && !program_is_stopped(); i++) {
        Side *sides[] = {i % 2 ? &all->base : &all->now, i % 2 ? &all->now : &all->base};
        for (int k = 0; k < 2; k++)
            if ((sides[k] == &all->now || in_turns(all)) && run_once(all, sides[k])) break;
        if (error_pending()) break;
    }
    progress_clear(all->program);
    if (program_is_stopped()) error_clear(); // the killed process has no result
    return error_status();
}

// ---- their results -----------------------------------------------------------------------------
typedef struct Told { // the combined results of each side's runs
    SavedProfile base, now;
    ProfileDiff diff;  // between `base` and `now`
    char untimed[300]; // reason for not comparing times; "": they are compared
} Told;

// Merges the first n runs of one side into one profile.
static Status gather(const Side *side, int64_t n, SavedProfile *saved) {
    *saved = (SavedProfile){0};
    if (n > side->n) n = side->n;
    if (n == 0) return error_set(STATUS_IO, "stopped before each had been measured once");
    const char *first = side->documents[0];
    Status status = saved_profile_parse(first, strlen(first), "a run", saved);
    if (status || n == 1) return status;
    return profile_take_runs(&saved->profile, side->documents + 1, (int)n - 1);
}

// The profile of a base file is borrowed, and not freed here.
static void told_free(const Comparing *all, Told *told) {
    profile_diff_free(&told->diff);
    if (in_turns(all)) saved_profile_free(&told->base);
    saved_profile_free(&told->now);
    *told = (Told){0};
}

// ---- comparability -----------------------------------------------------------------------------
static Status check_alike(const Comparing *all, const SavedProfile *base, const SavedProfile *now) {
    const Options *options = all->options;
    DiffReason reason = profile_diff_reason(base, now);
    const char *text = reason.environment[0] ? reason.environment : reason.work;
    if (options->force || !text[0]) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--compare %s: %s. HINT: --save %s makes it anew; --force compares them, "
                     "%s",
                     options->compare, text, options->compare,
                     reason.environment[0] ? "each by how fast its machine is"
                                           : "whatever they are");
}

// Checks comparability with the first run, before the others start.
static Status check_first(Comparing *all) {
    SavedProfile now;
    if (in_turns(all)) return STATUS_OK;
    if (run_once(all, &all->now) && program_is_stopped()) error_clear(); // it was killed
    if (error_pending()) return error_status();
    Status status = gather(&all->now, 1, &now);
    if (!status) status = check_alike(all, &all->file, &now);
    saved_profile_free(&now);
    return status;
}

// Other programs' share of the cores, the median of all runs.
static double others_of(const Profile *profile) {
    const Latency *sharing = latency_whole(&profile->metronome.sharing);
    return sharing->count > 0 ? 1.0 - 1.0 / sharing->statistics.median : profile->others_share;
}

static void say_untimed(const Comparing *all, Told *told) {
    const Options *options = all->options;
    const ProfileDiff *diff = &told->diff;
    double then = others_of(&told->base.profile), now = others_of(&told->now.profile);
    char *text = told->untimed;
    size_t size = sizeof(told->untimed);
    text[0] = '\0';
    if (strcmp(options->device, "meta") == 0)
        snprintf(text, size, "Nothing ran on the meta device.");
    else if (diff->runs_before == 0 || diff->runs_after == 0)
        snprintf(text, size, "The base has no times.");
    else if (diff->runs_after < 2)
        snprintf(text, size, "Times of one process say nothing of another's%s",
                 program_is_stopped() ? "; it was stopped." : ": leave out --runs 1.");
    else if (diff->runs_before < 2)
        snprintf(text, size,
                 "Times of one process, as in %s, say nothing of another's: --save %s makes it of "
                 "%d.",
                 options->compare, options->compare, OPTIONS_COMPARED_RUNS);
    else if (!in_turns(all) && !options->force && (then > busy || now > busy))
        snprintf(text, size,
                 "Other programs had the cores for %.0f%% of each step %s (more than %.0f%%). Once "
                 "they are done, %s; --force compares all the same.",
                 100.0 * (then > busy ? then : now), then > busy ? "of the base" : "now",
                 100.0 * busy, then > busy ? "--save the base anew" : "try again");
}

static Status look(Comparing *all, Told *told) {
    Status status = STATUS_OK;
    if (in_turns(all))
        status = gather(&all->base, all->now.n, &told->base);
    else
        told->base = all->file;
    if (!status) status = gather(&all->now, all->now.n, &told->now);
    if (status) return status;
    const Profile *base = &told->base.profile, *now = &told->now.profile;
    if (base->difference[0] || now->difference[0])
        all->program->failed = true; // the run itself has said so
    status = profile_diff(base, now, !in_turns(all), &told->diff);
    say_untimed(all, told);
    return status;
}

static ThresholdSides sides_of(const Told *told) {
    return (ThresholdSides){.now = &told->now.profile,
                            .base = &told->base.profile,
                            .diff = &told->diff,
                            .untimed = told->untimed[0] != '\0'};
}

// True if more runs may decide a likely change or an undecided limit.
static bool is_open(Comparing *all, const Told *told) {
    ThresholdList *list = &all->program->thresholds;
    const ThresholdSides sides = sides_of(told);
    if (sides.untimed) return false;
    if (list->n == 0) threshold_parse(limits_unsaid, list);
    if (threshold_judge(list, &sides)) return false;
    return profile_diff_is_open(&told->diff) || threshold_count(list, THRESHOLD_UNDECIDED) > 0;
}

static Status measure(Comparing *all, Told *told) {
    int64_t runs = all->options->runs;
    Status status = run_until(all, runs);
    double begun = clock_seconds();
    for (int looks = 1; !status; looks++) {
        status = look(all, told);
        if (status || !is_open(all, told) || !program_looks_again(all->program, looks, begun))
            break;
        told_free(all, told);
        status = run_until(all, (looks + 1) * runs);
    }
    return error_status();
}

// ---- all together ------------------------------------------------------------------------------
static void say_build(const SavedProfile *base, const SavedProfile *now, char *text, size_t size) {
    const Environment *a = &base->environment, *b = &now->environment;
    text[0] = '\0';
    if (strcmp(a->compiler, b->compiler) != 0)
        snprintf(text, size, "the compiler was %s, and is %s", a->compiler, b->compiler);
    else if (strcmp(a->flags, b->flags) != 0)
        snprintf(text, size, "compiled with %.180s; the base with %.180s", b->flags, a->flags);
}

static void annotate(const Program *program, ProfileDiff *diff, const DiffStory *story) {
    char text[DIFF_SENTENCE];
    diff_sentence(diff, story, text);
    annotation_print("notice", program->kind->line.name, text, stderr);
}

static Status tell(Comparing *all, Told *told, JsonWriter **json) {
    char build[400];
    Program *program = all->program;
    ProfileDiff *diff = &told->diff;
    say_build(&told->base, &told->now, build, sizeof(build));
    const Options *options = all->options;
    const char *other = options->against           ? options->against
                        : options->against_program ? options->against_program
                                                   : options->compare;
    bool flags = options->against && strncmp(other, "--", 2) == 0;
    const DiffStory story = {.with = flags ? "with " : "",
                             .base = other,
                             .untimed = told->untimed[0] ? told->untimed : NULL,
                             .build = build,
                             .unit = told->now.profile.unit};
    if (program->report) diff_print(diff, &story, stdout);
    if (annotation_wanted()) annotate(program, diff, &story);
    if (program->report && program_is_stopped())
        printf("\nCUT SHORT, as was asked: by the runs that had ended\n");
    if (program->thresholds.n == 0 && options->junit) // --junit needs at least one limit
        threshold_parse(limits_unsaid, &program->thresholds);
    const ThresholdSides sides = sides_of(told);
    Status status = program_judge(program, &sides);
    const Page page = {.title = told->now.profile.model,
                       .diff = diff,
                       .story = &story,
                       .command = program->command};
    if (!status && options->html) status = page_write(&page, options->html);
    if (status || !*json) return status;
    status = profile_diff_write_json(diff, &story, &program->thresholds, program->command, *json);
    *json = NULL;
    return status;
}

static Status compare(Comparing *all) {
    const Options *options = all->options;
    Told told = {0};
    Status status = options->compare ? saved_profile_read(options->compare, &all->file) : STATUS_OK;
    const char *other = options->against_program;
    if (other && access(other, X_OK) != 0)
        status = error_set(STATUS_IO, "--against-program %s: %s", other, strerror(errno));
    if (!status) status = program_check_files(options);
    JsonWriter *json = !status && options->json ? json_file_open(options->json) : NULL;
    if (!status && options->json && !json) status = error_status();
    if (!status) status = check_first(all);
    if (!status) status = measure(all, &told);
    if (!status) status = tell(all, &told, &json);
    json_writer_discard(json);
    told_free(all, &told);
    return status;
}

static void free_side(Side *side) {
    for (int64_t i = 0; i < side->n; i++) memory_free(side->documents[i]);
    memory_free(side->documents);
}

Status program_diff(Program *program) {
    const Options *options = program->options;
    char *text = NULL;
    Comparing all = {.program = program,
                     .options = options,
                     .now = {.arguments = program->arguments},
                     .base = {.arguments = program->arguments, .program = options->against_program},
                     .all = (options->compare ? 1 : 2) * options->runs,
                     .begun = clock_seconds()};
    size_t room = DIFF_LOOKS * (size_t)options->runs * sizeof(char *);
    all.now.documents = memory_new(room);
    all.base.documents = memory_new(room);
    if (options->against)
        all.base.arguments =
            program_other_words(options, options->against, program->arguments, &text);
    Status status = error_pending() ? error_status() : compare(&all);
    free_side(&all.now);
    free_side(&all.base);
    saved_profile_free(&all.file);
    if (options->against) memory_free(all.base.arguments);
    memory_free(text);
    return status;
}

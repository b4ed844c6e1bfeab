// program_diff.c -- --compare and --against: this command in fresh processes, beside a saved
// profile or in turns with another command or another build, and what differs. Not here: what the
// runs say of it (compare/).
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/compare/diff_print.h"
#include "profiler/files/annotation.h"
#include "profiler/files/profile_diff_json.h"
#include "profiler/files/profile_runs.h"
#include "profiler/look/page.h"
#include "profiler/program/program.h"
#include "profiler/report/text.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

static const double busy = 0.1; // of the time in which threads wanted a core others had it, at most
// What is failed by, where nothing is said and times can be compared.
static const char limits_unsaid[] = "latency:+5%,layer:*:+5%";

typedef struct Side {    // what is compared with another
    char **arguments;    // its command
    const char *program; // that runs it; NULL: this one
    char **documents;    // owned: of each of its runs
    int64_t n;
} Side;

typedef struct Comparing {
    Program *program;
    const Options *options;
    Side now, base;    // a file's has no documents
    SavedProfile file; // else empty
    bool elsewhere;    // the file is of another machine
    int64_t all;       // runs that there may be
    int set;           // of runs; the second confirms
    double begun;
} Comparing;

// ---- the other command -------------------------------------------------------------------------
// "--batch 128", or "resnet34 --batch 2": where flags begin; "": there are none.
static char *flags_of(char *other) {
    char *flags = strncmp(other, "--", 2) == 0 ? other : strstr(other, " --");
    return flags ? flags : other + strlen(other);
}

// The value of an --input, which getopt_long takes down to "--inp": behind its '=' or in the next
// word. NULL: the word is another.
static const char *input_in(const char *word, const char *next) {
    size_t length = strcspn(word, "=");
    if (length < strlen("--inp") || strncmp(word, "--input", length) != 0) return NULL;
    return word[length] == '=' ? word + length + 1 : next;
}

static bool is_by_place(const char *word, const char *next) {
    const char *value = input_in(word, next);
    return value && options_input_value(value) == value;
}

// Files that are told by their places are replaced all together, as names are one by one.
static size_t drop_by_place(char *words[], size_t typed, size_t n) {
    bool others = false;
    size_t used = 0;
    words[n] = NULL;
    for (size_t i = typed; i < n; i++) others = others || is_by_place(words[i], words[i + 1]);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(words[i]);
        if (length > strlen("--a") && strncmp(words[i], "--against", length) == 0 && words[i + 1]) {
            words[used++] = words[i++]; // its value belongs to the other command
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

// Flags stand behind what was typed, because the last word on one counts, but before a "--".
char **program_other_words(const Options *options, const char *other, char *const typed[],
                           char **text) {
    size_t n = 0, used = 0;
    while (typed[n]) n++;
    *text = memory_copy_string(other);
    char **words = memory_new((n + strlen(other) + 2) * sizeof(char *));
    if (!*text || !words) return words;
    char *flags = flags_of(*text), *rest = NULL, *model = flags > *text ? *text : NULL;
    const char *old = model ? options->model : NULL; // or of no word, but of a file of options
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
// Else the base is a file.
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

// In turns; who goes first changes, too.
static Status run_set(Comparing *all) {
    int64_t until = all->set++ ? 2 * all->options->runs : all->options->runs;
    for (int64_t i = all->now.n; i < until && !program_is_stopped(); i++) {
        Side *sides[] = {i % 2 ? &all->base : &all->now, i % 2 ? &all->now : &all->base};
        for (int k = 0; k < 2; k++)
            if ((sides[k] == &all->now || in_turns(all)) && run_once(all, sides[k])) break;
        if (error_pending()) break;
    }
    progress_clear(all->program);
    if (program_is_stopped()) error_clear(); // of the process that was not waited for
    return error_status();
}

// ---- what they say -----------------------------------------------------------------------------
typedef struct Set { // some of the runs of each side
    SavedProfile base, now;
    ProfileDiff diff; // of these two
} Set;

// Runs from..to of one side in one profile.
static Status gather(const Side *side, int64_t from, int64_t to, SavedProfile *saved) {
    *saved = (SavedProfile){0};
    if (to > side->n) to = side->n;
    if (to <= from) return error_set(STATUS_IO, "stopped before each had been measured once");
    const char *first = side->documents[from];
    Status status = saved_profile_parse(first, strlen(first), "a run", saved);
    if (status || to - from == 1) return status;
    return profile_take_runs(&saved->profile, side->documents + from + 1, (int)(to - from - 1));
}

// A file's own profile is in each set: borrowed.
static Status set_make(Comparing *all, int64_t from, int64_t to, Set *set) {
    const DiffHow how = {.apart = all->options->compare != NULL,
                         .elsewhere = all->elsewhere,
                         .one_of_two = to - from <= all->options->runs};
    Status status = STATUS_OK;
    if (in_turns(all))
        status = gather(&all->base, from, to, &set->base);
    else
        set->base = all->file;
    if (!status) status = gather(&all->now, from, to, &set->now);
    if (status) return status;
    if (set->base.profile.difference[0] || set->now.profile.difference[0])
        all->program->failed = true; // the run itself has said so
    return profile_diff(&set->base.profile, &set->now.profile, how, &set->diff);
}

static void set_free(const Comparing *all, Set *set) {
    profile_diff_free(&set->diff);
    if (in_turns(all)) saved_profile_free(&set->base);
    saved_profile_free(&set->now);
}

// What one set of runs seems to say is said when another one says the same.
static Status confirm(Comparing *all, Set *whole) {
    Set first = {0}, second = {0};
    int64_t half = all->now.n;
    all->all *= 2;
    Status status = run_set(all);
    bool stopped = all->now.n <= half || (in_turns(all) && all->base.n <= half);
    if (!status && stopped) profile_diff_confirm(&whole->diff, &whole->diff, NULL);
    if (status || stopped) return status;
    set_free(all, whole);
    status = set_make(all, 0, half, &first);
    if (!status) status = set_make(all, half, all->now.n, &second);
    if (!status) status = set_make(all, 0, all->now.n, whole);
    if (!status) profile_diff_confirm(&whole->diff, &first.diff, &second.diff);
    set_free(all, &first);
    set_free(all, &second);
    return status;
}

// ---- whether they can be compared --------------------------------------------------------------
static Status check_alike(Comparing *all, const SavedProfile *base, const SavedProfile *now) {
    const Options *options = all->options;
    DiffReason reason = profile_diff_reason(base, now);
    const char *text = reason.environment[0] ? reason.environment : reason.work;
    all->elsewhere = reason.environment[0] != '\0';
    if (options->force || !text[0]) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--compare %s: %s. HINT: --save %s makes it anew; --force compares them, "
                     "%s",
                     options->compare, text, options->compare,
                     reason.environment[0] ? "by how fast each machine is" : "whatever they are");
}

// The first run tells, before others are waited for.
static Status check_first(Comparing *all) {
    SavedProfile now;
    if (in_turns(all)) return STATUS_OK;
    if (run_once(all, &all->now) && program_is_stopped()) error_clear(); // it was not waited for
    if (error_pending()) return error_status();
    Status status = gather(&all->now, 0, 1, &now);
    if (!status) status = check_alike(all, &all->file, &now);
    saved_profile_free(&now);
    return status;
}

// Why times are not compared; "": they are.
static void say_untimed(const Comparing *all, const Set *set, char *text, size_t size) {
    const Options *options = all->options;
    const ProfileDiff *diff = &set->diff;
    double then = set->base.profile.others_share, now = set->now.profile.others_share;
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
                 "it is done, %s; --force compares all the same.",
                 100.0 * (then > busy ? then : now), then > busy ? "of the base" : "now",
                 100.0 * busy, then > busy ? "--save the base anew" : "try again");
}

// ---- the whole ---------------------------------------------------------------------------------
static bool seems_changed(const ProfileDiff *diff) {
    bool changed = diff->step.sure != 0;
    for (int64_t i = 0; i < diff->n_times; i++) changed = changed || diff->times[i].sure != 0;
    return changed;
}

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

static Status tell(Comparing *all, Set *set, JsonWriter **json) {
    char untimed[300], build[400];
    Program *program = all->program;
    ProfileDiff *diff = &set->diff;
    int64_t before = all->now.n;
    say_untimed(all, set, untimed, sizeof(untimed));
    if (!untimed[0] && seems_changed(diff) && !program_is_stopped()) {
        if (confirm(all, set)) return error_status();
        say_untimed(all, set, untimed, sizeof(untimed)); // of both sets
    }
    bool timed = untimed[0] == '\0';
    say_build(&set->base, &set->now, build, sizeof(build));
    const Options *options = all->options;
    const char *other = options->against           ? options->against
                        : options->against_program ? options->against_program
                                                   : options->compare;
    bool flags = options->against && strncmp(other, "--", 2) == 0;
    const DiffStory story = {.with = flags ? "with " : "",
                             .base = other,
                             .untimed = timed ? NULL : untimed,
                             .build = build,
                             .unit = set->now.profile.unit,
                             .confirmed = all->now.n > before,
                             .elsewhere = all->elsewhere};
    if (program->report) diff_print(diff, &story, stdout);
    if (annotation_wanted()) annotate(program, diff, &story);
    if (program->report && program_is_stopped())
        printf("\nCUT SHORT, as was asked: by the runs that had ended\n");
    bool judged = timed && diff->step.judged; // else who asks a CI's question gets an answer
    if (program->thresholds.n == 0 && (judged || options->junit))
        threshold_parse(limits_unsaid, &program->thresholds);
    Status status = program_judge(program, &(ThresholdSides){&set->now.profile, &set->base.profile,
                                                             diff, !timed});
    const Page page = {.title = set->now.profile.model,
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
    Set set = {0};
    Status status = options->compare ? saved_profile_read(options->compare, &all->file) : STATUS_OK;
    const char *other = options->against_program;
    if (other && access(other, X_OK) != 0)
        status = error_set(STATUS_IO, "--against-program %s: %s", other, strerror(errno));
    if (!status) status = program_check_files(options);
    JsonWriter *json = !status && options->json ? json_file_open(options->json) : NULL;
    if (!status && options->json && !json) status = error_status();
    if (!status) status = check_first(all);
    if (!status) status = run_set(all);
    if (!status) status = set_make(all, 0, all->now.n, &set);
    if (!status) status = tell(all, &set, &json);
    json_writer_discard(json);
    set_free(all, &set);
    return status;
}

static void free_side(Side *side) {
    for (int64_t i = 0; i < side->n; i++) memory_free(side->documents[i]);
    memory_free(side->documents);
}

Status program_diff(Program *program) {
    const Options *options = program->options;
    char *text = NULL;
    int64_t sides = options->compare ? 1 : 2;
    Comparing all = {.program = program,
                     .options = options,
                     .now = {.arguments = program->arguments},
                     .base = {.arguments = program->arguments, .program = options->against_program},
                     .all = sides * options->runs,
                     .begun = clock_seconds()};
    size_t room = 2 * (size_t)options->runs * sizeof(char *);
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

// options_several.c -- what goes together where more than one profile is asked for: several
// networks, a comparison, a sweep; and limits, which may be beside another.
#include "profiler/program/options_table.h"

#include <math.h>
#include <string.h>

#include "profiler/program/sweep_axes.h"

// ---- questions ---------------------------------------------------------------------------------
enum { NETWORKS = 1, COMPARISON = 2, SWEEP = 4, ALL = NETWORKS | COMPARISON | SWEEP };

typedef struct Given { // a flag, whether it was, and of what it is no part
    const char *name;
    bool given;
    int no_part;
} Given;

static const char *first_given(const Given *flags, int of) {
    while (flags->name && !(flags->given && flags->no_part & of)) flags++;
    return flags->name;
}

static const char *no_part_of(const Options *options, int of) {
    const Given flags[] = {{"summary", options->summary, ALL},
                           {"explain", options->explain, ALL},
                           {"by, --top and --layer", options->has_view, ALL},
                           {"memory", options->memory, ALL},
                           {"memory-budget", options->memory_budget > 0, ALL},
                           {"leaks", options->leaks, ALL},
                           {"weights", options->weights, ALL},
                           {"shrink", options->shrink, ALL},
                           {"generate", options->generate > 0, ALL},
                           {"runs", options->runs > 1, NETWORKS},
                           {"try", options->try_advice, ALL},
                           {"flop-convention", options->has_preset, ALL},
                           {"output", options->output != NULL, ALL},
                           {"trace", options->trace != NULL, ALL},
                           {"memory-json", options->memory_json != NULL, ALL},
                           {"tinytorch", options->tinytorch != NULL, ALL},
                           {"strict", options->strict, COMPARISON | SWEEP},
                           {"html", options->html != NULL, NETWORKS},
                           {"svg", options->svg != NULL, ALL},
                           {"csv", options->csv != NULL, ALL},
                           {"output", options->folder != NULL, ALL},
                           {"save", options->save != NULL, NETWORKS | COMPARISON},
                           {"threshold", options->thresholds.n > 0, NETWORKS | SWEEP},
                           {"junit", options->junit != NULL, SWEEP},
                           {"data", options->data != NULL, NETWORKS | COMPARISON},
                           {"epochs, --steps", options->epochs > 0 || options->steps > 0,
                            NETWORKS | COMPARISON},
                           {"checkpoint", options->checkpoint != NULL, ALL},
                           {"resume", options->resume != NULL, ALL},
                           {NULL, false, 0}};
    return first_given(flags, of);
}

static const char *question_of(const Options *options) {
    return options->compare        ? "compare"
           : options->against      ? "against"
           : options->n_sweeps > 0 ? "sweep"
                                   : NULL;
}

static bool asks_one_question(const Options *options) {
    const char *question = question_of(options);
    if (options->force && !options->compare)
        return options_refuse(options, "--force: of what? --compare FILE");
    if (options->compare && (!options->compare[0] || strcmp(options->compare, "-") == 0))
        return options_refuse(options, "--compare: expected a file, as --save FILE makes it");
    if ((options->compare || options->against) && options->runs > RATIO_MOST / 2)
        return options_refuse(options, "--runs %lld: of a comparison at most %d",
                              (long long)options->runs, RATIO_MOST / 2);
    if (options->compare && options->against)
        return options_refuse(options, "--compare and --against exclude each other");
    if (options->n_sweeps > 0 && strcmp(question, "sweep") != 0)
        return options_refuse(options, "--%s and --sweep exclude each other", question);
    return true;
}

static bool is_no_part(const Options *options) {
    bool several = options->n_models > 1;
    const char *question = question_of(options);
    int of = (several ? NETWORKS : 0) | (options->compare || options->against ? COMPARISON : 0) |
             (options->n_sweeps > 0 ? SWEEP : 0);
    const char *flag = no_part_of(options, of);
    if (question && several)
        return options_refuse(options, "--%s: of one network, and %d are named; %s %s", question,
                              options->n_models,
                              options->n_sweeps > 0 ? "--sweep model=A,B, or leave out"
                                                    : "leave out",
                              options->models[1]);
    if (question && flag)
        return options_refuse(options, "--%s: no part of a %s; leave it out, or --%s", flag,
                              options->n_sweeps > 0 ? "sweep" : "comparison", question);
    return !flag || options_refuse(options, "--%s: of one network, and %d are named; leave out %s",
                                   flag, options->n_models, options->models[1]);
}

// ---- sweeps ------------------------------------------------------------------------------------
static bool sweeps(const Options *options) {
    const char *limit = options->max_latency > 0.0 ? "max-latency"
                        : options->max_memory > 0  ? "max-memory"
                                                   : NULL;
    if (limit && options->n_sweeps == 0)
        return options_refuse(options, "--%s: of what? --sweep batch=1,8,64", limit);
    for (int i = 0; i < options->n_sweeps; i++) {
        const char *text = options->sweeps[i];
        if (strncmp(text, "fuse=", 5) == 0 && (options->fuse || options->no_fuse))
            return options_refuse(options, "--%sfuse: --sweep fuse varies it; leave out either",
                                  options->fuse ? "" : "no-");
    }
    return true;
}

bool options_sweep_makes_sense(const Options *options) {
    for (int i = 0; i < options->n_sweeps; i++) {
        bool alone;
        sweep_axis_learns(options->sweeps[i], &alone);
        if (alone && options->epochs == 0)
            return options_refuse(options, "--sweep %s: of what is learnt alone; add --epochs N",
                                  options->sweeps[i]);
    }
    return true;
}

// ---- limits ------------------------------------------------------------------------------------
// Limits need something to be held against, and a file of them limits.
static bool limits(const Options *options) {
    const ThresholdList *list = &options->thresholds;
    bool beside = options->compare || options->against;
    for (int i = 0; i < list->n; i++) {
        const Threshold *limit = &list->at[i];
        if (limit->relative && !beside)
            return options_refuse(options, "--threshold %s: beside what? --compare FILE",
                                  limit->text);
        if (beside && threshold_is_percentile(limit))
            return options_refuse(options, "--threshold %s: of one profile alone; leave out --%s",
                                  limit->text, options->compare ? "compare" : "against");
    }
    if (threshold_needs_times(list) && strcmp(options->device, "meta") == 0)
        return options_refuse(options, "--threshold: nothing takes time on the meta device; "
                                       "--device cpu");
    return !options->junit || list->n > 0 || beside ||
           options_refuse(options, "--junit %s: of what? --threshold LIMITS", options->junit);
}

bool options_of_several(const Options *options) {
    return asks_one_question(options) && is_no_part(options) && sweeps(options) && limits(options);
}

// options_several.c -- checks for options about more than one profile: several networks, a
// comparison, a sweep, limits; and the default kind, inference or training.
#include "profiler/program/options_table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "profiler/program/sweep_axes.h"

// ---- inference or training ---------------------------------------------------------------------
bool options_is_onnx(const char *model) {
    size_t length = strlen(model);
    return length > 5 && strcasecmp(model + length - 5, ".onnx") == 0;
}

// An ONNX file was exported for inference; everything else defaults to a training step, and so does
// an ONNX file if a flag is about training.
bool options_take_kind(Options *options) {
    const char *file = NULL, *other = NULL;
    for (int i = 0; i < options->n_models; i++)
        *(options_is_onnx(options->models[i]) ? &file : &other) = options->models[i];
    options->kind_said = options->inference || options->train;
    if (options->generate && options->train)
        return options_refuse(options, "--generate trains nothing; leave out --train");
    if (options->generate) options->inference = true;
    if (options->kind_said || options->generate || options_first(options, FLAG_TRAINS, 0))
        return true;
    if (file && other)
        return options_refuse(options,
                              "%s opens as inference, and %s as a training step; say "
                              "--inference or --train",
                              file, other);
    options->inference = file != NULL;
    return true;
}

// ---- questions ---------------------------------------------------------------------------------
static bool asks_one_question(const Options *options) {
    const char *beside = options_beside(options);
    const char *second = options->against           ? "against"
                         : options->against_program ? "against-program"
                                                    : NULL;
    if (options->history && (!options->history[0] || strcmp(options->history, "-") == 0))
        return options_refuse(options, "--history: expected a file, to which a line is added");
    if (options->compare && !options->compare[0])
        return options_refuse(options, "--compare: expected a file, as --save FILE makes it");
    if (beside && options->runs > RATIO_MOST / DIFF_LOOKS)
        return options_refuse(options, "--runs %lld: a comparison takes at most %d",
                              (long long)options->runs, RATIO_MOST / DIFF_LOOKS);
    if (options->against && options->against_program) second = "against-program";
    if (beside && second && strcmp(beside, second) != 0)
        return options_refuse(options, "--%s and --%s exclude each other", beside, second);
    if (beside && options->n_sweeps > 0)
        return options_refuse(options, "--%s and --sweep exclude each other", beside);
    return true;
}

static bool is_no_part(const Options *options) {
    bool several = options->n_models > 1;
    bool sweeps = options->n_sweeps > 0;
    const char *question = options->trend ? "trend" : sweeps ? "sweep" : options_beside(options);
    unsigned with = (several ? NOT_SEVERAL : 0) | (options_beside(options) ? NOT_COMPARED : 0) |
                    (sweeps ? NOT_SWEPT : 0) | (options->trend ? NOT_TREND : 0);
    const char *flag = options_first(options, 0, with);
    if (options->trend)
        return !flag || options_refuse(options, "--%s cannot go with --trend; leave out one", flag);
    if (question && several)
        return options_refuse(options, "--%s takes one network, and %d are named; %s %s", question,
                              options->n_models,
                              sweeps ? "--sweep model=A,B, or leave out" : "leave out",
                              options->models[1]);
    if (question && flag)
        return options_refuse(options, "--%s cannot go with a %s; leave it out, or --%s", flag,
                              sweeps ? "sweep" : "comparison", question);
    return !flag ||
           options_refuse(options, "--%s takes one network, and %d are named; leave out %s", flag,
                          options->n_models, options->models[1]);
}

// ---- sweeps ------------------------------------------------------------------------------------
static bool sweeps(const Options *options) {
    if (options->svg[PAGE_SWEEP] && options->n_sweeps == 0)
        return options_refuse(options, "--svg sweep needs --sweep AXIS=V,V");
    if (options->max_latency > 0.0 && strcmp(options->device, "meta") == 0)
        return options_refuse(options, "--max-latency: nothing takes time on the meta device");
    return true;
}

bool options_sweep_makes_sense(const Options *options) {
    for (int i = 0; i < options->n_sweeps; i++) {
        bool alone;
        sweep_axis_learns(options->sweeps[i], &alone);
        if (alone && strcmp(options->device, "meta") == 0)
            return options_refuse(options, "--sweep %s: nothing trains on the meta device",
                                  options->sweeps[i]);
        if (alone && options->epochs == 0)
            return options_refuse(options, "--sweep %s varies training alone; add --epochs N",
                                  options->sweeps[i]);
    }
    return true;
}

// ---- limits ------------------------------------------------------------------------------------
// Relative limits need a base, and --junit needs limits.
static bool limits(const Options *options) {
    const ThresholdList *list = &options->thresholds;
    const char *beside = options_beside(options);
    for (int i = 0; i < list->n; i++) {
        const Threshold *limit = &list->at[i];
        if (limit->relative && !beside)
            return options_refuse(options, "--threshold %s needs --compare FILE or --against WHAT",
                                  limit->text);
        if (beside && threshold_is_percentile(limit))
            return options_refuse(options, "--threshold %s judges one profile; leave out --%s",
                                  limit->text, beside);
    }
    if (threshold_needs_times(list) && strcmp(options->device, "meta") == 0)
        return options_refuse(options, "--threshold: nothing takes time on the meta device; "
                                       "--device cpu");
    if (options->undecided_fails && list->n == 0 && !beside)
        return options_refuse(options, "--undecided fail needs --threshold LIMITS");
    return !options->junit || list->n > 0 || beside ||
           options_refuse(options, "--junit %s needs --threshold LIMITS", options->junit);
}

bool options_of_several(const Options *options) {
    return asks_one_question(options) && is_no_part(options) && sweeps(options) && limits(options);
}

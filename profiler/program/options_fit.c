// options_fit.c -- checks that the options fit together; refuses those that do not, with a hint.
// Not here: files that may be the same (options_files.c).
#include <math.h>
#include <string.h>
#include <strings.h>

#include "profiler/machine/machine_known.h"
#include "profiler/program/options_table.h"

static bool something_runs(const Options *options) {
    if (strcmp(options->device, "meta") != 0) return true;
    const char *flag = options_first(options, FLAG_RUNS, 0);
    if (!flag && options->no_peaks) flag = "peaks none";
    return !flag ||
           options_refuse(options, "--%s: nothing runs on the meta device; --device cpu", flag);
}

// Resolves --sort; its keys depend on whether there are several networks.
static bool sorts(Options *options) {
    const char *key = options->sort;
    bool several = options->n_models > 1, found = !key;
    for (int i = 0; several && !found && i < COMPARISON_SORT_COUNT; i++) {
        options->comparison_sort = (ComparisonSort)i;
        found = strcasecmp(key, comparison_sort_name(options->comparison_sort)) == 0;
    }
    for (int i = 0; !several && !found && i < VIEW_SORT_COUNT; i++) {
        options->view.sort = (ViewSort)i;
        found = options->has_view = strcasecmp(key, view_sort_name(options->view.sort)) == 0;
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

static bool trains(const Options *options) {
    const char *flag = options->inference ? options_first(options, FLAG_TRAINS, 0) : NULL;
    if (options->generate && options->memory_budget > 0) flag = "memory-budget";
    return !flag || options_refuse(options, "--%s is about training; leave out --%s", flag,
                                   options->generate ? "generate" : "inference");
}

// Refuses learning-rate flags without effect: no training, or a constant rate.
static bool schedule_makes_sense(const Options *options) {
    const RateOptions *rate = &options->rate;
    bool constant = rate->kind == SCHEDULE_CONSTANT;
    const struct {
        const char *name;
        bool given, changes;
    } flags[] = {{"schedule", rate->has_kind, false},
                 {"lr-warmup", rate->warmup.count > 0, false},
                 {"lr-period", rate->period.count > 0, true},
                 {"lr-factor", !isnan(rate->factor), true}};
    for (int i = 0; i < 4; i++) {
        if (flags[i].given && options->epochs == 0)
            return options_refuse(options, "--%s is about training; add --epochs N", flags[i].name);
        if (flags[i].given && flags[i].changes && constant)
            return options_refuse(options, "--%s needs --schedule cosine or step", flags[i].name);
    }
    return true;
}

// Takes the precision of a named machine's published ceilings.
static bool fits_peaks(Options *options) {
    const KnownMachine *known = machine_known(options->peaks);
    if (!known) return true;
    if (strcmp(options->device, "meta") != 0)
        return options_refuse(options,
                              "--peaks %s is another machine, and this one would run; add "
                              "--device meta",
                              known->name);
    if (options_has(options, "dtype") && options->precision != known->precision)
        return options_refuse(options, "--peaks %s is for %s, and --dtype is %s; leave out --dtype",
                              known->name, precision_brief(known->precision),
                              precision_brief(options->precision));
    options->precision = known->precision;
    return true;
}

// No device computes with fewer bits than float32, so lower precisions are only counted.
static bool counts_as(const Options *options) {
    const char *brief = precision_brief(options->precision);
    if (options->precision == PRECISION_FLOAT32) return true;
    if (strcmp(options->device, "meta") != 0)
        return options_refuse(options,
                              "--dtype %s is counted, not computed with; add --device meta", brief);
    if (options->precision == PRECISION_INT8 && !options->inference)
        return options_refuse(options, "--dtype int8: nothing trains in it; %s",
                              options->line->program == PROGRAM_MODEL ? "--inference"
                                                                      : "--dtype bf16");
    return true;
}

// --checkpoint, --resume and --steps need a training.
static bool keeps_what_there_is(const Options *options) {
    const char *flag = options->checkpoint  ? "checkpoint"
                       : options->resume    ? "resume"
                       : options->steps > 0 ? "steps"
                                            : NULL;
    if (!flag || options->epochs != 0) return true;
    return options_refuse(options, "--%s is about training; add --epochs N", flag);
}

static bool draws_what_there_is(const Options *options) {
    return options->epochs != 0 || !options_draw(options, 1U << PAGE_LOSS) ||
           options_refuse(options, "--svg loss needs --epochs N, which trains");
}

// Flags about written text need something that writes.
static bool has_words(const Options *options) {
    if (options->prompt && options->epochs == 0)
        return options_refuse(options,
                              "--prompt is for a sample of what was trained on a text; add "
                              "--epochs N");
    if (options->sample >= 0 && options->epochs == 0)
        return options_refuse(options, "--sample is about training; add --epochs N");
    if (options->sample == 0 && options->prompt)
        return options_refuse(options, "--prompt: --sample 0 writes nothing; leave out one");
    bool writes = (options->epochs != 0 && options->sample != 0) || options->generate;
    if (!isnan(options->temperature) && !writes)
        return options_refuse(options, "--temperature: nothing is written; %s",
                              options->sample == 0 ? "--sample N" : "add --generate N");
    if (options->generate && options->runs > 1)
        return options_refuse(options, "--runs measures steps; leave out --generate");
    if (options->generate && options->batch > 1)
        return options_refuse(options, "--generate writes one text at a time; leave out --batch");
    return true;
}

static bool fit_together(const Options *options) {
    if (!options_have_needs(options)) return false;
    if (options->fuse && options->no_fuse)
        return options_refuse(options, "--fuse and --no-fuse exclude each other");
    if (options_has(options, "activation") && options->activation && options->n_layers == 2)
        return options_refuse(options,
                              "--activation %s needs a hidden layer, as --layers %lld,512,%lld",
                              options->activation->name, (long long)options->layers[0],
                              (long long)options->layers[1]);
    if (options->save && options->json && options->n_sweeps > 0)
        return options_refuse(options,
                              "--save %s writes what --json would, after each point; "
                              "leave out one",
                              options->save);
    if (options->save && options->json)
        return options_refuse(options,
                              "--save %s writes what --json would, of %d runs; leave "
                              "out one",
                              options->save, OPTIONS_COMPARED_RUNS);
    if (options_draw(options, 1U << PAGE_ROOFLINE | 1U << PAGE_TIME) && options->no_peaks)
        return options_refuse(options, "--svg: a roof needs ceilings; leave out --peaks none");
    if (options->calibrate && (options->peaks || options->no_peaks))
        return options_refuse(options, "--calibrate and --peaks exclude each other");
    if (options->try_advice && (options->generate || options->no_peaks))
        return options_refuse(options, "--try needs steps and ceilings; leave out --%s",
                              options->generate ? "generate" : "peaks none");
    if (options_choose_recompute(options) && options->memory_budget == 0)
        return options_refuse(options, "--recompute auto needs --memory-budget SIZE, as 2GB");
    if (options->line->argument && options->fuse && !options->inference)
        return options_refuse(options,
                              "--fuse is for networks that train no more; add --inference");
    if (options->line->argument && !options->model && !options->trend)
        return options_refuse(options, "name a network: %s --list shows them; as in %s %s",
                              options->line->name, options->line->name, options->line->examples[0]);
    return options_of_several(options) && something_runs(options) &&
           options_files_differ(options) && trains(options);
}

bool options_fit_together(Options *options) { return sorts(options) && fit_together(options); }

bool options_can_be_done(Options *options) {
    return fits_peaks(options) && counts_as(options) && keeps_what_there_is(options) &&
           draws_what_there_is(options) && schedule_makes_sense(options) && has_words(options) &&
           options_sweep_makes_sense(options);
}

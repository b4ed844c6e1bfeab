// program_try.c -- the answer to --try: runs each piece of advice that flags can apply in separate
// processes, in turns with the typed command, so that other load on the machine affects all alike.
#include <stdio.h>
#include <string.h>

#include "profiler/advice/advice_tried.h"
#include "profiler/files/saved.h"
#include "profiler/program/program.h"
#include "profiler/report/report_table.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum { LEAST_ROUNDS = 5 };

typedef struct Rounds { // a round: a process without advice, and one for each piece of advice
    const Program *program;
    Trials *trials;
    int64_t rounds, complete; // numbers of planned and complete rounds
    int64_t done;             // number of processes so far
    double *ratios;           // units/s with / without; `rounds` for each piece of advice
    double begun;
} Rounds;

static Status measure(Rounds *all, const char *flags, RunFigures *figures) {
    char *document;
    program_show_runs(all->program, all->done++, all->rounds * (all->trials->n + 1), all->begun);
    Status status =
        program_measure_again(all->program, flags, flags[0] ? flags : "--try", &document);
    if (!status) status = run_figures_read(document, figures);
    memory_free(document);
    return status;
}

static Status run_round(Rounds *all, int64_t round) {
    RunFigures without;
    Status status = measure(all, "", &without);
    for (int i = 0; i < all->trials->n && !status; i++) {
        Tried *tried = &all->trials->tried[i];
        const RunFigures *with = &tried->with;
        tried->without = without;
        status = measure(all, tried->advice.apply, &tried->with);
        double beats = with->threads == without.threads ? with->beat / without.beat : 1.0;
        all->ratios[i * all->rounds + round] =
            with->units_per_second / without.units_per_second * (beats > 0.0 ? beats : 1.0);
    }
    return status;
}

static Status run_rounds(Rounds *all) {
    Trials *trials = all->trials;
    if (trials->n == 0) return STATUS_OK;
    all->ratios = memory_new((size_t)(trials->n * all->rounds) * sizeof(double));
    Status status = all->ratios ? STATUS_OK : error_status();
    while (all->complete < all->rounds && !status && !program_is_stopped()) {
        status = run_round(all, all->complete);
        if (!status) all->complete++;
    }
    if (program_is_stopped()) error_clear(); // the killed process has no result
    status = error_status();
    if (all->complete == 0) trials->n = 0;
    for (int i = 0; i < trials->n && !status; i++)
        status = statistics_summarise(all->ratios + i * all->rounds, all->complete,
                                      &trials->tried[i].ratio);
    memory_free(all->ratios);
    return status;
}

// In the order of the report; without --fuse if --no-fuse was typed.
static void take_advice(const Program *program, Trials *trials) {
    Advice advice[ADVICE_MOST];
    int found = advice_find(&program->profile, advice);
    for (int i = 0; i < found; i++) {
        bool refused = program->options->no_fuse && strcmp(advice[i].apply, "--fuse") == 0;
        if (advice[i].apply[0] && !refused) trials->tried[trials->n++].advice = advice[i];
    }
}

Status program_try(Program *program) {
    Profile *profile = &program->profile;
    int64_t runs = program->options->runs;
    if (profile_is_noise(profile)) {
        printf("TRIED  nothing: times are too noisy, or too few, to predict from\n");
        return STATUS_OK;
    }
    profile->trials = memory_new(sizeof(Trials));
    if (!profile->trials) return error_status();
    Rounds all = {.program = program,
                  .trials = profile->trials,
                  .rounds = runs > LEAST_ROUNDS ? runs : LEAST_ROUNDS,
                  .begun = clock_seconds()};
    take_advice(program, profile->trials);
    Status status = run_rounds(&all);
    progress_clear(program);
    if (!status && all.complete == 0 && program_is_stopped())
        printf("TRIED  nothing: stopped before all of it was measured once\n");
    else if (!status)
        tried_print(profile->trials, profile->unit, stdout);
    return status;
}

// program_runs.c -- --runs: runs this command in other processes and adds their medians to this
// one's. Not here: starting a process (program_process.c), reading its results (files/saved.h).
#include <stdio.h>

#include "profiler/base/text.h"
#include "profiler/files/saved.h"
#include "profiler/program/program.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

void program_show_runs(const Program *program, int64_t done, int64_t all, double begun) {
    char left[64] = "", line[160];
    double each = (clock_seconds() - begun) / (double)(done > 0 ? done : 1);
    if (done > 0)
        snprintf(left, sizeof(left), ", %.50s left", text_duration(each * (double)(all - done)).s);
    snprintf(line, sizeof(line), "measuring in processes of their own: %lld of %lld%s",
             (long long)done + 1, (long long)all, left);
    progress_say(program, line);
    if (done != 1 || each * (double)(all - 1) < PROGRAM_LONG_SECONDS || program->options->quiet)
        return;
    progress_clear(program);
    fprintf(stderr, "%s: %lld more processes take about %s\n", program->kind->line.name,
            (long long)(all - 1), text_duration(each * (double)(all - 1)).s);
}

static Status run(Program *program, int until) {
    int all = (int)program->options->runs * DIFF_LOOKS - 1, from = program->n_runs;
    if (!program->runs) program->runs = memory_new((size_t)all * sizeof(char *));
    Status status = program->runs ? STATUS_OK : error_status();
    double begun = clock_seconds();
    while (program->n_runs < until && !status && !program_is_stopped()) {
        program_show_runs(program, program->n_runs - from, until - from, begun);
        status = program_measure_again(program, "", "--runs", &program->runs[program->n_runs]);
        if (!status) program->n_runs++;
    }
    progress_clear(program);
    if (program_is_stopped()) error_clear(); // the killed process has no result
    return error_status();
}

Status program_run_others(Program *program) {
    int others = (int)program->options->runs - 1;
    return others > 0 ? run(program, others) : STATUS_OK;
}

bool program_looks_again(const Program *program, int looks, double begun) {
    double most = program->options->time_limit;
    return looks < DIFF_LOOKS && !program_is_stopped() &&
           (most == 0.0 || clock_seconds() - begun < most);
}

Status program_take_runs(Program *program) {
    Status status = STATUS_OK;
    double begun = clock_seconds();
    for (int looks = 1; !status; looks++) {
        if (program->n_runs > 0)
            status = profile_take_runs(&program->profile, program->runs, program->n_runs);
        const ThresholdSides sides = {.now = &program->profile};
        bool times = threshold_needs_times(&program->thresholds) && !program->options->measure_only;
        if (!status && times) status = threshold_judge(&program->thresholds, &sides);
        if (status || !times || !program_looks_again(program, looks, begun) ||
            threshold_count(&program->thresholds, THRESHOLD_UNDECIDED) == 0)
            break;
        status = run(program, (looks + 1) * (int)program->options->runs - 1);
    }
    return status;
}

void program_free_runs(Program *program) {
    for (int i = 0; i < program->n_runs; i++) memory_free(program->runs[i]);
    memory_free(program->runs);
}

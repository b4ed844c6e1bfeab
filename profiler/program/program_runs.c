// program_runs.c -- --runs: the medians of this command in processes of its own, beside this one's.
// Not here: one such process (program_process.c), what the medians say (files/profile_runs.h).
#include <stdio.h>

#include "profiler/files/profile_runs.h"
#include "profiler/program/program.h"
#include "profiler/report/text.h"
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
}

Status program_run_others(Program *program) {
    int64_t others = program->options->runs - 1;
    if (others == 0) return STATUS_OK;
    program->runs = memory_new((size_t)others * sizeof(char *));
    Status status = program->runs ? STATUS_OK : error_status();
    double begun = clock_seconds();
    for (int64_t i = 0; i < others && !status && !program_is_stopped(); i++) {
        program_show_runs(program, i, others + 1, begun);
        status = program_measure_again(program, "", "--runs", &program->runs[i]);
        if (!status) program->n_runs++;
    }
    progress_clear(program);
    if (program_is_stopped()) error_clear(); // of the one that was not waited for
    return error_status();
}

Status program_take_runs(Program *program) {
    if (program->n_runs == 0) return STATUS_OK;
    return profile_take_runs(&program->profile, program->runs, program->n_runs);
}

void program_free_runs(Program *program) {
    for (int64_t i = 0; program->runs && i < program->options->runs - 1; i++)
        memory_free(program->runs[i]);
    memory_free(program->runs);
}

// program_sweep.c -- --sweep: runs this command at each point of a grid, in separate processes, and
// saves the results after each point, so that a stopped sweep can resume. Not here: the axes
// (sweep_axes.c), judging the points (compare/sweep.h).
#include <stdio.h>
#include <string.h>

#include "profiler/base/environment.h"
#include "profiler/base/text.h"
#include "profiler/compare/sweep.h"
#include "profiler/files/saved.h"
#include "profiler/look/page.h"
#include "profiler/program/program.h"
#include "profiler/program/sweep_axes.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

typedef struct Sweeping {
    Program *program;
    Sweep sweep;
    Environment environment;
    char *work;         // owned: the command reduced to what it measures
    int64_t open, done; // numbers of points that this process has to measure, and has measured
    double begun;
    bool told; // the expected time has been printed
} Sweeping;

static Status keep(Sweeping *all) {
    const char *path = all->program->options->save;
    if (!path || sweep_judge(&all->sweep)) return error_status();
    JsonWriter *json = json_file_open(path);
    return json ? sweep_write_json(&all->sweep, all->work, all->environment.cpu, json)
                : error_status();
}

// ---- a point -----------------------------------------------------------------------------------
static Status measure(Sweeping *all, char **words, SweepPoint *point) {
    Program program = *all->program;
    int64_t runs = program.options->runs, n = 0;
    char unit[16] = "", **documents = memory_new((size_t)runs * sizeof(char *));
    program.arguments = words;
    while (documents && n < runs && !error_pending() && !program_is_stopped())
        if (!program_measure_again(&program, "", "--sweep", &documents[n])) n++;
    if (documents && n > 0 && !error_pending()) sweep_point_read(documents, (int)n, point, unit);
    if (unit[0]) sweep_take_unit(&all->sweep, unit);
    for (int64_t i = 0; i < n; i++) memory_free(documents[i]);
    memory_free(documents);
    return error_status();
}

static void show(Sweeping *all, int64_t point) {
    char name[SWEEP_NAME], left[64] = "", line[SWEEP_NAME + 160];
    double each = (clock_seconds() - all->begun) / (double)(all->done > 0 ? all->done : 1);
    double rest = each * (double)(all->open - all->done);
    sweep_name(&all->sweep, point, name);
    if (all->done > 0) snprintf(left, sizeof(left), ", %.40s left", text_duration(rest).s);
    snprintf(line, sizeof(line), "sweeping: %lld of %lld%s: %s", (long long)all->done + 1,
             (long long)all->open, left, name);
    progress_say(all->program, text_fit(line, 79).s);
    if (all->done == 0 || all->told || rest < PROGRAM_LONG_SECONDS || all->program->options->quiet)
        return;
    progress_clear(all->program);
    fprintf(stderr, "%s: --sweep: %lld more points take about %s%s\n",
            all->program->kind->line.name, (long long)(all->open - all->done),
            text_duration(rest).s,
            all->program->options->save ? "; stopped, the same command goes on"
                                        : "; with --save FILE a stopped one can go on");
    all->told = true;
}

// Reports a point that cannot be measured; the sweep continues with the others.
static Status take_point(Sweeping *all, int64_t i) {
    const Options *options = all->program->options;
    SweepPoint *point = &all->sweep.points[i];
    char *text = NULL, *other = sweep_point_words(options, &all->sweep, i);
    char **words =
        other ? program_other_words(options, other, all->program->arguments, &text) : NULL;
    show(all, i);
    if (words && !error_pending()) measure(all, words, point);
    memory_free(words);
    memory_free(text);
    memory_free(other);
    if (program_is_stopped()) {
        error_clear(); // the killed process has no result
        return STATUS_OK;
    }
    if (error_pending() && error_status() != STATUS_OUT_OF_MEMORY) {
        char name[SWEEP_NAME];
        sweep_name(&all->sweep, i, name);
        progress_clear(all->program);
        fprintf(stderr, "%s: ", all->program->kind->line.name);
        text_print_plain(name, stderr);
        fprintf(stderr, ": ");
        text_print_plain(error_message(), stderr);
        fputc('\n', stderr);
        error_clear();
        *point = (SweepPoint){.state = SWEEP_FAILED};
        all->program->failed = true;
    }
    all->done++;
    return error_pending() ? error_status() : keep(all);
}

// ---- all of them -------------------------------------------------------------------------------
static Status take_points(Sweeping *all) {
    Status status = STATUS_OK;
    for (int64_t i = 0; i < all->sweep.n; i++)
        all->open += all->sweep.points[i].state == SWEEP_OPEN;
    all->begun = clock_seconds();
    for (int64_t i = 0; i < all->sweep.n && !status && !program_is_stopped(); i++)
        if (all->sweep.points[i].state == SWEEP_OPEN) status = take_point(all, i);
    progress_clear(all->program);
    return status;
}

static void tell(const Sweeping *all) {
    int64_t known = all->sweep.n - all->open;
    if (!all->program->report) return;
    sweep_print(&all->sweep, stdout);
    if (known > 0)
        printf("  %lld of %lld points were measured before, and stand in %s\n", (long long)known,
               (long long)all->sweep.n, all->program->options->save);
    if (program_is_stopped())
        printf("\nCUT SHORT, as was asked%s\n",
               all->program->options->save ? ": the same command goes on" : "");
}

static Status write_page(const Sweeping *all) {
    const Options *options = all->program->options;
    const Sweep *sweep = &all->sweep;
    char title[120] = "Sweep of";
    const Page page = {.title = title, .sweep = sweep, .command = all->program->command};
    for (int a = 0; a < sweep->n_axes; a++) {
        size_t used = strlen(title);
        snprintf(title + used, sizeof(title) - used, "%s %s", a ? "," : "", sweep->axes[a].name);
    }
    const char *drawing = options->svg[PAGE_SWEEP];
    Status status = options->html ? page_write(&page, options->html) : STATUS_OK;
    return !status && drawing ? page_write_drawing(&page, PAGE_SWEEP, drawing) : status;
}

static Status begin(Sweeping *all) {
    const Options *options = all->program->options;
    Status status = sweep_axes_take(options, &all->sweep);
    bool meta = !all->program->device->has_data;
    all->sweep.learns = all->program->runs_train = options->epochs > 0 && !meta;
    all->sweep.limits = (SweepLimits){options->max_latency, options->max_memory};
    for (int a = 0; a < all->sweep.n_axes && !status; a++)
        if (strcmp(all->sweep.axes[a].name, "batch") == 0)
            status = program_onnx_batches(all->program);
    if (status) return status;
    environment_read(&all->environment);
    all->work = program_work_new(all->program);
    if (!all->work) return error_status();
    if (options->save)
        status = sweep_read_json(options->save, all->work, all->environment.cpu, &all->sweep);
    return status ? status : program_check_files(options);
}

static Status sweep_all(Sweeping *all) {
    const Options *options = all->program->options;
    Status status = begin(all);
    bool at_end = options->json && !options->save;
    JsonWriter *json = !status && at_end ? json_file_open(options->json) : NULL;
    if (!status && error_pending()) status = error_status();
    if (!status) status = take_points(all);
    if (!status) status = keep(all); // limits may have changed since
    if (!status) status = sweep_judge(&all->sweep);
    if (!status) tell(all);
    if (all->sweep.learns && all->sweep.chosen < 0) all->program->failed = true; // all diverged
    if (!status) status = write_page(all);
    if (!status && json)
        return sweep_write_json(&all->sweep, all->work, all->environment.cpu, json);
    json_writer_discard(json);
    return status;
}

Status program_sweep(Program *program) {
    Sweeping all = {.program = program, .sweep.chosen = -1};
    Status status = sweep_all(&all);
    sweep_free(&all.sweep);
    memory_free(all.work);
    return status;
}

// program_answers.c -- the answers to questions asked instead of the report. Other modules print
// them; this file orders them and runs the work that some need.
#include <math.h>
#include <stdio.h>

#include "profiler/advice/budget.h"
#include "profiler/base/system.h"
#include "profiler/base/text.h"
#include "profiler/explain/explain.h"
#include "profiler/program/program.h"
#include "profiler/record/leak.h"
#include "profiler/report/layer_tree.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/report.h"
#include "profiler/report/shrink.h"
#include "profiler/report/weights.h"
#include "tensor/clock.h"

// ---- the largest batch -----------------------------------------------------------------------
static void print_budget_head(const Program *program) {
    const char *optimizer = program->profile.optimizer;
    bool trains = !program->options->inference;
    int width =
        printf("MEMORY BUDGET  %s B for %s%s", text_count(program->options->memory_budget).s,
               trains ? "a training step with " : "inference", trains ? optimizer : "");
    if (program->profile.accumulate > 1)
        printf(width > 62 ? ",\n  of %s batches" : ", of %s batches",
               text_count(program->profile.accumulate).s);
    printf("\n");
}

static void print_budget(const Program *program, const Budget *budget) {
    print_budget_head(program);
    if (budget->batch == 0 && budget->least > 1)
        printf("  not even %s samples fit, and the model refuses fewer: they take %s B\n",
               text_count(budget->least).s, text_count(budget->next_bytes).s);
    else if (budget->batch == 0)
        printf("  not even one sample fits: it takes %s B\n", text_count(budget->next_bytes).s);
    if (budget->batch == 0) return;
    printf("  largest batch    %s\n", text_count(budget->batch).s);
    printf("  predicted peak   %s B\n", text_count(budget->peak_bytes).s);
    if (budget->measured_bytes >= 0)
        printf("  measured peak    %s B: %s\n", text_count(budget->measured_bytes).s,
               budget->measured_bytes == budget->peak_bytes ? "as predicted" : "NOT AS PREDICTED");
    else
        printf("  measured peak    -: %s\n", program->device->has_data
                                                 ? "this machine has no memory for it"
                                                 : "nothing runs on the meta device");
    printf("  one sample more  %s B: too much\n", text_count(budget->next_bytes).s);
    int64_t process = system_bytes("/proc/self/status", "VmHWM");
    if (program->device->on_host && budget->measured_bytes >= 0 && process > budget->measured_bytes)
        printf("  the process      %s B at most: %s of it are no tensors',\n"
               "                   but the program's, its libraries' and what they keep\n",
               text_count(process).s, text_bytes_si(process - budget->measured_bytes).s);
}

// A model with fixed shapes takes only its own batch.
static Status answer_fixed(Program *program) {
    int64_t limit = program->options->memory_budget, peak = program->profile.predicted.peak.total;
    print_budget_head(program);
    printf("  it takes no batch but %s, and that takes %s B: it %s\n",
           text_count(program->profile.batch).s, text_count(peak).s,
           peak <= limit ? "fits" : "does not fit");
    program->failed = peak > limit;
    return STATUS_OK;
}

static Status answer_budget(Program *program) {
    const Options *options = program->options;
    if (program->profile.one_batch) return answer_fixed(program);
    BudgetTask task = program_budget_task(program);
    Budget budget;
    progress_say(program, "searching the largest batch, and running it");
    Status status = budget_largest_batch(&task, program_optimizer(options), options->memory_budget,
                                         program->device->has_data, &budget);
    progress_clear(program);
    if (status) return status;
    print_budget(program, &budget);
    program->failed = budget.batch == 0 ||
                      (budget.measured_bytes >= 0 && budget.measured_bytes != budget.peak_bytes);
    return STATUS_OK;
}

// ---- leaks -----------------------------------------------------------------------------------
static void print_leaks(const LeakReport *report) {
    printf("LEAKS  live bytes after each of %s steps: %+.1f B a step (95%% CI %.1f to %.1f)\n",
           text_count(report->steps).s, report->bytes_per_step, report->low, report->high);
    if (!report->leaks) printf("  memory does not grow\n");
    for (int i = 0; i < report->n_sites; i++) {
        const LeakSite *site = &report->sites[i];
        printf("  %-32.32s %-10s %12s B in %s block%s\n", site->path,
               memory_category_name(site->category), text_count(site->bytes).s,
               text_count(site->storages).s, site->storages == 1 ? "" : "s");
    }
}

static Status watch_steps(const Program *program, Optimizer *optimizer, LeakTest *test) {
    enum { WARMUP = 3, STEPS = 50 };
    Status status = STATUS_OK;
    for (int i = 0; i < WARMUP + STEPS && !status; i++) {
        if (i == WARMUP) leak_start(test); // gradients and optimizer state exist by now
        status = program_step(program, optimizer, NULL);
        if (i >= WARMUP) leak_step(test);
    }
    leak_stop(test);
    return status;
}

static Status answer_leaks(Program *program) {
    enum { MOST_STEPS = 64 };
    OptimizerConfig config = program_optimizer(program->options);
    config.learning_rate = 0.0f; // keeps the weights; running statistics change
    LayerModes modes;
    if (layer_modes_save(program->model, &modes)) return error_status();
    Optimizer *optimizer = optimizer_new(program->model, config);
    LeakTest *test = optimizer ? leak_new(MOST_STEPS) : NULL;
    progress_say(program, "watching steps");
    Status status = test ? watch_steps(program, optimizer, test) : error_status();
    progress_clear(program);
    LeakReport report;
    if (!status) status = leak_report(test, &report);
    if (!status) print_leaks(&report);
    leak_free(test);
    optimizer_free(optimizer);
    layer_modes_restore(program->model, &modes);
    return status;
}

// ---- shrinking -------------------------------------------------------------------------------
typedef struct Shrinking {
    const Program *program;
    ProgressLine line;
} Shrinking;

static void show_shrinking(void *argument, double fraction) {
    Shrinking *shrinking = argument;
    if (fraction < 1.0)
        program_show_progress(&shrinking->line, fraction);
    else
        progress_clear(shrinking->program);
}

Status program_shrink(const Program *program, Layer *model) {
    double now = clock_seconds(), share = program->options->prune;
    Shrinking shrinking = {program, {.what = "shrinking", .begun = now, .shown = now}};
    ShrinkOptions how = {.ratio = isnan(share) ? 0.5 : share,
                         .progress = program->terminal ? show_shrinking : NULL,
                         .argument = &shrinking};
    return shrink_print(model, program->x, how, stdout);
}

// ---- all -------------------------------------------------------------------------------------
static Status answer_brief(Program *program) {
    report_brief(&program->profile, stdout);
    return STATUS_OK;
}

static Status answer_summary(Program *program) {
    int64_t depth = program->options->depth;
    return layer_tree_print(&program->profile, program->model,
                            depth >= 0 ? (int)depth : LAYER_TREE_DEPTH, stdout);
}

static Status answer_explain(Program *program) {
    return explain_print(&program->profile, program->options->explain_layer, stdout);
}

static Status answer_view(Program *program) {
    return view_print(&program->profile, program->options->view, stdout);
}

static Status answer_preset(Program *program) {
    preset_print(program->options->preset, &program->profile, stdout);
    return STATUS_OK;
}

static Status answer_memory(Program *program) { return memory_print(&program->profile, stdout); }

static Status answer_weights(Program *program) { return weights_print(program->model, stdout); }

static Status answer_shrink(Program *program) { return program_shrink(program, program->model); }

// For answers whose own headings do not name the precision.
static void print_precision(const Program *program) {
    const Options *options = program->options;
    bool bytes =
        options->has_view || options->memory || options->memory_budget > 0 || options->generate > 0;
    if (bytes && options->precision != PRECISION_FLOAT32)
        printf("Bytes are those of %s: counted, not computed with.\n\n",
               precision_brief(options->precision));
}

Status program_answer(Program *program) {
    const Options *options = program->options;
    bool budget = options->memory_budget > 0 && !options_choose_recompute(options);
    bool trains = !program->training.absent; // if so, program_train shows the trained weights
    const struct {
        bool asked;
        Status (*answer)(Program *program);
    } questions[] = {
        {options->brief, answer_brief},
        {options->summary, answer_summary},
        {options->explain, answer_explain},
        {options->has_view, answer_view},
        {options->has_preset, answer_preset},
        {options->memory, answer_memory},
        {budget, answer_budget},
        {options->leaks, answer_leaks},
        {options->generate > 0, program_generate},
        {options->try_advice, program_try},
        {options->weights && !trains, answer_weights},
        {options->shrink && !trains, answer_shrink},
    };
    Status status = STATUS_OK;
    int answers = 0;
    print_precision(program);
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]) && !status; i++) {
        if (!questions[i].asked) continue;
        if (answers++ > 0) printf("\n");
        status = questions[i].answer(program);
    }
    return status;
}

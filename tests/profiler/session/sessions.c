// sessions.c -- trains under scopes, and looks up rows.
#include "tests/profiler/session/sessions.h"

#include <string.h>

const Machine session_machine = {
    .peak_flops_per_second = 100e9,
    .levels = {{.name = "L1", .bytes = 32768, .bytes_per_second = 200e9},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 10e9}},
    .n_levels = 2,
    .dispatch_seconds = 1e-9};

void steps_train(Steps *steps) {
    double loss;
    PROFILE_SCOPE("step") {
        PROFILE_KERNEL("nothing", 3, 5) {}
        train_step(steps->task.model, steps->optimizer, steps->task.x, steps->task.labels, &loss);
    }
    profiler_counter("loss", loss);
}

Steps steps_new(int seed) {
    Net net = net_random(seed);
    Steps steps = {.task = net_task_new(&net)};
    steps.optimizer = optimizer_new(steps.task.model, optimizer_defaults(net.optimizer));
    for (int i = 0; i < 2; i++) steps_train(&steps);
    expect_no_error();
    return steps;
}

void steps_free(Steps *steps) {
    optimizer_free(steps->optimizer);
    net_task_free(&steps->task);
}

Profiler *session_new(ProfilerOptions options) {
    Profiler *profiler = profiler_new(options);
    ck_assert_msg(profiler != NULL, "%s", error_message());
    return profiler;
}

ProfilerSummary session_summary(const Profiler *profiler) {
    ProfilerSummary summary;
    ck_assert_msg(!profiler_summarise(profiler, &summary), "%s", error_message());
    return summary;
}

const ProfilerRow *session_row(const ProfilerSummary *summary, const char *path, const char *name) {
    const ProfilerRow *found = NULL;
    for (int i = 0; i < summary->n_rows; i++) {
        const ProfilerRow *row = &summary->rows[i];
        if (strcmp(row->path, path) != 0 || strcmp(row->name, name) != 0) continue;
        ck_assert_msg(found == NULL, "two rows %s %s", path, name);
        found = row;
    }
    return found;
}

int64_t session_calls(const ProfilerSummary *summary, const char *path, const char *name) {
    const ProfilerRow *row = session_row(summary, path, name);
    return row ? row->calls : 0;
}

void session_check_times(const ProfilerSummary *summary) {
    double sum = summary->unattributed_seconds;
    ck_assert(summary->unattributed_seconds >= 0.0);
    for (int i = 0; i < summary->n_rows; i++) {
        const ProfilerRow *row = &summary->rows[i];
        ck_assert_msg(row->self_seconds >= 0.0 && row->self_seconds <= row->seconds * (1 + 1e-12),
                      "%s %s: self %g of %g", row->path, row->name, row->self_seconds,
                      row->seconds);
        ck_assert(i == 0 || row->self_seconds <= row[-1].self_seconds);
        sum += row->self_seconds;
    }
    ck_assert_msg(sum - summary->seconds <= 1e-12 * summary->seconds &&
                      summary->seconds - sum <= 1e-12 * summary->seconds,
                  "self times add up to %.12g, not %.12g", sum, summary->seconds);
}

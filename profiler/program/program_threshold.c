// program_threshold.c -- --threshold and --junit: judges limits, prints them, writes them for a CI.
// Not here: the kinds of limits (compare/threshold.h).
#include <stdio.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/files/exports.h"
#include "profiler/program/program.h"

static void case_at(const void *program, int i, JunitCase *one) {
    static const JunitVerdict verdicts[] = {[THRESHOLD_HOLDS] = JUNIT_PASSED,
                                            [THRESHOLD_BROKEN] = JUNIT_FAILED,
                                            [THRESHOLD_UNDECIDED] = JUNIT_SKIPPED,
                                            [THRESHOLD_UNKNOWN] = JUNIT_ERROR};
    const Program *of = program;
    const Threshold *threshold = &of->thresholds.at[i];
    bool fails = threshold->verdict == THRESHOLD_UNDECIDED && of->options->undecided_fails;
    *one = (JunitCase){.suite = "thresholds",
                       .name = threshold->text,
                       .verdict = fails ? JUNIT_FAILED : verdicts[threshold->verdict],
                       .type = threshold_verdict_name(threshold->verdict),
                       .output = ""};
    bool told = threshold->verdict != THRESHOLD_UNDECIDED;
    snprintf(one->message, sizeof(one->message), "%s%.140s",
             told ? "" : "cannot be told: ", threshold->found);
}

// Without a report, prints one line on the first limit that does not hold.
static void complain(const Program *program) {
    for (int i = 0; i < program->thresholds.n; i++) {
        const Threshold *threshold = &program->thresholds.at[i];
        if (threshold->verdict == THRESHOLD_HOLDS) continue;
        fprintf(stderr, "%s: --threshold ", program->kind->line.name);
        text_print_plain(threshold->text, stderr);
        fprintf(stderr, ": %s: %s\n", threshold_verdict_name(threshold->verdict), threshold->found);
        return;
    }
}

// In a workflow run, annotates each limit that does not hold, for the reviewer of the change.
static void annotate(const Options *options, const ThresholdList *list) {
    for (int i = 0; i < list->n; i++) {
        const Threshold *threshold = &list->at[i];
        char title[120], message[200];
        if (threshold->verdict == THRESHOLD_HOLDS) continue;
        snprintf(title, sizeof(title), "--threshold %s", threshold->text);
        snprintf(message, sizeof(message), "%s: %s", threshold_verdict_name(threshold->verdict),
                 threshold->found);
        bool open = threshold->verdict == THRESHOLD_UNDECIDED && !options->undecided_fails;
        annotation_print(open ? "warning" : "error", title, message, stderr);
    }
}

Status program_judge(Program *program, const ThresholdSides *sides) {
    const Options *options = program->options;
    ThresholdList *list = &program->thresholds;
    if (list->n == 0) return STATUS_OK;
    if (threshold_judge(list, sides)) return error_status();
    int undecided = threshold_count(list, THRESHOLD_UNDECIDED);
    if (threshold_count(list, THRESHOLD_BROKEN) + threshold_count(list, THRESHOLD_UNKNOWN) > 0 ||
        (undecided > 0 && options->undecided_fails))
        program->failed = true;
    if (program->report) {
        printf("\n");
        threshold_print(list, stdout);
    } else if (program->failed || undecided > 0) {
        complain(program);
    }
    if (annotation_wanted()) annotate(options, list);
    WholeFile *file = options->junit ? whole_file_open(options->junit) : NULL;
    if (!file) return error_status();
    junit_write(file, program->kind->line.name, 0.0, &(JunitCases){list->n, case_at, program});
    return whole_file_close(file);
}

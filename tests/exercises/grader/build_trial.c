// build_trial.c -- writes a student's file into a folder of its own and builds it.
#include "tests/exercises/grader/build_trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/selftest/alone.h"
#include "tests/exercises/sample/sample_exercise.h"

static const char *not_alone;

int trial_main(const char *topic, const HarnessTest tests[]) {
    not_alone = alone_enter();
    return harness_main(topic, tests);
}

const char *trial_path(const Trial *trial) {
    static char path[200];
    snprintf(path, sizeof path, "%s/ex%s_%s.c", trial->folder, trial->exercise.number,
             trial->exercise.name);
    return path;
}

void trial_begin(Trial *trial, const char *number, const char *text) {
    if (not_alone) test_skip(not_alone);
    const Exercise *exercise =
        strcmp(number, "90") == 0 ? &sample_exercise : exercise_by_number(number);
    ck_assert_ptr_nonnull(exercise);
    memset(trial, 0, sizeof *trial);
    trial->exercise = *exercise;
    snprintf(trial->folder, sizeof trial->folder, "/tmp/trial-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(trial->folder));
    trial->order =
        (BuildOrder){.parts = SAMPLE_PARTS, .exercise = &trial->exercise, .folder = trial->folder};
    trial->build = (Build){.room = {.outside = -1, .descriptor = -1}};
    if (!text) return;
    Status status = file_write(NULL, trial_path(trial), text, strlen(text));
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
}

void trial_make(Trial *trial) {
    build_free(&trial->build);
    Status status = build_make(&trial->order, &trial->build);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert(!error_pending());
}

void trial_end(Trial *trial) {
    build_free(&trial->build);
    (void)unlink(trial_path(trial));
    (void)rmdir(trial->folder);
}

void trial_check(const char *number, const char *text, BuildEnd end, const char *detail,
                 const char *output) {
    Trial trial;
    trial_begin(&trial, number, text);
    trial_make(&trial);
    const char *said = trial.build.output ? trial.build.output : "";
    ck_assert_msg(trial.build.end == end && strstr(trial.build.detail, detail) &&
                      (!output || strstr(said, output)),
                  "%.300s: end %d, not %d: %s\n%s", text, (int)trial.build.end, (int)end,
                  trial.build.detail, said);
    trial_end(&trial);
}

// test_sweep_json.c -- a sweep as a file: it is read back as written, and impossible values are
// refused. test_sweep.c tests judging the points.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/compare/planted_sweep.h"

#define AXES(...) ((const char *const[]){__VA_ARGS__, NULL})

static Status write_and_read(const char *path, const Sweep *sweep, Sweep *read) {
    JsonWriter *json = json_file_open(path);
    Status status = json ? sweep_write_json(sweep, "p --x", "cpu", json) : error_status();
    return status ? status : sweep_read_json(path, "p --x", "cpu", read);
}

// Everything is read back except the judgements; if memory runs out, nothing is half read.
START_TEST(a_file_has_all_of_it) {
    const char *const *axes = AXES("batch=1,2", "lr=1,2");
    Sweep sweep = planted_sweep(axes, 0.1, 1e-7 / 3.0), read = planted_sweep(axes, 1.0, 1.0);
    char path[80];
    sweep.learns = true;
    planted_training(&sweep.points[1], 1.0 / 3.0, 0.5);
    sweep.points[2] = (SweepPoint){.state = SWEEP_FAILED};
    sweep.points[3] = (SweepPoint){.state = SWEEP_OPEN};
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    work_folder_begin();
    snprintf(path, sizeof path, "%s/s.json", work_folder);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memset(read.points, 0, 4 * sizeof(SweepPoint));
        memory_fail_at(nth);
        status = write_and_read(path, &sweep, &read);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        if (status) ck_assert_int_eq(read.points[0].state, SWEEP_OPEN);
        error_clear();
    }
    ck_assert_int_eq(sweep_judge(&read), STATUS_OK);
    read.learns = true;
    ck_assert_int_eq(sweep_judge(&read), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        const SweepPoint *a = &sweep.points[i], *b = &read.points[i];
        ck_assert(a->seconds == b->seconds && a->low == b->low && a->high == b->high);
        ck_assert(a->units_per_second == b->units_per_second && a->peak_bytes == b->peak_bytes);
        ck_assert(a->pareto == b->pareto && a->n_losses == b->n_losses);
    }
    ck_assert_mem_eq(&sweep.points[1].losses, &read.points[1].losses, sizeof read.points[1].losses);
    ck_assert_double_eq(read.points[1].loss, 1.0 / 3.0);
    ck_assert(isnan(read.points[0].loss));
    ck_assert_int_eq(read.points[2].state, SWEEP_OPEN); // to be tried again
    ck_assert_str_eq(read.unit, "samples");
    sweep_free(&sweep);
    sweep_free(&read);
    work_folder_end();
}
END_TEST

// A file may claim any number of steps: accepted ones can be judged, the others are refused.
START_TEST(steps_that_cannot_be_counted_on_are_refused) {
    static const struct {
        int64_t steps;
        Status status;
    } told[] = {{0, STATUS_OK},
                {INT64_C(1) << 53, STATUS_OK},
                {INT64_MAX / (2 * SWEEP_LOSSES), STATUS_OK},
                {INT64_MAX / (2 * SWEEP_LOSSES) + 1, STATUS_FORMAT},
                {INT64_C(1) << 62, STATUS_FORMAT},
                {INT64_MAX, STATUS_FORMAT},
                {-1, STATUS_FORMAT}};
    const char *const *axes = AXES("batch=1,2", "lr=1,2");
    char path[80];
    work_folder_begin();
    snprintf(path, sizeof path, "%s/s.json", work_folder);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        Sweep sweep = planted_sweep(axes, 0.1, 1e-7), read = planted_sweep(axes, 1.0, 1.0);
        sweep.learns = read.learns = true;
        planted_training(&sweep.points[1], 1.0 / 3.0, 0.5);
        sweep.points[1].steps = told[i].steps;
        ck_assert_int_eq(write_and_read(path, &sweep, &read), told[i].status);
        if (told[i].status) expect_error(STATUS_FORMAT, "points[1] is not a point");
        ck_assert_int_eq(sweep_judge(&read), STATUS_OK); // for the sanitizer
        sweep_free(&sweep);
        sweep_free(&read);
    }
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_file_has_all_of_it, 0},
        {steps_that_cannot_be_counted_on_are_refused, 0},
        {NULL, 0},
    };
    return harness_main("sweep_json", tests);
}

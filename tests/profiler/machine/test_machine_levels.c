// test_machine_levels.c -- the size of each level of memory: from the system's description of its
// caches, complete or not, and otherwise from bandwidths.
#include <stdio.h>
#include <sys/stat.h>

#include "profiler/machine/machine_parts.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

static void write_cache(int index, const char *level, const char *type, const char *size,
                        const char *list) {
    const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
    const char *const texts[] = {level, type, size, list};
    char path[256];
    snprintf(path, sizeof path, "%s/index%d", work_folder, index);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/index%d/%s", work_folder, index, names[i]);
        FILE *file = texts[i] ? fopen(path, "w") : NULL;
        ck_assert_int_eq(file != NULL, texts[i] != NULL);
        if (file) fputs(texts[i], file);
        if (file) fclose(file);
    }
}

START_TEST(the_system_names_the_caches) {
    MachineLevel levels[MACHINE_MAX_CACHES];
    work_folder_begin();
    ck_assert_int_eq(machine_levels_of_system(work_folder, 2, levels), 0);
    write_cache(0, "1\n", "Data\n", "48K\n", "0,4\n");
    write_cache(1, "1\n", "Instruction\n", "64K\n", "0,4\n");
    write_cache(2, "3\n", "Unified\n", "32M\n", "0-7\n"); // ahead of the second level
    write_cache(3, "2\n", "Unified\n", "1024K\n", "0,4\n");
    write_cache(4, "4\n", "Unified\n", "0K\n", "0-7\n");
    ck_assert_int_eq(machine_levels_of_system(work_folder, 1, levels), 3);
    ck_assert_str_eq(levels[2].name, "L3");
    ck_assert_int_eq(levels[0].bytes, 48 << 10);
    ck_assert_int_eq(levels[1].bytes, 1 << 20);
    ck_assert_int_eq(levels[2].bytes, 32 << 20);
    ck_assert_int_eq(machine_levels_of_system(work_folder, 3, levels), 3);
    ck_assert_int_eq(levels[0].bytes, 96 << 10); // two threads share the first
    ck_assert_int_eq(levels[2].bytes, 32 << 20);
    work_folder_end();
}
END_TEST

START_TEST(what_the_system_does_not_say_whole_does_not_count) {
    MachineLevel levels[MACHINE_MAX_CACHES];
    work_folder_begin();
    write_cache(0, "1", "Data", NULL, "0");
    write_cache(1, "1", "Data", "junk", "0");
    write_cache(2, "2", "Unified", "256K", "none");
    write_cache(3, "2", "Unified", "256K", "5-2");
    write_cache(4, "9", "Unified", "256K", "0");
    ck_assert_int_eq(machine_levels_of_system(work_folder, 8, levels), 0);
    work_folder_end();
    work_folder_begin();
    // Private caches that together hold more than the shared one: the shared one is no level.
    write_cache(0, "2", "Unified", "2M", "0");
    write_cache(1, "3", "Unified", "16M", "0-63");
    ck_assert_int_eq(machine_levels_of_system(work_folder, 8, levels), 1);
    ck_assert_str_eq(levels[0].name, "L2");
    ck_assert_int_eq(levels[0].bytes, 16 << 20);
    work_folder_end();
}
END_TEST

static const struct {
    double bandwidth[8]; // at 1, 2, 4 ... 128 bytes
    int n_levels;
    int64_t ends[4]; // of each level except DRAM
    double best[5];
} sweeps[] = {
    {{10, 10, 10, 10, 10, 10, 10, 10}, 1, {0}, {10}},
    {{10, 9, 8, 7.6, 7.6, 7.6, 7.6, 7.6}, 1, {0}, {7.6}}, // falls slowly, never by a quarter
    {{9, 10, 9, 2, 2, 2, 2, 2}, 2, {4}, {10, 2}},
    {{10, 10, 7, 4, 2, 2, 1, 1}, 3, {2, 32}, {10, 2, 1}}, // one fall over three steps
    {{100, 50, 50, 25, 25, 12, 12, 6}, 5, {1, 4, 16, 64}, {100, 50, 25, 12, 6}},
    {{10, 10, 5, 6, 6, 6, 3, 3.5}, 3, {2, 32}, {10, 6, 3.5}},
};
enum { SWEEPS = sizeof sweeps / sizeof sweeps[0] };

START_TEST(a_sweep_finds_where_levels_end) {
    const int64_t bytes[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    MachineLevel levels[MACHINE_MAX_LEVELS];
    int n = machine_levels_of_sweep(bytes, sweeps[_i].bandwidth, 8, levels);
    ck_assert_int_eq(n, sweeps[_i].n_levels);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(levels[i].bytes, i < n - 1 ? sweeps[_i].ends[i] : INT64_MAX);
        ck_assert_double_eq(levels[i].bytes_per_second, sweeps[_i].best[i]);
    }
    ck_assert_str_eq(levels[n - 1].name, "DRAM");
    if (n > 1) ck_assert_str_eq(levels[0].name, "L1");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{the_system_names_the_caches, 0},
                                 {what_the_system_does_not_say_whole_does_not_count, 0},
                                 {a_sweep_finds_where_levels_end, SWEEPS},
                                 {NULL, 0}};
    return harness_main("machine_levels", tests);
}

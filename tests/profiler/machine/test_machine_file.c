// test_machine_file.c -- machine files: accepted and refused contents, and written files.
// test_machine.c tests measuring and the cache.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/machine/machine.h"
#include "tests/helpers/data_files.h"
#include "tests/helpers/harness.h"

#define LEVEL(name, bytes, rate)                                                                   \
    "{\"name\": \"" name "\", \"bytes\": " bytes ", \"bytes_per_second\": " rate "}"
#define LAST "{\"name\": \"DRAM\", \"bytes_per_second\": 3e10}"
#define PEAK "\"peak_flops_per_second\": 1e11"
#define LEVELS(...) "\"levels\": [" __VA_ARGS__ "]"
#define WITH(member) "{" PEAK ", " LEVELS(LAST) ", " member "}"

static Status parse(const char *text, Machine *machine) {
    return machine_parse(text, strlen(text), "x", machine);
}

static const char whole[] =
    "{\"schema\": \"ridgepoint.machine/v1\", \"fingerprint\": \"a CPU\", \"threads\": 2,"
    " \"source\": \"measured\", \"peak_flops_per_second\": 333000000000, \"levels\": ["
    "{\"name\": \"L1\", \"bytes\": 98304, \"bytes_per_second\": 6e11, \"ridge\": 0.555}," LEVEL(
        "L2", "2e6",
        "332000000000") ", " LEVEL("DRAM", "null",
                                   "3.1e10") "],"
                                             " \"dispatch_seconds\": 4e-8, \"wake_seconds\": 5e-5, "
                                             "\"spin_seconds\": 1e-7, \"cores_had\": 7, "
                                             "\"new\": []}";

START_TEST(a_whole_file_is_read) {
    Machine machine;
    ck_assert_msg(!parse(whole, &machine), "%s", error_message());
    ck_assert(machine.measured);
    ck_assert_str_eq(machine.fingerprint, "a CPU");
    ck_assert_int_eq(machine.threads, 2);
    ck_assert_double_eq(machine.peak_flops_per_second, 333e9);
    ck_assert_int_eq(machine.n_levels, 3);
    ck_assert_str_eq(machine.levels[0].name, "L1");
    ck_assert_int_eq(machine.levels[0].bytes, 98304);
    ck_assert_int_eq(machine.levels[1].bytes, 2000000);
    ck_assert_double_eq(machine.levels[1].bytes_per_second, 332e9);
    ck_assert_int_eq(machine.levels[2].bytes, INT64_MAX);
    ck_assert_double_eq(machine.dispatch_seconds, 4e-8);
    ck_assert_double_eq(machine.wake_seconds, 5e-5);
    ck_assert_double_eq(machine.spin_seconds, 1e-7);
    ck_assert_double_eq_tol(machine_ridge(&machine, 1), 333.0 / 332.0, 1e-12);
}
END_TEST

static const char with_rates[] =
    "{\"peak_flops_per_second\": 1e11, \"levels\": ["
    "{\"name\": \"L1\", \"bytes\": 64, \"bytes_per_second\": 1,"
    " \"fill_bytes_per_second\": 2, \"store_bytes_per_second\": 3, \"one_thread\":"
    " {\"bytes\": 32, \"fill_bytes_per_second\": 4, \"store_bytes_per_second\": 8}},"
    "{\"name\": \"DRAM\", \"bytes_per_second\": 5, \"fill_bytes_per_second\": 5,"
    " \"move_bytes_per_second\": 6, \"one_thread\": null}],"
    " \"one_thread_flops_per_second\": 7, \"root_seconds\": 0.25, \"division_seconds\": 0.5}";

START_TEST(rates_of_lines_are_read) {
    Machine machine;
    ck_assert_msg(!parse(with_rates, &machine), "%s", error_message());
    const MachineLevel *first = &machine.levels[0], *last = first + 1;
    ck_assert(first->rates[TEAM_ALL].fill == 2.0 && first->rates[TEAM_ALL].store == 3.0);
    ck_assert(first->rates[TEAM_ALL].move == 0.0 && first->rates[TEAM_ONE].fill == 4.0);
    ck_assert(first->bytes_alone == 32 && last->bytes_alone == 0);
    ck_assert(last->rates[TEAM_ALL].move == 6.0 && last->rates[TEAM_ONE].fill == 0.0);
    ck_assert(machine.peak_alone == 7.0 && machine.root_seconds == 0.25);
    ck_assert(machine.division_seconds == 0.5);
}
END_TEST

START_TEST(what_only_a_card_has_is_read) {
    Machine machine;
    ck_assert(!parse(WITH("\"device\": \"NVIDIA H200\", \"call_seconds\": 3e-6, "
                          "\"host_to_device_bytes_per_second\": 1e10, "
                          "\"device_to_host_bytes_per_second\": 2e10"),
                     &machine));
    ck_assert_str_eq(machine.device, "NVIDIA H200");
    ck_assert_double_eq(machine.call_seconds, 3e-6);
    ck_assert_double_eq(machine.from_host_bytes_per_second, 1e10);
    ck_assert_double_eq(machine.to_host_bytes_per_second, 2e10);
    ck_assert(
        !parse(WITH("\"device\": null, \"host_to_device_bytes_per_second\": null"), &machine));
    ck_assert(!machine.device[0] && machine.from_host_bytes_per_second == 0.0);
}
END_TEST

START_TEST(peak_and_one_level_are_enough) {
    Machine machine;
    ck_assert_msg(!parse("{" PEAK ", " LEVELS(LAST) "}", &machine), "%s", error_message());
    ck_assert(!machine.measured);
    ck_assert_int_eq(machine.n_levels, 1);
    ck_assert_int_eq(machine.levels[0].bytes, INT64_MAX);
    ck_assert_double_eq(machine.dispatch_seconds, 0.0);
    ck_assert_str_eq(machine.fingerprint, "");
    // The last level holds everything, whatever size the file gives.
    ck_assert(!parse("{" PEAK ", " LEVELS(LEVEL("RAM", "64", "1")) "}", &machine));
    ck_assert_int_eq(machine.levels[0].bytes, INT64_MAX);
}
END_TEST

static const struct {
    const char *text, *message;
} malformed[] = {
    {"", "not JSON"},
    {"[]", "the file must be a JSON object"},
    {"{}", "peak_flops_per_second must be a number per second"},
    {"{" PEAK "}", "levels must be an array of 1 to 5"},
    {"{\"peak_flops_per_second\": \"1e11\"}", "peak_flops_per_second must"},
    {"{\"peak_flops_per_second\": 0}", "peak_flops_per_second must"},
    {"{\"peak_flops_per_second\": -1e11}", "peak_flops_per_second must"},
    {"{\"peak_flops_per_second\": NaN}", "line 1, column 29: not JSON"},
    {"{\"peak_flops_per_second\": Infinity}", "not JSON"},
    {"{\"peak_flops_per_second\": 1e999}", "not JSON: real number overflow"},
    {"{\"peak_flops_per_second\": 1e25}", "peak_flops_per_second must"},
    {"{\"peak_flops_per_second\": 99999999999999999999}", "not JSON: too big integer"},
    {"{\"peak_flops_per_second\": 1, \"peak_flops_per_second\": 2}", "duplicate"},
    {"{" PEAK ", \"levels\": {}}", "levels must be an array of 1 to 5"},
    {"{" PEAK ", " LEVELS() "}", "levels must be an array of 1 to 5"},
    {"{" PEAK ", " LEVELS(LAST "," LAST "," LAST "," LAST "," LAST "," LAST) "}", "levels must"},
    {"{" PEAK ", " LEVELS("7") "}", "levels[0].name must be there"},
    {"{" PEAK ", " LEVELS("{\"name\": \"DRAM\"}") "}", "levels[0].bytes_per_second must"},
    {"{" PEAK ", " LEVELS(LEVEL("DRAM", "null", "0")) "}", "levels[0].bytes_per_second must"},
    {"{" PEAK ", " LEVELS(LEVEL("DRAM", "null", "-3")) "}", "levels[0].bytes_per_second must"},
    {"{" PEAK ", " LEVELS(LEVEL("", "null", "3")) "}", "levels[0].name must be there"},
    {"{" PEAK ", " LEVELS(LEVEL("longname", "null", "3")) "}", "levels[0].name must be a line"},
    {"{" PEAK ", " LEVELS(LEVEL("L\\n1", "null", "3")) "}", "levels[0].name must be a line"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "null", "3") "," LAST) "}",
     "levels[0].bytes must be a whole"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "0", "3") "," LAST) "}", "levels[0].bytes must be a whole"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "-8", "3") "," LAST) "}", "levels[0].bytes must be a whole"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "1.5", "3") "," LAST) "}", "levels[0].bytes must be a whole"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "1e300", "3") "," LAST) "}", "levels[0].bytes must be a"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "64", "3") "," LEVEL("L2", "64", "3") "," LAST) "}",
     "levels[1].bytes must be more than"},
    {"{" PEAK ", " LEVELS(LEVEL("L1", "64", "3") "," LEVEL("L2", "63", "3")) "}",
     "levels[1].bytes must be more than"},
    {WITH("\"schema\": \"ridgepoint.machine/v2\""), "schema must be \"ridgepoint.machine/v1\""},
    {WITH("\"schema\": 1"), "schema must be"},
    {WITH("\"source\": \"guessed\""), "source must be"},
    {WITH("\"fingerprint\": 7"), "fingerprint must be a line of text"},
    {WITH("\"fingerprint\": \"\\u001b[2J\""), "fingerprint must be a line of text"},
    {WITH("\"threads\": 0"), "threads must be a whole number"},
    {WITH("\"threads\": 2.0"), "threads must be a whole number"},
    {WITH("\"threads\": 4294967298"), "threads must be a whole number"},
    {WITH("\"dispatch_seconds\": -1e-8"), "dispatch_seconds must be a number of seconds"},
    {WITH("\"wake_seconds\": \"\""), "wake_seconds must be a number of seconds"},
    {WITH("\"spin_seconds\": 2"), "spin_seconds must be a number of seconds"},
    {"{" PEAK ", " LEVELS("{\"name\": \"L\", \"bytes_per_second\": 1, "
                          "\"fill_bytes_per_second\": 0}") "}",
     "levels[0].fill_bytes_per_second must be a number per second"},
    {"{" PEAK ", " LEVELS("{\"name\": \"L\", \"bytes_per_second\": 1, \"one_thread\": 7}") "}",
     "levels[0].one_thread must be a JSON object"},
    {"{" PEAK ", " LEVELS("{\"name\": \"L\", \"bytes_per_second\": 1, "
                          "\"one_thread\": {\"move_bytes_per_second\": \"\"}}") "}",
     "levels[0].one_thread.move_bytes_per_second must be"},
    {"{" PEAK ", " LEVELS("{\"name\": \"L\", \"bytes_per_second\": 1, "
                          "\"one_thread\": {\"bytes\": 0}}") "}",
     "levels[0].one_thread.bytes must be a whole number"},
    {"{" PEAK ", " LEVELS("{\"name\": \"L\", \"bytes_per_second\": 1, "
                          "\"fill_bytes_per_second\": 2}") "}",
     "levels[0].fill_bytes_per_second must be there with store or move, or none of them"},
    {"{" PEAK ", " LEVELS("{\"name\": \"L\", \"bytes_per_second\": 1, "
                          "\"one_thread\": {\"store_bytes_per_second\": 2}}") "}",
     "levels[0].one_thread.fill_bytes_per_second must be there"},
    {WITH("\"one_thread_flops_per_second\": -1"), "one_thread_flops_per_second must be"},
    {WITH("\"root_seconds\": -1"), "root_seconds must be a number of seconds"},
    {WITH("\"division_seconds\": \"\""), "division_seconds must be a number of seconds"},
    {WITH("\"device\": 7"), "device must be a line of text"},
    {WITH("\"device\": \"\\n\""), "device must be a line of text, of at most 63 bytes"},
    {WITH("\"call_seconds\": -1"), "call_seconds must be a number of seconds"},
    {WITH("\"host_to_device_bytes_per_second\": 0"), "host_to_device_bytes_per_second must be"},
    {WITH("\"device_to_host_bytes_per_second\": \"x\""), "device_to_host_bytes_per_second must"},
    {WITH("\"fingerprint\": \"\xff\""), "not JSON: unable to decode byte 0xff"},
    {WITH("\"fingerprint\": \"\\u0000\""), "not JSON"},
    {WITH("\"threads\": 2}, {"), "not JSON"},
};
enum { MALFORMED = sizeof malformed / sizeof malformed[0] };

START_TEST(what_is_no_machine_is_refused_with_a_reason) {
    Machine machine;
    memset(&machine, 1, sizeof machine);
    data_expect_error(parse(malformed[_i].text, &machine), STATUS_FORMAT, malformed[_i].message);
    ck_assert_int_eq(machine.n_levels, 0);
}
END_TEST

START_TEST(a_file_that_ends_early_is_refused_wherever_it_ends) {
    Machine machine;
    for (size_t size = 0; size < sizeof whole - 1; size++)
        data_expect_error(machine_parse(whole, size, "x", &machine), STATUS_FORMAT, "x: line 1");
}
END_TEST

START_TEST(deep_nesting_is_refused_and_does_no_harm) {
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    memset(text, '[', DEPTH);
    Machine machine;
    data_expect_error(machine_parse(text, DEPTH, "x", &machine), STATUS_FORMAT, "not JSON");
    free(text);
}
END_TEST

START_TEST(a_distance_belongs_to_the_smallest_level_that_holds_it) {
    Machine machine;
    ck_assert(!parse(whole, &machine));
    ck_assert_int_eq(machine_level(&machine, TEAM_ALL, 0), 0);
    ck_assert_int_eq(machine_level(&machine, TEAM_ALL, 98304), 0);
    ck_assert_int_eq(machine_level(&machine, TEAM_ALL, 98305), 1);
    ck_assert_int_eq(machine_level(&machine, TEAM_ALL, 2000001), 2);
    ck_assert_int_eq(machine_level(&machine, TEAM_ALL, UINT64_MAX), 2);
}
END_TEST

// ---- files --------------------------------------------------------------------------------------

static void check_same(const Machine *a, const Machine *b) {
    ck_assert(a->measured == b->measured && a->threads == b->threads && a->n_levels == b->n_levels);
    ck_assert_str_eq(a->fingerprint, b->fingerprint);
    ck_assert_double_eq(a->peak_flops_per_second, b->peak_flops_per_second);
    ck_assert_double_eq(a->dispatch_seconds, b->dispatch_seconds);
    ck_assert_double_eq(a->wake_seconds, b->wake_seconds);
    ck_assert_double_eq(a->spin_seconds, b->spin_seconds);
    ck_assert_str_eq(a->device, b->device);
    ck_assert_double_eq(a->call_seconds, b->call_seconds);
    ck_assert_double_eq(a->from_host_bytes_per_second, b->from_host_bytes_per_second);
    ck_assert_double_eq(a->to_host_bytes_per_second, b->to_host_bytes_per_second);
    for (int i = 0; i < a->n_levels; i++) {
        ck_assert_str_eq(a->levels[i].name, b->levels[i].name);
        ck_assert_int_eq(a->levels[i].bytes, b->levels[i].bytes);
        ck_assert_double_eq(a->levels[i].bytes_per_second, b->levels[i].bytes_per_second);
        ck_assert_int_eq(a->levels[i].bytes_alone, b->levels[i].bytes_alone);
        for (int team = 0; team < TEAM_COUNT; team++) {
            const MachineRates *x = &a->levels[i].rates[team], *y = &b->levels[i].rates[team];
            ck_assert(x->fill == y->fill && x->store == y->store && x->move == y->move);
        }
    }
    ck_assert_double_eq(a->peak_alone, b->peak_alone);
    ck_assert_double_eq(a->root_seconds, b->root_seconds);
    ck_assert_double_eq(a->division_seconds, b->division_seconds);
}

START_TEST(what_is_written_is_read_back) {
    char path[] = "/tmp/test_machine_XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    Machine machine, back;
    ck_assert(!parse(whole, &machine));
    machine.peak_flops_per_second = 1e12 / 3.0; // has no short decimal
    machine.measured = _i > 0;
    if (_i) strcpy(machine.fingerprint, "\"quoted\" \\ \xc3\xa9");
    if (_i > 1) strcpy(machine.device, "a card");
    if (_i > 1) machine.call_seconds = 1e-6 / 3.0;
    if (_i > 2) machine.from_host_bytes_per_second = 1e10 / 3.0;
    if (_i > 2) machine.to_host_bytes_per_second = 1e11 / 3.0;
    if (_i > 1) machine.threads = 0;
    if (_i == 1) {
        machine.levels[0].rates[TEAM_ALL] = (MachineRates){.fill = 1e12 / 3.0, .store = 1e11 / 3.0};
        machine.levels[0].rates[TEAM_ONE] = (MachineRates){.fill = 1e11 / 7.0, .store = 1e10};
        machine.levels[0].bytes_alone = 777;
        machine.levels[2].rates[TEAM_ALL] = (MachineRates){.fill = 1e9 / 3.0, .move = 1e9 / 7.0};
        machine.peak_alone = 1e11 / 7.0;
        machine.root_seconds = 1e-10 / 3.0;
        machine.division_seconds = 1e-10 / 7.0;
    }
    ck_assert_msg(!machine_write(&machine, path), "%s", error_message());
    ck_assert_msg(!machine_read(path, &back), "%s", error_message());
    check_same(&machine, &back);
    unlink(path);
}
END_TEST

START_TEST(a_given_file_that_cannot_be_used_is_an_error) {
    char path[] = "/tmp/test_machine_XXXXXX", kept_in[512];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    Machine machine;
    bool fresh;
    MachineRequest request = {.peaks_file = path};
    data_expect_error(machine_obtain(&request, &machine, &fresh, kept_in), STATUS_FORMAT, path);
    ck_assert_int_eq(write(file, whole, sizeof whole - 1), sizeof whole - 1);
    close(file);
    ck_assert_int_eq(machine_obtain(&request, &machine, &fresh, kept_in), STATUS_OK);
    ck_assert(!machine.measured && !fresh && !kept_in[0]); // given now, measured or not
    unlink(path);
    data_expect_error(machine_obtain(&request, &machine, &fresh, kept_in), STATUS_IO,
                      "cannot be read: No such file");
    request.peaks_file = "/";
    data_expect_error(machine_obtain(&request, &machine, &fresh, kept_in), STATUS_IO,
                      "cannot be read: Is a directory");
    request.peaks_file = "/dev/zero";
    data_expect_error(machine_obtain(&request, &machine, &fresh, kept_in), STATUS_FORMAT,
                      "larger than any machine file");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_whole_file_is_read, 0},
        {rates_of_lines_are_read, 0},
        {what_only_a_card_has_is_read, 0},
        {peak_and_one_level_are_enough, 0},
        {what_is_no_machine_is_refused_with_a_reason, MALFORMED},
        {a_file_that_ends_early_is_refused_wherever_it_ends, 0},
        {deep_nesting_is_refused_and_does_no_harm, 0},
        {a_distance_belongs_to_the_smallest_level_that_holds_it, 0},
        {what_is_written_is_read_back, 4},
        {a_given_file_that_cannot_be_used_is_an_error, 0},
        {NULL, 0},
    };
    return harness_main("machine_file", tests);
}

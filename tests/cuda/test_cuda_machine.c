// test_cuda_machine.c -- the ceilings and the memory of the cuda device, over the fake runtime, and
// the program's report of them. test_machine_device.c tests the measuring.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/machine/machine.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

#define FAKE(result, name, ...) result (*name)(__VA_ARGS__) = cuda_device_fake(#name)
#define QUICK "--device cuda --layers 20,30,10 --batch 8 --epochs 0 --iterations 3 --warmup 2"

// From FakeTimes in tests/emulator/fake_runtime.h: nanoseconds of a kernel; of a copy, and the
// bytes copied in one more nanosecond.
enum { KERNEL = 5000, COPY = 2000, BYTES = 10, PIECE = 2 << 20, CACHE = 4 << 20 };

// Skips the test unless the emulated plug-in is the one to open.
static void choose_fake(void) { cuda_device_fake("fake_reset"); }

// ---- ceilings ----------------------------------------------------------------------------------
static double piece_seconds(void) { return 1e-9 * (COPY + (PIECE + BYTES - 1) / BYTES); }

static void check_near(double got, double want, const char *what) {
    ck_assert_msg(fabs(got - want) <= 2e-3 * want, "%s: %g instead of %g", what, got, want);
}

// Runs on a real GPU, too: RIDGEPOINT_CUDA_PLUGIN names its plug-in.
START_TEST(any_card_has_ceilings) {
    Machine machine;
    DeviceMemory before, after;
    Device *device = cuda_device_use();
    ck_assert_int_eq(device->memory(device, &before), STATUS_OK);
    ck_assert_msg(!machine_calibrate(NULL, NULL, &machine), "%s", error_message());
    ck_assert(machine.device[0] && strncmp(device->identity, machine.device, 4) == 0);
    ck_assert_int_eq(machine.n_levels, before.cache > 0 ? 2 : 1);
    ck_assert(machine.peak_flops_per_second > 1e6 && machine.peak_flops_per_second < 1e17);
    for (int i = 0; i < machine.n_levels; i++)
        ck_assert(machine.levels[i].bytes_per_second > 1e6 &&
                  machine.levels[i].bytes_per_second < 1e15);
    ck_assert(machine.call_seconds > 0.0 && machine.call_seconds < 0.1);
    ck_assert(machine.dispatch_seconds > 0.0 && machine.dispatch_seconds < 0.1);
    ck_assert(machine.from_host_bytes_per_second > 1e6 && machine.to_host_bytes_per_second > 1e6);
    ck_assert_int_eq(device->memory(device, &after), STATUS_OK);
    ck_assert_int_le(after.own, before.own + (4 << 20)); // scratch may have grown
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Every kernel takes equally long, so the largest product and working set give the ceilings.
START_TEST(the_emulated_cards_ceilings_are_what_its_clock_makes_of_them) {
    FAKE(size_t, fake_live_bytes, void);
    Machine machine;
    Device *device = cuda_device_use();
    if (!device_has_stamps(device)) test_skip("without stamps its times are the host's");
    size_t before = fake_live_bytes();
    ck_assert_msg(!machine_calibrate(NULL, NULL, &machine), "%s", error_message());
    ck_assert_str_eq(machine.device, "Fake GPU");
    ck_assert_int_eq(machine.n_levels, 2);
    ck_assert_int_eq(machine.levels[0].bytes, CACHE);
    ck_assert_uint_eq(fake_live_bytes(), before);
    double side = cbrt(machine.peak_flops_per_second * 1e-9 * KERNEL / 2.0);
    ck_assert_msg(side >= 255.0 && fabs(log2(side) - round(log2(side))) < 1e-3, "side %g", side);
    check_near(machine.dispatch_seconds, 1e-9 * KERNEL, "launch");
    check_near(machine.levels[0].bytes_per_second, 42 * 49152.0 / (1e-9 * KERNEL), "L2");
    double set = machine.levels[1].bytes_per_second * 1e-9 * KERNEL;
    ck_assert_msg(set >= 2 * CACHE * 0.99 && set <= (64 << 20) * 1.01, "working set %g", set);
    check_near(machine.from_host_bytes_per_second, PIECE / piece_seconds(), "from the host");
    check_near(machine.to_host_bytes_per_second, PIECE / piece_seconds(), "to the host");
}
END_TEST

START_TEST(its_identity_tells_it_from_its_twin) {
    choose_fake();
    Device *device = cuda_device_use();
    ck_assert_ptr_nonnull(device->identity);
    ck_assert_msg(strncmp(device->identity,
                          "Fake GPU, GPU-6f6e6520-6f66-2074-6865-2066616b6573, driver for CUDA ",
                          68) == 0,
                  "%s", device->identity);
    ck_assert_ptr_nonnull(strstr(device->identity, ", cuBLAS "));
    char path[512], host[512];
    ck_assert(machine_cache_path(path, sizeof path));
    context_set_device(device_cpu());
    ck_assert(machine_cache_path(host, sizeof host));
    ck_assert_str_ne(path, host);
}
END_TEST

// ---- memory ------------------------------------------------------------------------------------
START_TEST(the_card_knows_what_it_has_and_what_it_keeps) {
    FAKE(void, fake_set_memory, size_t);
    FAKE(size_t, fake_live_bytes, void);
    DeviceMemory memory, after;
    Device *device = cuda_device_use();
    fake_set_memory(100 << 20);
    ck_assert_int_eq(device->memory(device, &memory), STATUS_OK);
    ck_assert_int_eq(memory.total, 100 << 20);
    ck_assert_int_eq(memory.free, memory.total - (int64_t)fake_live_bytes());
    ck_assert_int_eq(memory.own, (int64_t)fake_live_bytes()); // nothing else is there yet
    ck_assert_int_ge(memory.own, 32 << 20);
    ck_assert_int_eq(memory.staging, 4 * PIECE);
    ck_assert_int_eq(memory.cache, CACHE);
    Tensor *t = tensor_full_new(SHAPE(1 << 20), 1.0f);
    ck_assert_int_eq(device->memory(device, &after), STATUS_OK);
    ck_assert_int_eq(memory.free - after.free, 4 << 20);
    ck_assert_int_eq(after.own, memory.own);
    tensor_free(t);
}
END_TEST

START_TEST(a_call_that_fails_is_told) {
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(int64_t, fake_calls, const char *);
    DeviceMemory memory;
    Device *device = cuda_device_use();
    fake_fail_once("cudaMemGetInfo", fake_calls("cudaMemGetInfo") + 1, 999);
    ck_assert_int_eq(device->memory(device, &memory), STATUS_DEVICE);
    expect_error(STATUS_DEVICE, "cuda: cudaMemGetInfo at cuda/describe.c:");
    ck_assert_int_eq(device->memory(device, &memory), STATUS_OK);
}
END_TEST

// ---- the program -------------------------------------------------------------------------------
static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
}

START_TEST(the_report_judges_and_tells_the_cards_memory) {
    choose_fake();
    ProgramRun got = run(QUICK " --calibrate");
    ck_assert_msg(got.status == 0, "%s", got.err);
    ck_assert_msg(strncmp(got.out, "Measured Fake GPU, once; saved in\n", 34) == 0, "%s", got.out);
    program_run_free(&got);
    got = run(QUICK); // from the cache
    ck_assert_msg(got.status == 0, "%s", got.err);
    ck_assert_ptr_null(strstr(got.out, "Measured Fake GPU"));
    ck_assert_ptr_nonnull(strstr(got.out, "\nROOFLINE  measured on Fake GPU:\n  "));
    ck_assert_ptr_nonnull(strstr(got.out, ") -> ridge "));
    ck_assert_ptr_nonnull(strstr(got.out, "\n  on the card 3"));
    ck_assert_ptr_nonnull(strstr(got.out, " of 1.07 GB free\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "\n  on the host 8.39 MB pinned for copies\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "roof bound by"));
    program_check_columns(got.out);
    program_run_free(&got);
    got = run(QUICK " --peaks tests/fixtures/peaks.json");
    ck_assert_ptr_nonnull(strstr(got.out, "\nROOFLINE  as given: "));
    program_run_free(&got);
}
END_TEST

START_TEST(the_document_has_verdicts_copies_and_the_cards_memory) {
    choose_fake();
    json_t *cuda = document_new(QUICK);
    ck_assert_str_eq(json_string_value(document_at(cuda, "machine.device")), "Fake GPU");
    ck_assert(document_real(cuda, "machine.host_to_device_bytes_per_second") > 0.0);
    ck_assert(document_real(cuda, "machine.device_to_host_bytes_per_second") > 0.0);
    ck_assert(document_real(cuda, "machine.call_seconds") > 0.0);
    ck_assert(document_real(cuda, "machine.wake_seconds") == 0.0);
    ck_assert_int_eq(json_array_size(document_at(cuda, "machine.levels")), 2);
    ck_assert(json_is_string(document_at(cuda, "totals.step.bound")));
    ck_assert_int_eq(document_integer(cuda, "memory.device.total_bytes"), 1 << 30);
    ck_assert_int_gt(document_integer(cuda, "memory.device.own_bytes"), 32 << 20);
    ck_assert_int_eq(document_integer(cuda, "memory.device.staging_bytes"), 4 * PIECE);
    ck_assert_int_gt(document_integer(cuda, "memory.device.free_bytes"), 0);
    json_t *cpu = document_new(QUICK " --device cpu --peaks tests/fixtures/peaks.json");
    document_check_same_counts(cuda, cpu, "cuda and cpu");
    ck_assert_ptr_null(json_object_get(document_at(cpu, "memory"), "device"));
    ck_assert_ptr_null(json_object_get(document_at(cpu, "machine"), "device"));
    ck_assert_ptr_null(
        json_object_get(document_at(cpu, "machine"), "host_to_device_bytes_per_second"));
    json_decref(cuda);
    json_decref(cpu);
}
END_TEST

START_TEST(memory_shows_the_card_beside_the_allocator) {
    choose_fake();
    ProgramRun got = run(QUICK " --memory");
    const char *state = strstr(got.out, "\nSTATE");
    ck_assert_msg(got.status == 0 && state, "%s%s", got.out, got.err);
    ck_assert_ptr_nonnull(strstr(state, "\n  on the card 3"));
    ck_assert_ptr_nonnull(strstr(state, " pinned for copies\n"));
    program_run_free(&got);
    got = run(QUICK " --memory-json -");
    json_t *document = document_parse(got.out);
    ck_assert_int_eq(document_integer(document, "state.device.total_bytes"), 1 << 30);
    json_decref(document);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {any_card_has_ceilings, 0},
        {the_emulated_cards_ceilings_are_what_its_clock_makes_of_them, 0},
        {its_identity_tells_it_from_its_twin, 0},
        {the_card_knows_what_it_has_and_what_it_keeps, 0},
        {a_call_that_fails_is_told, 0},
        {the_report_judges_and_tells_the_cards_memory, 0},
        {the_document_has_verdicts_copies_and_the_cards_memory, 0},
        {memory_shows_the_card_beside_the_allocator, 0},
        {NULL, 0},
    };
    return harness_main("cuda_machine", tests);
}

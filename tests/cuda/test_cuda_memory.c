// test_cuda_memory.c -- memory of the cuda device that runs out or is not cached, over the fake
// runtime: the message, the blocks freed first, and that all goes on afterwards.
#include <stdlib.h>
#include <string.h>

#include "layers/train/fit.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"

#define FAKE(result, name, ...) result (*name)(__VA_ARGS__) = cuda_device_fake(#name)

enum { MIB = 1 << 20 };

// ---- exhausted ---------------------------------------------------------------------------------
// A model whose activations take far more than its parameters.
enum { PIXELS = 16, WIDTH = 128, CLASSES = 4, SMALL_BATCH = 64, LARGE_BATCH = 8192 };

typedef struct Session {
    Layer *model;
    Optimizer *optimizer;
} Session;

static Status step_of(Session *s, int64_t batch) {
    int64_t *labels = calloc((size_t)batch, sizeof *labels);
    Tensor *x = tensor_uniform_new(SHAPE(batch, PIXELS), 0.0f, 1.0f);
    Tensor *y = x ? tensor_from_labels_new(SHAPE(batch), labels) : NULL;
    double loss;
    Status status = y ? train_step(s->model, s->optimizer, x, y, &loss) : error_status();
    tensor_free(x);
    tensor_free(y);
    free(labels);
    return status;
}

static int64_t number_before(const char *text, const char *unit) {
    const char *end = strstr(text, unit);
    ck_assert_msg(end != NULL, "no \"%s\": %s", unit, text);
    while (end > text && end[-1] == ' ') end--;
    while (end > text && end[-1] >= '0' && end[-1] <= '9') end--;
    return strtoll(end, NULL, 10);
}

// Checks that the message adds up, and names layers, the largest first.
static void check_exhausted(size_t limit) {
    const char *text = error_message();
    ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
    ck_assert_msg(!strchr(text, '\n') && strstr(text, ". HINT: a smaller batch or model"), "%s",
                  text);
    ck_assert_msg(strstr(text, ": cuda memory exhausted: ") != NULL, "%s", text);
    char total[48];
    snprintf(total, sizeof total, " of %zu free; largest: ", limit);
    const char *largest = strstr(text, total);
    ck_assert_msg(largest != NULL, "%s", text);
    ck_assert_int_gt(number_before(text, "bytes asked"), number_before(text, total));
    int64_t live = number_before(text, "live"), first, second;
    char category[2][32], layer[2][32];
    int found = sscanf(largest + strlen(total), "%ld %31s in %31[^,], %ld %31s in %31[^,]", &first,
                       category[0], layer[0], &second, category[1], layer[1]);
    ck_assert_msg(found == 6, "%d: %s", found, text);
    ck_assert(first >= second && first + second <= live);
    ck_assert_int_eq(first, (int64_t)LARGE_BATCH * WIDTH * 4);
    ck_assert_str_eq(category[0], "activation");
    ck_assert_msg(strncmp(layer[0], "fc", 2) == 0 || strncmp(layer[0], "relu", 4) == 0, "%s", text);
}

START_TEST(a_batch_that_is_too_large_is_told_and_a_smaller_one_runs) {
    FAKE(void, fake_set_memory, size_t);
    FAKE(size_t, fake_live_bytes, void);
    cuda_device_use();
    size_t limit = fake_live_bytes() + 11 * (size_t)MIB;
    fake_set_memory(limit);
    Session s = {.model = mlp_new((int64_t[]){PIXELS, WIDTH, WIDTH, CLASSES}, 4, mlp_defaults())};
    s.optimizer = optimizer_new(s.model, optimizer_defaults(OPTIMIZER_ADAM));
    for (int round = 0; round < 3; round++) {
        ck_assert_msg(step_of(&s, SMALL_BATCH) == STATUS_OK, "%s", error_message());
        ck_assert_int_eq(step_of(&s, LARGE_BATCH), STATUS_OUT_OF_MEMORY);
        check_exhausted(limit);
        error_clear();
    }
    optimizer_free(s.optimizer);
    layer_free(s.model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// A reduction's scratch memory can come from the ledger's free blocks, too.
START_TEST(scratch_finds_room_in_cached_blocks) {
    FAKE(void, fake_set_memory, size_t);
    FAKE(size_t, fake_live_bytes, void);
    cuda_device_use();
    if (context_ledger()->raw) test_skip("needs the cache");
    Tensor *x = tensor_full_new(SHAPE(1 << 18), 1.0f);
    tensor_free(tensor_new(SHAPE(1 << 20), DTYPE_FLOAT32)); // leaves 4 MiB in the cache
    fake_set_memory(fake_live_bytes() + 64);                // room only for the result
    int64_t cached = context_ledger()->cached_bytes;
    Scope *scope = scope_open();
    Tensor *sum = tensor_sum(x, DIM_ALL, false);
    ck_assert_msg(sum != NULL, "%s", error_message());
    if (context_ledger()->cached_bytes >= cached) test_skip("this sum takes no scratch");
    ck_assert(tensor_item(sum) == (double)(1 << 18));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(scratch_that_finds_no_room_is_told) {
    FAKE(void, fake_set_memory, size_t);
    FAKE(size_t, fake_live_bytes, void);
    cuda_device_use();
    Tensor *x = tensor_full_new(SHAPE(1 << 18), 1.0f);
    fake_set_memory(fake_live_bytes() + 64);
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_sum(x, DIM_ALL, false));
    expect_error(STATUS_OUT_OF_MEMORY, "out of memory. HINT: use a smaller batch");
    fake_set_memory(1 << 30);
    ck_assert(tensor_item(tensor_sum(x, DIM_ALL, false)) == (double)(1 << 18));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(the_program_ends_with_3_and_one_line) {
    cuda_device_fake("fake_reset");
    setenv("RIDGEPOINT_FAKE_CUDA_MEMORY", "60000000", 1);
    ProgramRun got = program_run(program_path("profile_mlp"),
                                 "--device cuda --layers 16,512,512,4 --batch 8192 --epochs 0 "
                                 "--iterations 3 --peaks tests/fixtures/peaks.json",
                                 PROGRAM_CAPTURED);
    program_check_refusal(&got, 3, "cuda memory exhausted: ", " of 60000000 free; largest: ");
}
END_TEST

// ---- raw ---------------------------------------------------------------------------------------
START_TEST(raw_allocation_keeps_nothing_of_the_card_and_all_of_the_host) {
    FAKE(size_t, fake_live_bytes, void);
    setenv("RIDGEPOINT_CUDA_ALLOC", _i ? "raw" : "cached", 1);
    cuda_device_use();
    size_t before = fake_live_bytes();
    Tensor *t = tensor_new(SHAPE(1000), DTYPE_FLOAT32);
    size_t rounded = _i || context_ledger()->raw ? 4000 : 4096;
    ck_assert_uint_eq(fake_live_bytes(), before + rounded);
    tensor_free(t);
    bool kept = !_i && !context_ledger()->raw;
    ck_assert_uint_eq(fake_live_bytes(), before + (kept ? 4096 : 0));
    ck_assert_int_eq(context_ledger()->cached_bytes, kept ? 4096 : 0);
    context_set_device(device_cpu());
    tensor_free(tensor_new(SHAPE(1000), DTYPE_FLOAT32));
    ck_assert_int_eq(context_ledger()->cached_bytes, context_ledger()->raw ? 0
                                                     : kept                ? 8192
                                                                           : 4096);
    ck_assert_int_eq(ledger_unaccounted(context_ledger()), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_batch_that_is_too_large_is_told_and_a_smaller_one_runs, 0},
        {scratch_finds_room_in_cached_blocks, 0},
        {scratch_that_finds_no_room_is_told, 0},
        {the_program_ends_with_3_and_one_line, 0},
        {raw_allocation_keeps_nothing_of_the_card_and_all_of_the_host, 2},
        {NULL, 0},
    };
    return harness_main("cuda_memory", tests);
}

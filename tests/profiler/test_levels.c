// test_levels.c -- at which level of the caches an operand's bytes count, by hand, on a made-up
// machine: L1 holds 1,000 bytes, L2 10,000.
#include <string.h>

#include "profiler/step_record.h"
#include "tests/helpers/expect.h"

static const Machine machine = {
    .peak_flops_per_second = 1e9,
    .levels = {{"L1", 1000, 3e9}, {"L2", 10000, 2e9}, {"DRAM", INT64_MAX, 1e9}},
    .n_levels = 3};
enum { L1, L2, DRAM };

static StepRecord record;

// The level that all bytes of the last op lie at; -1: at several.
static int level_of_last(void) {
    const OpRecord *op = &record.ops[record.n_ops - 1];
    uint64_t all = op->cost.bytes_read + op->cost.bytes_written;
    for (int i = 0; i < machine.n_levels; i++)
        if (op->level_bytes[i] == all) return i;
    return -1;
}

static uint64_t bytes_at(int level) { return record.ops[record.n_ops - 1].level_bytes[level]; }

static Tensor *floats(int64_t n) { return tensor_full_new(SHAPE(n), 1.0f); }

START_TEST(what_was_never_touched_comes_from_memory) {
    Tensor *x = floats(100);
    step_record_start(&record, &machine);
    tensor_fill(x, 2.0f);
    ck_assert_int_eq(level_of_last(), DRAM);
    tensor_fill(x, 3.0f); // 400 bytes, just touched
    ck_assert_int_eq(level_of_last(), L1);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
}
END_TEST

// Its end was touched just now, but its beginning before all the rest of it.
START_TEST(a_tensor_between_two_caches_lies_in_the_second) {
    Tensor *x = floats(1000);
    step_record_start(&record, &machine);
    for (int i = 0; i < 3; i++) tensor_fill(x, 2.0f);
    ck_assert_int_eq(level_of_last(), L2);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
}
END_TEST

START_TEST(operands_walked_side_by_side_must_fit_together) {
    Tensor *a = floats(1000), *b = floats(1000);
    step_record_start(&record, &machine);
    for (int i = 0; i < 2; i++) {
        Scope *scope = scope_open();
        tensor_add(a, b); // 8,000 bytes read and 4,000 written: more than L2
        scope_close(scope);
    }
    ck_assert_uint_eq(bytes_at(L1) + bytes_at(L2), 0);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(a);
    tensor_free(b);
}
END_TEST

START_TEST(a_product_keeps_what_it_reads_in_blocks) {
    Tensor *a = tensor_full_new(SHAPE(2, 500), 1.0f), *b = tensor_full_new(SHAPE(500, 2), 1.0f);
    step_record_start(&record, &machine);
    for (int i = 0; i < 2; i++) {
        Scope *scope = scope_open();
        tensor_matmul(a, b); // 4,000 bytes each: each in L2 by itself
        scope_close(scope);
    }
    ck_assert_uint_eq(bytes_at(L2), 8000);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(a);
    tensor_free(b);
}
END_TEST

START_TEST(what_is_moved_in_between_pushes_it_out) {
    static const int want[] = {L1, L2, DRAM};
    static const int64_t between[] = {25, 1000, 2500}; // floats: 100, 4,000 and 10,000 bytes
    Tensor *x = floats(100), *other = floats(between[_i]);
    step_record_start(&record, &machine);
    tensor_fill(x, 1.0f);
    tensor_fill(other, 1.0f);
    tensor_fill(x, 1.0f);
    ck_assert_int_eq(level_of_last(), want[_i]);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
    tensor_free(other);
}
END_TEST

START_TEST(bytes_are_shared_out_to_the_last_one) {
    Tensor *a = floats(37), *b = floats(1009);
    step_record_start(&record, &machine);
    for (int i = 0; i < 5; i++) {
        Scope *scope = scope_open();
        Tensor *parts[] = {a, b, a};
        tensor_concat(parts, 3, 0);
        scope_close(scope);
        const OpRecord *op = &record.ops[record.n_ops - 1];
        ck_assert_uint_eq(bytes_at(L1) + bytes_at(L2) + bytes_at(DRAM),
                          op->cost.bytes_read + op->cost.bytes_written);
    }
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(a);
    tensor_free(b);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_was_never_touched_comes_from_memory, 0},
        {a_tensor_between_two_caches_lies_in_the_second, 0},
        {operands_walked_side_by_side_must_fit_together, 0},
        {a_product_keeps_what_it_reads_in_blocks, 0},
        {what_is_moved_in_between_pushes_it_out, 3},
        {bytes_are_shared_out_to_the_last_one, 0},
        {NULL, 0},
    };
    return harness_main("levels", tests);
}

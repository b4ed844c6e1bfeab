// test_levels.c -- the lines that an op moves, their cache level, and the threads charged: by hand,
// on a made-up machine whose L1 holds 1,000 bytes and whose L2 10,000.
#include <string.h>

#include "profiler/record/step_record.h"
#include "tests/helpers/expect.h"

static const Machine machine = {
    .peak_flops_per_second = 1e9,
    .levels = {{.name = "L1", .bytes = 1000, .bytes_per_second = 3e9},
               {.name = "L2", .bytes = 10000, .bytes_per_second = 2e9},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9}},
    .n_levels = 3};
enum { L1, L2, DRAM };

static StepRecord record;

static uint64_t bytes_at(int level) {
    const LevelTraffic *here = &record.ops[record.n_ops - 1].traffic.level[level];
    return here->read + here->written;
}

// The level that holds all bytes of the last op; -1: several do.
static int level_of_last(void) {
    const OpRecord *op = &record.ops[record.n_ops - 1];
    uint64_t all = op->cost.bytes_read + op->cost.bytes_written;
    for (int i = 0; i < machine.n_levels; i++)
        if (bytes_at(i) == all) return i;
    return -1;
}

// The last op's traffic, summed over all levels.
static LevelTraffic moved_by_last(void) {
    LevelTraffic sum = {0};
    for (int i = 0; i < machine.n_levels; i++) {
        const LevelTraffic *here = &record.ops[record.n_ops - 1].traffic.level[i];
        sum.read += here->read;
        sum.written += here->written;
        sum.allocated += here->allocated;
    }
    return sum;
}

static void expect_moved(uint64_t read, uint64_t written, uint64_t allocated) {
    LevelTraffic moved = moved_by_last();
    ck_assert_uint_eq(moved.read, read);
    ck_assert_uint_eq(moved.written, written);
    ck_assert_uint_eq(moved.allocated, allocated);
}

static Tensor *floats(int64_t n) { return tensor_full_new(SHAPE(n), 1.0f); }

START_TEST(what_was_never_touched_comes_from_memory) {
    Tensor *x = floats(100);
    step_record_start(&record, &machine);
    tensor_fill(x, 2.0f);
    ck_assert_int_eq(level_of_last(), DRAM);
    tensor_fill(x, 3.0f); // 400 bytes, touched last
    ck_assert_int_eq(level_of_last(), L1);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
}
END_TEST

// Its end was touched last, but its beginning was touched before all the rest of it.
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

// 6,000 bytes that are updated in place count as 6,000, not as 12,000.
START_TEST(what_is_updated_in_place_is_there_once) {
    Tensor *x = floats(1500), *other = floats(900);
    step_record_start(&record, &machine);
    OpParams half = {.value = {0.5f}};
    for (int i = 0; i < 2; i++) OP_INTO(&x, op_mul_scalar, &half, x);
    ck_assert_int_eq(level_of_last(), L2);
    tensor_fill(other, 1.0f); // 3,600 more make 9,600 together
    OP_INTO(&x, op_mul_scalar, &half, x);
    ck_assert_int_eq(level_of_last(), L2);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
    tensor_free(other);
}
END_TEST

START_TEST(operands_walked_side_by_side_must_fit_together) {
    Tensor *a = floats(1000), *b = floats(1000);
    step_record_start(&record, &machine);
    for (int i = 0; i < 2; i++) {
        Scope *scope = scope_open();
        tensor_add(a, b); // reads 8,000 bytes, writes 4,000: more than L2
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
        tensor_matmul(a, b); // 4,000 bytes each: each alone fits L2
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

// 400 bytes that were touched ten times in between count as 400.
START_TEST(what_is_moved_twice_in_between_counts_once) {
    Tensor *x = floats(100), *other = floats(100);
    step_record_start(&record, &machine);
    tensor_fill(x, 1.0f);
    for (int i = 0; i < 10; i++) tensor_fill(other, 1.0f);
    tensor_fill(x, 1.0f);
    ck_assert_int_eq(level_of_last(), L1);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
    tensor_free(other);
}
END_TEST

// 800 bytes before 400 others: a cache of 1,000 still holds 600 of them.
START_TEST(what_just_does_not_fit_is_there_in_part) {
    Tensor *x = floats(200), *other = floats(100);
    step_record_start(&record, &machine);
    tensor_fill(x, 1.0f);
    tensor_fill(other, 1.0f);
    tensor_fill(x, 1.0f);
    ck_assert_uint_eq(bytes_at(L1), 600);
    ck_assert_uint_eq(bytes_at(L2), 200);
    step_record_stop(&record);
    step_record_free(&record);
    tensor_free(x);
    tensor_free(other);
}
END_TEST

// Each recorder counts touches since its own start, although the other has just seen the tensor.
START_TEST(two_recorders_do_not_hide_an_operand_from_each_other) {
    Tensor *x = floats(100);
    StepRecord first;
    step_record_start(&first, &machine);
    step_record_start(&record, &machine);
    for (int i = 0; i < 2; i++) {
        tensor_fill(x, 1.0f);
        ck_assert_int_eq(level_of_last(), i ? L1 : DRAM);
        ck_assert_uint_eq(first.ops[i].traffic.level[i ? L1 : DRAM].written, 400);
    }
    step_record_stop(&record);
    step_record_stop(&first);
    step_record_free(&record);
    step_record_free(&first);
    tensor_free(x);
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

// Ten floats of each tensor: 40 bytes.
START_TEST(what_is_written_unread_is_allocated) {
    Tensor *x = floats(10), *g = floats(10), *lr = floats(1), *out = floats(10);
    Scope *scope = scope_open();
    step_record_start(&record, &machine);
    tensor_add(x, g);
    expect_moved(80, 40, 40);
    tensor_add(x, x); // the same operand twice
    expect_moved(40, 40, 40);
    OpParams half = {.value = {0.5f}};
    OP_INTO(&x, op_mul_scalar, &half, x); // in place: writing fetches nothing
    expect_moved(40, 40, 0);
    ck_assert_int_eq(level_of_last(), L1);
    OP_INTO(&out, op_add, NULL, x, g); // into an existing tensor
    expect_moved(80, 40, 40);
    tensor_sgd_step((Tensor *[]){lr, x, g}, 1, (SgdParams){0});
    expect_moved(84, 40, 0);
    ck_assert_int_eq(bytes_at(L1), 120); // lr, untouched so far, is in memory
    tensor_sum(x, DIM_ALL, false);
    expect_moved(40, 4, 4);
    tensor_fill(x, 2.0f);
    expect_moved(0, 40, 40);
    tensor_assign(out, x); // reads nothing of the overwritten
    expect_moved(40, 40, 40);
    step_record_stop(&record);
    step_record_free(&record);
    scope_close(scope);
    tensor_free(x);
    tensor_free(g);
    tensor_free(lr);
    tensor_free(out);
}
END_TEST

START_TEST(roots_and_divisions_are_counted_apart) {
    Tensor *x = floats(10), *g = floats(10), *m = floats(10), *v = floats(10), *state = floats(2);
    Scope *scope = scope_open();
    step_record_start(&record, &machine);
    tensor_adam_step((Tensor *[]){state, x, g, m, v}, 1,
                     (AdamParams){.beta1 = 0.9f, .beta2 = 0.99f, .epsilon = 1e-8f});
    OpSlow slow = record.ops[record.n_ops - 1].traffic.slow;
    ck_assert(slow.roots == 10 && slow.divisions == 10);
    expect_moved(168, 128, 0); // includes the step count t
    tensor_div(x, g);
    slow = record.ops[record.n_ops - 1].traffic.slow;
    ck_assert(slow.roots == 0 && slow.divisions == 10);
    step_record_stop(&record);
    step_record_free(&record);
    scope_close(scope);
    tensor_free(x);
    tensor_free(g);
    tensor_free(m);
    tensor_free(v);
    tensor_free(state);
}
END_TEST

// Two cores, each with an L1 of 1,000 bytes, share the L2.
static const Machine pair = {
    .peak_flops_per_second = 1e9,
    .threads = 2,
    .levels = {{.name = "L1", .bytes = 2000, .bytes_per_second = 3e9, .bytes_alone = 1000},
               {.name = "L2", .bytes = 1 << 22, .bytes_per_second = 2e9, .bytes_alone = 1 << 22},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9}},
    .n_levels = 3};

// 800,000 bytes are spread over all threads and never near; 800 bytes, one thread's, all are.
START_TEST(an_op_is_charged_to_who_does_it) {
    static const int64_t sizes[] = {100000, 100};
    static const Team teams[] = {TEAM_ALL, TEAM_ONE};
    Tensor *x = floats(sizes[_i]);
    context_set_threads(2);
    Scope *scope = scope_open();
    step_record_start(&record, &pair);
    for (int i = 0; i < 2; i++) tensor_release(tensor_relu(x));
    const OpRecord *last = &record.ops[record.n_ops - 1];
    Traffic sum = {0};
    ck_assert_int_eq(last->traffic.team, teams[_i]);
    ck_assert_uint_eq(last->traffic.level[_i ? 0 : 1].read, 4 * (uint64_t)sizes[_i]);
    for (int i = 0; i < 2; i++) traffic_add_op(&sum, &last->traffic, &last->cost);
    ck_assert_uint_eq(sum.level[teams[_i]][_i ? 0 : 1].read, 8 * (uint64_t)sizes[_i]);
    ck_assert_uint_eq(sum.flops_alone, _i ? 2 * op_cost_total_flops(last->cost) : 0);
    Traffic twice = sum;
    traffic_add(&twice, &sum);
    ck_assert_uint_eq(twice.flops_alone, 2 * sum.flops_alone);
    ck_assert_uint_eq(traffic_bytes(&twice, 1 - _i), 2 * traffic_bytes(&sum, 1 - _i));
    step_record_stop(&record);
    step_record_free(&record);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// 1,600 bytes exceed one thread's L1, and fit the L1 of two.
START_TEST(caches_of_one_thread_hold_less) {
    ck_assert_int_eq(machine_level(&pair, TEAM_ONE, 1600), L2);
    ck_assert_int_eq(machine_level(&pair, TEAM_ALL, 1600), L1);
    ck_assert_int_eq(machine_level(&pair, TEAM_ONE, 1 << 22), L2);
    ck_assert_int_eq(machine_level(&machine, TEAM_ONE, 1000), L1); // no TEAM_ONE size: as all
}
END_TEST

// Describes a call that is not run: only its operand and its threads matter.
static int64_t nobody_else(const OpCall *call) { return (void)call, 0; }
static int64_t another_thread(const OpCall *call) { return (void)call, 1; }
static OpTraffic traffic_of_read(Reuse *reuse, Tensor *x, Team team, uint64_t bytes) {
    const Op op = {.name = "read", .handoffs = team == TEAM_ALL ? another_thread : nobody_else};
    Tensor *in[] = {x};
    OpCall call = {.op = &op, .in = in, .n_in = 1};
    OpTraffic traffic;
    traffic_of_call(reuse, &call, &(OpCost){.bytes_read = bytes}, &traffic);
    return traffic;
}
static OpTraffic traffic_of_sum(Reuse *reuse, Tensor *x, Team team) {
    return traffic_of_read(reuse, x, team, 400);
}

// The second of two threads fetches half of the bytes from the shared cache.
START_TEST(what_another_core_touched_comes_from_the_shared_cache) {
    Tensor *x = floats(100);
    Reuse *reuse = reuse_new(&pair);
    context_set_threads(2);
    traffic_of_sum(reuse, x, TEAM_ONE);
    OpTraffic again = traffic_of_sum(reuse, x, TEAM_ONE),
              others = traffic_of_sum(reuse, x, TEAM_ALL);
    ck_assert_uint_eq(again.level[L1].read, 400);
    ck_assert_uint_eq(others.level[L1].read, 200);
    ck_assert_uint_eq(others.level[L2].read, 200);
    traffic_of_sum(reuse, x, TEAM_ONE);
    others = traffic_of_read(reuse, x, TEAM_ALL, 800);
    ck_assert_uint_eq(others.level[L2].read, 400); // scaled to the op's own count
    others = traffic_of_sum(reuse, x, TEAM_ALL);
    ck_assert_uint_eq(others.level[L1].read, 400);
    reuse_free(reuse);
    tensor_free(x);
}
END_TEST

// One row of a table of 4,000 bytes (100 x 10 floats) is read: earlier tensors stay near.
START_TEST(a_table_of_which_some_rows_are_read_pushes_nothing_out) {
    Tensor *x = floats(20), *table = tensor_full_new(SHAPE(100, 10), 1.0f);
    Tensor *index = tensor_from_labels_new(SHAPE(1), (const int64_t[]){7});
    Scope *scope = scope_open();
    step_record_start(&record, &machine);
    tensor_fill(x, 1.0f);
    tensor_embedding(index, table);
    tensor_fill(x, 1.0f);
    ck_assert_int_eq(level_of_last(), L1);
    step_record_stop(&record);
    step_record_free(&record);
    scope_close(scope);
    tensor_free(x);
    tensor_free(table);
    tensor_free(index);
}
END_TEST

// A foreign kernel may have threads of its own, unless it says how it is divided.
START_TEST(a_kernel_that_says_nothing_is_everybodys) {
    const Op silent = {.name = "silent"}, divided = {.name = "divided", .work = op_work_elements};
    Tensor *small = floats(10), *large = floats(1 << 20);
    OpCall call = {.op = &silent, .in = &small, .n_in = 1, .out = {small}, .n_out = 1};
    Touch touches[2];
    context_set_threads(2);
    ck_assert_int_eq(traffic_touched(&call, &(OpCost){0}, touches).team, TEAM_ALL);
    call.op = &divided;
    ck_assert_int_eq(traffic_touched(&call, &(OpCost){0}, touches).team, TEAM_ONE);
    call.in = &large;
    call.out[0] = large;
    OpTouched both = traffic_touched(&call, &(OpCost){0}, touches);
    ck_assert_int_eq(both.team, TEAM_ALL);
    ck_assert_int_eq(both.handoffs, 1);
    context_set_threads(1);
    both = traffic_touched(&call, &(OpCost){0}, touches);
    ck_assert_int_eq(both.team, TEAM_ALL);
    ck_assert_int_eq(both.handoffs, 0);
    tensor_free(small);
    tensor_free(large);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_was_never_touched_comes_from_memory, 0},
        {a_tensor_between_two_caches_lies_in_the_second, 0},
        {what_is_updated_in_place_is_there_once, 0},
        {operands_walked_side_by_side_must_fit_together, 0},
        {a_product_keeps_what_it_reads_in_blocks, 0},
        {what_is_moved_in_between_pushes_it_out, 3},
        {what_is_moved_twice_in_between_counts_once, 0},
        {what_just_does_not_fit_is_there_in_part, 0},
        {two_recorders_do_not_hide_an_operand_from_each_other, 0},
        {bytes_are_shared_out_to_the_last_one, 0},
        {what_is_written_unread_is_allocated, 0},
        {roots_and_divisions_are_counted_apart, 0},
        {an_op_is_charged_to_who_does_it, 2},
        {caches_of_one_thread_hold_less, 0},
        {a_table_of_which_some_rows_are_read_pushes_nothing_out, 0},
        {a_kernel_that_says_nothing_is_everybodys, 0},
        {what_another_core_touched_comes_from_the_shared_cache, 0},
        {NULL, 0},
    };
    return harness_main("levels", tests);
}

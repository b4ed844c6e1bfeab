// test_explain.c -- --explain, op by op: for any net, the output is arithmetically true, equals the
// record, fits 80 columns, and gives no derivation that does not hold. test_explain_sums.c tests
// sums, test_explain_story.c the stories of ops.
#include <string.h>

#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/profiler/explain/explained.h"

enum { SEEDS = 48 };

// ---- every op --------------------------------------------------------------------------------
static bool derived(const ExplainedBlock *block, const char *label) {
    const char *text = explained_text(block, label);
    return !text || strchr(text, '(');
}

// True for "y 12 B" or a sum of such; false for a total alone.
static bool by_operand(const ExplainedBlock *block, const char *label) {
    const char *text = explained_text(block, label);
    return strcmp(text, "nothing") == 0 || text[0] < '0' || text[0] > '9';
}

static void check_op(const ExplainedBlock *block, const ProfileOp *op) {
    const OpCost *cost = &op->record.cost;
    char title[120];
    snprintf(title, sizeof title, "%s: %s", phase_name(op->record.phase), op->record.op->name);
    ck_assert_str_eq(block->title, title);
    ck_assert_uint_eq(explained_count(block, "products"), cost->macs);
    ck_assert_uint_eq(explained_count(block, "FLOP"), 2 * cost->macs);
    ck_assert_uint_eq(explained_count(block, "bias"), cost->bias_flops);
    ck_assert_uint_eq(explained_count(block, "elementwise"), cost->elementwise_flops);
    ck_assert_uint_eq(explained_count(block, "transcendental"), cost->transcendental_flops);
    ck_assert_uint_eq(explained_count(block, "read"), cost->bytes_read);
    ck_assert_uint_eq(explained_count(block, "written"), cost->bytes_written);
    ck_assert_uint_eq(explained_count(block, "bytes"), cost->bytes_read + cost->bytes_written);
}

static void check_derived(const ExplainedBlock *block) {
    static const char *const counts[] = {"products", "bias", "elementwise", "transcendental"};
    for (int i = 0; i < 4; i++)
        ck_assert_msg(derived(block, counts[i]), "%s: %s: %s", block->title, counts[i],
                      explained_text(block, counts[i]));
    ck_assert_msg(by_operand(block, "read") && by_operand(block, "written"), "%s", block->title);
}

static bool is_op(const ExplainedBlock *block) { return explained_text(block, "shapes") != NULL; }

// Checks the layer's ops in order, starting at `block`; returns the block after them.
static int check_layer(const Explained *explained, int block, const Profile *profile, int layer,
                       bool all_derived) {
    for (int64_t i = 0; i < profile->n_ops; i++) {
        if (profile->ops[i].layer != layer) continue;
        while (block < explained->n_blocks && !is_op(&explained->blocks[block])) block++;
        ck_assert_int_lt(block, explained->n_blocks);
        check_op(&explained->blocks[block], &profile->ops[i]);
        if (all_derived) check_derived(&explained->blocks[block]);
        block++;
    }
    return block;
}

static void check_ops(const Explained *explained, const Profile *profile) {
    int block = 0;
    for (int i = 0; i < profile->n_layers; i++)
        block = check_layer(explained, block, profile, i, true);
    for (; block < explained->n_blocks; block++) ck_assert(!is_op(&explained->blocks[block]));
}

START_TEST(every_count_of_every_op_is_derived_and_is_the_records) {
    for (int kind = 0; kind <= PROFILE_INFERENCE; kind++) {
        int equations;
        Profile profile = explained_profile(_i, (ProfileKind)kind);
        Explained explained = explained_new(&profile, "*", &equations);
        ck_assert_int_gt(equations, (int)profile.n_ops);
        check_ops(&explained, &profile);
        for (int b = 0; b < explained.n_blocks; b++) {
            const char *kept = explained_text(&explained.blocks[b], "kept");
            ck_assert_msg(!kept || kept[0] < '0' || kept[0] > '9', "%s", kept);
        }
        explained_free(&explained);
        profile_free(&profile);
    }
}
END_TEST

// With one count of one op wrong, only that count lacks its derivation.
static void check_broken(const Profile *profile, int64_t broken, int field) {
    static const char *const labels[] = {"products",       "bias", "elementwise",
                                         "transcendental", "read", "written"};
    int layer = profile->ops[broken].layer, bare = 0;
    Explained explained = explained_new(profile, profile->layers[layer].path, NULL);
    check_layer(&explained, 0, profile, layer, false);
    for (int b = 0; b < explained.n_blocks; b++) {
        const ExplainedBlock *block = &explained.blocks[b];
        if (!is_op(block)) continue;
        bare += field < 4 ? !derived(block, labels[field]) : !by_operand(block, labels[field]);
    }
    ck_assert_msg(bare == 1, "%s of %s: %d", labels[field], profile->ops[broken].record.op->name,
                  bare);
    explained_free(&explained);
}

START_TEST(a_wrong_count_is_printed_without_a_derivation) {
    Profile profile = explained_profile(_i, PROFILE_TRAINING);
    for (int64_t i = 0; i < profile.n_ops; i++)
        for (int field = 0; field < 6; field++) {
            uint64_t *count = (uint64_t *)(void *)&profile.ops[i].record.cost + field;
            uint64_t right = *count;
            *count = right + 1;
            check_broken(&profile, i, field);
            *count = 3 * right + 1;
            check_broken(&profile, i, field);
            *count = right;
        }
    profile_free(&profile);
}
END_TEST

// Precisions where reals take fewer bytes, while indices and masks take as many as ever.
START_TEST(bytes_of_any_precision_are_derived) {
    Net net = net_random(_i);
    for (int precision = 0; precision < PRECISION_COUNT; precision++) {
        Context *context = context_new();
        context_push(context);
        context_set_device(device_meta());
        context_set_precision((Precision)precision);
        NetTask task = net_task_new(&net);
        Profile profile;
        ck_assert_int_eq(profile_training(task.model, optimizer_defaults(net.optimizer), task.x,
                                          task.labels, profile_defaults(), &profile),
                         STATUS_OK);
        Explained explained = explained_new(&profile, "*", NULL);
        check_ops(&explained, &profile);
        for (int b = 0; b < explained.n_blocks; b++) {
            const char *kept = explained_text(&explained.blocks[b], "kept");
            ck_assert_msg(!kept || kept[0] < '0' || kept[0] > '9', "%s", kept);
        }
        explained_free(&explained);
        profile_free(&profile);
        net_task_free(&task);
        context_pop();
        context_free(context);
    }
}
END_TEST

// ---- without times ---------------------------------------------------------------------------
START_TEST(on_meta_counts_are_explained_and_no_times) {
    Net net = net_random(_i);
    Profile real = explained_profile(_i, PROFILE_TRAINING);
    Context *context = context_new();
    context_push(context);
    context_set_device(device_meta());
    NetTask task = net_task_new(&net);
    Profile profile;
    ck_assert_int_eq(profile_training(task.model, optimizer_defaults(net.optimizer), task.x,
                                      task.labels, profile_defaults(), &profile),
                     STATUS_OK);
    static const char *const timed[] = {"measured", "verdict",    "roof",
                                        "memory",   "time",       "layers",
                                        "step",     "without it", "backward_input"};
    for (int whole = 0; whole < 2; whole++) {
        Explained explained = explained_new(&profile, whole ? NULL : "*", NULL);
        ck_assert(strstr(explained.blocks[0].title, "Nothing ran on the meta device"));
        if (!whole) check_ops(&explained, &real); // counts equal those of the real run
        for (int b = 0; b < explained.n_blocks; b++)
            for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
                ck_assert_msg(!explained_text(&explained.blocks[b], timed[i]), "%s", timed[i]);
        explained_free(&explained);
    }
    profile_free(&profile);
    net_task_free(&task);
    context_pop();
    context_free(context);
    profile_free(&real);
}
END_TEST

START_TEST(a_huge_net_keeps_its_columns) {
    Net net = {
        .sizes = {12288, 49152, 12288}, .n_sizes = 3, .batch = 2048, .options = mlp_defaults()};
    net.options.activation = &op_gelu_tanh;
    net.options.fuse = _i & 1;
    net.optimizer = OPTIMIZER_ADAMW;
    if (_i & 2) net.sizes[1] = 2147483647;
    context_set_device(device_meta());
    NetTask task = net_task_new(&net);
    Profile profile;
    ck_assert_int_eq(profile_training(task.model, optimizer_defaults(net.optimizer), task.x,
                                      task.labels, profile_defaults(), &profile),
                     STATUS_OK);
    Explained whole = explained_new(&profile, NULL, NULL);
    Explained explained = explained_new(&profile, "*", NULL);
    check_ops(&explained, &profile);
    explained_free(&whole);
    explained_free(&explained);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_count_of_every_op_is_derived_and_is_the_records, SEEDS},
        {a_wrong_count_is_printed_without_a_derivation, 12},
        {bytes_of_any_precision_are_derived, 12},
        {on_meta_counts_are_explained_and_no_times, 24},
        {a_huge_net_keeps_its_columns, 4},
        {NULL, 0},
    };
    return harness_main("explain", tests);
}

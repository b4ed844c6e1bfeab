// test_explain_story.c -- explain_story.c's derivation for each op gives the op's own counts, for
// every call of op_cases.c, forward and backward.
#include <string.h>

#include "profiler/explain/explain_parts.h"
#include "tests/helpers/expect.h"
#include "tests/ops/op_cases.h"
#include "tests/profiler/explain/explained.h"

// Number of elements of all parameters of an optimizer's step, which a profile knows of its model.
static int64_t parameters_of(const OpCase *call, const OpRecord *record) {
    OpStory story = op_story(record->op, &record->params, record->given);
    int first = story.elementwise.input, period = 0;
    int64_t n = 0;
    if (story.elementwise.basis != PER_PARAMETER) return 0;
    while (first + period < STORY_INPUTS && story.in[first + period]) period++;
    for (int i = first; i < call->n_in; i += period) n += shape_numel(call->in[i].shape);
    return n;
}

// Records the call and, if it has one, its backward.
static void record(const OpCase *call, StepRecord *step) {
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    ck_assert_int_eq(op_case_leaves_new(call, leaves), STATUS_OK);
    for (int i = 0; call->differentiable && i < call->n_in; i++)
        if (leaves[i] && leaves[i]->dtype == DTYPE_FLOAT32) tensor_requires_grad(leaves[i], true);
    Scope *scope = scope_open();
    step_record_start(step, NULL);
    Tensor *y = op_case_run(call, leaves);
    ck_assert_msg(y != NULL, "%s: %s", call->name, error_message());
    if (call->differentiable) {
        Tensor *grad = tensor_full_new(tensor_shape(y), 1.0f);
        ck_assert_int_eq(autograd_backward_from(y, grad), STATUS_OK);
        tensor_free(grad);
    }
    step_record_stop(step);
    scope_close(scope);
    op_case_leaves_free(call, leaves);
}

// A clipped norm has a root that no rule gives, and a comparison more for no gradients.
static void check_count(const char *name, const char *what, const OpRecord *record,
                        const Derivation *derivation, uint64_t count) {
    if (record->op == &op_clip_norm && derivation->value + 1 == count) return;
    ck_assert_msg(derivation->value == count, "%s: %s of %s: %llu counted, %llu derived", name,
                  what, record->op->name, (unsigned long long)count,
                  (unsigned long long)derivation->value);
    uint64_t value = count;
    bool sum = !*derivation->text || explained_sum(derivation->text, &value);
    ck_assert_msg(sum && ((int64_t)value < 0 ? 0 : value) == count,
                  "%s: %s of %s: %llu counted, not %s", name, what, record->op->name,
                  (unsigned long long)count, derivation->text);
}

static void check_record(const char *name, const Profile *profile, const ProfileOp *op) {
    const OpRecord *record = &op->record;
    const OpCost *cost = &record->cost;
    Told told = explain_story(profile, op);
    OpStory story = told.story;
    Derivation products = derive_products(profile, record, &story);
    Derivation bias = derive_rule(profile, record, story.bias);
    Derivation elementwise = derive_rule(profile, record, story.elementwise);
    Derivation transcendental = derive_rule(profile, record, story.transcendental);
    check_count(name, "products", record, &products, cost->macs);
    check_count(name, "bias", record, &bias, cost->bias_flops);
    check_count(name, "elementwise", record, &elementwise, cost->elementwise_flops);
    check_count(name, "transcendental", record, &transcendental, cost->transcendental_flops);
    ck_assert_msg(record->op->flags & OP_VIEW || told.does[0], "%s: %s", name, record->op->name);
}

static int check_bytes(const char *name, const Profile *profile, const ProfileOp *op) {
    Operand operands[OPERANDS_MOST];
    uint64_t read = 0, written = 0;
    int n = derive_operands(profile, op, operands);
    for (int i = 0; i < n; i++) {
        ck_assert_msg(strcmp(operands[i].name, "input") != 0, "%s: %s: %d", name,
                      op->record.op->name, i);
        read += operands[i].read;
        written += operands[i].written;
    }
    ck_assert(n == 0 ||
              (read == op->record.cost.bytes_read && written == op->record.cost.bytes_written));
    return n > 0;
}

START_TEST(the_story_of_every_op_comes_to_its_counts) {
    int ops = 0, by_operand = 0;
    bool seen[OP_COUNT] = {false};
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    for (int i = 0; i < op_case_count(); i++) {
        OpCase call = op_case_at(i);
        StepRecord step;
        record(&call, &step);
        for (int64_t k = 0; k < step.n_ops; k++) {
            ProfileOp op = {.record = step.ops[k]};
            Profile profile = {.ops = &op, .n_ops = 1, .kind = PROFILE_TRAINING};
            profile.trainable_parameters = parameters_of(&call, &op.record);
            check_record(call.name, &profile, &op);
            seen[op.record.op->id] = true;
            if (op.record.op->flags & OP_VIEW) continue;
            ops++;
            by_operand += check_bytes(call.name, &profile, &op);
        }
        step_record_free(&step);
    }
    for (int id = 1; id < OP_COUNT; id++) ck_assert_msg(seen[id], "%s", op_by_id(id)->name);
    ck_assert_msg(by_operand > ops * 3 / 4, "%d of %d", by_operand, ops); // except views and lists
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{the_story_of_every_op_comes_to_its_counts, 0}, {NULL, 0}};
    return harness_main("explain_story", tests);
}

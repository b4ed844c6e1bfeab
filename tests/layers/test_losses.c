// test_losses.c -- losses as programs call them: the call sites that pay, ignored labels, class
// weights. tests/ops/ tests their values and gradients.
#include <math.h>
#include <string.h>

#include "layers/train/optimizer.h"
#include "tests/helpers/expect.h"

enum { ROWS = 4, CLASSES = 3 };
static const float numbers[ROWS * CLASSES] = {0.5f, -1.0f, 2.0f, 0.0f,  1.5f,  -0.5f,
                                              1.0f, 1.0f,  1.0f, -2.0f, 0.25f, 3.0f};

static Tensor *labels_new(int64_t a, int64_t b, int64_t c, int64_t d) {
    return tensor_from_labels_new(SHAPE(ROWS), (int64_t[]){a, b, c, d});
}

// ---- call sites --------------------------------------------------------------------------------
typedef struct Sites {
    Observer observer; // must be first
    int ops, elsewhere;
} Sites;

static void look(Observer *self, const OpCall *call) {
    Sites *sites = (Sites *)self;
    char path[32];
    const Context *context = context_current();
    (void)call;
    sites->ops++;
    sites->elsewhere += strcmp(site_path(context, context->site, path, sizeof path), "loss") != 0;
}

static Tensor *loss_at(int index, Tensor *x, Tensor *labels, Tensor *target) {
    LabelLoss smooth = label_loss_defaults();
    smooth.smoothing = 0.1f;
    switch (index) {
    case 0:
        return loss_cross_entropy(x, labels);
    case 1:
        return loss_cross_entropy_with(x, labels, smooth);
    case 2:
        return loss_nll(x, labels, smooth);
    case 3:
        return loss_mse(x, target);
    case 4:
        return loss_l1(x, target);
    case 5:
        return loss_huber(x, target, 0.5f);
    case 6:
        return loss_binary_cross_entropy(x, target);
    default:
        return loss_kl_divergence(x, target);
    }
}

START_TEST(a_loss_is_charged_to_its_site_both_ways) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers);
    Tensor *target = tensor_full_new(SHAPE(ROWS, CLASSES), 0.5f), *labels = labels_new(2, 0, 1, 1);
    Sites sites = {.observer = {.op_end = look}};
    Scope *scope = scope_open();
    tensor_requires_grad(x, true);
    observer_add(&sites.observer);
    autograd_backward(loss_at(_i, x, labels, target));
    observer_remove(&sites.observer);
    ck_assert_int_gt(sites.ops, 2);
    ck_assert_int_eq(sites.elsewhere, 0);
    ck_assert_ptr_nonnull(tensor_grad(x));
    scope_close(scope);
    expect_no_error();
    tensor_free(x);
    tensor_free(target);
    tensor_free(labels);
}
END_TEST

// Texts have a row of logits per token; values and gradients are as if all tokens were samples.
START_TEST(logits_may_have_more_dimensions_than_one_before_the_classes) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers);
    Tensor *texts = tensor_from_floats_new(SHAPE(2, ROWS / 2, CLASSES), numbers);
    Tensor *labels = labels_new(2, 0, 1, 1);
    Tensor *words = tensor_from_labels_new(SHAPE(2, ROWS / 2), (int64_t[]){2, 0, 1, 1});
    tensor_requires_grad(x, true);
    tensor_requires_grad(texts, true);
    Scope *scope = scope_open();
    Tensor *plain = loss_cross_entropy(x, labels), *loss = loss_cross_entropy(texts, words);
    ck_assert(tensor_item(plain) == tensor_item(loss));
    autograd_backward(plain);
    autograd_backward(loss);
    ck_assert_mem_eq(tensor_data(tensor_grad(x)), tensor_data(tensor_grad(texts)), sizeof numbers);
    expect_no_error();
    loss_cross_entropy(texts, labels); // too few labels: one per sample
    expect_error(STATUS_SHAPE, "cross_entropy");
    scope_close(scope);
    tensor_free(x);
    tensor_free(texts);
    tensor_free(labels);
    tensor_free(words);
}
END_TEST

// ---- labels and weights ------------------------------------------------------------------------
static float value_of(Tensor *loss) {
    expect_no_error();
    return (float)tensor_item(loss);
}

START_TEST(without_options_it_is_the_plain_one) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers), *l = labels_new(2, 0, 1, 1);
    Scope *scope = scope_open();
    float plain = value_of(tensor_cross_entropy(x, l));
    float with = value_of(tensor_cross_entropy_with(x, l, label_loss_defaults()));
    ck_assert(fabsf(plain - with) < 1e-6f);
    scope_close(scope);
    tensor_free(x);
    tensor_free(l);
}
END_TEST

// An ignored row counts as absent, whatever it holds; its gradient is exactly 0.
START_TEST(a_row_that_does_not_count_is_not_looked_at) {
    float spoilt[ROWS * CLASSES];
    memcpy(spoilt, numbers, sizeof spoilt);
    for (int j = 0; j < CLASSES; j++) spoilt[CLASSES + j] = j == 1 ? INFINITY : NAN;
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), spoilt);
    const int64_t odd[] = {-100, INT64_MIN, INT64_MAX, 7, -1};
    tensor_requires_grad(x, true);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        Tensor *l = labels_new(2, odd[i], 1, 1);
        LabelLoss options = {.ignores = true,
                             .ignored = odd[i],
                             .smoothing = 0.5f * (float)(i % 2)};
        Scope *scope = scope_open();
        tensor_zero_grad(x);
        Tensor *loss = tensor_nll(x, l, options);
        ck_assert(isfinite(value_of(loss)));
        autograd_backward(loss);
        const float *gradient = tensor_data(tensor_grad(x));
        for (int j = 0; j < CLASSES; j++) ck_assert(gradient[CLASSES + j] == 0.0f);
        ck_assert(gradient[2] < 0.0f);
        scope_close(scope);
        tensor_free(l);
    }
    tensor_free(x);
}
END_TEST

START_TEST(of_no_row_that_counts_the_loss_is_no_number_and_the_gradient_zero) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers);
    Tensor *l = labels_new(-100, -100, -100, -100);
    Scope *scope = scope_open();
    tensor_requires_grad(x, true);
    Tensor *loss = tensor_cross_entropy_with(x, l, label_loss_defaults());
    ck_assert(isnan(value_of(loss)));
    autograd_backward(loss);
    for (int i = 0; i < ROWS * CLASSES; i++) ck_assert(tensor_data(tensor_grad(x))[i] == 0.0f);
    scope_close(scope);
    tensor_free(x);
    tensor_free(l);
}
END_TEST

// As in PyTorch: NaN, not infinite, though smoothing gives every class a share.
START_TEST(of_labels_without_weight_the_loss_is_no_number) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers), *l = labels_new(2, 2, 2, 2);
    Tensor *weight = tensor_from_floats_new(SHAPE(CLASSES), (const float[]){1.0f, 2.0f, 0.0f});
    Scope *scope = scope_open();
    LabelLoss options = {.weight = weight, .smoothing = 0.5f};
    ck_assert(isnan(value_of(tensor_cross_entropy_with(x, l, options))));
    scope_close(scope);
    tensor_free(x);
    tensor_free(l);
    tensor_free(weight);
}
END_TEST

START_TEST(what_is_wrong_is_said) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers),
           *l = labels_new(2, 0, -100, 1);
    Tensor *weight = tensor_full_new(SHAPE(CLASSES), 1.0f), *two = tensor_full_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_cross_entropy(x, l));
    expect_error(STATUS_INVALID_ARGUMENT, "label -100 in row 2 is not in [0, 3)");
    ck_assert_ptr_null(tensor_nll(x, l, (LabelLoss){.weight = weight}));
    expect_error(STATUS_INVALID_ARGUMENT, "label -100 in row 2 is not in [0, 3), and is not");
    ck_assert_ptr_null(tensor_nll(x, l, (LabelLoss){.ignores = true, .ignored = -1}));
    expect_error(STATUS_INVALID_ARGUMENT, "label -100 in row 2");
    LabelLoss options = label_loss_defaults();
    options.weight = two;
    ck_assert_ptr_null(tensor_nll(x, l, options));
    expect_error(STATUS_SHAPE, "the weight is not (3,)");
    options.weight = l;
    ck_assert_ptr_null(tensor_nll(x, l, options));
    expect_error(STATUS_DTYPE, "input 2 is int64");
    tensor_requires_grad(weight, true);
    options.weight = weight;
    ck_assert_ptr_null(tensor_nll(x, l, options));
    expect_error(STATUS_INVALID_ARGUMENT, "the weights of classes have no gradient");
    scope_close(scope);
    Tensor *const all[] = {x, l, weight, two};
    for (int i = 0; i < 4; i++) tensor_free(all[i]);
}
END_TEST

// Labels that changed before backward are checked again.
START_TEST(labels_that_changed_are_looked_at_again) {
    Tensor *x = tensor_from_floats_new(SHAPE(ROWS, CLASSES), numbers), *l = labels_new(2, 0, 1, 1);
    Scope *scope = scope_open();
    tensor_requires_grad(x, true);
    Tensor *loss = tensor_nll(x, l, label_loss_defaults());
    tensor_labels(l)[3] = 3;
    ck_assert_int_eq(autograd_backward(loss), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "label 3 in row 3");
    scope_close(scope);
    tensor_free(x);
    tensor_free(l);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_loss_is_charged_to_its_site_both_ways, 8},
        {logits_may_have_more_dimensions_than_one_before_the_classes, 0},
        {without_options_it_is_the_plain_one, 0},
        {a_row_that_does_not_count_is_not_looked_at, 0},
        {of_no_row_that_counts_the_loss_is_no_number_and_the_gradient_zero, 0},
        {of_labels_without_weight_the_loss_is_no_number, 0},
        {what_is_wrong_is_said, 0},
        {labels_that_changed_are_looked_at_again, 0},
        {NULL, 0},
    };
    return harness_main("losses", tests);
}

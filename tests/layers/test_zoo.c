// test_zoo.c -- networks by name: each is found and takes the shape that its line gives; a wrong
// name may have a nearest one. test_models.c and test_transformers.c test the networks.
#include <string.h>

#include "layers/cost.h"
#include "layers/models/zoo.h"
#include "tests/helpers/expect.h"

START_TEST(each_name_is_found_and_is_nobody_elses) {
    int n = 0;
    for (const ZooModel *model; (model = zoo_at(n)); n++) {
        ck_assert_ptr_eq(zoo_find(model->name), model); // no earlier one has its name
        ck_assert_ptr_nonnull(model->source);
        ck_assert_msg(
            (model->plain != NULL) + (model->by_name != NULL) + (model->by_form != NULL) == 1,
            "%s is made in more ways than one", model->name);
    }
    ck_assert_int_ge(n, 80);
    ck_assert_ptr_null(zoo_at(-1));
    ck_assert_ptr_null(zoo_find("resnet"));
    ck_assert_ptr_null(zoo_find(""));
    ck_assert_ptr_null(zoo_find(NULL));
    expect_no_error();
}
END_TEST

// A dry run of one sample: the shape that the line gives, and the requested number of classes.
START_TEST(each_takes_what_its_line_says) {
    context_set_device(device_meta());
    for (int i = 0; zoo_at(i); i++) {
        const ZooModel *model = zoo_at(i);
        const int64_t *d = model->input;
        bool words = model->vocabulary > 0;
        Layer *layer = zoo_new(model, words ? 0 : 7);
        Tensor *x = words ? tensor_new(SHAPE(1, d[0] < 64 ? d[0] : 64), DTYPE_INT64)
                          : tensor_new(SHAPE(1, d[0], d[1], d[2]), DTYPE_FLOAT32);
        ck_assert_msg(layer && x, "%s: %s", model->name, error_message());
        layer_train(layer, false);
        no_grad_begin();
        Scope *scope = scope_open();
        Tensor *y = layer_forward(layer, x);
        ck_assert_msg(y != NULL, "%s: %s", model->name, error_message());
        if (!words) ck_assert_int_eq(y->shape.dims[1], 7);
        if (words && model->by_form) ck_assert_int_eq(y->shape.dims[1], x->shape.dims[1]);
        scope_close(scope);
        no_grad_end();
        tensor_free(x);
        layer_free(layer);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_name_is_found_and_is_nobody_elses, 0},
        {each_takes_what_its_line_says, 0},
        {NULL, 0},
    };
    return harness_main("zoo", tests);
}

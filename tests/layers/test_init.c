// test_init.c -- initial values: bounds and moments of each initialiser against the formulas of
// torch.nn.init, and refusals.
#include <math.h>

#include "layers/init.h"
#include "layers/layer.h"
#include "layers/recurrent.h"
#include "tests/helpers/expect.h"

enum { OUT = 200, IN = 300, COUNT = OUT * IN };

typedef struct Moments {
    double mean, deviation, fourth, largest; // fourth: E(z^4) of the standardised values
} Moments;

static Moments moments_of(Tensor *t) {
    const float *x = tensor_data(t);
    ck_assert_msg(x != NULL, "%s", error_message());
    Moments m = {0};
    double n = (double)t->numel;
    for (int64_t i = 0; i < t->numel; i++) {
        m.mean += (double)x[i] / n;
        m.largest = fmax(m.largest, fabs((double)x[i]));
    }
    for (int64_t i = 0; i < t->numel; i++) m.deviation += pow((double)x[i] - m.mean, 2) / n;
    m.deviation = sqrt(m.deviation);
    for (int64_t i = 0; i < t->numel; i++)
        m.fourth += pow(((double)x[i] - m.mean) / m.deviation, 4) / n;
    return m;
}

// Kurtosis 1.8 and a sharp bound; among 60,000 values the largest is within 0.1 % of it.
static void assert_uniform(Tensor *t, double bound) {
    Moments m = moments_of(t);
    double slack = 5.0 / sqrt((double)t->numel);
    ck_assert_double_le(m.largest, bound * (1 + 1e-6));
    ck_assert_double_ge(m.largest, bound * (1 - 20.0 / (double)t->numel));
    ck_assert_double_eq_tol(m.mean, 0.0, slack * bound / sqrt(3.0));
    ck_assert_double_eq_tol(m.deviation, bound / sqrt(3.0), slack * bound);
    ck_assert_double_eq_tol(m.fourth, 1.8, 3 * slack);
}

static void assert_normal(Tensor *t, double deviation) {
    Moments m = moments_of(t);
    double slack = 5.0 / sqrt((double)t->numel);
    ck_assert_double_eq_tol(m.mean, 0.0, slack * deviation);
    ck_assert_double_eq_tol(m.deviation, deviation, slack * deviation);
    ck_assert_double_eq_tol(m.fourth, 3.0, 10 * slack);
    ck_assert_double_ge(m.largest, 3.5 * deviation);
}

START_TEST(fans_are_the_second_and_first_size_times_the_rest) {
    Tensor *matrix = tensor_new(SHAPE(OUT, IN), DTYPE_FLOAT32);
    Tensor *kernel = tensor_new(SHAPE(8, 4, 3, 5), DTYPE_FLOAT32);
    Fans fans;
    init_fans(matrix, &fans);
    ck_assert_int_eq(fans.in, IN);
    ck_assert_int_eq(fans.out, OUT);
    init_fans(kernel, &fans);
    ck_assert_int_eq(fans.in, 60);
    ck_assert_int_eq(fans.out, 120);
    tensor_free(matrix);
    tensor_free(kernel);
}
END_TEST

START_TEST(kaiming_follows_its_gain_and_fan_in) {
    Tensor *w = tensor_new(SHAPE(OUT, IN), DTYPE_FLOAT32);
    init_kaiming_uniform(w, 0.0f);
    assert_uniform(w, sqrt(6.0 / IN));
    init_kaiming_uniform(w, (float)sqrt(5.0)); // as nn.Linear does
    assert_uniform(w, 1.0 / sqrt(IN));
    init_kaiming_normal(w, 0.0f);
    assert_normal(w, sqrt(2.0 / IN));
    init_kaiming_normal(w, 0.2f);
    assert_normal(w, sqrt(2.0 / 1.04 / IN));
    tensor_free(w);
}
END_TEST

START_TEST(xavier_follows_its_gain_and_both_fans) {
    Tensor *w = tensor_new(SHAPE(OUT, IN), DTYPE_FLOAT32);
    init_xavier_uniform(w, 1.0f);
    assert_uniform(w, sqrt(6.0 / (IN + OUT)));
    init_xavier_uniform(w, 3.0f);
    assert_uniform(w, 3.0 * sqrt(6.0 / (IN + OUT)));
    init_xavier_normal(w, 0.5f);
    assert_normal(w, 0.5 * sqrt(2.0 / (IN + OUT)));
    tensor_free(w);
}
END_TEST

START_TEST(a_linear_layer_draws_weight_and_bias_as_pytorch_does) {
    Layer *linear = linear_new(IN, 20000, true);
    assert_uniform(linear->parameters[0].tensor, 1.0 / sqrt(IN));
    assert_uniform(linear->parameters[1].tensor, 1.0 / sqrt(IN));
    layer_free(linear);
}
END_TEST

// torch.nn.LSTM, GRU and RNN: every parameter within 1 / sqrt(hidden_size), whatever its fan-in.
START_TEST(recurrent_layers_draw_all_they_have_alike) {
    Layer *(*const make[])(int64_t, int64_t, RecurrentOptions) = {lstm_new, gru_new, rnn_new};
    for (int k = 0; k < 3; k++) {
        Layer *layer = make[k](9, 256, recurrent_defaults());
        ParameterList list;
        ck_assert_int_eq(layer_parameters(layer, &list), STATUS_OK);
        ck_assert_int_eq(list.count, 4);
        for (int i = 0; i < 4; i++) assert_uniform(list.items[i].tensor, 1.0 / 16);
        parameter_list_free(&list);
        layer_free(layer);
    }
}
END_TEST

START_TEST(initial_values_repeat_with_the_seed_and_differ_between_layers) {
    Layer *models[2];
    for (int i = 0; i < 2; i++) {
        context_seed(5);
        models[i] = mlp_new((int64_t[]){30, 30, 30}, 3, mlp_defaults());
    }
    const float *first = tensor_data(models[0]->children[0]->parameters[0].tensor);
    ck_assert_mem_eq(first, tensor_data(models[1]->children[0]->parameters[0].tensor), 3600);
    ck_assert(first[0] != tensor_data(models[0]->children[2]->parameters[0].tensor)[0]);
    for (int i = 0; i < 2; i++) layer_free(models[i]);
}
END_TEST

START_TEST(what_has_no_fan_is_refused) {
    Tensor *bias = tensor_zeros_new(SHAPE(7));
    Status (*const initialisers[])(Tensor *, float) = {init_kaiming_uniform, init_kaiming_normal,
                                                       init_xavier_uniform, init_xavier_normal};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(initialisers[i](bias, 1.0f), STATUS_SHAPE);
        expect_error(STATUS_SHAPE, "init: a 1-d tensor has no fan-in. HINT: weights are");
        ck_assert_int_eq(initialisers[i](NULL, 1.0f), STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, "no weight");
    }
    expect_values(bias, 0, 0, 0, 0, 0, 0, 0);
    tensor_free(bias);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {fans_are_the_second_and_first_size_times_the_rest, 0},
        {kaiming_follows_its_gain_and_fan_in, 0},
        {xavier_follows_its_gain_and_both_fans, 0},
        {a_linear_layer_draws_weight_and_bias_as_pytorch_does, 0},
        {recurrent_layers_draw_all_they_have_alike, 0},
        {initial_values_repeat_with_the_seed_and_differ_between_layers, 0},
        {what_has_no_fan_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("init", tests);
}

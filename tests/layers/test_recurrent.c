// test_recurrent.c -- LSTM, GRU and RNN layers: PyTorch's values and gradients for a bidirectional
// stack of two, given and absent states, costs, and refusals.
#include "layers/cost.h"
#include "layers/recurrent.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

// PyTorch 2.15, in float64: torch.nn.LSTM, GRU and RNN of 2 -> 2, two layers, bidirectional, batch
// first, with the parameters, inputs and loss weights below.
static const float lstm_y[] = {0.18306861f, -0.23798054f,  -0.056255228f, -0.15826247f,
                               0.25529669f, -0.077182629f, 0.0055904259f, -0.15881171f,
                               0.29449025f, -0.027651364f, 0.10393559f,   -0.2246121f,
                               0.19513369f, -0.11166043f,  0.019772638f,  -0.14953935f,
                               0.29851461f, -0.11277141f,  0.10014069f,   -0.13687179f,
                               0.309649f,   -0.028443817f, 0.20357114f,   -0.082633597f};
static const float lstm_s0[] = {-0.38715719f,  0.036585792f,  0.028897213f,  0.052205343f,
                                -0.055289644f, 0.21133024f,   -0.027875227f, 0.31412367f,
                                0.29449025f,   -0.027651364f, 0.309649f,     -0.028443817f,
                                -0.056255228f, -0.15826247f,  0.019772638f,  -0.14953935f};
static const float lstm_s1[] = {-0.87310264f, 0.075373546f,  0.074668191f,  0.13293903f,
                                -0.08888759f, 0.4218332f,    -0.046480837f, 0.56275861f,
                                0.76236038f,  -0.073897206f, 0.88418135f,   -0.066815198f,
                                -0.12399756f, -0.70597533f,  0.047517814f,  -0.61727956f};
static const float lstm_dx[] = {0.12724715f,   0.24266956f,  0.2338618f,   0.13050913f,
                                0.70085531f,   0.038622026f, -0.23355812f, -0.087319562f,
                                -0.053650118f, 0.018176459f, 0.20686531f,  6.8809947e-05f};
static const float lstm_dh[] = {-0.18525258f,  0.10358979f,  0.083118781f,  0.078942357f,
                                0.027958447f,  0.05274486f,  0.044561384f,  0.059881018f,
                                -0.010103299f, -0.10315493f, -0.092884991f, -0.28801084f,
                                -0.011598171f, -0.30352369f, 0.021016682f,  -0.62790049f};
static const float lstm_dc[] = {-0.63838389f, 0.11177266f,  0.18123356f,  0.27429289f,
                                0.019146514f, -0.17885279f, 0.060413291f, -0.041677642f,
                                0.61882127f,  0.38168696f,  0.81996383f,  1.7094078f,
                                0.7756887f,   0.67644939f,  1.3283936f,   1.0994531f};
static const float lstm_sum[] = {2.9204506f,  3.4625491f,  3.9348911f, 3.9348911f,
                                 0.56346224f, 0.24945406f, 1.0701265f, 1.0701265f,
                                 10.845157f,  5.627837f,   14.928669f, 14.928669f,
                                 16.233258f,  5.4169893f,  22.073358f, 22.073358f};
static const float gru_y[] = {-0.78496056f,  0.075377247f, 0.029731502f,  -0.0615204f,
                              -0.74393339f,  0.39014869f,  -0.035564498f, 0.13865083f,
                              -0.67439378f,  0.5126269f,   0.057215078f,  0.29547721f,
                              0.27740367f,   0.72814728f,  0.16562933f,   -0.13435532f,
                              -0.051109595f, 0.60319111f,  0.11668988f,   -0.060264725f,
                              -0.17001828f,  0.46303169f,  0.11838767f,   -0.051471864f};
static const float gru_s0[] = {-0.40389743f, -0.12513109f,  0.099590307f, -0.15027898f,
                               0.28005716f,  -0.020646252f, 0.10395262f,  -0.021217738f,
                               -0.67439378f, 0.5126269f,    -0.17001828f, 0.46303169f,
                               0.029731502f, -0.0615204f,   0.16562933f,  -0.13435532f};
static const float gru_dx[] = {0.36444738f,   -0.022076709f, 0.35370979f,  -0.069898842f,
                               0.34365172f,   0.0047700613f, 0.021652255f, 0.13782994f,
                               -0.040201713f, 0.23552557f,   0.075055423f, 0.32271066f};
static const float gru_dh[] = {-0.57128503f, -0.64010571f, -0.74274418f, -0.14554005f,
                               -0.21363593f, -0.81327484f, -0.80427042f, -0.9305093f,
                               0.99285857f,  0.19699731f,  1.7581973f,   2.752679f,
                               0.71554221f,  1.6957676f,   2.0958976f,   3.3972851f};
static const float gru_sum[] = {2.9981987f,  3.3119842f, 4.8175692f, 2.9934749f,
                                0.74438613f, 1.568757f,  7.3825957f, 3.9103775f,
                                5.8621793f,  14.541698f, 16.837182f, 10.973921f,
                                6.287688f,   2.6917717f, 21.67357f,  11.992695f};

static const float rnn_y[] = {-0.79242309f, -0.2788961f,  0.6380971f,  0.081195063f, -0.75229482f,
                              -0.45267872f, 0.82912392f,  0.11932838f, -0.78854624f, -0.29311092f,
                              0.84220954f,  -0.13047755f, 0.36617537f, 0.47308946f,  0.88098311f,
                              0.16175146f,  -0.13356867f, 0.31296738f, 0.75545741f,  -0.25253622f,
                              -0.46417053f, 0.36356122f,  0.91446829f, 0.31116299f};
static const float rnn_s0[] = {-0.82036251f, 0.34320001f,  -0.80148633f,  -0.062607846f,
                               -0.34763671f, 0.43257085f,  -0.033850747f, 0.68054435f,
                               -0.78854624f, -0.29311092f, -0.46417053f,  0.36356122f,
                               0.6380971f,   0.081195063f, 0.88098311f,   0.16175146f};
static const float rnn_dx[] = {-0.035689611f, -0.065376576f, -0.23074205f, -0.25302415f,
                               -0.55256361f,  -0.85048525f,  -0.65117716f, -0.10768727f,
                               -0.98257505f,  -0.76060478f,  -1.1409088f,  -1.0370786f};
static const float rnn_dh[] = {0.045452341f, 0.11150294f,   0.11593834f,   0.12897321f,
                               -0.11856452f, -0.096404302f, -0.066698501f, 0.077483432f,
                               0.19821711f,  0.12271371f,   2.6443877f,    1.806345f,
                               -1.025338f,   -1.3321587f,   -1.4280442f,   -1.8410338f};
static const float rnn_sum[] = {0.67870302f, 5.8540722f, 5.1199992f, 5.1199992f,
                                1.6211748f,  3.9017232f, 8.9829798f, 8.9829798f,
                                42.010004f,  15.202359f, 25.49699f,  25.49699f,
                                17.962007f,  7.9756727f, 12.938491f, 12.938491f};
static const float relu_y[] = {0.0f,        0.0f,         0.86225501f, 0.16689608f, 0.0f,
                               0.0f,        0.65910995f,  0.176525f,   0.0f,        0.0f,
                               0.95350647f, 0.068141937f, 0.51909542f, 0.3751564f,  1.0545545f,
                               0.30631304f, 0.088994026f, 0.0f,        0.53514099f, 0.0f,
                               0.0f,        0.24978757f,  1.3635254f,  0.53149414f};
static const float relu_s0[] = {0.0f,        0.2767334f,  0.0f,       0.0f,       0.0f, 0.47290039f,
                                0.0f,        0.80825806f, 0.0f,       0.0f,       0.0f, 0.24978757f,
                                0.86225501f, 0.16689608f, 1.0545545f, 0.30631304f};
static const float relu_dx[] = {0.1105957f,    0.036865234f,  -0.078793816f, -0.029229365f,
                                -0.012380362f, -0.057478666f, -0.58481836f,  -0.60475969f,
                                -0.096858978f, 0.07075119f,   0.81746364f,   0.27248788f};
static const float relu_dh[] = {0.0f,         0.0f,         0.26345587f, 0.61473036f,
                                -0.36880302f, -0.64860725f, -1.3624394f, -1.9074152f,
                                0.0f,         0.0f,         2.1982422f,  1.4760742f,
                                -1.5509796f,  -2.0977936f,  -2.0904465f, -2.8410873f};
static const float relu_sum[] = {1.7948304f, 4.5550461f, 3.2611167f, 3.2611167f,
                                 1.5020928f, 5.0541258f, 6.9936867f, 6.9936867f,
                                 11.183031f, 14.632489f, 12.933594f, 12.933594f,
                                 19.52622f,  9.16436f,   20.43042f,  20.43042f};

static Layer *rnn_relu_new(int64_t in, int64_t hidden, RecurrentOptions options) {
    options.relu = true;
    return rnn_new(in, hidden, options);
}

typedef struct Expected {
    const char *name;
    Layer *(*make)(int64_t, int64_t, RecurrentOptions);
    int states;
    const float *y, *last[2], *dx, *first[2], *sums;
} Expected;
static const Expected expected[] = {
    {"LSTM", lstm_new, 2, lstm_y, {lstm_s0, lstm_s1}, lstm_dx, {lstm_dh, lstm_dc}, lstm_sum},
    {"GRU", gru_new, 1, gru_y, {gru_s0, NULL}, gru_dx, {gru_dh, NULL}, gru_sum},
    {"RNN", rnn_new, 1, rnn_y, {rnn_s0, NULL}, rnn_dx, {rnn_dh, NULL}, rnn_sum},
    {"RNN", rnn_relu_new, 1, relu_y, {relu_s0, NULL}, relu_dx, {relu_dh, NULL}, relu_sum},
};
enum { CELLS = sizeof expected / sizeof expected[0] };

// Element i is ((i * by) % modulus - less) / divisor.
static Tensor *made(Shape shape, int by, int modulus, int less, float divisor) {
    float values[64];
    for (int i = 0; i < shape_numel(shape); i++)
        values[i] = (float)((i * by) % modulus - less) / divisor;
    return tensor_from_floats_new(shape, values);
}

static void set_parameters(Layer *layer) {
    int k = 0;
    for (int p = 0; p < layer->n_parameters; p++) {
        Tensor *t = layer->parameters[p].tensor;
        float values[64];
        for (int i = 0; i < t->numel; i++, k++) values[i] = (float)((k * 37) % 41 - 20) / 32.0f;
        ck_assert_int_eq(tensor_write_floats(t, values), STATUS_OK);
    }
}

static void check(const Tensor *got, const float *want, const char *what) {
    float values[64];
    ck_assert_msg(got, "%s: there is none", what);
    tensor_read_floats(got, values);
    harness_assert_close(values, want, got->numel, 2e-6, 4e-6, what);
}

// Returns the sum of t times (0, 1, 2 ... - less) / divisor.
static Tensor *weighted(Tensor *t, int less, float divisor) {
    Tensor *by = made(tensor_shape(t), 1, 64, less, divisor);
    Tensor *sum = tensor_sum(tensor_mul(t, by), DIM_ALL, false);
    tensor_free(by);
    return sum;
}

START_TEST(a_stack_that_goes_both_ways_is_pytorchs) {
    const Expected *e = &expected[_i];
    RecurrentOptions options = recurrent_defaults();
    options.layers = 2;
    options.bidirectional = options.batch_first = true;
    Layer *layer = e->make(2, 2, options);
    ck_assert_int_eq(layer->n_parameters, 16);
    set_parameters(layer);
    Tensor *in[3] = {made(SHAPE(2, 3, 2), 29, 31, 15, 16.0f), made(SHAPE(4, 2, 2), 17, 19, 9, 8.0f),
                     made(SHAPE(4, 2, 2), 13, 23, 11, 8.0f)};
    for (int i = 0; i < 3; i++) tensor_requires_grad(in[i], true);
    Scope *scope = scope_open();
    Tensor *out[3];
    ck_assert_int_eq(layer_forward_each(layer, in, 1 + e->states, out, 1 + e->states), STATUS_OK);
    check(out[0], e->y, "y");
    Tensor *loss = weighted(out[0], 0, 8.0f);
    for (int i = 0; i < e->states; i++) {
        check(out[1 + i], e->last[i], "a last state");
        loss = tensor_add(loss, weighted(out[1 + i], 5, 4.0f));
    }
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    check(in[0]->grad, e->dx, "the gradient of x");
    for (int i = 0; i < e->states; i++)
        check(in[1 + i]->grad, e->first[i], "the gradient of a first state");
    float sums[16];
    for (int p = 0; p < 16; p++) {
        Tensor *of = tensor_sum(tensor_abs(layer->parameters[p].tensor->grad), DIM_ALL, false);
        tensor_read_floats(of, &sums[p]);
    }
    harness_assert_close(sums, e->sums, 16, 4e-6, 8e-6, "gradients of parameters");
    scope_close(scope);
    for (int i = 0; i < 3; i++) tensor_free(in[i]);
    layer_free(layer);
}
END_TEST

START_TEST(states_that_are_left_out_are_zero) {
    const Expected *e = &expected[_i];
    Layer *layer = e->make(2, 3, recurrent_defaults());
    Tensor *x = made(SHAPE(4, 2, 2), 29, 31, 15, 16.0f),
           *zeros = tensor_full_new(SHAPE(1, 2, 3), 0);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *in[3] = {x, zeros, zeros}, *some[2] = {x, NULL}, *a[3], *b[3], *c[3];
    float values[3][24];
    layer_forward_each(layer, in, 1 + e->states, a, 1 + e->states);
    layer_forward_each(layer, in, 1, b, 1 + e->states);
    layer_forward_each(layer, some, 2, c, 1 + e->states);
    Tensor *y = layer_forward(layer, x);
    expect_no_error();
    for (int i = 0; i <= e->states; i++) {
        tensor_read_floats(a[i], values[0]);
        tensor_read_floats(b[i], values[1]);
        tensor_read_floats(c[i], values[2]);
        for (int k = 0; k < a[i]->numel; k++) {
            ck_assert(values[0][k] == values[1][k]);
            ck_assert(values[0][k] == values[2][k]);
        }
    }
    ck_assert(shape_equal(tensor_shape(y), SHAPE(4, 2, 3)));
    ck_assert(shape_equal(tensor_shape(a[1]), SHAPE(1, 2, 3)));
    scope_close(scope);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
    tensor_free(zeros);
    layer_free(layer);
}
END_TEST

// PyTorch's FlopCounterMode of nn.GRU(5, 7, 2, bidirectional) on (6, 3, 5): 49,896 and 88,704. It
// does not count an LSTM, which runs as one call on the CPU: an LSTM has four gates to a GRU's
// three, and a plain cell one.
START_TEST(costs_are_pytorchs_products) {
    RecurrentOptions options = recurrent_defaults();
    options.layers = 2;
    options.bidirectional = true;
    for (int k = 0; k < CELLS; k++) {
        uint64_t gates = k == 0 ? 4 : k == 1 ? 3 : 1;
        Layer *layer = expected[k].make(5, 7, options);
        Tensor *x = tensor_full_new(SHAPE(6, 3, 5), 0.5f);
        LayerCost cost;
        ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
        uint64_t backward = cost.phase[PHASE_BACKWARD].macs +
                            cost.phase[PHASE_BACKWARD_INPUT].macs +
                            cost.phase[PHASE_BACKWARD_WEIGHT].macs;
        ck_assert_uint_eq(2 * cost.phase[PHASE_FORWARD].macs, 49896 / 3 * gates);
        ck_assert_uint_eq(2 * backward, 88704 / 3 * gates);
        ck_assert_int_eq(cost.uncounted, 0);
        tensor_free(x);
        layer_free(layer);
    }
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
    Layer *lstm = lstm_new(3, 2, recurrent_defaults()), *gru = gru_new(3, 2, recurrent_defaults());
    Tensor *x = tensor_full_new(SHAPE(4, 2, 3), 0.5f),
           *wide = tensor_full_new(SHAPE(4, 2, 4), 0.5f),
           *none = tensor_full_new(SHAPE(0, 2, 3), 0.5f),
           *state = tensor_full_new(SHAPE(1, 3, 2), 0);
    Tensor *in[4] = {x, state, state, state}, *out[3];
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(lstm, wide));
    expect_error(STATUS_SHAPE, "LSTM of (4, 2, 4): x is not (steps, batch, 3)");
    ck_assert_ptr_null(layer_forward(gru, none));
    expect_error(STATUS_SHAPE, "at least one step");
    ck_assert_int_ne(layer_forward_each(lstm, in, 3, out, 3), STATUS_OK);
    expect_error(STATUS_SHAPE, "a state is (1, 3, 2), not (1, 2, 2)");
    ck_assert_int_ne(layer_forward_each(gru, in, 3, out, 2), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "GRU takes x and at most 1 states, got 3 inputs");
    ck_assert_int_ne(layer_forward_each(gru, in, 1, out, 3), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "GRU gives 2 results, not 3");
    for (int i = 0; i < 3; i++) ck_assert_ptr_null(out[i]);
    scope_close(scope);
    RecurrentOptions options = recurrent_defaults();
    ck_assert_ptr_null(lstm_new(0, 2, options));
    expect_error(STATUS_INVALID_ARGUMENT, "lstm_new: 0 -> 2, 1 layers");
    ck_assert_ptr_null(lstm_new(2, (int64_t)1 << 62, recurrent_defaults())); // 4 x 2^62 wraps to 0
    expect_error(STATUS_INVALID_ARGUMENT, "sizes are 1 to 2^31 - 1");
    options.layers = 65;
    ck_assert_ptr_null(gru_new(1, 2, options));
    expect_error(STATUS_INVALID_ARGUMENT, "layers 1 to 64");
    options.layers = 1;
    options.dropout = 1.5f;
    ck_assert_ptr_null(gru_new(1, 2, options));
    expect_error(STATUS_INVALID_ARGUMENT, "a dropout of 1.5");
    ck_assert_ptr_null(rnn_new(1, 0, options));
    expect_error(STATUS_INVALID_ARGUMENT, "rnn_new: 1 -> 0");
    tensor_free(x);
    tensor_free(wide);
    tensor_free(none);
    tensor_free(state);
    layer_free(lstm);
    layer_free(gru);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_stack_that_goes_both_ways_is_pytorchs, CELLS},
        {states_that_are_left_out_are_zero, CELLS},
        {costs_are_pytorchs_products, 0},
        {what_does_not_fit_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("recurrent", tests);
}

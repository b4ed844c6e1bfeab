// test_model_text_errors.c -- a broken model text leaves exactly one message, which names the
// place. test_model_text.c tests good texts.
#include <string.h>

#include "layers/files/model_text.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- refusals ---------------------------------------------------------------------------------
static const struct {
    const char *text, *mention;
    Status status;
} bad[] = {
    {"", "line 1, column 1: a layer is missing", STATUS_FORMAT},
    {"@ 3x4", "a layer is missing", STATUS_FORMAT},
    {"Linear", "lacks a size", STATUS_FORMAT},
    {"Linear(3", "a ) is missing", STATUS_FORMAT},
    {"Linear(3)", "lacks a size", STATUS_FORMAT},
    {"Linear(3,)", "an argument is missing", STATUS_FORMAT},
    {"Linear(out_features=3)", "lacks a size", STATUS_FORMAT},
    {"Linear(3,4,true,5)", "does not take", STATUS_FORMAT},
    {"Linear(3,4,biass=true)", "does not take", STATUS_FORMAT},
    {"Linear(3,out_features=4,false)", "does not take", STATUS_FORMAT},
    {"Linear(3,4,in_features=4)", "given before", STATUS_FORMAT},
    {"Linear(3,4,bias=1)", "does not fit", STATUS_FORMAT},
    {"Linear(3.0,4)", "does not fit", STATUS_FORMAT},
    {"Linear(1e3,4)", "does not fit", STATUS_FORMAT},
    {"Linear(0x10,4)", "does not fit", STATUS_FORMAT},
    {"Linear(nan,4)", "does not fit", STATUS_FORMAT},
    {"Linear(9007199254740993000,4)", "does not fit", STATUS_FORMAT},
    {"Linear(-1,4)", "at least 0", STATUS_INVALID_ARGUMENT},
    {"Linear(9007199254740992,9007199254740992)", "", STATUS_OVERFLOW},
    {"Conv2d(3,4,3,groups=2)", "", STATUS_INVALID_ARGUMENT},
    {"Dropout(inf)", "does not fit", STATUS_FORMAT},
    {"Dropout(2)", "not a probability", STATUS_INVALID_ARGUMENT},
    {"Linnear(3,4)", "line 1, column 1: unknown layer", STATUS_FORMAT},
    {"ReLU Linnear(3,4)", "line 1, column 6: unknown layer", STATUS_FORMAT},
    {"ReLU(3)", "does not take", STATUS_FORMAT},
    {"ReLU(,)", "an argument is missing", STATUS_FORMAT},
    {"Sequential", "a ( is missing", STATUS_FORMAT},
    {"Sequential(ReLU", "a layer is missing", STATUS_FORMAT},
    {"Sequential(ReLU))", "what is neither a layer nor a shape", STATUS_FORMAT},
    {"Conv2d(3,8)", "at least 1", STATUS_INVALID_ARGUMENT},
    {"Conv2d(3,8,kernel_h=3)", "at least 1", STATUS_INVALID_ARGUMENT},
    {"Conv2d(3,8,3,1,0,1,1,true,3)", "does not take", STATUS_FORMAT},
    {"Conv2d(3,8,3,kernel_h=3,kernel_h=3)", "given before", STATUS_FORMAT},
    {"Conv2d(3,8,3,padding_up=3)", "does not take", STATUS_FORMAT},
    {"MaxPool2d", "at least 1", STATUS_INVALID_ARGUMENT},
    {"MaxPool2d(3,1,0,2,3)", "does not take", STATUS_FORMAT},
    {"AvgPool2d(3,dilation_h=2)", "does not take", STATUS_FORMAT},
    {"Embedding(3)", "lacks a size", STATUS_FORMAT},
    {"Residual", "a ( is missing", STATUS_FORMAT},
    {"Residual(ReLU", "a layer is missing", STATUS_FORMAT},
    {"3", "a * is missing", STATUS_FORMAT},
    {"3*", "a layer is missing", STATUS_FORMAT},
    {"3ReLU", "no number of layers", STATUS_FORMAT},
    {"3 ReLU", "a * is missing", STATUS_FORMAT},
    {"0*ReLU", "no number of layers", STATUS_FORMAT},
    {"1.5*ReLU", "no number of layers", STATUS_FORMAT},
    {"9999999999*ReLU", "no number of layers", STATUS_FORMAT},
    {"3e300*ReLU", "no number of layers", STATUS_FORMAT},
    {"33333333333333333333333333333333*ReLU", "no number of layers", STATUS_FORMAT},
    {"1025*ReLU", "no number of layers", STATUS_FORMAT},
    {"1024*ReLU Tanh", "line 1, column 11: more than 1024 layers", STATUS_FORMAT},
    {"99*Sequential(99*Sequential(99*ReLU))", "more than 1024 layers", STATUS_FORMAT},
    {"2*Linnear(3,4)", "line 1, column 3: unknown layer", STATUS_FORMAT},
    {"ReLU 2*@ 3", "a layer is missing", STATUS_FORMAT},
    {"ReLU @", "no shape", STATUS_FORMAT},
    {"ReLU @ 3x", "no shape", STATUS_FORMAT},
    {"ReLU @ 1x2x3x4x5x6x7", "no shape", STATUS_FORMAT},
    {"ReLU @ -3", "no shape", STATUS_FORMAT},
    {"ReLU @ 99999999999999999999", "too large", STATUS_FORMAT},
    {"ReLU @ 3x4 ReLU", "what is neither a layer nor a shape", STATUS_FORMAT},
    {"ReLU thaw(0)", "neither tie nor freeze", STATUS_FORMAT},
    {"ReLU freeze(0)", "leads nowhere", STATUS_FORMAT},
    {"Linear(2,2) freeze(weights)", "leads nowhere", STATUS_FORMAT},
    {"Linear(2,2) ReLU tie(0.weight)", "a comma is missing", STATUS_FORMAT},
    {"Linear(2,2) ReLU tie(0.weight,1.weight)", "no parameter", STATUS_INVALID_ARGUMENT},
    {"Linear(2,2) Linear(2,3) tie(1.weight,0.weight)", "(2, 2)", STATUS_SHAPE},
    {"Linear(2,2) tie(0,0)", "no parameter", STATUS_INVALID_ARGUMENT},
    {"\n Linear(2,2)\n\tReLU ReLu", "line 3, column 7: unknown layer", STATUS_FORMAT},
    {"ReLU # Tanh\n@ 2 # x3\nx4", "line 3, column 1: what is neither", STATUS_FORMAT},
    {"a: ReLU a: Tanh", "line 1, column 9: ", STATUS_INVALID_ARGUMENT},
    {"ReLU 0: Tanh", "line 1, column 6: ", STATUS_INVALID_ARGUMENT},
    {"a.b: ReLU", "line 1, column 1: ", STATUS_INVALID_ARGUMENT},
    {"3*a: ReLU", "line 1, column 3: unknown layer", STATUS_FORMAT},
    {"a: 3*ReLU", "line 1, column 4: unknown layer", STATUS_FORMAT},
    {"a: b: ReLU", "line 1, column 4: unknown layer", STATUS_FORMAT},
    {"a:", "line 1, column 3: a layer is missing", STATUS_FORMAT},
    {"relu", "unknown layer", STATUS_FORMAT},
    {"Tanh relu", "a ( is missing", STATUS_FORMAT},
    {"Tanh Linear(-1,2)", "line 1, column 6: linear_new: sizes -1", STATUS_INVALID_ARGUMENT},
    {"Linear(2,2) Linear(2,3) tie(1.weight,0.weight)", "line 1, column 38: ", STATUS_SHAPE},
    {"Concat(1)", "a * is missing", STATUS_FORMAT},
    {"Concat(1,2; ReLU)", "does not take", STATUS_FORMAT},
    {"Concat(dim=x; ReLU)", "does not fit", STATUS_FORMAT},
    {"Sequential(2; ReLU)", "does not take", STATUS_FORMAT},
    {"Linear(2,2,activation=relu)", "does not fit", STATUS_FORMAT},
    {"Linear(2,2,true,ReLU)", "does not take", STATUS_FORMAT},
    {"LeakyReLU(1,2)", "does not take", STATUS_FORMAT},
    {"StochasticDepth", "line 1, column 1: a layer that lacks a size", STATUS_FORMAT},
    {"LayerScale(2,spatial=9007199254740992)", "dimensions", STATUS_INVALID_ARGUMENT},
    {"Upsample(2,mode=cubic)", "does not fit", STATUS_FORMAT},
    {"Upsample", "a size or a scale", STATUS_INVALID_ARGUMENT},
    {"PositionalEncoding(9007199254740992,9007199254740992)", "", STATUS_OVERFLOW},
};
enum { BAD = sizeof(bad) / sizeof(bad[0]) };

START_TEST(a_malformed_text_is_one_message_with_its_column) {
    Shape input;
    context_set_device(device_meta());
    ck_assert_ptr_null(model_text_read(bad[_i].text, &input));
    ck_assert_int_eq(input.ndim, 0);
    expect_error(bad[_i].status, bad[_i].mention);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(nothing_is_no_text) {
    Shape input;
    ck_assert_ptr_null(model_text_read(NULL, &input));
    expect_error(STATUS_INVALID_ARGUMENT, "no text");
    ck_assert_ptr_null(model_text_read_file(NULL, &input));
    expect_error(STATUS_INVALID_ARGUMENT, "no path");
    error_set(STATUS_STATE, "an earlier one");
    ck_assert_ptr_null(model_text_read("ReLU", &input));
    expect_error(STATUS_STATE, "an earlier one");
}
END_TEST

START_TEST(nesting_without_end_is_refused) {
    char text[12 * 4096] = "";
    Shape input;
    for (int i = 0; i < 4096; i++) memcpy(text + 11 * i, "Sequential(", 12);
    ck_assert_ptr_null(model_text_read(text, &input));
    expect_error(STATUS_FORMAT, "too deep nesting");
}
END_TEST

START_TEST(every_failing_allocation_is_survived) {
    static const char text[] =
        "Sequential(Linear(3,4) Tanh) PReLU(4) 2*Residual(Linear(4,4)) Linear(4,3) "
        "tie(4.bias,4.bias) freeze(0) @ 5x3";
    Shape input;
    int failures = 0;
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        Layer *model = model_text_read(text, &input);
        memory_fail_at(0);
        if (model) {
            layer_free(model);
            break;
        }
        expect_error(STATUS_OUT_OF_MEMORY, "");
        failures++;
    }
    ck_assert_int_gt(failures, 20);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- random texts -----------------------------------------------------------------------------
static uint64_t noise(uint64_t *state) { // splitmix64 (Steele et al. 2014)
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Changes, doubles or cuts out bytes of a good text, and swaps pieces in.
static void distort(char *text, size_t room, uint64_t *state) {
    static const char alphabet[] = "(),=@x. 0129-eLRS\x80\n";
    for (uint64_t n = 1 + noise(state) % 3; n > 0; n--) {
        size_t length = strlen(text);
        if (length == 0) return;
        size_t at = noise(state) % length, from = noise(state) % length;
        size_t some = noise(state) % 9;
        if (from + some > length) some = length - from;
        switch (noise(state) % 3) {
        case 0:
            text[at] = alphabet[noise(state) % (sizeof(alphabet) - 1)];
            break;
        case 1:
            memmove(text + from, text + from + some, length - from - some + 1);
            break;
        case 2:
            if (length + some + 1 > room) break;
            memmove(text + at + some, text + at, length - at + 1);
            memmove(text + at, text + (from >= at ? from + some : from), some);
            break;
        }
    }
}

static const char *const seeds[] = {
    "Linear(784,512) ReLU Linear(512,10,bias=false) @ 64x784",
    "Sequential(Linear(4,4) Tanh) Linear(4,2) freeze(0) @ 3x4",
    "Linear(8,8) Linear(8,8) tie(1.weight,0.weight) freeze(0.bias) @ 7x8",
    "Sequential(Sequential(Dropout(0.5) PReLU(5)) GELU) @ 1x2x3x4x5x5",
    "Conv2d(3,16,3,stride=2,padding=1,groups=1) MaxPool2d(2) Flatten LayerNorm(9) @ 1x3x9x9",
    ("Conv2d(3,5,3,kernel_w=5,stride_h=2,padding_left=1,dilation_w=2) AvgPool2d(kernel_h=2,"
     "kernel_w=3,stride_w=1) MaxPool2d(3,padding_top=1,dilation_h=2) @ 1x3x19x29"),
    "2*Linear(3,3) Residual(3*Sequential(Linear(3,3)) ReLU6) tie(1.bias,0.bias) @ 5x3",
    "Embedding(9,4) Linear(4,9,bias=false) tie(1.weight,0.weight)",
    "# of many lines\nconv: Conv2d(1,2,3)\nConcat(1; Identity head: Sequential(Tanh))\n@ 1x1x5x5"};

// Expects a model, or NULL and one message, and no memory left.
static bool try_text(const char *text) {
    Shape input;
    Layer *model = model_text_read(text, &input);
    bool made = model != NULL;
    ck_assert_msg(made == !error_pending(), "%s", text);
    ck_assert(made || (input.ndim == 0 && error_message()[0]));
    layer_free(model);
    error_clear();
    ck_assert_msg(expect_live_bytes() == 0, "%s", text);
    return made;
}

START_TEST(a_text_may_end_anywhere) {
    context_set_device(device_meta());
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        char text[256];
        ck_assert(try_text(seeds[i]));
        for (size_t length = 0; length < strlen(seeds[i]); length++) {
            snprintf(text, sizeof(text), "%.*s", (int)length, seeds[i]);
            try_text(text);
        }
    }
}
END_TEST

START_TEST(any_text_gives_a_model_or_one_message) {
    uint64_t state = (uint64_t)_i;
    int models = 0, messages = 0;
    context_set_device(device_meta());
    for (int n = 0; n < 5000; n++) {
        char text[256];
        strcpy(text, seeds[noise(&state) % (sizeof(seeds) / sizeof(seeds[0]))]);
        distort(text, sizeof(text), &state);
        ++*(try_text(text) ? &models : &messages);
    }
    ck_assert_int_gt(models, 200);
    ck_assert_int_gt(messages, 200);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_malformed_text_is_one_message_with_its_column, BAD},
        {nothing_is_no_text, 0},
        {nesting_without_end_is_refused, 0},
        {every_failing_allocation_is_survived, 0},
        {a_text_may_end_anywhere, 0},
        {any_text_gives_a_model_or_one_message, 4},
        {NULL, 0},
    };
    return harness_main("model_text_errors", tests);
}

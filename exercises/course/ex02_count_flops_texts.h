// ex02_count_flops_texts.h -- the named models of exercise 02: each reveals a mistake that few
// models before it reveal. Only the cases of exercise 02 include this file.
#ifndef EXERCISES_COURSE_EX02_COUNT_FLOPS_TEXTS_H
#define EXERCISES_COURSE_EX02_COUNT_FLOPS_TEXTS_H

// The batch is not in the result.
static const char *const batch_texts[] = {"Linear(512,512) @ 64x512", "Linear(128,64) @ 32x128"};

// Kinds of layers, and trees of them.
static const char *const chain_texts[] = {
    "Linear(128,64) Linear(64,10) @ 1x128",
    "Linear(4,3) ReLU Linear(3,2) @ 1x4",
    "Sequential(Linear(13,13) Tanh) Linear(13,7) @ 5x13",
    "ReLU @ 3x29",
    "Sigmoid @ 3x31",
    "Tanh @ 5x37",
    "GELU @ 7x41",
    "Linear(9,7,bias=false) Dropout(0.5) Linear(7,5,bias=false) @ 3x9",
    "Sequential() Linear(7,5) Sequential(Sequential()) @ 3x7",
    ("Sequential(Sequential(Sequential(Sequential(Linear(5,7)) ReLU) Linear(7,3)) Tanh) "
     "Linear(3,11) @ 3x5"),
    "20*Linear(9,9) Linear(9,2) @ 3x9",
    ("Sequential(Sequential(Sequential(Sequential(Sequential(Sequential(Sequential(Sequential("
     "Sequential(Sequential(Sequential(Sequential(Sequential(Tanh))))))))))))) @ 3x5"),
    "Linear(9,9) Tanh Linear(9,9) tie(2.weight,0.weight) freeze(0) @ 3x9"};

// Samples with several rows.
static const char *const rows_texts[] = {"Linear(4,3) @ 7x5x4", "Linear(4,3) @ 2x5x7x4",
                                         "Linear(4,3) @ 2x3x5x7x11x4",
                                         "Linear(9,7) Tanh Linear(7,5) @ 3x11x9",
                                         "Sigmoid @ 3x5x7x11x2"};

// Counts beyond 32 bits, for each kind of layer and for the sum; then beyond a double's 53 bits.
static const char *const wide_texts[] = {"Linear(50000,50000) @ 1x50000",
                                         "Linear(1000,1000) @ 1x7000x1000",
                                         "ReLU @ 1x60001x80001",
                                         "3*Linear(30001,30001) @ 1x30001",
                                         "Linear(3,70001) @ 1x70001x3",
                                         "Flatten ReLU Tanh @ 1x3x40001x40003",
                                         "Linear(100000001,100000003) @ 1x100000001"};

// The first model's sizes all differ, so that a forgotten size shows. Later ones differ in height
// and width, top and bottom, left and right, one by one; in the last ones the kernel just fits.
static const char *const conv_texts[] = {
    "Conv2d(3,7,5,stride=2) @ 1x3x18x21",
    "Conv2d(3,16,3) @ 1x3x32x32",
    "Conv2d(3,64,7,stride=2) @ 1x3x224x224",
    "Conv2d(3,10,3,padding=3) @ 1x3x28x28",
    "Conv2d(6,15,5,padding=1,groups=3) @ 2x6x17x19",
    "Conv2d(5,7,3,stride=3,padding=2,dilation=2) @ 3x5x23x21",
    "Conv2d(5,7,kernel_h=3,kernel_w=5) @ 2x5x17x19",
    "Conv2d(5,7,kernel_h=5,kernel_w=1) @ 2x5x17x23",
    "Conv2d(5,7,3,stride_h=2,stride_w=3) @ 2x5x17x31",
    "Conv2d(5,7,3,padding_h=2,padding_w=4) @ 2x5x17x29",
    "Conv2d(5,7,5,padding_top=1,padding_bottom=3) @ 2x5x17x31",
    "Conv2d(5,7,5,padding_left=4,padding_right=1) @ 2x5x17x31",
    "Conv2d(5,7,3,dilation_h=2,dilation_w=4) @ 2x5x17x31",
    ("Conv2d(6,9,kernel_h=3,kernel_w=2,stride_h=2,stride_w=3,padding_top=1,padding_right=4,"
     "dilation_h=2,dilation_w=5,groups=3) @ 2x6x23x38"),
    "Conv2d(6,12,3,groups=6) @ 2x6x13x17",
    "Conv2d(4,6,1) @ 2x4x5x7",
    "Conv2d(61,67,5,stride=2) @ 1x61x4002x4005", // a count beyond 32 bits; next: weights alone
    "Conv2d(70001,70003,1) @ 1x70001x5x7",
    "Conv2d(2,3,5) @ 1x2x5x5",
    "Conv2d(2,3,5,padding=2) @ 1x2x1x3"};

// A layer's output shape shows in the cost of the next layer.
static const char *const shapes_texts[] = {
    "Conv2d(1,2,3) Conv2d(2,3,3) @ 1x1x8x8",
    "MaxPool2d(2) @ 2x3x6x8",
    "AvgPool2d(2) ReLU @ 2x3x6x10",
    "Flatten @ 2x3x5x7",
    "Flatten Linear(105,4) @ 2x3x5x7",
    "Flatten ReLU @ 2x3x5x7",
    "MaxPool2d(5,stride=2) ReLU @ 2x3x17x23",
    "MaxPool2d(3,stride=2) Tanh @ 2x3x18x24",
    "AvgPool2d(kernel_h=4,kernel_w=6,stride_h=3,stride_w=1,padding_top=1,padding_left=3) GELU "
    "@ 2x3x17x31",
    "MaxPool2d(5,stride_h=1,stride_w=4,padding_bottom=2,padding_right=1,dilation_h=3) Sigmoid "
    "@ 2x3x19x37",
    ("AvgPool2d(kernel_h=4,kernel_w=6,stride=1,padding_top=1,padding_left=3,padding_right=2) ReLU "
     "@ 2x3x17x31"),
    ("MaxPool2d(5,stride=1,padding_bottom=2,padding_right=1,dilation_h=3,dilation_w=2) Tanh "
     "@ 2x3x19x37"),
    "Conv2d(2,3,kernel_h=3,kernel_w=1) Conv2d(3,4,kernel_h=1,kernel_w=5,stride_w=2) ReLU "
    "@ 2x2x9x14",
    "Conv2d(3,5,3,stride=2,padding=1) AvgPool2d(2) Conv2d(5,7,3) Flatten Linear(63,10) "
    "@ 2x3x19x19",
    "Conv2d(2,3,3) Linear(7,5) @ 2x2x6x9"};

// A model that the function must refuse, and the mistake that accepts it.
typedef struct WrongText {
    const char *text, *mistake; // the mistake returns STATUS_OK
} WrongText;

static const WrongText unknown[] = {
    {"Mystery(5) @ 3x5", "unknown_is_zero"},
    {"Linear(4,5) Sequential(Mystery(5) ReLU) Linear(5,2) @ 3x4", "unknown_is_zero"},
    {"LayerNorm(7) @ 2x7", "unknown_is_zero"},
    {"Linear(4,5) Mystery(5) @ 3x4", "unknown_is_zero"},
    {"Residual(Linear(5,5) ReLU) @ 3x5", "unknown_container"},
    {"Linear(5,5) Residual() @ 3x5", "unknown_container"},
    {"Sequential(Sequential(Tanh Residual(Sequential(Linear(5,5))))) @ 2x5", "unknown_container"},
    {"ReLU6 @ 2x3", "name_in_part"},
    {"LinearGated(4,5) @ 3x4", "name_in_part"},
    {"AdaptiveAvgPool2d(2,3) @ 2x3x8x9", "name_in_part"},
};

// The last three models only fit because -1 / 2 is 0 in C.
static const WrongText wrong[] = {
    {"Linear(10,5) @ 4x7", "shape_unchecked"},
    {"Linear(6,4) ReLU Linear(5,2) @ 2x6", "shape_unchecked"},
    {"Conv2d(3,8,3) @ 1x4x9x9", "shape_unchecked"},
    {"Conv2d(3,8,3) @ 1x3x9", "shape_unchecked"},
    {"Conv2d(3,8,3) @ 1x3x9x9x9", "shape_unchecked"},
    {"Conv2d(3,8,7,padding=1) @ 1x3x4x9", "shape_unchecked"},
    {"Conv2d(3,8,kernel_h=1,kernel_w=7) @ 1x3x9x6", "shape_unchecked"},
    {"Conv2d(3,8,3,dilation=4) @ 1x3x9x8", "shape_unchecked"},
    {"AvgPool2d(2) @ 4x9", "shape_unchecked"},
    {"MaxPool2d(2) @ 4x9x8", "shape_unchecked"},
    {"MaxPool2d(4,stride=1) @ 1x2x3x9", "shape_unchecked"},
    {"Linear(5,3) @ 5x4", "shape_unchecked"},
    {"Linear(5,3) @ 2x5x4", "shape_unchecked"},
    {"Sequential(Linear(6,4) Sequential(Linear(4,5) Linear(4,2))) @ 2x6", "shape_unchecked"},
    {"Flatten Linear(30,2) @ 2x3x5x1", "shape_unchecked"},
    {"Linear(105,4) @ 2x3x5x7", "shape_unchecked"},
    {"Conv2d(4,8,3,groups=4) @ 1x1x9x9", "shape_unchecked"},
    {"Conv2d(2,8,3) @ 1x4x9x9", "shape_unchecked"},
    {"Conv2d(3,8,3,padding=2) @ 2x3x9", "shape_unchecked"},
    {"MaxPool2d(2,padding=1) @ 4x9x8", "shape_unchecked"},
    {"AvgPool2d(2) @ 1x3x9x9x9", "shape_unchecked"},
    {"MaxPool2d(5) @ 1x2x9x4", "room_truncated"},
    {"Conv2d(2,3,4,stride=2) @ 1x2x3x9", "room_truncated"},
    {"Conv2d(3,8,3,stride=2,dilation=4) @ 1x3x9x8", "room_truncated"},
};

enum { UNKNOWN = sizeof unknown / sizeof unknown[0], WRONG = sizeof wrong / sizeof wrong[0] };

#endif

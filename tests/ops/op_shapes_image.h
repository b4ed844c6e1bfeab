// op_shapes_image.h -- internal to op_cases.c: lists like those of op_shapes.h for the ops on
// images: convolutions and pools.
#ifndef TESTS_OPS_OP_SHAPES_IMAGE_H
#define TESTS_OPS_OP_SHAPES_IMAGE_H

#include <stddef.h>

// Images, weights and maybe biases. Every list of options in op_cases.c fits x.
static const char *const convolved[] = {
    "(1, 1, 1, 1) (1, 1, 1, 1) (1)",
    "(1, 2, 4, 4) (2, 2, 2, 2) (2)",
    "(2, 3, 5, 7) (4, 3, 3, 3) (4)",
    "(1, 1, 17, 9) (3, 1, 5, 3)",
    "(2, 3, 5, 5) (4, 3, 1, 1) (4)",
    "(3, 17, 1, 33) (3, 17, 1, 3)",
    "(2, 5, 3, 3) (3, 5, 3, 3) (3)",
    "(1, 64, 9, 9) (3, 64, 3, 3) (3)",
    "transposed (2, 3, 5, 4) stepped (2, 3, 3, 2) stepped (2)",
    "expanded (2, 2, 5, 4) (2, 2, 3, 2) expanded (2)",
    "(0, 3, 5, 5) (4, 3, 3, 3) (4)",
    "(2, 3, 5, 5) (0, 3, 3, 3) (0)",
    "(2, 0, 5, 5) (3, 0, 3, 3) (3)",
    "(1, 3, 3, 3) same",
    "(2, 600, 3, 3) (9, 600, 3, 3) (9)", // products of long vectors, whose rounding adds up
    "(2, 3, 33, 33) (1, 3, 3, 3)",
    "(3, 3, 33, 33) (17, 3, 3, 3) (17)",
    NULL,
};
static const char *const convolved_widely[] = {
    "(1, 2, 4, 4) (2, 2, 2, 2) (2)",     "(2, 3, 7, 9) (4, 3, 3, 3) (4)",
    "(1, 1, 17, 33) (3, 1, 5, 3)",       "(2, 3, 5, 5) (4, 3, 1, 1) (4)",
    "(2, 3, 3, 5) (4, 3, 3, 3)",         "(0, 3, 7, 7) (4, 3, 3, 3) (4)",
    "(2, 17, 33, 33) (9, 17, 3, 5) (9)", NULL,
};
static const char *const convolved_in_groups[] = {
    // two groups
    "(1, 4, 3, 3) (2, 2, 2, 2) (2)",
    "(2, 6, 5, 7) (4, 3, 3, 3) (4)",
    "(3, 4, 5, 5) (6, 2, 1, 1)",
    "(2, 2, 5, 5) (6, 1, 3, 3) (6)",
    "(0, 4, 5, 5) (2, 2, 3, 3)",
    "(2, 34, 17, 17) (32, 17, 3, 3) (32)",
    NULL,
};
static const char *const convolved_apart[] = {
    // three groups
    "(1, 3, 4, 4) (3, 1, 2, 2) (3)",
    "(2, 3, 5, 7) (3, 1, 3, 3) (3)",
    "(2, 3, 5, 7) (6, 1, 3, 2)",
    "(0, 3, 5, 5) (3, 1, 3, 3)",
    "(4, 3, 33, 65) (6, 1, 3, 3) (6)",
    "(1, 3, 3, 600) (3, 1, 2, 19) (3)",
    NULL,
};
// The taps of a depthwise kernel lie so far apart that the kernel unfolds x as for any convolution.
static const char *const convolved_far_apart[] = {"(2, 3, 15, 620) (3, 1, 15, 2) (3)", NULL};
// Images, and weights (channels, outputs of a group, kernel), of a transposed convolution.
static const char *const transposed[] = {
    "(1, 1, 1, 1) (1, 1, 2, 3) (1)",
    "(1, 2, 2, 3) (2, 2, 2, 3) (2)",
    "(2, 3, 5, 7) (3, 4, 3, 3) (4)",
    "(2, 3, 5, 5) (3, 4, 1, 2)",
    "(3, 17, 1, 33) (17, 3, 2, 3) (3)",
    "transposed (2, 3, 5, 4) stepped (3, 2, 3, 2) stepped (2)",
    "expanded (2, 2, 5, 4) (2, 2, 3, 2) expanded (2)",
    "(0, 3, 5, 5) (3, 4, 3, 3) (4)",
    "(2, 3, 5, 5) (3, 0, 3, 3) (0)",
    "(2, 0, 5, 5) (0, 3, 3, 3) (3)",
    "(3, 3, 2, 3) same",
    "(2, 257, 3, 3) (257, 9, 3, 3) (9)",
    "(3, 3, 17, 33) (3, 17, 3, 3) (17)",
    NULL,
};
static const char *const transposed_plain[] = {
    "(1, 1, 1, 1) (1, 1, 1, 1) (1)",
    "(2, 3, 5, 5) (3, 4, 1, 1) (4)",
    "(2, 3, 5, 5) (3, 4, 1, 1)",
    "(2, 0, 5, 5) (0, 4, 1, 1) (4)",
    NULL,
};
static const char *const transposed_in_groups[] = {
    // two groups
    "(1, 4, 3, 3) (4, 1, 2, 2) (2)",
    "(2, 6, 5, 7) (6, 2, 3, 3) (4)",
    "(3, 4, 5, 5) (4, 3, 2, 2)",
    "(2, 34, 9, 17) (34, 16, 3, 3) (32)",
    NULL,
};
static const char *const transposed_apart[] = {
    // three groups
    "(1, 3, 4, 4) (3, 1, 2, 2) (3)",
    "(2, 6, 5, 7) (6, 1, 3, 3) (3)",
    "(0, 3, 5, 5) (3, 1, 3, 3)",
    "(2, 3, 33, 65) (3, 1, 3, 3) (3)",
    NULL,
};
static const char *const sequences[] = {
    "(1, 1, 2) (1, 1, 3) (1)",
    "(2, 3, 17) (4, 3, 5) (4)",
    "(2, 3, 33) (2, 3, 1)",
    "transposed (2, 3, 5) stepped (2, 3, 2) (2)",
    "(0, 3, 5) (4, 3, 3)",
    "(1, 2, 257) (3, 2, 3)",
    NULL,
};
static const char *const sequences_back[] = {
    "(1, 1, 1) (1, 1, 3) (1)", "(2, 3, 17) (3, 4, 5) (4)",
    "(2, 3, 33) (3, 2, 2)",    "transposed (2, 3, 5) stepped (3, 2, 2) (2)",
    "(0, 3, 5) (3, 4, 3)",     NULL,
};
static const char *const pooled_sequences[] = {
    "(1, 1, 3)", "(2, 3, 17)", "transposed (2, 3, 5)", "(0, 3, 5)", "(1, 2, 257)", NULL,
};
static const char *const padded_any[] = {
    "()",        "(1)",
    "(3)",       "(0)",
    "(3, 4)",    "transposed (2, 3, 4)",
    "(2, 0, 3)", "(2, 1, 3, 2)",
    "(33, 17)",  "stepped (2, 257)",
    NULL,
};
static const char *const padded_images[] = {
    "(1, 2, 3, 4)", "(2, 1, 5, 6)",   "transposed (1, 2, 3, 5)",
    "(0, 2, 3, 4)", "(3, 2, 17, 33)", "expanded (2, 2, 3, 4)",
    NULL,
};
static const char *const padded_whole[] = {
    "(1, 1, 1, 1)", "(2, 1, 3, 4)", "(3, 2, 1, 5)", "(2, 3, 5, 17)", NULL,
};
static const char *const padded_lines[] = {"(4)", "(17)", "(257)", NULL};
static const char *const resized[] = {
    "(1, 1, 1, 1)", "(1, 2, 3, 4)",   "(2, 1, 2, 5)", "transposed (1, 2, 3, 5)",
    "(0, 2, 3, 4)", "(2, 3, 17, 33)", NULL,
};
static const char *const resized_long[] = {"(1, 2, 2, 3000)", "(2, 1, 1, 17)", NULL};
static const char *const resized_sequences[] = {"(1, 2, 4)", "transposed (2, 3, 5)", NULL};
static const char *const flipped[] = {
    "(1, 1)",         "(3, 4)",          "transposed (3, 5)",
    "stepped (2, 3)", "expanded (3, 4)", "(0, 3)",
    "(33, 17)",       "(3, 257)",        NULL,
};
static const char *const numbered_rows[] = {"labels (3, 4)", "labels (2, 17)", NULL};
static const char *const shuffled[] = {
    "(1, 4, 1, 1)", "(2, 8, 3, 2)", "(0, 4, 3, 3)", "(2, 12, 5, 17)", NULL,
};
static const char *const unshuffled[] = {"(1, 1, 3, 3)", "(2, 2, 3, 6)", "(2, 3, 9, 33)", NULL};
static const char *const pooled[] = {
    "(1, 1, 2, 2)", "(1, 2, 5, 4)", "(2, 3, 5, 7)",   "(1, 3, 17, 33)",  "transposed (1, 2, 5, 4)",
    "(0, 3, 5, 5)", "(2, 0, 5, 5)", "(1, 1, 3, 600)", "(2, 17, 33, 65)", NULL,
};
static const char *const pooled_widely[] = {
    // room for a dilated kernel
    "(1, 1, 3, 5)", "(2, 3, 5, 7)", "(1, 3, 17, 33)", "(0, 3, 5, 5)", "(2, 17, 33, 65)", NULL,
};
static const char *const shared_out[] = {
    "(1, 1, 1, 1)",    "(1, 2, 5, 4)", "(2, 3, 7, 17)", "transposed (1, 2, 5, 4)", "(0, 3, 5, 5)",
    "(3, 17, 33, 33)", NULL,
};

#endif

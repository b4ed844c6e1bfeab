// op_shapes.h -- internal to op_cases.c: the lists of inputs that families of op cases run over.
// op_inputs.c turns text such as "transposed (3, 4) positive (4)" into tensors. Some shapes are
// large because kernels split their work over threads only from that size on.
#ifndef TESTS_OPS_OP_SHAPES_H
#define TESTS_OPS_OP_SHAPES_H

#include <stddef.h>

static const char *const one[] = {
    "()",
    "(1)",
    "(3)",
    "(17)",
    "(257)",
    "(0)",
    "(0, 3)",
    "(33, 17)",
    "(2, 3, 1, 5)",
    "transposed (3, 5)",
    "stepped (3, 4)",
    "expanded (3, 4)",
    "(300, 257)",
    NULL,
};
static const char *const strided[] = {"transposed (3, 5)", "stepped (3, 4)",
                                      "expanded (3, 4)",   "transposed (2, 33, 17)",
                                      "expanded (0, 3)",   NULL};
static const char *const pair[] = {
    "() ()",
    "(3) (3)",
    "(257) (257)",
    "(3, 1) (1, 4)",
    "(17) (33, 17)",
    "(33, 17) ()",
    "(1) (3)",
    "(0, 3) (3)",
    "(0, 3) (1, 3)",
    "(0) (1)",
    "(2, 1, 3) (4, 1)",
    "(3, 4) same",
    "transposed (5, 3) (5, 3)",
    "stepped (4, 3) expanded (4, 3)",
    "transposed (17, 33) (33)",
    "expanded (2, 3) expanded (2, 3)",
    "(300, 257) (257)",
    NULL,
};
static const char *const wholes[] = {
    "whole () whole ()",
    "whole (3) whole (3)",
    "whole (3, 1) whole (1, 4)",
    "whole (17) whole (33, 17)",
    "whole (33, 17) whole ()",
    "whole (0, 3) whole (3)",
    "transposed whole (5, 3) whole (5, 3)",
    "stepped whole (4, 3) expanded whole (4, 3)",
    "whole (3, 4) same",
    "whole (300, 257) whole (257)",
    NULL,
};
static const char *const whole[] = {"whole ()", "whole (257)", "whole (0)", "stepped whole (3, 4)",
                                    NULL};
static const char *const ranked[] = {"(3, 17)", "(2, 5)",    "(3, 5, 5)", "transposed (5, 5)",
                                     "(0, 5)",  "(7, 5001)", NULL};
static const char *const ranked_equals[] = {"condition (5, 33)", NULL}; // NaN included
static const char *const few_pairs[] = {"(3, 1) (1, 4)", "(3) (3)", NULL};
// a, b and the condition (where); x and the condition (masked_fill); the condition alone
static const char *const chosen[] = {
    "() () condition ()",
    "(3) (3) condition (3)",
    "(257) (257) condition (257)",
    "(3, 1) (1, 4) condition (3, 4)",
    "(17) (33, 17) condition (33, 1)",
    "(33, 17) () condition (17)",
    "() (1) condition (33, 17)",
    "(1) (3) condition ()",
    "(0, 3) (3) condition (1, 3)",
    "(0) (1) condition (0)",
    "(1) (1) condition (0, 3)",
    "(2, 1, 3) (4, 1) condition (2, 1, 1, 1)",
    "(3, 4) same condition (3, 4)",
    "transposed (5, 3) (5, 3) condition (3)",
    "stepped (4, 3) expanded (4, 3) transposed condition (4, 3)",
    "(3) (3) expanded condition (2, 3)",
    "(300, 257) (257) condition (300, 1)",
    NULL,
};
static const char *const masked[] = {
    "() condition ()",
    "(3) condition (3)",
    "(257) condition (257)",
    "(3, 1) condition (4)",
    "(0, 3) condition (3)",
    "stepped (4, 3) condition (4, 1)",
    "(2, 3, 17, 17) condition (17, 17)",
    "(300, 257) condition (300, 257)",
    NULL,
};
static const char *const conditions[] = {
    "condition ()",       "condition (0)",    "transposed condition (3, 5)",
    "condition (33, 17)", "condition (3, 1)", NULL,
};
static const char *const attended[] = {
    "(3, 3) condition (3, 3)",
    "(2, 5, 4) condition (5, 4)",
    "(2, 3, 17, 17) condition (17, 17)",
    NULL,
};
static const char *const matrices[] = {
    "(1, 1)",         "(3, 3)",
    "(3, 17)",        "(17, 3)",
    "(2, 3, 4)",      "(2, 1, 33, 17)",
    "(0, 3)",         "(3, 0)",
    "(0, 3, 4)",      "transposed (3, 5)",
    "stepped (3, 4)", "expanded (2, 3, 4)",
    "(300, 257)",     NULL,
};
static const char *const cube[] = {
    "(3, 17, 5)",         "(2, 3, 4)",         "(1, 1, 1)",     "transposed (2, 3, 4)",
    "expanded (2, 3, 4)", "stepped (2, 3, 4)", "(130, 4, 150)", NULL,
};
static const char *const hollow_cube[] = {"(2, 0, 3)", "(0, 2, 3)", "(0, 0, 0)", NULL};
static const char *const rows_long[] = {"(3, 2)", "(17, 33)", "(2, 5001)", "(301, 0)", NULL};
static const char *const line[] = {"()", "(1)", "(257)", "(3, 4)", "(300, 257)", NULL};
static const char *const products[] = {
    "(1, 1) (1, 1)",
    "(3, 4) (4, 5)",
    "(17, 33) (33, 3)",
    "(1, 257) (257, 1)",
    "(257, 33) (33, 33)",
    "(33, 33) (33, 257)",
    "(3, 1) (1, 4)",
    "transposed (3, 1) transposed (1, 4)",
    "transposed (17, 33) (33, 17)",
    "(17, 33) transposed (33, 17)",
    "transposed (17, 33) transposed (33, 17)",
    "(3, 4) transposed (4, 5)",
    "transposed (3, 4) transposed (4, 5)",
    "stepped (3, 4) (4, 2)",
    "stepped (0, 4) (4, 2)",
    "expanded (3, 4) (4, 2)",
    "(3, 4) expanded (4, 2)",
    "(3, 3) same",
    "(2, 3, 4) (2, 4, 2)",
    "(2, 3, 4) (4, 5)",
    "(3, 4) (2, 4, 1)",
    "(2, 1, 3, 4) (3, 4, 2)",
    "transposed (2, 3, 4) transposed (2, 4, 2)",
    "(3, 0) (0, 4)",
    "(0, 3) (3, 4)",
    "(0, 2, 3) (3, 4)",
    "(4) (4)",
    "(257) same",
    "(3, 4) (4)",
    "stepped (4) transposed (4, 3)",
    "(2, 3, 4) (4)",
    "(4) (2, 1, 4, 3)",
    "(0) (0, 3)",
    NULL,
};
static const char *const tall[] = {"(2, 1)", "(3, 4)", "transposed (17, 3)", "(33, 257)", NULL};
static const char *const numbered[] = {
    "labels (1)", "labels (17)", "labels (2, 3, 5)", "labels (3, 0)", "labels (33, 257)", NULL,
};
static const char *const channelled[] = {
    "() (1)",
    "(17) (1)",
    "(3, 5) (5)",
    "(3, 5) (1)",
    "(3, 1) (1)",
    "(2, 3, 5) (3)",
    "transposed (2, 4, 3) (4)",
    "expanded (2, 3, 1, 5) stepped (3)",
    "(0, 3) (3)",
    "(3, 2, 0) (2)",
    "(17, 33, 130) (33)",
    "(300, 257) (257)",
    NULL,
};
static const char *const gated[] = {"(4, 6, 2)", "(2, 2, 34)", "transposed (2, 4, 6)", "(2, 0, 4)",
                                    NULL};
static const char *const few[] = {"(2, 3)", "(33, 257)", "(0, 3)", NULL};
static const char *const few_lines[] = {"()", "(5)", NULL};
static const char *const few_layers[] = {"(17, 33) (3, 33) (3)", "(2, 3, 5) (2, 5)",
                                         "(0, 5) (4, 5) (4)", NULL};
static const char *const layers[] = {
    "(1, 1) (1, 1) (1)",
    "(3, 5) (4, 5) (4)",
    "(3, 5) (4, 5)",
    "(17, 33) (3, 33) (3)",
    "(257, 33) (33, 33) (33)",
    "(3, 1) (4, 1) (4)",
    "(1, 257) (17, 257) (17)",
    "(2, 3, 5) (4, 5) (4)",
    "(2, 1, 5) (3, 5)",
    "(5) (4, 5) (4)",
    "transposed (3, 5) transposed (4, 5) (4)",
    "stepped (3, 4) (2, 4) stepped (2)",
    "expanded (3, 4) (2, 4) (2)",
    "(0, 5) (4, 5) (4)",
    "(3, 0) (4, 0) (4)",
    NULL,
};
// Labels are below the table's last size, so the table needs at least as many rows.
static const char *const embedded[] = {
    "(3, 3) labels (4)",
    "(5, 3) labels (2, 3)",
    "(1, 1) labels (1)",
    "(17, 3) labels ()",
    "(33, 17) labels (3, 1, 5)",
    "(3, 2) labels (257)",
    "transposed (5, 4) labels (2, 3)",
    "(5, 4) transposed labels (3, 2)",
    "(5, 4) expanded labels (3, 2)",
    "stepped (5, 4) stepped labels (3)",
    "(5, 3) labels (0)",
    "(5, 3) labels (2, 0)",
    "(300, 257) labels (500)",
    "(300, 36) labels (33, 60)",
    NULL,
};
static const char *const classified[] = {
    "(3, 4) labels (3)",         "(17, 10) labels (17)",
    "(1, 3) labels (1)",         "(3, 1) labels (3)",
    "(70, 257) labels (70)",     "(2, 5000) labels (2)",
    "(0, 10) labels (0)",        "transposed (4, 3) labels (4)",
    "stepped (4, 3) labels (4)", NULL,
};
static const char *const weighed[] = {
    "(3, 4) labels (3)",
    "(17, 10) labels (17)",
    "(1, 3) labels (1)",
    "(3, 1) labels (3)",
    "(33, 257) labels (33)",
    "(0, 10) labels (0)",
    "transposed (4, 3) labels (4)",
    NULL,
};
// Some rows have a label other than 0.
static const char *const weighed_partly[] = {
    "(6, 5) labels (6)",  "(17, 10) labels (17)",      "(33, 257) labels (33)",
    "(0, 10) labels (0)", "stepped (7, 3) labels (7)", NULL,
};
// No difference is near 0 or near the kink of huber, if there are few elements.
static const char *const apart[] = {
    "distinct () state ()",
    "distinct (3) state (3)",
    "distinct (17) state (17)",
    "distinct (33, 257) state (33, 257)",
    "distinct (0) state (0)",
    "distinct transposed (3, 4) state (3, 4)",
    "distinct (3, 5) stepped state (3, 5)",
    NULL,
};
static const char *const divergent[] = {
    "(3) positive (3)",
    "(17, 1) positive (17, 1)",
    "(33, 257) positive (33, 257)",
    "(0, 3) positive (0, 3)",
    "(3, 0) positive (3, 0)",
    "transposed (3, 4) positive (3, 4)",
    NULL,
};
static const char *const alike[] = {
    "() ()",   "(3) (3)",     "(17) (17)",     "(33, 257) (33, 257)",
    "(0) (0)", "(3, 4) same", "(0, 3) (0, 3)", "transposed (3, 4) (3, 4)",
    NULL,
};
static const char *const rows_joined[] = {
    "(2, 3) (4, 3) (1, 3)",
    "(3) (5)",
    "(3, 4)",
    "(17, 33) (3, 33)",
    "(2, 2, 3) (1, 2, 3)",
    "(2, 3) same",
    "(0, 3) (2, 3)",
    "(0, 3) (0, 3)",
    "transposed (3, 4) (2, 4)",
    "expanded (3, 4) stepped (2, 4) (1, 4)",
    "(1) (2) (3) (1) (2) stepped (3) (1) (2) (3) (4)",
    "(2) same same same same same same same same same",
    "(130, 300) transposed (140, 300)",
    NULL,
};
static const char *const columns_joined[] = {
    "(2, 3) (2, 1) (2, 4)",     "(17, 33) (17, 3)",    "(3, 4) same",
    "stepped (2, 3) (2, 1)",    "(2, 0) (2, 3)",       "(0, 2) (0, 3)",
    "transposed (3, 4) (3, 1)", "(300, 130) (300, 1)", NULL,
};
static const char *const middles_joined[] = {
    "(2, 3, 4) (2, 1, 4)",
    "transposed (2, 3, 4) expanded (2, 5, 4) stepped (2, 2, 4)",
    "(2, 0, 3) (2, 2, 3)",
    NULL,
};
static const char *const stacked[] = {
    "(2, 3) (2, 3) (2, 3)",
    "(3) (3)",
    "(3, 4)",
    "transposed (3, 4) (3, 4)",
    "(2, 3) same",
    "(0, 3) (0, 3)",
    "(2, 2, 3) (2, 2, 3)",
    "(3, 0) (3, 0)",
    "(1, 1, 2, 1, 3) (1, 1, 2, 1, 3)",
    NULL,
};
static const char *const scalars[] = {"() ()", "()", NULL};
// Labels are below the last size of the first input.
static const char *const gathered[] = {
    "(3, 3, 3) labels (2, 3, 1)",
    "(5, 4, 3) labels (5, 4, 3)",
    "(2, 2) labels (2, 2)",
    "transposed (3, 3, 3) labels (3, 2, 3)",
    "(3, 4, 3) transposed labels (3, 3, 2)",
    "stepped (2, 3, 2) stepped labels (1, 3, 2)",
    "expanded (3, 3) expanded labels (3, 2)",
    "(3, 3) labels (0, 3)",
    "(3, 3) labels (3, 0)",
    "(0, 3) labels (0, 3)",
    "(33, 70, 33) labels (33, 60, 33)",
    NULL,
};
static const char *const gathered_from_end[] = {
    "(3, 3, 3) signed (2, 3, 1)",
    "(5, 4, 3) signed (5, 4, 3)",
    "transposed (3, 3, 3) signed (3, 2, 3)",
    "(3, 4, 3) transposed signed (3, 3, 2)",
    "stepped (2, 3, 2) stepped signed (1, 3, 2)",
    "expanded (3, 3) expanded signed (3, 2)",
    "(0, 3) signed (0, 3)",
    "(33, 70, 33) signed (33, 60, 33)",
    NULL,
};
static const char *const embedded_from_end[] = {
    "(3, 3) signed (4)",
    "(5, 3) signed (2, 3)",
    "(17, 3) signed ()",
    "(5, 4) transposed signed (3, 2)",
    "stepped (5, 4) stepped signed (3)",
    "(64, 8) signed (300)",
    NULL,
};
static const char *const numbered_from_end[] = {"signed (1)", "signed (17)", "signed (33, 257)",
                                                NULL};
static const char *const gathered_often[] = {
    "(3, 3) labels (7, 3)", "(5) labels (9)", "(3) expanded labels (9)", "(1) labels (257)", NULL,
};
static const char *const into[] = {
    "() ()", "(17) (17)", "(0) (0)", "(3, 4) transposed (3, 4)", "(33, 257) expanded (33, 257)",
    NULL};
static const char *const written[] = {"() ()",
                                      "(1) (1)",
                                      "(257) (257)",
                                      "(0, 3) (0, 3)",
                                      "stepped (3, 17) (3, 17)",
                                      "(3, 4) transposed (3, 4)",
                                      "transposed (33, 17) stepped (33, 17)",
                                      "transposed (2, 3, 17, 8) (2, 3, 17, 8)",
                                      "(33, 257) expanded (33, 257)",
                                      NULL};
static const char *const sgd_plain[] = {"state (1) (17) (17)",
                                        "state (1) (3) (3) (257, 130) (257, 130)",
                                        "state (1) (0) (0)", NULL};
static const char *const sgd_momentum[] = {"state (1) (17) (17) (17)",
                                           "state (1) (3) (3) (3) (33, 17) (33, 17) (33, 17)",
                                           NULL};
static const char *const gradients[] = {
    "(17)", "()", "(0)", "(0) (3, 0)", "(3) (0) (33, 17)", "(300, 257) (2, 3)", NULL};
static const char *const rmsprop[] = {
    "state (1) (17) (17) positive (17)",
    "state (1) (3) (3) positive (3) (33, 257) (33, 257) positive (33, 257)",
    "state (1) (0) (0) (0)", NULL};
static const char *const adam[] = {
    "state (2) (17) (17) (17) positive (17)",
    "state (2) (3) (3) (3) positive (3) (257, 130) (257, 130) (257, 130) positive (257, 130)",
    NULL};

#endif

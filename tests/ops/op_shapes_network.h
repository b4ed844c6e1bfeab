// op_shapes_network.h -- lists like those of op_shapes.h for norms, recurrent passes and attention.
#ifndef TESTS_OPS_OP_SHAPES_NETWORK_H
#define TESTS_OPS_OP_SHAPES_NETWORK_H

#include <stddef.h>

static const char *const normed[] = {
    // x, weight, bias; x and one of them; x alone
    "(3, 5) (5) (5)",
    "(3, 5) (5)",
    "(3, 5)",
    "(301, 0)", // more empty rows than a block has threads
    "(1, 3) (3) (3)",
    "(3, 1) (1) (1)",
    "(17) (17) (17)",
    "(2, 3, 4) (4) (4)",
    "(33, 17) (17) (17)",
    "(17, 33)",
    "(3, 257) (257) (257)",
    "transposed (5, 3) stepped (3) (3)",
    "expanded (3, 4) (4) expanded (4)",
    "(0, 3) (3) (3)",
    "(3, 0) (0) (0)",
    "(70, 1000) (1000) (1000)",
    "(3, 5001) (5001) (5001)",
    "(2100, 36) (36) (36)",
    "(600, 300) (300) (300)",
    NULL,
};
static const char *const normed_once[] = {"(3, 5) (5)", "(0, 3) (3)", "(130, 300) (300)", NULL};
// (steps, batch, gates hidden), weight, bias or none, states
static const char *const lstm_passes[] = {
    "(3, 2, 8) (8, 2) (8) (2, 2) (2, 2)",
    "(1, 3, 4) (4, 1) (3, 1) (3, 1)",
    "(2, 1, 12) (12, 3) (1, 3) (1, 3)",
    "(5, 3, 68) (68, 17) (68) (3, 17) (3, 17)",
    "(2, 33, 132) (132, 33) (33, 33) (33, 33)",
    "(2, 3, 0) (0, 0) (3, 0) (3, 0)",
    "(0, 2, 4) (4, 1) (4) (2, 1) (2, 1)",
    "(2, 0, 4) (4, 1) (4) (0, 1) (0, 1)",
    "transposed (3, 2, 4) transposed (4, 1) (2, 1) transposed (2, 1)",
    NULL,
};
static const char *const gru_passes[] = {
    "(3, 2, 6) (6, 2) (6) (2, 2)",
    "(1, 3, 3) (3, 1) (3, 1)",
    "(2, 1, 9) (9, 3) (1, 3)",
    "(5, 3, 51) (51, 17) (51) (3, 17)",
    "(2, 33, 99) (99, 33) (33, 33)",
    "(2, 3, 0) (0, 0) (3, 0)",
    "(0, 2, 3) (3, 1) (3) (2, 1)",
    "(2, 0, 3) (3, 1) (3) (0, 1)",
    "transposed (3, 2, 3) transposed (3, 1) (2, 1)",
    NULL,
};
static const char *const rnn_passes[] = {
    "(3, 2, 2) (2, 2) (2) (2, 2)",
    "(1, 3, 1) (1, 1) (3, 1)",
    "(2, 1, 3) (3, 3) (1, 3)",
    "(5, 3, 17) (17, 17) (17) (3, 17)",
    "(2, 33, 33) (33, 33) (33, 33)",
    "(2, 3, 0) (0, 0) (3, 0)",
    "(0, 2, 1) (1, 1) (1) (2, 1)",
    "(2, 0, 1) (1, 1) (1) (0, 1)",
    "transposed (3, 2, 2) transposed (2, 2) (2, 2)",
    NULL,
};
static const char *const blocks[] = {"(2, 3)",   "(33, 17)",  "(5, 3, 2, 2)",
                                     "(0, 4)",   "(4, 0)",    "(3, 0, 2)",
                                     "(257, 2)", "(1300, 2)", "(3, 4) transposed",
                                     NULL};

static const char *const normed_blocks[] = {
    // rows of two dimensions
    "(2, 3, 4) (3, 4) (3, 4)",
    "(3, 4) (3, 4)",
    "(3, 17, 3)",
    "(2, 2, 0, 3) (0, 3) (0, 3)",
    "transposed (2, 3, 4) (3, 4) transposed (3, 4)",
    "(9, 33, 257) (33, 257) (33, 257)",
    NULL,
};
static const char *const scaled[] = {
    // x, weight; x alone
    "(3, 5) (5)",
    "(3, 5)",
    "(5) (5)",
    "(301, 0)",
    "(1, 3) (3)",
    "(3, 1) (1)",
    "(2, 3, 4) (4)",
    "(33, 17) (17)",
    "(3, 257) (257)",
    "transposed (5, 3) stepped (3)",
    "expanded (3, 4) expanded (4)",
    "(0, 3) (3)",
    "(3, 0) (0)",
    "(70, 1000) (1000)",
    "(3, 5001) (5001)",
    "(2100, 36) (36)",
    "(600, 300)",
    NULL,
};
static const char *const scaled_blocks[] = {
    "(2, 3, 4) (3, 4)",       "(3, 17, 3)",
    "(2, 2, 0, 3) (0, 3)",    "transposed (2, 3, 4) transposed (3, 4)",
    "(9, 33, 257) (33, 257)", NULL,
};
// x (n, channels, ...), weight, bias; x and one of them; x alone
static const char *const grouped[] = {
    "(2, 3, 5) (3) (3)",
    "(2, 3, 5) (3)",
    "(2, 3)",
    "(1, 1, 3, 3) (1) (1)",
    "(2, 4, 0) (4) (4)",
    "(301, 0, 3)",
    "(3, 17, 33) (17) (17)",
    NULL,
};
static const char *const grouped_evenly[] = {
    "(2, 4, 3) (4) (4)",
    "(3, 2) (2) (2)",
    "(1, 6, 1, 1) (6) (6)",
    "(0, 4, 3) (4) (4)",
    "(3, 0, 2) (0) (0)",
    "transposed (2, 4, 3) stepped (4) expanded (4)",
    "stepped (2, 4, 3) (4) (4)",
    "expanded (2, 4, 2, 2) (4) (4)",
    "(2, 4, 17, 17) (4) (4)",
    "(33, 34) (34) (34)",
    "(2, 4, 33) (4)",
    "(3, 2, 65, 63) (2) (2)",
    "(257, 4, 2, 3) (4) (4)",
    "(2, 600, 9) (600) (600)",
    NULL,
};
static const char *const grouped_by_three[] = {
    "(2, 3, 1, 5) (3) (3)", "(17, 3, 3) (3) (3)", "(2, 9, 5)", "(130, 33, 36) (33) (33)", NULL,
};
static const char *const shifted[] = {"(2, 3, 5) (3)", "(0, 3, 2) (3)", "(17, 6, 33) (6)", NULL};
static const char *const instances[] = {
    "(2, 3, 5)", "(2, 3, 5) (3) (3)",    "(1, 1, 17, 3) (1)", "(0, 3, 2)",
    "(2, 0, 3)", "transposed (2, 3, 4)", "(2, 3, 0) (3)",     "(3, 17, 33) (17) (17)",
    NULL,
};
static const char *const batches[] = {
    // x, weight, bias; x and one of them; x alone
    "(3, 5) (5) (5)",
    "(3, 5) (5)",
    "(3, 5)",
    "(2, 1) (1) (1)",
    "(2, 3, 4) (3) (3)",
    "(4, 2, 1, 3) (2)",
    "(1, 3, 4, 4) (3) (3)",
    "(2, 2, 17) (2) (2)",
    "(3, 1, 4, 5)",
    "(0, 3) (3) (3)",
    "(2, 3, 0) (3)",
    "(0, 3, 17) (3) (3)",
    "(2, 0, 3) (0) (0)",
    "(2, 0, 17)",
    "(33, 17) (17) (17)",
    "(257, 3) (3) (3)",
    "(3, 257) (257) (257)",
    "(130, 300) (300) (300)", // more columns than a tile, more rows than one float sum takes
    "(17, 33, 3) (33) (33)",
    "(5, 90, 7) (90)",
    "(5, 3, 33, 17) (3) (3)",
    "(3, 2, 65, 130) (2)", // planes larger than a block
    "(9, 2, 17, 33)",      // larger than a block only together
    "transposed (5, 3) (3) (3)",
    "transposed (2, 3, 17, 5) (3) (3)",
    "stepped (3, 2, 2) stepped (2) (2)",
    NULL,
};
static const char *const few_batches[] = {"(3, 5) (5) (5)", "(2, 3, 4) (3)",   "(2, 2, 3, 7)",
                                          "(0, 3) (3)",     "(33, 2, 17) (2)", NULL};
static const char *const biased_batches[] = {"(3, 5) (5)", "(2, 2, 3, 7) (2)", "(0, 3) (3)", NULL};
static const char *const equal_batches[] = {"expanded (3, 5) (5)", "expanded (4, 2, 16) (2)", NULL};
static const char *const batches_in_turn[] = {"(3, 4, 5)", "(4, 2, 3, 2)", "(3, 2, 2, 17)", NULL};

// q (..., h, s, d), k (..., h, t, d), v (..., h, t, e)
static const char *const attended_small[] = {
    "(3, 2) (5, 2) (5, 3)",
    "(2, 3, 3) (2, 3, 3) (2, 3, 3)",
    "(1, 2, 1, 2) (1, 2, 7, 2) (1, 2, 7, 1)",
    "(2, 1, 3, 2, 1) (2, 1, 3, 4, 1) (2, 1, 3, 4, 2)",
    "(4, 3, 2) (2, 4, 2) (2, 4, 1)",
    "(3, 1) (1, 1) (1, 3)",
    "transposed (2, 3, 4) stepped (2, 3, 4) expanded (2, 3, 2)",
    "(2, 0, 3) (2, 4, 3) (2, 4, 2)",
    "(2, 3, 3) (2, 0, 3) (2, 0, 2)",
    "(2, 3, 0) (2, 4, 0) (2, 4, 2)",
    "(2, 3, 2) (2, 4, 2) (2, 4, 0)",
    "(0, 2, 3, 2) (0, 2, 4, 2) (0, 2, 4, 2)",
    NULL,
};
static const char *const attended_widely[] = {
    "(2, 3, 17, 33) (2, 3, 17, 33) (2, 3, 17, 5)",
    "(1, 4, 33, 8) (1, 2, 70, 8) (1, 2, 70, 67)",
    "transposed (1, 2, 140, 3) (1, 2, 9, 3) stepped (1, 2, 9, 3)",
    "(140, 2) (33, 2) (33, 2)",
    NULL,
};
static const char *const attended_long[] = {"(5, 2) transposed (1030, 2) (1030, 2)", NULL};
static const char *const turned[] = {
    "(3, 2)",    "(2, 3, 4)", "(2, 17, 33, 6)", "transposed (2, 3, 4)",
    "(0, 3, 4)", "(2, 3, 0)", "(2, 0, 4)",      NULL,
};

#endif

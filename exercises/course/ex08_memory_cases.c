// ex08_memory_cases.c -- exercise 08 in the grader: the table of its cases.
#include <stddef.h>

#include "exercises/course/ex08_memory_parts.h"

static const ExerciseCase cases[] = {
    {.name = "live_peak_total", .points = 2, .runs = 4, .make = memory_live_peak_total},
    {.name = "by_category", .points = 2, .runs = 3, .make = memory_by_category},
    {.name = "leaks", .points = 1, .runs = 3, .make = memory_leaks},
    {.name = "bad_list",
     .points = 1,
     .runs = 4,
     .needs = "live_peak_total",
     .make = memory_bad_list},
    {.name = "parameters_gradients", .points = 1, .runs = 2, .make = training_parameters},
    {.name = "optimizer_state", .points = 1, .runs = 4, .make = training_optimizer},
    {.name = "activations", .points = 2, .runs = 5, .make = training_activations},
    {.name = "training_total", .points = 1, .runs = 2, .make = training_total},
    {.name = "adam_by_hand",
     .points = 1,
     .runs = 1,
     .by_hand = "08_adam_megabytes",
     .make = training_by_hand},
};

static const char *const symbols[] = {"layer_attribute", "tensor_bytes", "malloc",
                                      "calloc",          "realloc",      "free",
                                      "error_set",       "strcmp",       NULL};

const Exercise exercise_08 = {.number = "08",
                              .name = "memory",
                              .function = "memory_use training_memory",
                              .title = "Where the bytes go",
                              .minutes = 75,
                              .points = 12,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};

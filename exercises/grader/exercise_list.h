// exercise_list.h -- the exercises, one line each: number and name. Of each there are
// exNN_name.{h,c} (contract, skeleton), course/exNN_name_{cases,call}.c, course/exNN_hints.md,
// solutions/exNN_name.c and mutants/exNN_name.txt.
#ifndef EXERCISES_GRADER_EXERCISE_LIST_H
#define EXERCISES_GRADER_EXERCISE_LIST_H

#define EXERCISE_LIST(X)                                                                           \
    X(00, predict)                                                                                 \
    X(01, count_parameters)                                                                        \
    X(02, count_flops)                                                                             \
    X(03, count_bytes)                                                                             \
    X(04, roofline)                                                                                \
    X(05, clock)                                                                                   \
    X(06, measure_latency)                                                                         \
    X(07, time_device)                                                                             \
    X(08, memory)                                                                                  \
    X(09, profile_forward_pass)                                                                    \
    X(10, profile_backward_pass)                                                                   \
    X(11, investigate)

#endif

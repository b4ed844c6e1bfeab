// schedule.h -- how the learning rate changes with the step: pure functions, no state to lose.
#ifndef LAYERS_TRAIN_SCHEDULE_H
#define LAYERS_TRAIN_SCHEDULE_H

#include <stdint.h>

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

typedef enum ScheduleKind {
    SCHEDULE_CONSTANT,
    SCHEDULE_STEP,   // base * gamma^floor(step / period)          torch.optim.lr_scheduler.StepLR
    SCHEDULE_COSINE, // from base to floor along half a cosine     CosineAnnealingLR
    SCHEDULE_COUNT
} ScheduleKind;
const char *schedule_name(ScheduleKind kind); // "cosine"

typedef struct Schedule {
    ScheduleKind kind;
    float base;     // learning rate after warm-up
    int64_t warmup; // the first steps rise linearly: base * (step + 1) / warmup
    int64_t period; // STEP: steps between drops; COSINE: steps of the descent
    float gamma;    // STEP: factor of each drop
    float floor;    // COSINE: rate at the end, and from then on
} Schedule;

// The learning rate of a step, counted from 0. The kind's own steps start when the warm-up ends.
float schedule_rate(const Schedule *schedule, int64_t step);
// STATUS_INVALID_ARGUMENT: NULL, an unknown kind, or a number that is below 0 or NaN.
Status schedule_check(const Schedule *schedule);

RIDGEPOINT_API_END

#endif

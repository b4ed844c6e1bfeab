// schedule.h -- how the learning rate changes with the step: pure functions, no state to lose.
#ifndef LAYERS_TRAIN_SCHEDULE_H
#define LAYERS_TRAIN_SCHEDULE_H

#include <stdint.h>

#include "tensor/api.h"

RIDGEPOINT_API_BEGIN

typedef enum ScheduleKind {
    SCHEDULE_CONSTANT,
    SCHEDULE_STEP,   // base * gamma^floor(step / period)          torch.optim.lr_scheduler.StepLR
    SCHEDULE_COSINE, // from base to floor along half a cosine     CosineAnnealingLR
} ScheduleKind;

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

RIDGEPOINT_API_END

#endif

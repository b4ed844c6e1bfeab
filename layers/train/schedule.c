// schedule.c -- learning rates by step.
#include "layers/train/schedule.h"

#include <math.h>

#include "tensor/status.h"

static const double PI = 3.14159265358979323846;

float schedule_rate(const Schedule *s, int64_t step) {
    if (!s) {
        error_set(STATUS_INVALID_ARGUMENT, "schedule_rate: there is no schedule (NULL)");
        return NAN;
    }
    if (step < s->warmup) return (float)((double)s->base * (double)(step + 1) / (double)s->warmup);
    step -= s->warmup;
    double base = (double)s->base, floor = (double)s->floor;
    int64_t period = s->period > 0 ? s->period : 1;
    switch (s->kind) {
    case SCHEDULE_STEP:
        return (float)(base * pow((double)s->gamma, (double)(step / period)));
    case SCHEDULE_COSINE:
        if (step >= period) return s->floor;
        return (float)(floor +
                       (base - floor) * 0.5 * (1.0 + cos(PI * (double)step / (double)period)));
    default:
        return s->base;
    }
}

// schedule.c -- learning rates by step.
#include "layers/train/schedule.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

// ---- the kinds: the rate of a step, counted from the end of the warm-up -------------------------
static double constant(const Schedule *s, int64_t step) {
    (void)step;
    return (double)s->base;
}

static int64_t period_of(const Schedule *s) { return s->period > 0 ? s->period : 1; }

static double drops(const Schedule *s, int64_t step) {
    return (double)s->base * pow((double)s->gamma, (double)(step / period_of(s)));
}

static double cosine(const Schedule *s, int64_t step) {
    double base = (double)s->base, floor = (double)s->floor, period = (double)period_of(s);
    if ((double)step >= period) return floor;
    return floor + (base - floor) * 0.5 * (1.0 + cos(PI * (double)step / period));
}

static const struct {
    const char *name;
    double (*rate)(const Schedule *s, int64_t step);
} kinds[SCHEDULE_COUNT] = {[SCHEDULE_CONSTANT] = {"constant", constant},
                           [SCHEDULE_STEP] = {"step", drops},
                           [SCHEDULE_COSINE] = {"cosine", cosine}};

const char *schedule_name(ScheduleKind kind) {
    return (unsigned)kind < SCHEDULE_COUNT ? kinds[kind].name : "?";
}

// ---- with warm-up ------------------------------------------------------------------------------
Status schedule_check(const Schedule *s) {
    if (!s) return error_set(STATUS_INVALID_ARGUMENT, "schedule: there is no schedule (NULL)");
    if ((unsigned)s->kind >= SCHEDULE_COUNT)
        return error_set(STATUS_INVALID_ARGUMENT, "schedule: there is no kind %d", (int)s->kind);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"base", (double)s->base},
                   {"gamma", (double)s->gamma},
                   {"floor", (double)s->floor},
                   {"warmup", (double)s->warmup},
                   {"period", (double)s->period}};
    for (int i = 0; i < 5; i++)
        if (!(numbers[i].value >= 0.0 && isfinite(numbers[i].value)))
            return error_set(STATUS_INVALID_ARGUMENT,
                             "schedule: %s is %g. HINT: from 0 on, and finite", numbers[i].name,
                             numbers[i].value);
    return STATUS_OK;
}

float schedule_rate(const Schedule *s, int64_t step) {
    if (!s || (unsigned)s->kind >= SCHEDULE_COUNT) {
        schedule_check(s); // sets the error
        return NAN;
    }
    if (step < s->warmup) return (float)((double)s->base * (double)(step + 1) / (double)s->warmup);
    return (float)kinds[s->kind].rate(s, step - s->warmup);
}

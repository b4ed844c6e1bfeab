// program_schedule.c -- makes the Schedule of a training from the options and their defaults, and
// prints it. Not here: computing the rates (layers/train/schedule.c).
#include <math.h>
#include <stdio.h>

#include "profiler/base/text.h"
#include "profiler/program/program.h"

// True if epochs limit the training; else only --steps does.
static bool has_epochs(const Options *options) { return options->epochs < LOADER_MOST_EPOCHS; }

// Converts batches, which train_fit counts, to steps.
int64_t program_steps(const Options *options, int64_t batches) {
    int64_t each = options->accumulate;
    return batches / each + (batches % each != 0);
}

// Number of steps that the schedule spans. --steps together with --epochs only ends a training
// early: its rates are those of the whole training.
static int64_t whole(const Options *options, int64_t batches) {
    return has_epochs(options) ? program_steps(options, options->epochs * batches) : options->steps;
}

static int64_t last_step(const Options *options, int64_t batches) {
    int64_t all = whole(options, batches);
    return options->steps > 0 && options->steps < all ? options->steps : all;
}

static int64_t in_steps(const Options *options, Length length, int64_t batches) {
    return length.epochs ? program_steps(options, length.count * batches) : length.count;
}

static bool is_said(const RateOptions *rate) {
    return rate->has_kind || !isnan(rate->base) || rate->warmup.count > 0 ||
           rate->period.count > 0 || !isnan(rate->factor);
}

Status program_schedule(const Options *options, int64_t batches, Schedule *schedule, bool *said) {
    const RateOptions *rate = &options->rate;
    int64_t warmup = in_steps(options, rate->warmup, batches),
            left = whole(options, batches) - warmup;
    ScheduleKind kind = rate->kind;
    *said = is_said(rate);
    if (left < 1)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--lr-warmup: %lld steps, and the training has %lld. HINT: fewer, or more "
                         "--epochs",
                         (long long)warmup, (long long)(left + warmup));
    bool step = kind == SCHEDULE_STEP;
    double factor = !isnan(rate->factor) ? rate->factor : step ? 0.1 : 0.0;
    int64_t period = step ? (left + 2) / 3 : left;
    if (rate->period.count > 0) period = in_steps(options, rate->period, batches);
    float base = program_optimizer(options).learning_rate;
    *schedule = (Schedule){.kind = kind, .base = base, .warmup = warmup};
    if (kind != SCHEDULE_CONSTANT) schedule->period = period;
    if (step) schedule->gamma = (float)factor;
    if (kind == SCHEDULE_COSINE) schedule->floor = base * (float)factor;
    return STATUS_OK;
}

Status program_check_schedule(const Options *options, const Schedule *schedule, int64_t batches) {
    int64_t last = last_step(options, batches), moved = -1, zero = last - 1;
    if (last < 1 || schedule_rate(schedule, zero) != 0.0f) return error_status();
    while (zero - moved > 1) { // once 0, it stays 0
        int64_t middle = moved + (zero - moved) / 2;
        *(schedule_rate(schedule, middle) == 0.0f ? &zero : &moved) = middle;
    }
    return error_set(STATUS_INVALID_ARGUMENT,
                     "the learning rate is 0 from step %lld on, and the training has %lld. HINT: "
                     "--schedule cosine reaches to its end; or --lr-factor above 0",
                     (long long)zero + 1, (long long)last);
}

void program_print_schedule(const Schedule *s) {
    printf("  learning rate %.4g, %s", (double)s->base, schedule_name(s->kind));
    if (s->kind == SCHEDULE_COSINE)
        printf(" to %.3g in %s steps", (double)s->floor, text_count(s->period).s);
    if (s->kind == SCHEDULE_STEP)
        printf(": times %.3g every %s steps", (double)s->gamma, text_count(s->period).s);
    const char *separator = s->kind == SCHEDULE_CONSTANT ? " " : "\n    ";
    if (s->warmup > 0) printf(",%safter a warm-up of %s", separator, text_count(s->warmup).s);
    printf("\n");
}

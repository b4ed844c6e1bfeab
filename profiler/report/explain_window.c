// explain_window.c -- what the stories of convolutions and pools owe to their parameters.
#include <stdio.h>

#include "profiler/report/explain_parts.h"

void explain_convolution(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    story->keeps = KEEP_X;
    if (op->record.in[2].ndim < 0) return;
    story->bias = (Rule){PER_OUTPUT, 1, 0, 0};
    snprintf(story->does, sizeof(story->does),
             "y = the window of x under each output, times the weight, + bias");
}

// Taps of a window, and `more`, per element; nothing where they are too many to say.
static Rule per_tap(const ProfileOp *op, Basis basis, int more) {
    const OpWindow *w = &op->record.params.window;
    int64_t each = (int64_t)w->kernel[0] * w->kernel[1] + more;
    return each < INT32_MAX ? (Rule){basis, (int)each, 0, 0} : (Rule){0};
}

void explain_max_pool(const Profile *profile, const ProfileOp *op, OpStory *story) {
    story->elementwise = per_tap(op, PER_OUTPUT, -1);
    if (profile->kind == PROFILE_INFERENCE) return;
    story->extra = "where";
    story->extra_bytes = (Rule){PER_OUTPUT, 8, 0, 0};
}

void explain_avg_pool(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    bool forward = op->record.op->id == OP_avg_pool2d;
    story->elementwise = forward ? per_tap(op, PER_OUTPUT, 0) : per_tap(op, PER_INPUT, 1);
}

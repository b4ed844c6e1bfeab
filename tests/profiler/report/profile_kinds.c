// profile_kinds.c -- profiles of training, backward and inference through one function.
#include "tests/profiler/report/profile_kinds.h"

#include "tests/helpers/expect.h"

Profile profile_task(const Net *net, const NetTask *task, ProfileKind kind) {
    Profile profile;
    ProfileOptions options = {.warmup = 2, .iterations = 2};
    if (kind == PROFILE_TRAINING)
        profile_training(task->model, optimizer_defaults(net->optimizer), task->x, task->labels,
                         options, &profile);
    else if (kind == PROFILE_BACKWARD)
        profile_backward(task->model, task->x, options, &profile);
    else
        profile_inference(task->model, task->x, options, &profile);
    expect_no_error();
    return profile;
}

Profile profile_random(int seed, ProfileKind kind) {
    Net net = net_random(seed);
    NetTask task = net_task_new(&net);
    Profile profile = profile_task(&net, &task, kind);
    net_task_free(&task);
    return profile;
}

// nets.c -- makes, profiles and frees the small perceptrons of nets.h.
#include "tests/helpers/nets.h"

#include "tests/helpers/expect.h"

const Op *net_activation(int i) {
    int count = 1; // one for no activation
    while (op_activation_at(count - 1)) count++;
    return op_activation_at(i % count - 1);
}

Net net_random(int seed) {
    RandomState random = {.seed = 900 + (uint64_t)seed};
    Net net = {.n_sizes = 2 + (int)random_next_below(&random, NET_SIZES - 1)};
    for (int i = 0; i < net.n_sizes; i++) net.sizes[i] = 1 + random_next_below(&random, 60);
    net.batch = 1 + random_next_below(&random, 9);
    net.options = (MlpOptions){.activation = net_activation(seed),
                               .dropout = random_next_below(&random, 3) == 0 ? 0.2f : 0.0f,
                               .fuse = random_next_below(&random, 2) == 0,
                               .bias = random_next_below(&random, 4) > 0};
    net.optimizer = (OptimizerKind)(seed / 6 % OPTIMIZER_COUNT);
    return net;
}

NetTask net_task_new(const Net *net) {
    NetTask task = {.model = mlp_new(net->sizes, net->n_sizes, net->options),
                    .x = tensor_uniform_new(SHAPE(net->batch, net->sizes[0]), 0.0f, 1.0f),
                    .labels = tensor_new(SHAPE(net->batch), DTYPE_INT64)};
    expect_no_error();
    for (int64_t i = 0; i < net->batch && task.labels->device->has_data; i++)
        tensor_labels(task.labels)[i] = i % net->sizes[net->n_sizes - 1];
    return task;
}

void net_task_free(NetTask *task) {
    layer_free(task->model);
    tensor_free(task->x);
    tensor_free(task->labels);
}

Profile net_profile(const Net *net, int64_t samples) {
    Profile profile;
    NetTask task = net_task_new(net);
    ProfileOptions options = {.warmup = 2, .iterations = samples};
    Status status = profile_training(task.model, optimizer_defaults(net->optimizer), task.x,
                                     task.labels, options, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    expect_no_error();
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
    return profile;
}

void profile_expect_counted_only(const Profile *profile) {
    const ProfileMemory *measured = &profile->measured, *predicted = &profile->predicted;
    ck_assert_msg(!profile->difference[0], "%s", profile->difference);
    ck_assert(!profile->reconciled && profile->totals[REPORT_STEP].latency.count == 0);
    ck_assert_mem_eq(&measured->start, &predicted->start, sizeof measured->start);
    ck_assert_mem_eq(&measured->peak, &predicted->peak, sizeof measured->peak);
    ck_assert_int_eq(measured->saved_bytes, predicted->saved_bytes);
    ck_assert_str_eq(measured->peak_op, predicted->peak_op);
}

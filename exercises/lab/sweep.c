// sweep.c -- the batch sizes of exercise 11, measured one after the other.
#include "exercises/lab/sweep.h"

#include "profiler/files/whole_file.h"
#include "profiler/profiler.h"

static const int64_t sizes[] = {784, 512, 256, 10};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

SweepOptions sweep_defaults(void) {
    return (SweepOptions){.most_batch = 1024, .warmup = 5, .iterations = 31};
}

static Status measure(Layer *model, int64_t batch, SweepOptions options, double *seconds) {
    Latency latency;
    Tensor *x = tensor_uniform_new(SHAPE(batch, sizes[0]), 0.0f, 1.0f);
    if (!x) return error_status();
    Status status =
        profiler_measure_latency(model, x, options.warmup, options.iterations, &latency);
    if (!status) *seconds = latency_median(&latency);
    latency_free(&latency);
    tensor_free(x);
    return status;
}

static Status write_rows(Layer *model, SweepOptions options, WholeFile *file) {
    Status status = STATUS_OK;
    whole_file_print(file, "# MLP 784-512-256-10, forward, inference; median of %lld\n",
                     (long long)options.iterations);
    whole_file_print(file, "batch,seconds,samples_per_second\n");
    for (int64_t batch = 1; batch <= options.most_batch && !status; batch *= 2) {
        double seconds = 0.0;
        status = measure(model, batch, options, &seconds);
        if (status) break;
        whole_file_print(file, "%lld,%.9g,%.9g\n", (long long)batch, seconds,
                         (double)batch / seconds);
        if (options.progress) options.progress(options.argument, batch, seconds);
    }
    return status;
}

Status sweep_write(const char *path, SweepOptions options) {
    if (options.most_batch < 1 || options.most_batch > INT64_C(1) << 20)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "sweep_write: batches up to %lld. HINT: 1 to 1048576",
                         (long long)options.most_batch);
    Layer *model = mlp_new(sizes, SIZES, mlp_defaults());
    WholeFile *file = model ? whole_file_open(path) : NULL;
    Status status = file ? write_rows(model, options, file) : error_status();
    if (file && status)
        whole_file_discard(file);
    else if (file)
        status = whole_file_close(file);
    layer_free(model);
    return status;
}

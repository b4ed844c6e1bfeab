// measure.c -- ./lab sweep and ./lab profile: real times on this machine. No grade depends on how
// long they are.
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/course/sweep_text.h"
#include "exercises/course/table_text.h"
#include "exercises/lab/command.h"
#include "layers/files/whole_file.h"
#include "profiler/base/system.h"
#include "profiler/base/text.h"
#include "profiler/machine/machine.h"
#include "profiler/session/profiler.h"
#include "tensor/clock.h"

// ---- sweep.csv: the batch sizes of exercise 11 --------------------------------------------------
SweepOptions sweep_defaults(void) {
    return (SweepOptions){.most_batch = 1024, .warmup = 5, .iterations = 31, .least_share = 0.85};
}

// The measuring thread computes all the time. If it was on no core, other work ran and spoiled the
// times, so it measures again, for at most MOST_SECONDS.
enum { MOST_SECONDS = 3 };
static Status measure(Layer *model, int64_t batch, SweepOptions options, double *seconds) {
    Latency latency;
    int64_t sizes[SWEEP_SIZES];
    sweep_sizes("", sizes); // the size of the input is the same for every key
    Tensor *x = tensor_uniform_new(SHAPE(batch, sizes[0]), 0.0f, 1.0f);
    if (!x) return error_status();
    const double end = clock_seconds() + MOST_SECONDS;
    Status status = STATUS_OK;
    for (double share = -1.0; !status && share < options.least_share;) {
        double began = clock_seconds(), on_core = system_thread_seconds();
        if (share >= 0.0 && began > end) {
            status = error_set(STATUS_STATE,
                               "batch %lld: other work had %.0f %% of this program's time; nothing "
                               "is written. HINT: try when the machine is quiet",
                               (long long)batch, 100.0 - 100.0 * share);
            break;
        }
        status = profiler_measure_latency(model, x, options.warmup, options.iterations, &latency);
        if (!status) *seconds = latency_median(&latency);
        latency_free(&latency);
        share = (system_thread_seconds() - on_core) / (clock_seconds() - began);
    }
    tensor_free(x);
    return status;
}

static void write_row(WholeFile *file, Sweep *sweep, int64_t batch, double seconds) {
    double samples = (double)batch / seconds;
    whole_file_print(file, "%lld,%.9g,%.9g\n", (long long)batch, seconds, samples);
    if (sweep->n_rows < SWEEP_MOST_ROWS)
        sweep->rows[sweep->n_rows++] = (SweepRow){batch, seconds, samples};
}

static Status write_rows(Layer *model, const int64_t *sizes, SweepOptions options,
                         WholeFile *file) {
    Status status = STATUS_OK;
    Sweep sweep = {.n_rows = 0};
    whole_file_print(file, "# MLP %lld-%lld-%lld-%lld, forward, inference; median of %lld\n",
                     (long long)sizes[0], (long long)sizes[1], (long long)sizes[2],
                     (long long)sizes[3], (long long)options.iterations);
    whole_file_print(file, "batch,seconds,samples_per_second\n");
    for (int64_t batch = 1; batch <= options.most_batch && !status; batch *= 2) {
        double seconds = 0.0;
        status = measure(model, batch, options, &seconds);
        if (status) break;
        write_row(file, &sweep, batch, seconds);
        if (options.progress) options.progress(options.argument, batch, seconds);
    }
    char seal[KEY_SEAL];
    if (options.token && options.token[0]) {
        sweep_seal(&sweep, options.token, seal);
        whole_file_print(file, TABLE_SEAL_LINE "%s\n", seal);
    }
    return status;
}

Status sweep_write(const char *path, SweepOptions options) {
    if (options.most_batch < 1 || options.most_batch > INT64_C(1) << 20)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "sweep_write: batches up to %lld. HINT: 1 to 1048576",
                         (long long)options.most_batch);
    int64_t sizes[SWEEP_SIZES];
    sweep_sizes(options.token ? options.token : "", sizes);
    Layer *model = mlp_new(sizes, SWEEP_SIZES, mlp_defaults());
    WholeFile *file = model ? whole_file_open(path) : NULL;
    Status status = file ? write_rows(model, sizes, options, file) : error_status();
    if (file && status)
        whole_file_discard(file);
    else if (file)
        status = whole_file_close(file);
    layer_free(model);
    return status;
}

static void show_batch(void *argument, int64_t batch, double seconds) {
    (void)argument;
    printf("%9s %12s %14s\n", text_count(batch).s, text_duration(seconds).s,
           text_number((double)batch / seconds).s);
    fflush(stdout);
}

int command_sweep(Lab *lab) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/sweep.csv", lab->folder);
    SweepOptions options = sweep_defaults();
    if (lab->options.most > 0) options.most_batch = lab->options.most;
    options.progress = show_batch;
    if (lab->progress.key[0]) options.token = lab->progress.token;
    printf("%9s %12s %14s\n", "batch", "median", "samples/s");
    Status status = sweep_write(path, options);
    if (status == STATUS_STATE) {
        lab_refuse(LAB_FAILED, "sweep: %s", error_message());
        error_clear();
        return LAB_FAILED;
    }
    if (status) return lab_fail();
    printf("%s/sweep.csv is written; exercise 11 asks about it\n", lab->shown_folder);
    return LAB_DONE;
}

// ---- a report -----------------------------------------------------------------------------------
// Builds profile_program with the student's files, and runs it.
static int run(char *const arguments[]) {
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    int status = 127 << 8;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_profile(Lab *lab) {
    char files[PATH_MAX + 16];
    snprintf(files, sizeof files, "STUDENT_FILES=%s", lab->folder);
    char *const build[] = {"make", "--no-print-directory", "-s", "lab-profile", files, NULL};
    char peaks[PATH_MAX];
    snprintf(peaks, sizeof peaks, "%s", lab->options.peaks ? lab->options.peaks : "");
    char *const profile[] = {"build/lab/profile", peaks[0] ? peaks : NULL, NULL};
    fflush(stdout);
    if (run(build) != 0)
        return lab_refuse(LAB_FILE, "profile: make lab-profile failed; its messages are above");
    int status = run(profile);
    return status > 128 ? LAB_FAILED : status;
}

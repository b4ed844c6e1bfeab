// sweep_command.c -- ./lab sweep: writes the file that exercise 11 investigates, and shows it as it
// grows. What is measured is sweep.c's.
#include <stdio.h>

#include "exercises/lab/command.h"
#include "exercises/lab/sweep.h"
#include "profiler/report/text.h"

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
    printf("%9s %12s %14s\n", "batch", "median", "samples/s");
    if (sweep_write(path, options)) return lab_fail();
    printf("%s/sweep.csv is written; exercise 11 asks about it\n", lab->shown_folder);
    return LAB_DONE;
}

// sweep_command.c -- ./lab sweep: sweep.csv of exercise 11, in the folder of the student's files.
#include <stdio.h>

#include "exercises/lab/command.h"
#include "exercises/lab/sweep.h"

static void show_row(void *argument, int64_t batch, double seconds) {
    (void)argument;
    printf("  %8lld  %12.3g s  %12.0f samples/s\n", (long long)batch, seconds,
           (double)batch / seconds);
    fflush(stdout);
}

int command_sweep(Lab *lab) {
    char path[PATH_MAX];
    SweepOptions options = sweep_defaults();
    options.progress = show_row;
    snprintf(path, sizeof path, "%.3000s/sweep.csv", lab->folder);
    printf("     batch       seconds    of an MLP 784-512-256-10, forward\n");
    if (sweep_write(path, options)) return lab_fail();
    printf("written: %s/sweep.csv; the questions about it are in answers.txt\n", lab->shown_folder);
    return LAB_DONE;
}

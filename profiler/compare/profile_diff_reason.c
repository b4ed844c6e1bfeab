// profile_diff_reason.c -- why two profiles are not of the same work on the same machine.
#include <stdio.h>
#include <string.h>

#include "profiler/compare/profile_diff.h"
#include "profiler/files/profile_json_parts.h"

typedef struct Member {
    const char *name, *before, *after;
} Member;

// "cpu: A, and B"; of the first that differs.
static void first_difference(const Member *members, int n, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < n && !text[0]; i++)
        if (strcmp(members[i].before, members[i].after) != 0)
            snprintf(text, size, "%s was %.80s, and is %.80s", members[i].name,
                     members[i].before[0] ? members[i].before : "none",
                     members[i].after[0] ? members[i].after : "none");
}

DiffReason profile_diff_reason(const SavedProfile *base, const SavedProfile *now) {
    const Environment *a = &base->environment, *b = &now->environment;
    char numbers[2][3][24];
    const SavedProfile *both[] = {base, now};
    for (int i = 0; i < 2; i++) {
        snprintf(numbers[i][0], sizeof(numbers[i][0]), "%d", both[i]->environment.cores);
        snprintf(numbers[i][1], sizeof(numbers[i][1]), "%d", both[i]->profile.threads);
        snprintf(numbers[i][2], sizeof(numbers[i][2]), "%lld", (long long)both[i]->profile.batch);
    }
    const Member machine[] = {{"the device", base->profile.device, now->profile.device},
                              {"the CPU", a->cpu, b->cpu},
                              {"the number of cores", numbers[0][0], numbers[1][0]},
                              {"the number of threads", numbers[0][1], numbers[1][1]},
                              {"the BLAS", a->blas, b->blas},
                              {"the GPU", base->gpu, now->gpu}};
    const Member work[] = {{"the model", base->profile.model, now->profile.model},
                           {"the batch", numbers[0][2], numbers[1][2]},
                           {"the optimizer", base->profile.optimizer, now->profile.optimizer},
                           {"the step", profile_kind_name(base->profile.kind),
                            profile_kind_name(now->profile.kind)}};
    DiffReason reason;
    first_difference(machine, sizeof(machine) / sizeof(machine[0]), reason.environment,
                     sizeof(reason.environment));
    first_difference(work, sizeof(work) / sizeof(work[0]), reason.work, sizeof(reason.work));
    return reason;
}

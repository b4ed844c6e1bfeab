// villain.h -- for tests of confinement: a program that does one bad thing after another
// (fixtures/villain.c), a secret that it wants, and another process and its files.
#ifndef TESTS_EXERCISES_GRADER_VILLAIN_H
#define TESTS_EXERCISES_GRADER_VILLAIN_H

#include "exercises/grader/confine.h"
#include "exercises/selftest/alone.h"
#include "tests/helpers/harness.h"

// Runs the tests alone (alone.h), with the program compiled. Each test begins with villain_needed,
// which skips it if that is impossible.
int villain_main(const char *topic, const HarnessTest tests[]);
void villain_needed(AloneUser user); // also becomes that user

extern const ConfineLimits villain_limits; // short limits

typedef struct VillainRun {
    const char *deed;
    bool filtered; // it has given up all system calls, as a worker
    ConfineKind kind;
    unsigned without;
    ConfineLimits limits;
    char heard[16]; // start of its output on descriptor 3
    size_t heard_bytes;
} VillainRun;
Status villain_begin(VillainRun *villain, Confined **run);
ConfineResult villain_run(VillainRun *villain); // fails the test if it cannot run

// Checks for leftovers and harm: processes, descriptors, files, the secret, the bystander.
void villain_watch(void);
const char *villain_harm(void); // since villain_watch; NULL: none

int villain_count(void); // its processes still running
int villain_count_descriptors(void);

#endif

// villain.h -- for tests of confinement: a program that does one bad thing after another
// (fixtures/villain.c), a secret that it wants, and somebody else's process and files.
#ifndef TESTS_EXERCISES_GRADER_VILLAIN_H
#define TESTS_EXERCISES_GRADER_VILLAIN_H

#include "exercises/grader/confine.h"
#include "exercises/selftest/alone.h"
#include "tests/helpers/harness.h"

// Runs the tests alone (alone.h), with the program compiled. Where that cannot be had, each test is
// to begin with villain_needed, which skips it.
int villain_main(const char *topic, const HarnessTest tests[]);
void villain_needed(AloneUser user); // and becomes that user

extern const ConfineLimits villain_limits; // that end it soon

typedef struct VillainRun {
    const char *deed;
    bool filtered; // a worker that has given up all system calls
    ConfineKind kind;
    unsigned without;
    ConfineLimits limits;
    char heard[16]; // on descriptor 3, its beginning
    size_t heard_bytes;
} VillainRun;
Status villain_begin(VillainRun *villain, Confined **run);
ConfineResult villain_run(VillainRun *villain); // fails the test where it cannot be run

// Whether anything was left or harmed: processes, descriptors, files, the secret, the bystander.
void villain_watch(void);
const char *villain_harm(void); // since then; NULL: nothing

int villain_count(void); // of it, still running
int villain_count_descriptors(void);

#endif

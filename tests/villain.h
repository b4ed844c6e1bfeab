// villain.h -- for tests of containment: a program that does one bad thing after another
// (fixtures/villain.c), in all the ways in which it can be contained.
#ifndef TESTS_VILLAIN_H
#define TESTS_VILLAIN_H

#include "exercises/grader/contain.h"
#include "tests/harness.h"

enum { VILLAIN_MODES = 8, VILLAIN_USER = 65534 };

typedef struct VillainMode {
    bool plain;       // as VILLAIN_USER, who is not root
    unsigned without; // layers left out
} VillainMode;
extern const VillainMode villain_modes[VILLAIN_MODES];
extern const ContainLimits villain_limits;        // that end it soon
extern char villain_path[64], villain_folder[25]; // of the program

// Runs the tests with the program compiled; it is removed afterwards.
int villain_main(const char *topic, const HarnessTest tests[]);

// Turns this test's process into who the mode asks for, or skips the test.
void villain_enter(const VillainMode *mode);

// Fails the test where it cannot be run.
ContainResult villain_run(const char *deed, const ContainLimits *limits, unsigned without);

int villain_count(void); // of it, still running
int villain_count_descriptors(void);
void villain_check_nothing_left(int descriptors); // no process, no zombie, no other descriptor

#endif

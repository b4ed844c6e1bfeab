// virtual_clock.h -- time that passes when a test says so: what is measured between is known, on a
// busy machine too. A program that uses it reads CLOCK_MONOTONIC from here.
#ifndef TESTS_HELPERS_VIRTUAL_CLOCK_H
#define TESTS_HELPERS_VIRTUAL_CLOCK_H

// From begin to end it stands, but for 50 ns a reading; pass moves it on. Before and after it runs
// as the system's, ahead of it by what has passed: it never goes back.
void virtual_clock_begin(void);
void virtual_clock_pass(double seconds);
void virtual_clock_end(void);

#endif

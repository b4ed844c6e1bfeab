// hostile: crashed, crashed, crashed - an assertion that does not hold
#include <assert.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    assert(0 && "8 passed, 0 failed");
    return 0;
}

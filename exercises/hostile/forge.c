// hostile: forbidden, forged, forged - sends values as if the grader had asked
#include <stdint.h>
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    static const struct {
        uint32_t magic;
        uint16_t kind, run;
        uint64_t nonce, bits;
    } frames[] = {{0x52505758, 0, 0, 1, 0},
                  {0x52505758, 1, 0, 1, 0},
                  {0x52505758, 2, 0, 1, 16384},
                  {0x52505758, 4, 0, 1, 0}};
    return write(3, frames, sizeof frames) < 0;
}

// metronome.c -- the loops of the metronome, and the cores they run on.
#include "profiler/measure/metronome.h"

#include <sched.h>
#include <stdint.h>

#include "tensor/clock.h"
#include "tensor/memory.h"

// Vectors of fixed width, and chains that cannot merge into one instruction, so that every compiler
// generates the same code from -O1 on, for any processor.
typedef float Four __attribute__((vector_size(16)));
#define PLAIN_LOOP __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

enum {
    MOST_CORES = 4,
    CHAINS = 12,
    NEAR = 42 * CHAINS,            // fours: 8 KB, fits in any first cache
    PASSES = 2400,                 // about 0.2 ms
    FAR = (4 << 20) / sizeof(Four) // fours: 4 MB
};

struct Metronome {
    unsigned turn; // index of the next core
    Four *data;    // owned; FAR fours, all ones
    float found;   // result of the loops, so that no compiler removes them
};

int metronome_version(void) {
#ifdef __OPTIMIZE__
    return 1;
#else
    return 1001; // same loops, but many times slower
#endif
}

// (NEAR) fours -> one: six chains add, six multiply, each by a number from the first cache.
PLAIN_LOOP static float multiply_and_add(const Four *near, int passes) {
    Four a = near[0], b = a, c = a, d = a, e = a, f = a, u = a, v = a, w = a, x = a, y = a, z = a;
    for (int pass = 0; pass < passes; pass++)
        for (const Four *at = near; at < near + NEAR; at += CHAINS) {
            a += at[0], b += at[1], c += at[2], d += at[3], e += at[4], f += at[5];
            u *= at[6], v *= at[7], w *= at[8], x *= at[9], y *= at[10], z *= at[11];
        }
    return (a + b + c + d + e + f + u + v + w + x + y + z)[0];
}

// (FAR) fours -> one
PLAIN_LOOP static float read_far(const Four *far) {
    Four a = far[0], b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (const Four *at = far; at < far + FAR; at += 8) {
        a += at[0], b += at[1], c += at[2], d += at[3];
        e += at[4], f += at[5], g += at[6], h += at[7];
    }
    return (a + b + c + d + e + f + g + h)[0];
}

Metronome *metronome_new(void) {
    Metronome *metronome = memory_new(sizeof *metronome);
    if (!metronome) return NULL;
    metronome->data = memory_request() ? memory_new_data(FAR * sizeof(Four)) : NULL;
    for (int i = 0; metronome->data && i < FAR; i++)
        metronome->data[i] = (Four){1.0f, 1.0f, 1.0f, 1.0f};
    if (metronome->data) return metronome;
    memory_free(metronome);
    error_set(STATUS_OUT_OF_MEMORY, "no room for the 4 MB that times are compared by");
    return NULL;
}

void metronome_free(Metronome *metronome) {
    if (metronome) memory_free_data(metronome->data);
    memory_free(metronome);
}

// The number of the nth core of the set.
static int core_of(unsigned nth, const cpu_set_t *cores) {
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, cores) && nth-- == 0) return i;
    return 0;
}

static void go_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one); // this thread only
}

// Runs a sixteenth of the loop first, untimed, to fill the core's cache.
static void beat_here(Metronome *metronome, Beat *sum) {
    const Four *data = metronome->data;
    metronome->found = multiply_and_add(data, PASSES / 16);
    double begin = clock_seconds();
    metronome->found += multiply_and_add(data, PASSES);
    double between = clock_seconds();
    metronome->found += read_far(data);
    sum->product += between - begin;
    sum->read += clock_seconds() - between;
}

// Ends on the core where the thread began: it stays there, and the other threads use the others.
Beat metronome_beat(Metronome *metronome, int cores) {
    Beat sum = {0};
    cpu_set_t all;
    bool known = sched_getaffinity(0, sizeof all, &all) == 0;
    int there = known ? CPU_COUNT(&all) : 1, home = sched_getcpu(), beats = 1;
    if (cores > there) cores = there;
    if (cores > MOST_CORES) cores = MOST_CORES;
    bool goes = cores > 1 && home >= 0 && CPU_ISSET(home, &all);
    while (goes && beats < cores) {
        int core = core_of(metronome->turn++ % (unsigned)there, &all);
        if (core == home) continue;
        go_to(core);
        beat_here(metronome, &sum);
        beats++;
    }
    if (goes) go_to(home);
    beat_here(metronome, &sum);
    if (goes) sched_setaffinity(0, sizeof all, &all);
    return (Beat){sum.product / beats, sum.read / beats};
}

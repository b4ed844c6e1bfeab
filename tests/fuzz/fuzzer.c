// fuzzer.c -- the main() of every fuzz program: mutates its seeds at random and feeds them to it.
//     fuzz_idx 60              for 60 seconds (default 1)
//     fuzz_idx --input 1234    that one input again, for a debugger
// Input k depends on k alone. The inputs run in a child process, so that whatever ends it, the
// parent can say which input it was.
#include "tests/fuzz/fuzzer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tensor/random.h"

enum { MOST_MUTATIONS = 6, HANG_SECONDS = 10, INPUTS_PER_CLOCK = 64 };

static size_t below(RandomState *random, size_t n) {
    return (size_t)random_next_below(random, (int64_t)n);
}

// Values at which readers go wrong, as a big-endian or little-endian 32-bit number.
static void write_number(RandomState *random, uint8_t *bytes) {
    static const uint32_t numbers[] = {0,     1,          3,          255,       256,
                                       65536, 0x7fffffff, 0x80000000, 0xffffffff};
    uint32_t number = numbers[below(random, sizeof(numbers) / sizeof(numbers[0]))];
    size_t flip = below(random, 2) ? 3 : 0;
    for (size_t i = 0; i < 4; i++) bytes[i ^ flip] = (uint8_t)(number >> 8 * i);
}

// One random change; returns the new size.
static size_t mutate(RandomState *random, uint8_t *bytes, size_t size) {
    size_t at = below(random, size + 1), left = size - at;
    switch (below(random, 5)) {
    case 0: // one bit
        if (left > 0) bytes[at] ^= (uint8_t)(1U << below(random, 8));
        return size;
    case 1: // one byte
        if (left > 0) bytes[at] = (uint8_t)random_next(random);
        return size;
    case 2: // one number
        if (left >= 4) write_number(random, bytes + at);
        return size;
    case 3: // the end is missing
        return at;
    default: { // a piece comes twice
        size_t piece = below(random, left + 1);
        if (piece > FUZZER_MAX_INPUT - size) piece = FUZZER_MAX_INPUT - size;
        memmove(bytes + at + piece, bytes + at, left);
        return size + piece;
    }
    }
}

static void run_input(uint64_t index, int seeds) {
    static uint8_t bytes[FUZZER_MAX_INPUT];
    RandomState random = {.seed = index};
    size_t size = fuzzer_seed((int)below(&random, (size_t)seeds), bytes);
    for (size_t i = below(&random, MOST_MUTATIONS + 1); i > 0; i--) {
        size = mutate(&random, bytes, size);
    }
    uint8_t *exact = malloc(size ? size : 1); // so that a sanitizer sees one byte too far
    if (!exact) abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void run_for(double seconds, int seeds, volatile uint64_t *input) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    double passed = 0.0;
    while (passed < seconds) {
        alarm(HANG_SECONDS);
        for (int i = 0; i < INPUTS_PER_CLOCK; i++) run_input((*input)++, seeds);
        clock_gettime(CLOCK_MONOTONIC, &now);
        passed = (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
    }
    alarm(0);
}

static int run_in_child(const char *program, double seconds, int seeds) {
    uint64_t *input =
        mmap(NULL, sizeof(*input), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (input == MAP_FAILED) return EXIT_FAILURE;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return EXIT_FAILURE;
    if (child == 0) {
        run_for(seconds, seeds, input);
        *input |= UINT64_C(1) << 63; // all of them went well
        exit(EXIT_SUCCESS);
    }
    int status = 0;
    waitpid(child, &status, 0);
    uint64_t inputs = *input & ~(UINT64_C(1) << 63);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        printf("%s: %llu inputs, ok\n", program, (unsigned long long)inputs);
        return EXIT_SUCCESS;
    }
    if (inputs != *input) {
        printf("%s: FAILED after the last input: a leak?\n", program);
    } else {
        printf("%s: FAILED (%s). Repeat: %s --input %llu\n", program,
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit", program,
               (unsigned long long)(inputs - 1));
    }
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    static uint8_t bytes[FUZZER_MAX_INPUT];
    int seeds = 0;
    while (fuzzer_seed(seeds, bytes) > 0) seeds++;
    if (seeds == 0) return EXIT_FAILURE;
    if (argc > 2 && strcmp(argv[1], "--input") == 0) {
        run_input(strtoull(argv[2], NULL, 10), seeds);
        return EXIT_SUCCESS;
    }
    return run_in_child(argv[0], argc > 1 ? strtod(argv[1], NULL) : 1.0, seeds);
}

// fuzz_checkpoint.c -- checkpoints for a small training: any input is taken whole, and can be
// written and taken again, or not at all. The input is the header; the length before it and the
// tensors after it are added here, so that changes reach the header's contents.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "layers/files/checkpoint.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_mutator.h"

enum { IMAGES = 6, PIXELS = 3, LENGTH = 8, MOST = 1 << 15 };

static Checkpoint training_new(Schedule *schedule) {
    static const uint8_t pixels[IMAGES * PIXELS] = {9, 1, 4}, classes[IMAGES] = {0, 1, 0, 1, 0, 1};
    static const Dataset dataset = {.count = IMAGES,
                                    .rows = 1,
                                    .columns = PIXELS,
                                    .classes = 2,
                                    .name = "lines",
                                    .images = (uint8_t *)(uintptr_t)pixels,
                                    .labels = (uint8_t *)(uintptr_t)classes};
    const LoaderOptions options = {.batch = 2, .shuffle = true, .seed = 1, .scale = 1.0f};
    *schedule = (Schedule){.kind = SCHEDULE_COSINE, .base = 0.5f, .warmup = 1, .period = 9};
    context_seed(7);
    Checkpoint training = {.model = linear_new(PIXELS, 2, true), .schedule = schedule};
    training.optimizer = optimizer_new(training.model, optimizer_defaults(OPTIMIZER_ADAM));
    training.loader = loader_new(&dataset, options);
    promise(training.model && training.optimizer && training.loader);
    return training;
}

static void training_free(Checkpoint *training) {
    loader_free(training->loader);
    optimizer_free(training->optimizer);
    layer_free(training->model);
}

// The whole state of a training, as its file; returns the number of bytes.
static size_t state_of(const Checkpoint *training, uint8_t bytes[MOST]) {
    int ends[2];
    char path[32];
    promise(pipe(ends) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    promise(checkpoint_write(training, path) == STATUS_OK);
    close(ends[1]);
    ssize_t size = read(ends[0], bytes, MOST);
    close(ends[0]);
    promise(size > LENGTH && size < MOST);
    return (size_t)size;
}

static Status read_bytes(Checkpoint *training, const uint8_t *bytes, size_t size) {
    FuzzFile file = fuzz_file(bytes, size);
    Status status = checkpoint_read(training, file.path);
    fuzz_file_end(&file);
    return status;
}

static size_t header_of(const uint8_t *file) { return file[0] | (size_t)file[1] << 8; }

static void put_length(uint8_t *file, size_t header) {
    for (int i = 0; i < LENGTH; i++) file[i] = (uint8_t)(header >> 8 * i);
}

static void check(const uint8_t *file, size_t size, const uint8_t *fresh, size_t fresh_size,
                  uint64_t failing) {
    static uint8_t after[MOST], again[MOST];
    Schedule schedule, other_schedule;
    Checkpoint training = training_new(&schedule);
    memory_fail_at(failing);
    Status status = read_bytes(&training, file, size);
    memory_fail_at(0);
    if (status) promise_error(status);
    size_t after_size = state_of(&training, after);
    if (status) {
        promise(after_size == fresh_size && memcmp(after, fresh, fresh_size) == 0);
    } else {
        Checkpoint other = training_new(&other_schedule);
        promise(read_bytes(&other, after, after_size) == STATUS_OK);
        promise(state_of(&other, again) == after_size && memcmp(after, again, after_size) == 0);
        training_free(&other);
    }
    training_free(&training);
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static uint8_t fresh[MOST], file[2 * MOST];
    Schedule schedule;
    if (size > MOST) return 0;
    Checkpoint training = training_new(&schedule);
    size_t fresh_size = state_of(&training, fresh), header = header_of(fresh);
    training_free(&training);
    size_t tensors = fresh_size - LENGTH - header;
    put_length(file, size);
    memcpy(file + LENGTH, bytes, size);
    memcpy(file + LENGTH + size, fresh + LENGTH + header, tensors);
    check(file, LENGTH + size + tensors, fresh, fresh_size, 0);
    check(file, LENGTH + size + tensors, fresh, fresh_size, 1 + size % 17);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return json_mutate(bytes, size, most, seed);
}

// ring.c -- the filling thread and its ring: one mutex, and two conditions to sleep on.
// A piece takes microseconds or more, so a lock per piece costs nothing, and nobody spins.
#include "layers/train/ring.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "tensor/memory.h"

enum { CACHE_LINE = 64 };

// Pieces [popped, filled) are ready; piece i is in slot i % slots. The thread writes to the slot of
// `filled` without the lock: no one else reads a slot outside [popped, filled).
struct Ring {
    pthread_t thread;
    pthread_mutex_t mutex;     // guards the members below, up to `quit`
    pthread_cond_t may_fill;   // the thread waits: for room, pieces, the end
    pthread_cond_t has_filled; // the caller waits: for a piece, or for the thread to rest
    int64_t popped, filled;
    int64_t pieces; // the thread fills up to here
    bool filling;
    bool quit;
    int slots;
    size_t slot_bytes;
    char *memory;
    RingFill fill;
    void *argument;
};

static void *slot_of(const Ring *ring, int64_t piece) {
    return ring->memory + (size_t)(piece % ring->slots) * ring->slot_bytes;
}

// Called with the mutex held; releases it while filling.
static void fill_next(Ring *ring) {
    int64_t piece = ring->filled;
    ring->filling = true;
    pthread_mutex_unlock(&ring->mutex);
    ring->fill(ring->argument, piece, slot_of(ring, piece));
    pthread_mutex_lock(&ring->mutex);
    ring->filling = false;
    ring->filled++;
    pthread_cond_signal(&ring->has_filled);
}

static void *work(void *argument) {
    Ring *ring = argument;
    pthread_mutex_lock(&ring->mutex);
    while (!ring->quit) {
        if (ring->filled < ring->pieces && ring->filled - ring->popped < ring->slots)
            fill_next(ring);
        else
            pthread_cond_wait(&ring->may_fill, &ring->mutex);
    }
    pthread_mutex_unlock(&ring->mutex);
    return NULL;
}

static bool start_thread(Ring *ring) {
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous); // the caller handles signals
    bool started = pthread_create(&ring->thread, NULL, work, ring) == 0;
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return started;
}

static size_t round_up(size_t bytes) { return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE; }

static void release(Ring *ring) {
    pthread_cond_destroy(&ring->has_filled);
    pthread_cond_destroy(&ring->may_fill);
    pthread_mutex_destroy(&ring->mutex);
    memory_free(ring);
}

Ring *ring_new(int slots, size_t slot_bytes, RingFill fill, void *argument) {
    assert(slots > 0);
    slot_bytes = round_up(slot_bytes);
    Ring *ring = memory_new(sizeof(*ring) + CACHE_LINE + (size_t)slots * slot_bytes);
    if (!ring) return NULL;
    ring->slots = slots;
    ring->slot_bytes = slot_bytes;
    ring->memory = (char *)round_up((uintptr_t)(ring + 1));
    ring->fill = fill;
    ring->argument = argument;
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->may_fill, NULL);
    pthread_cond_init(&ring->has_filled, NULL);
    if (start_thread(ring)) return ring;
    release(ring);
    return NULL;
}

void ring_free(Ring *ring) {
    if (!ring) return;
    pthread_mutex_lock(&ring->mutex);
    ring->quit = true;
    pthread_cond_signal(&ring->may_fill);
    pthread_mutex_unlock(&ring->mutex);
    pthread_join(ring->thread, NULL);
    release(ring);
}

void ring_stop(Ring *ring) {
    pthread_mutex_lock(&ring->mutex);
    ring->pieces = 0; // the thread starts no other piece
    while (ring->filling) pthread_cond_wait(&ring->has_filled, &ring->mutex);
    ring->popped = ring->filled = 0;
    pthread_mutex_unlock(&ring->mutex);
}

void ring_start(Ring *ring, int64_t pieces) {
    pthread_mutex_lock(&ring->mutex);
    assert(ring->filled == 0 && !ring->filling);
    ring->pieces = pieces;
    pthread_cond_signal(&ring->may_fill);
    pthread_mutex_unlock(&ring->mutex);
}

void *ring_front(Ring *ring, int *depth) {
    pthread_mutex_lock(&ring->mutex);
    assert(ring->popped < ring->pieces);
    *depth = (int)(ring->filled - ring->popped);
    while (ring->filled == ring->popped) pthread_cond_wait(&ring->has_filled, &ring->mutex);
    void *slot = slot_of(ring, ring->popped);
    pthread_mutex_unlock(&ring->mutex);
    return slot;
}

void ring_pop(Ring *ring) {
    pthread_mutex_lock(&ring->mutex);
    assert(ring->popped < ring->filled);
    ring->popped++;
    pthread_cond_signal(&ring->may_fill);
    pthread_mutex_unlock(&ring->mutex);
}

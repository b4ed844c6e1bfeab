// ring.h -- a thread that fills a fixed ring of host buffers ahead of the one who empties them.
// Bytes only: no tensors, no ops, no ledger. What the bytes mean is loader.c's business.
#ifndef LAYERS_TRAIN_RING_H
#define LAYERS_TRAIN_RING_H

#include <stddef.h>
#include <stdint.h>

// One thread uses a ring, the one that made it. A child of fork() must not touch its parent's, not
// even to free it: the filling thread stayed with the parent.
typedef struct Ring Ring;

// Writes piece `index` into a slot. Runs in the ring's thread: must not fail, allocate or call an
// op.
typedef void (*RingFill)(void *argument, int64_t index, void *slot);

// The only allocation; slots start at multiples of 64 bytes. NULL with an error pending when out of
// memory, and NULL without one when no thread could be started: do without.
Ring *ring_new(int slots, size_t slot_bytes, RingFill fill, void *argument);
void ring_free(Ring *ring); // joins the thread, after the piece it may be filling; NULL is fine

// Throws away what was filled and returns when the thread rests: what `fill` reads may then change.
void ring_stop(Ring *ring);
void ring_start(Ring *ring, int64_t pieces); // fills pieces 0, 1, ... from now on; the ring rests

// The oldest piece that was not popped, for which the caller sleeps when it is not filled yet;
// valid until ring_pop or ring_stop. There must be one left. *depth: how many were ready.
void *ring_front(Ring *ring, int *depth);
void ring_pop(Ring *ring); // its slot is free to be filled again

#endif

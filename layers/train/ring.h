// ring.h -- a thread that fills a fixed ring of host buffers ahead of their reader. Bytes only: no
// tensors, no ops, no ledger. Only loader.c knows the bytes' meaning.
#ifndef LAYERS_TRAIN_RING_H
#define LAYERS_TRAIN_RING_H

#include <stddef.h>
#include <stdint.h>

// Only the thread that made a ring uses it. A child of fork() must neither use nor free its
// parent's: the filling thread stayed with the parent.
typedef struct Ring Ring;

// Writes piece `index` into a slot. Runs in the ring's thread: must not fail, allocate or call an
// op.
typedef void (*RingFill)(void *argument, int64_t index, void *slot);

// Makes the ring's only allocation; slots start at multiples of 64 bytes. NULL with an error
// pending when out of memory; NULL without one when no thread could start: work without a ring.
Ring *ring_new(int slots, size_t slot_bytes, RingFill fill, void *argument);
void ring_free(Ring *ring); // joins the thread, after the piece it may be filling; NULL is fine

// Discards filled pieces and waits until the thread rests: data that `fill` reads may then change.
void ring_stop(Ring *ring);
void ring_start(Ring *ring, int64_t pieces); // the ring must rest; then fills pieces 0, 1, ...

// Returns the oldest piece not yet popped, and sleeps until it is filled; valid until ring_pop or
// ring_stop. There must be one left. *depth: number of pieces that were ready.
void *ring_front(Ring *ring, int *depth);
void ring_pop(Ring *ring); // its slot may be filled again

#endif

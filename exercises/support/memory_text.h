// memory_text.h -- a list of allocations in one line, the notation of exercise 08's cases:
//
//     p1=400 a2=300 w3=200 -3 a3=100 -2
//
// An allocation is a letter (parameter, gradient, optimizer, activation, workspace), the block's
// id and its bytes; a free is a minus and an id. The other fields of a free mean nothing: they say
// a parameter of 8 bytes, or what the text gives, as in "-w3=-70", or no category at all, as in
// "-?3". "a1..2000=4" and "-1..2000" are 2,000 events.
#ifndef EXERCISES_SUPPORT_MEMORY_TEXT_H
#define EXERCISES_SUPPORT_MEMORY_TEXT_H

#include <stddef.h>

#include "exercises/ex08_memory.h"

// Reads at most `most` events, up to the end or the first word that is no event. Returns how many.
int64_t memory_text_read(const char *text, AllocationEvent *events, int64_t most);
// Appends the events to `text`, of `size` bytes, each after a space.
void memory_text_write(const AllocationEvent *events, int64_t count, char *text, size_t size);

#endif

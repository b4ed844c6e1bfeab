// memory_text.h -- a list of allocations in one line, in which exercise 08's cases are written:
//
//     p1=400 a2=300 w3=200 -3 a3=100 -2
//
// A letter (parameter, gradient, optimizer, activation, workspace), the block's id, its bytes; a
// minus and an id is a free. What a free's other fields hold means nothing: they are a parameter of
// 8 bytes, or what is written, as in "-w3=-70", or no category at all, as in "-?3".
// "a1..2000=4" and "-1..2000" are 2,000 events.
#ifndef EXERCISES_SUPPORT_MEMORY_TEXT_H
#define EXERCISES_SUPPORT_MEMORY_TEXT_H

#include <stddef.h>

#include "exercises/ex08_memory.h"

// The events of `text`, to its end or the first word that is none, at most `most`. Their number.
int64_t memory_text_read(const char *text, AllocationEvent *events, int64_t most);
// Adds them to what `text`, of `size` bytes, holds, each after a space.
void memory_text_write(const AllocationEvent *events, int64_t count, char *text, size_t size);

#endif

// set.h -- internal: has this name, or this pointer, been met? In a time that does not grow with
// how many have. Not a table of what belongs to them: whoever needs that keeps an array beside it.
#ifndef LAYERS_SET_H
#define LAYERS_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

typedef struct Set { // {0}: empty
    const void **places;
    size_t count, room; // room: 0 or a power of two
    bool of_texts;      // compared by their letters; else by address. Set it while empty
} Set;

bool set_has(const Set *set, const void *key);
// What a key points to is borrowed. *is_new, where it is asked for: it had not been met.
Status set_add(Set *set, const void *key, bool *is_new);
void set_clear(Set *set); // empty again

#endif

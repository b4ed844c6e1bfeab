// map.h -- internal: what is kept under this name, or this pointer? In a time that does not grow
// with how many there are. Where nothing is kept but the key itself it is a set: has it been met?
#ifndef LAYERS_MAP_H
#define LAYERS_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

typedef struct MapPlace {
    const void *key; // NULL: the place is free
    void *value;
} MapPlace;

typedef struct Map { // {0}: empty
    MapPlace *places;
    size_t count, room; // room: 0 or a power of two
    bool of_texts;      // keys are compared by their letters; else by address. Set it while empty
} Map;

// The value of a key; NULL where the map has no such key.
void *map_find(const Map *map, const void *key);
void *map_find_text(const Map *map, const char *text, size_t length); // the first letters of a text
// Keys and values are borrowed; a value of NULL stands for the key. A key that is there keeps its
// value: *is_new (or NULL) is false then.
Status map_add(Map *map, const void *key, void *value, bool *is_new);
void map_clear(Map *map); // empty again

#endif

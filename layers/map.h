// map.h -- internal: a hash map from names or pointers to values, with constant-time look-up. With
// only keys it serves as a set.
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
    bool of_texts;      // compare keys as text, else by address; set while empty
} Map;

// The value of a key; NULL where the map has no such key.
void *map_find(const Map *map, const void *key);
void *map_find_text(const Map *map, const char *text, size_t length); // first `length` letters
// Keys and values are borrowed; a NULL value means that the key is the value. A key that is already
// there keeps its value, and *is_new (which may be NULL) becomes false.
Status map_add(Map *map, const void *key, void *value, bool *is_new);
void map_clear(Map *map); // empty again

#endif

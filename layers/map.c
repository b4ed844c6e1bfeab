// map.c -- open addressing: a key is in the first free place at or after that of its hash.
#include "layers/map.h"

#include <stdint.h>
#include <string.h>

#include "tensor/memory.h"

static size_t hash_address(const void *key) {
    uint64_t hash = (uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash ^ hash >> 32);
}

static size_t hash_text(const char *text, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037); // Fowler, Noll, Vo
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

// The place of the text, or the free one where it belongs; there is a free place.
static MapPlace *place_of_text(const Map *map, const char *text, size_t length) {
    size_t at = hash_text(text, length) & (map->room - 1);
    for (;; at = (at + 1) & (map->room - 1)) {
        const char *key = map->places[at].key;
        if (!key || (strncmp(key, text, length) == 0 && key[length] == '\0'))
            return &map->places[at];
    }
}

static MapPlace *place_of(const Map *map, const void *key) {
    if (map->of_texts) return place_of_text(map, key, strlen(key));
    size_t at = hash_address(key) & (map->room - 1);
    while (map->places[at].key && map->places[at].key != key) at = (at + 1) & (map->room - 1);
    return &map->places[at];
}

void *map_find(const Map *map, const void *key) {
    return map->room > 0 ? place_of(map, key)->value : NULL;
}

void *map_find_text(const Map *map, const char *text, size_t length) {
    return map->room > 0 ? place_of_text(map, text, length)->value : NULL;
}

static Status grow(Map *map) {
    Map wider = {.count = map->count, .room = map->room ? 2 * map->room : 64};
    wider.of_texts = map->of_texts;
    wider.places = memory_new(wider.room * sizeof *wider.places);
    if (!wider.places) return STATUS_OUT_OF_MEMORY;
    for (size_t i = 0; i < map->room; i++)
        if (map->places[i].key) *place_of(&wider, map->places[i].key) = map->places[i];
    memory_free(map->places);
    *map = wider;
    return STATUS_OK;
}

Status map_add(Map *map, const void *key, void *value, bool *is_new) {
    if (is_new) *is_new = false;
    if (map->count >= map->room / 2 && grow(map)) return STATUS_OUT_OF_MEMORY;
    MapPlace *place = place_of(map, key);
    if (place->key) return STATUS_OK;
    *place = (MapPlace){key, value ? value : (void *)(uintptr_t)key};
    map->count++;
    if (is_new) *is_new = true;
    return STATUS_OK;
}

void map_clear(Map *map) {
    memory_free(map->places);
    *map = (Map){.of_texts = map->of_texts};
}

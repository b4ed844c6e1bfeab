// set.c -- open addressing: a key lies at the first free place from that of its hash on.
#include "layers/set.h"

#include <stdint.h>
#include <string.h>

#include "tensor/memory.h"

static size_t hash(const Set *set, const void *key) {
    uint64_t hash = UINT64_C(14695981039346656037); // Fowler, Noll, Vo
    if (!set->of_texts) hash = (hash ^ (uintptr_t)key) * UINT64_C(0x9e3779b97f4a7c15);
    for (const char *c = set->of_texts ? key : ""; *c; c++)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

// Where the key is, or would be; there is a free place.
static size_t place_of(const Set *set, const void *key) {
    size_t at = hash(set, key) & (set->room - 1);
    while (set->places[at] && set->places[at] != key &&
           !(set->of_texts && strcmp(set->places[at], key) == 0))
        at = (at + 1) & (set->room - 1);
    return at;
}

bool set_has(const Set *set, const void *key) {
    return set->room > 0 && set->places[place_of(set, key)];
}

static Status grow(Set *set) {
    Set wider = {.count = set->count, .room = set->room ? 2 * set->room : 64};
    wider.of_texts = set->of_texts;
    wider.places = memory_new(wider.room * sizeof *wider.places);
    if (!wider.places) return STATUS_OUT_OF_MEMORY;
    for (size_t i = 0; i < set->room; i++)
        if (set->places[i]) wider.places[place_of(&wider, set->places[i])] = set->places[i];
    memory_free(set->places);
    *set = wider;
    return STATUS_OK;
}

Status set_add(Set *set, const void *key, bool *is_new) {
    if (is_new) *is_new = false;
    if (set->count >= set->room / 2 && grow(set)) return STATUS_OUT_OF_MEMORY;
    size_t at = place_of(set, key);
    if (set->places[at]) return STATUS_OK;
    set->places[at] = key;
    set->count++;
    if (is_new) *is_new = true;
    return STATUS_OK;
}

void set_clear(Set *set) {
    memory_free(set->places);
    *set = (Set){.of_texts = set->of_texts};
}

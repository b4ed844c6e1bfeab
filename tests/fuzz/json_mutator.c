// json_mutator.c -- changes one value, chosen by its number among all values of a document.
#include "tests/fuzz/json_mutator.h"

#include <jansson.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

static unsigned below(unsigned *state, size_t n) {
    *state = *state * 1664525u + 1013904223u;
    return n ? (unsigned)((*state >> 8) % n) : 0;
}

// Numbers that often break readers, and values of another kind.
static json_t *strange_new(unsigned *state) {
    static const json_int_t integers[] = {0,
                                          1,
                                          -1,
                                          7,
                                          INT32_MAX,
                                          INT64_C(1) << 31,
                                          INT64_C(1) << 53,
                                          INT64_C(1) << 61,
                                          INT64_C(1) << 62,
                                          INT64_MAX,
                                          INT64_MIN};
    static const double reals[] = {0.0, 0.5, -0.5, 1e-300, 1e-12, 1e9, 0x1p53, 0x1p63, 1e18, 1e300};
    static const char *const texts[] = {"", "a", "\n", "\x1b[31m", "fc1", "2026-01-01T00:00:00Z"};
    unsigned kind = below(state, 8);
    if (kind < 3) return json_integer(integers[below(state, sizeof integers / sizeof integers[0])]);
    if (kind < 5) return json_real(reals[below(state, sizeof reals / sizeof reals[0])]);
    if (kind == 5) return json_string(texts[below(state, sizeof texts / sizeof texts[0])]);
    if (kind == 6) return below(state, 2) ? json_null() : json_boolean(below(state, 2));
    return below(state, 2) ? json_array() : json_object();
}

// A number close to a given one; another value in place of anything else.
static json_t *near_new(const json_t *value, unsigned *state) {
    static const double times[] = {-1.0, 0.5, 2.0, 1000.0, 1e-3};
    if (json_is_integer(value) && below(state, 2))
        return json_integer(
            (json_int_t)((uint64_t)json_integer_value(value) + below(state, 3) - 1));
    if (json_is_number(value))
        return json_real(json_number_value(value) * times[below(state, 5)]); // NULL: not finite
    return strange_new(state);
}

typedef struct Walk {
    size_t left;     // values before the one that changes
    unsigned *state; // state of the random numbers
    json_t *kept;    // an earlier value, to be put elsewhere; borrowed
} Walk;

// The value's replacement; NULL: the value is removed.
static json_t *changed_new(Walk *walk, json_t *value) {
    switch (below(walk->state, 6)) {
    case 0:
        return NULL;
    case 1:
    case 2:
        return near_new(value, walk->state);
    case 3:
        return walk->kept ? json_deep_copy(walk->kept) : strange_new(walk->state);
    default:
        return strange_new(walk->state);
    }
}

static bool change(Walk *walk, json_t *container);

static bool change_array(Walk *walk, json_t *array) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *value = json_array_get(array, i), *now;
        if (walk->left-- > 0) {
            if (below(walk->state, 4) == 0) walk->kept = value;
            if (change(walk, value)) return true;
            continue;
        }
        if (below(walk->state, 4) == 0)
            json_array_insert_new(array, i, json_deep_copy(value));
        else if ((now = changed_new(walk, value)) != NULL)
            json_array_set_new(array, i, now);
        else
            json_array_remove(array, i);
        return true;
    }
    return false;
}

static bool change_object(Walk *walk, json_t *object) {
    const char *key;
    json_t *value, *now;
    void *next;
    json_object_foreach_safe(object, next, key, value) {
        if (walk->left-- > 0) {
            if (below(walk->state, 4) == 0) walk->kept = value;
            if (change(walk, value)) return true;
            continue;
        }
        if ((now = changed_new(walk, value)) != NULL)
            json_object_set_new(object, key, now);
        else
            json_object_del(object, key);
        return true;
    }
    return false;
}

// False: the value to change comes after this one.
static bool change(Walk *walk, json_t *container) {
    if (json_is_array(container)) return change_array(walk, container);
    return json_is_object(container) && change_object(walk, container);
}

static size_t count(const json_t *value) {
    size_t n = 0, i;
    const char *key;
    json_t *member;
    json_array_foreach(value, i, member) n += 1 + count(member);
    json_object_foreach((json_t *)(uintptr_t)value, key, member) n += 1 + count(member);
    return n;
}

size_t json_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    unsigned state = seed;
    json_t *document = below(&state, 5) ? json_loadb((char *)bytes, size, 0, NULL) : NULL;
    size_t values = count(document), length = 0;
    for (unsigned i = 1 + below(&state, 3); i > 0 && values > 0; i--) {
        Walk walk = {.left = below(&state, values), .state = &state};
        change(&walk, document);
    }
    char *text = values > 0 ? json_dumps(document, JSON_PRESERVE_ORDER) : NULL;
    while (text && text[length]) length++;
    bool fits = text && length <= most;
    for (size_t i = 0; fits && i < length; i++) bytes[i] = (uint8_t)text[i];
    free(text);
    json_decref(document);
    return fits ? length : LLVMFuzzerMutate(bytes, size, most);
}

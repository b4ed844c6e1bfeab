// memory_text.c -- converts memory events to words, and back.
#include "exercises/support/memory_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "pgoaw"; // by MemoryKind; a free may have ?, no kind
enum { NO_KIND = 250 };

// The bytes field of a free: the size of a pointer, which people mistake for that of the block.
enum { MEANINGLESS_BYTES = 8 };

static bool read_number(const char **at, int64_t *number) {
    char *end;
    *number = strtoll(*at, &end, 10);
    bool found = end > *at;
    *at = end;
    return found;
}

// Reads one word, for ids from event->id to *last. NULL: not a word.
static const char *read_word(const char *at, AllocationEvent *event, int64_t *last) {
    *event = (AllocationEvent){.is_free = *at == '-'};
    at += event->is_free;
    const char *letter = *at ? strchr(letters, *at) : NULL;
    if (letter) event->kind = (MemoryKind)(letter - letters);
    if (!letter && !event->is_free) return NULL;
    if (event->is_free && *at == '?') event->kind = (MemoryKind)NO_KIND, at++;
    at += letter != NULL;
    if (!read_number(&at, &event->id)) return NULL;
    *last = event->id;
    if (strncmp(at, "..", 2) == 0) {
        at += 2;
        if (!read_number(&at, last)) return NULL;
    }
    if (!letter) {
        event->bytes = MEANINGLESS_BYTES;
        return at;
    }
    return *at++ == '=' && read_number(&at, &event->bytes) ? at : NULL;
}

int64_t memory_text_read(const char *text, AllocationEvent *events, int64_t most) {
    int64_t count = 0;
    while (count < most) {
        AllocationEvent event;
        int64_t last;
        while (*text == ' ') text++;
        text = read_word(text, &event, &last);
        if (!text) break;
        events[count++] = event;
        while (event.id < last && count < most) {
            event.id++;
            events[count++] = event;
        }
    }
    return count;
}

// The number of events, from the first on, that differ only in ids that count upwards.
static int64_t alike(const AllocationEvent *events, int64_t count) {
    int64_t n = 1;
    while (n < count && events[n].id > events[n - 1].id && events[n].id - 1 == events[n - 1].id &&
           events[n].bytes == events[0].bytes && events[n].kind == events[0].kind &&
           events[n].is_free == events[0].is_free)
        n++;
    return n < 3 ? 1 : n; // two events are written as two words
}

void memory_text_write(const AllocationEvent *events, int64_t count, char *text, size_t size) {
    for (int64_t i = 0, n = 1; i < count; i += n) {
        const AllocationEvent *event = &events[i];
        bool plain = event->is_free && event->bytes == MEANINGLESS_BYTES && event->kind == 0;
        bool known = event->kind < MEMORY_KINDS;
        char ids[48], letter[2] = {plain ? '\0' : known ? letters[event->kind] : '?'};
        char bytes[24] = "";
        n = alike(event, count - i);
        int used = snprintf(ids, sizeof ids, "%lld", (long long)event->id);
        if (n > 1) snprintf(ids + used, sizeof ids - used, "..%lld", (long long)event->id + n - 1);
        if (!plain && known) snprintf(bytes, sizeof bytes, "=%lld", (long long)event->bytes);
        size_t end = strlen(text);
        snprintf(text + end, size - end, " %s%s%s%s", event->is_free ? "-" : "", letter, ids,
                 bytes);
    }
}

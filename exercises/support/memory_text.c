// memory_text.c -- events of memory as words, and back.
#include "exercises/support/memory_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[MEMORY_KINDS + 1] = "pgoaw";

// What a free's bytes hold: the size of a pointer, which is what people take for the block's.
enum { MEANINGLESS_BYTES = 8 };

static const char *read_event(const char *word, AllocationEvent *event) {
    char *end;
    const char *letter = strchr(letters, word[0]);
    if (word[0] == '-') {
        *event = (AllocationEvent){.is_free = true, .bytes = MEANINGLESS_BYTES};
        event->id = strtoll(word + 1, &end, 10);
        return end > word + 1 ? end : NULL;
    }
    if (word[0] == '\0' || !letter) return NULL;
    *event = (AllocationEvent){.kind = (MemoryKind)(letter - letters)};
    event->id = strtoll(word + 1, &end, 10);
    if (end == word + 1 || *end != '=') return NULL;
    const char *bytes = end + 1;
    event->bytes = strtoll(bytes, &end, 10);
    return end > bytes ? end : NULL;
}

int64_t memory_text_read(const char *text, AllocationEvent *events, int64_t most) {
    int64_t count = 0;
    while (count < most) {
        while (*text == ' ') text++;
        text = read_event(text, &events[count]);
        if (!text) break;
        count++;
    }
    return count;
}

void memory_text_write(const AllocationEvent *events, int64_t count, char *text, size_t size) {
    for (int64_t i = 0; i < count; i++) {
        const AllocationEvent *event = &events[i];
        size_t used = strlen(text);
        if (event->is_free)
            snprintf(text + used, size - used, " -%lld", (long long)event->id);
        else
            snprintf(text + used, size - used, " %c%lld=%lld", letters[event->kind],
                     (long long)event->id, (long long)event->bytes);
    }
}

// archive_tar.c -- walks through the blocks of 512 bytes of a tar archive (ustar, POSIX.1-1988;
// long names of GNU and pax), trusting none of them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/instructor/archive.h"

enum { BLOCK = 512, NAME = 100, PREFIX = 155 };

typedef struct Header { // as in the archive: text, padded with zeroes
    char name[NAME], mode[8], user[8], group[8], size[12], modified[12], checksum[8], type;
    char link[100], magic[6], version[2], user_name[32], group_name[32], major[8], minor[8];
    char prefix[PREFIX], rest[12];
} Header;
_Static_assert(sizeof(Header) == BLOCK, "a header is one block");

typedef struct Entry {
    char name[ARCHIVE_NAME];
    char long_name[ARCHIVE_NAME]; // name of the next entry from an extra header; "": none
    char type;
    size_t size;
} Entry;

static bool is_empty(const char *block) {
    for (int i = 0; i < BLOCK; i++) {
        if (block[i] != '\0') return false;
    }
    return true;
}

// Reads octal digits, then a space or zero; false: anything else (such as GNU's binary sizes).
static bool read_octal(const char *text, size_t width, uint64_t *value) {
    size_t i = 0;
    while (i < width && text[i] == ' ') i++;
    *value = 0;
    for (; i < width && text[i] >= '0' && text[i] <= '7'; i++) {
        *value = *value * 8 + (uint64_t)(text[i] - '0');
    }
    return i == width || text[i] == ' ' || text[i] == '\0';
}

static bool sum_is_right(const Header *header) {
    const unsigned char *bytes = (const unsigned char *)header;
    size_t first = offsetof(Header, checksum), last = first + sizeof header->checksum;
    uint64_t told = 0, sum = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += i >= first && i < last ? ' ' : bytes[i];
    return read_octal(header->checksum, sizeof header->checksum, &told) && told == sum;
}

// Reads an entry's header. NULL, or the reason why the entry is refused.
static const char *read_entry(const char *block, Entry *entry) {
    Header header;
    uint64_t size = 0;
    memcpy(&header, block, sizeof header);
    entry->name[0] = '\0';
    if (!sum_is_right(&header)) return "not a tar, .tar.gz or .zip archive, or a damaged one";
    bool has_prefix = memcmp(header.magic, "ustar", 6) == 0 && header.prefix[0] != '\0';
    snprintf(entry->name, sizeof entry->name, "%.*s%s%.*s", has_prefix ? PREFIX : 0, header.prefix,
             has_prefix ? "/" : "", NAME, header.name);
    if (!read_octal(header.size, sizeof header.size, &size)) return "is too large";
    entry->type = header.type;
    entry->size = (size_t)size;
    if (size > ARCHIVE_MOST_FILE) return "is too large: 1 MB is the most";
    // Allows regular files, folders, headers that describe entries (pax), and long names (GNU).
    if (header.type != '\0' && strchr("05xgL", header.type) == NULL)
        return "is a link, a device or something else that is no file";
    return NULL;
}

// Reads pax records "27 path=exercises/ex01.c\n", where the number is the record's length. Of other
// records only `size` would matter here, and it is written only for large files.
static const char *take_records(Entry *entry, const char *bytes) {
    for (size_t at = 0; at < entry->size;) {
        size_t length = 0, i = at;
        for (; i < entry->size && bytes[i] >= '0' && bytes[i] <= '9' && length < entry->size; i++)
            length = 10 * length + (size_t)(bytes[i] - '0');
        if (i == at || i >= entry->size || bytes[i] != ' ' || length > entry->size - at ||
            length < i - at + 2 || bytes[at + length - 1] != '\n')
            return "describes a file by a damaged header";
        const char *text = bytes + i + 1;
        size_t rest = length - (i + 1 - at) - 1;
        if (rest >= 5 && memcmp(text, "size=", 5) == 0) return "describes a file that is too large";
        if (rest >= 5 && memcmp(text, "path=", 5) == 0) {
            if (rest - 5 >= ARCHIVE_NAME || memchr(text, '\0', rest))
                return "gives a file a name that is too long";
            snprintf(entry->long_name, ARCHIVE_NAME, "%.*s", (int)(rest - 5), text + 5);
        }
        at += length;
    }
    return NULL;
}

static const char *take_description(Entry *entry, const char *bytes) {
    if (entry->type == 'x') return take_records(entry, bytes);
    if (entry->type == 'g') return NULL;
    if (entry->size >= ARCHIVE_NAME) return "gives a file a name that is too long";
    snprintf(entry->long_name, ARCHIVE_NAME, "%.*s", (int)entry->size, bytes);
    return NULL;
}

static Status take_entry(ArchiveWalk *walk, Entry *entry, const char *bytes) {
    if (entry->type != '\0' && strchr("xgL", entry->type) != NULL) {
        const char *wrong = take_description(entry, bytes);
        if (wrong == NULL && ++walk->described > 2 * ARCHIVE_MOST_ENTRIES)
            wrong = "is one file too many";
        return wrong ? archive_refuse(walk, entry->name, wrong) : STATUS_OK;
    }
    if (entry->long_name[0] != '\0') memcpy(entry->name, entry->long_name, ARCHIVE_NAME);
    entry->long_name[0] = '\0';
    size_t length = strlen(entry->name);
    bool ends_so = length > 0 && entry->name[length - 1] == '/'; // old tars mark a folder so
    bool folder = entry->type == '5' || ends_so;
    if (folder && length > 0 && length + 1 < ARCHIVE_NAME && !ends_so)
        memcpy(entry->name + length, "/", 2);
    Status status = archive_enter(walk, entry->name, entry->size);
    if (status != STATUS_OK || folder) return status;
    return walk->take(walk->argument, entry->name, bytes, entry->size);
}

Status archive_walk_tar(ArchiveWalk *walk, const char *bytes, size_t count) {
    size_t at = 0;
    Entry entry = {.type = '\0'};
    while (at + BLOCK <= count && !is_empty(bytes + at)) {
        const char *wrong = read_entry(bytes + at, &entry);
        at += BLOCK;
        if (wrong == NULL && entry.size > count - at)
            wrong = "ends in the middle, as in half a download";
        if (wrong != NULL) return archive_refuse(walk, entry.name, wrong);
        Status status = take_entry(walk, &entry, bytes + at);
        if (status != STATUS_OK) return status;
        at += (entry.size + BLOCK - 1) / BLOCK * BLOCK;
    }
    return at == 0 ? archive_refuse(walk, "", "not a tar, .tar.gz or .zip archive, or an empty one")
                   : STATUS_OK;
}

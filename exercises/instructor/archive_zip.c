// archive_zip.c -- reads a .zip from its central directory (APPNOTE.TXT 6.3): stored or deflated
// files, nothing encrypted, split or ZIP64. zlib inflates them.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "exercises/instructor/archive.h"
#include "tensor/memory.h"

enum { LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 22, MOST_COMMENT = 65535 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, UNIX = 3, DARWIN = 19 };

typedef struct Zip {
    const unsigned char *bytes;
    size_t count;
} Zip;

typedef struct ZipEntry {
    char name[ARCHIVE_NAME];
    uint32_t crc, packed, size, local; // local: offset of the entry's own header
    unsigned method;
} ZipEntry;

static unsigned two(const unsigned char *at) { return at[0] | (unsigned)at[1] << 8; }
static uint32_t four(const unsigned char *at) { return two(at) | (uint32_t)two(at + 2) << 16; }

// Finds the record at the end, which a comment may follow; false: there is none.
static bool find_end(const Zip *zip, size_t *end) {
    for (size_t comment = 0; comment <= MOST_COMMENT && comment + END_BYTES <= zip->count;
         comment++) {
        *end = zip->count - END_BYTES - comment;
        const unsigned char *at = zip->bytes + *end;
        if (four(at) == 0x06054b50 && two(at + 20) == comment) return true;
    }
    return false;
}

// ---- the directory -----------------------------------------------------------------------------
static const char *wrong_kind(const unsigned char *at) {
    if (two(at + 8) & (ENCRYPTED | 1 << 6 | 1 << 13)) return "is encrypted";
    unsigned method = two(at + 10), system = at[5];
    if (method != STORED && method != DEFLATED) return "is packed by another method than deflate";
    if (four(at + 20) == UINT32_MAX || four(at + 24) == UINT32_MAX || four(at + 42) == UINT32_MAX)
        return "is in a form for large files (ZIP64)";
    if (two(at + 34) != 0) return "lies in another part of a split archive";
    mode_t mode = (mode_t)(four(at + 38) >> 16) & S_IFMT;
    bool plain = mode == 0 || mode == S_IFREG || mode == S_IFDIR;
    if ((system == UNIX || system == DARWIN) && !plain)
        return "is a link, a device or something else that is no file";
    return NULL;
}

// Reads the directory's entry at *at, and moves *at behind it. NULL, or the reason for refusing it.
static const char *read_entry(const Zip *zip, size_t *at, size_t end, ZipEntry *entry) {
    const unsigned char *head = zip->bytes + *at;
    entry->name[0] = '\0';
    if (end - *at < CENTRAL_BYTES || four(head) != 0x02014b50) return "a .zip that is damaged";
    size_t name = two(head + 28), rest = (size_t)two(head + 30) + two(head + 32);
    if (end - *at - CENTRAL_BYTES < name + rest) return "a .zip that is damaged";
    if (name >= ARCHIVE_NAME) return "a name in it is too long";
    memcpy(entry->name, head + CENTRAL_BYTES, name);
    entry->name[name] = '\0';
    if (strlen(entry->name) != name) return "has control characters in its name";
    entry->method = two(head + 10);
    entry->crc = four(head + 16);
    entry->packed = four(head + 20);
    entry->size = four(head + 24);
    entry->local = four(head + 42);
    *at += CENTRAL_BYTES + name + rest;
    return wrong_kind(head);
}

// An entry's bytes follow its own header, which must have the same name; the directory follows all
// entries.
static const char *find_bytes(const Zip *zip, const ZipEntry *entry, size_t directory,
                              const unsigned char **bytes) {
    const unsigned char *head = zip->bytes + entry->local;
    if (entry->local > directory || directory - entry->local < LOCAL_BYTES ||
        four(head) != 0x04034b50)
        return "is not where the .zip says: it is damaged";
    size_t name = two(head + 26), rest = two(head + 28), room = directory - entry->local;
    if (room - LOCAL_BYTES < name + rest || room - LOCAL_BYTES - name - rest < entry->packed)
        return "ends in the middle, as in half a download";
    if (name != strlen(entry->name) || memcmp(head + LOCAL_BYTES, entry->name, name) != 0)
        return "has two names: the .zip is damaged";
    if (two(head + 6) & ENCRYPTED) return "is encrypted";
    *bytes = head + LOCAL_BYTES + name + rest;
    return NULL;
}

// ---- one file ----------------------------------------------------------------------------------
static bool inflate_all(const unsigned char *bytes, const ZipEntry *entry, char *out) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = entry->packed};
    unsigned char more; // room to detect one byte too many
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    stream.next_out = entry->size > 0 ? (Bytef *)out : &more;
    stream.avail_out = entry->size > 0 ? entry->size : 1;
    int found = inflate(&stream, Z_FINISH);
    bool whole = found == Z_STREAM_END && stream.total_out == entry->size;
    inflateEnd(&stream);
    return whole;
}

static Status take_entry(ArchiveWalk *walk, const Zip *zip, size_t directory, ZipEntry *entry) {
    const unsigned char *bytes = NULL;
    const char *wrong = find_bytes(zip, entry, directory, &bytes);
    if (wrong != NULL) return archive_refuse(walk, entry->name, wrong);
    size_t length = strlen(entry->name);
    bool folder = length > 0 && strchr("/\\", entry->name[length - 1]) != NULL;
    Status status = archive_enter(walk, entry->name, entry->size);
    if (status != STATUS_OK || folder) return status;
    char *out = memory_new((size_t)entry->size + 1);
    if (out == NULL) return error_status();
    bool whole =
        entry->method == DEFLATED ? inflate_all(bytes, entry, out) : entry->packed == entry->size;
    if (whole && entry->method == STORED) memcpy(out, bytes, entry->size);
    if (!whole || crc32(crc32(0, NULL, 0), (const Bytef *)out, entry->size) != entry->crc)
        status = archive_refuse(walk, entry->name, "is damaged: its sum or its size is wrong");
    else
        status = walk->take(walk->argument, entry->name, out, entry->size);
    memory_free(out);
    return status;
}

Status archive_walk_zip(ArchiveWalk *walk, const char *bytes, size_t count) {
    Zip zip = {(const unsigned char *)bytes, count};
    size_t end;
    if (!find_end(&zip, &end))
        return archive_refuse(walk, "", "a .zip without an end, as half a download is");
    const unsigned char *record = zip.bytes + end;
    size_t entries = two(record + 10), size = four(record + 12), at = four(record + 16);
    if (entries == 0xffff || size == UINT32_MAX || at == UINT32_MAX)
        return archive_refuse(walk, "", "a .zip for large files (ZIP64)");
    if (two(record + 4) != 0 || two(record + 6) != 0 || two(record + 8) != entries)
        return archive_refuse(walk, "", "a .zip in several parts");
    if (at > end || size != end - at)
        return archive_refuse(walk, "", "a .zip that is damaged, or a ZIP64");
    if (entries == 0) return archive_refuse(walk, "", "an empty .zip");
    if (entries > ARCHIVE_MOST_ENTRIES) return archive_refuse(walk, "", "it holds too many files");
    const size_t directory = at;
    for (size_t i = 0; i < entries; i++) {
        ZipEntry entry;
        const char *wrong = read_entry(&zip, &at, end, &entry);
        if (wrong != NULL) return archive_refuse(walk, entry.name, wrong);
        Status status = take_entry(walk, &zip, directory, &entry);
        if (status != STATUS_OK) return status;
    }
    return at == end ? STATUS_OK : archive_refuse(walk, "", "a .zip that is damaged");
}

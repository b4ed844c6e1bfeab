// archive.c -- common to all archives: recognises the kind by its bytes, checks entries against the
// limits and for names that leave the folder, and unpacks gzip. The formats tar and zip have their
// own files.
#include "exercises/instructor/archive.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "exercises/course/text_file.h"
#include "tensor/memory.h"

// ---- kinds -------------------------------------------------------------------------------------
static const char *const read_here[] = {".tar.gz", ".tgz", ".tar", ".zip"};
static const char *const not_read[] = {".7z",      ".rar",  ".tar.xz", ".txz", ".xz",
                                       ".tar.bz2", ".tbz2", ".tbz",    ".bz2", ".tar.zst",
                                       ".zst",     ".lzma", ".gz",     ".Z"};

static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), width = strlen(end);
    return length > width && strcasecmp(name + length - width, end) == 0;
}

bool archive_is_named(const char *name, size_t *stem) {
    for (size_t i = 0; i < sizeof read_here / sizeof read_here[0]; i++) {
        if (!ends_in(name, read_here[i])) continue;
        if (stem) *stem = strlen(name) - strlen(read_here[i]);
        return true;
    }
    return false;
}

const char *archive_other_kind(const char *name) {
    if (archive_is_named(name, NULL)) return NULL;
    for (size_t i = 0; i < sizeof not_read / sizeof not_read[0]; i++)
        if (ends_in(name, not_read[i])) return not_read[i];
    return NULL;
}

// ---- what every entry is held to ---------------------------------------------------------------
Status archive_refuse(const ArchiveWalk *walk, const char *entry, const char *why) {
    const char *last = strrchr(walk->path, '/');
    char shown[96];
    snprintf(shown, sizeof shown, "%.90s", entry);
    text_clean(shown);
    return error_set(STATUS_FORMAT, "%.200s: %s%s%s. HINT: ./lab submit makes one that is right",
                     last ? last + 1 : walk->path, shown, shown[0] ? " " : "", why);
}

static const char *wrong_with(const char *name) {
    if (name[0] == '\0') return "has no name";
    if (name[0] == '/') return "is a path that leads out of the folder";
    if (name[1] == ':') return "is a path that leads to another disk";
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) return "has control characters in its name";
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return "is a path that leads out of the folder";
    }
    return NULL;
}

// Turns "./a//b/" into "a/b", and also "a\b", as Windows writes it.
static void make_plain(char name[ARCHIVE_NAME]) {
    char *out = name;
    for (char *c = name; *c != '\0'; c++)
        if (*c == '\\') *c = '/';
    bool absolute = name[0] == '/';
    for (const char *c = name; *c != '\0';) {
        size_t length = strcspn(c, "/");
        bool nothing = length == 0 || (length == 1 && c[0] == '.');
        if (!nothing) {
            if (out != name || absolute) *out++ = '/';
            memmove(out, c, length);
            out += length;
        }
        c += length + (c[length] == '/');
    }
    *out = '\0';
}

// True if the name exists already. Letter case counts here, unlike on many machines.
static bool is_there(const ArchiveWalk *walk, const char *name) {
    for (int i = 0; i < walk->n_names; i++)
        if (strcmp(walk->names[i], name) == 0) return true;
    return false;
}

Status archive_enter(ArchiveWalk *walk, char name[ARCHIVE_NAME], size_t size) {
    size_t length = strlen(name);
    bool folder = length > 0 && (name[length - 1] == '/' || name[length - 1] == '\\');
    bool absolute = name[0] == '/' || name[0] == '\\';
    if (++walk->entries > ARCHIVE_MOST_ENTRIES)
        return archive_refuse(walk, "", "it holds too many files");
    make_plain(name);
    bool itself = folder && !absolute && name[0] == '\0'; // "./", the first entry of many tars
    const char *wrong = itself ? NULL : wrong_with(name);
    if (wrong == NULL && size > ARCHIVE_MOST_FILE) wrong = "is too large: 1 MB is the most";
    if (wrong == NULL && (walk->bytes += size) > ARCHIVE_MOST_BYTES)
        wrong = "makes it too large: 32 MB are the most, unpacked";
    if (wrong == NULL && !folder && is_there(walk, name)) wrong = "is there twice";
    if (wrong != NULL) return archive_refuse(walk, name, wrong);
    if (!folder && name[0] != '\0') memcpy(walk->names[walk->n_names++], name, ARCHIVE_NAME);
    return STATUS_OK;
}

// ---- gzip --------------------------------------------------------------------------------------
// Unpacks one or more successive gzip members, as gzip itself does. NULL with an error pending.
static char *unzip(const ArchiveWalk *walk, const char *bytes, size_t count, size_t *unpacked) {
    enum { MOST = ARCHIVE_MOST_BYTES };
    char *out = memory_new(MOST);
    if (out == NULL) return NULL;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)count};
    const char *wrong = NULL;
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
        error_set(STATUS_OUT_OF_MEMORY, "%.200s: no memory to unpack it", walk->path);
        memory_free(out);
        return NULL;
    }
    stream.next_out = (Bytef *)out;
    stream.avail_out = MOST;
    while (wrong == NULL) {
        int found = inflate(&stream, Z_NO_FLUSH);
        if (found == Z_STREAM_END && stream.avail_in == 0) break;
        if (found == Z_STREAM_END)
            found = inflateReset(&stream) == Z_OK ? Z_OK : Z_DATA_ERROR;
        else if (found == Z_OK && stream.avail_out == 0)
            wrong = "it unpacks to more than 32 MB";
        else if (found == Z_BUF_ERROR || (found == Z_OK && stream.avail_in == 0))
            wrong = stream.avail_out == 0 ? "it unpacks to more than 32 MB"
                                          : "it ends too early, as half a download does";
        if (wrong == NULL && found != Z_OK) wrong = "a gzip that is damaged";
    }
    *unpacked = MOST - stream.avail_out;
    inflateEnd(&stream);
    if (wrong == NULL) return out;
    memory_free(out);
    archive_refuse(walk, "", wrong);
    return NULL;
}

// ---- any ---------------------------------------------------------------------------------------
static Status walk_any(ArchiveWalk *walk, const char *bytes, size_t count) {
    bool zip = count >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
    if (zip) return archive_walk_zip(walk, bytes, count);
    if (count < 2 || memcmp(bytes, "\x1f\x8b", 2) != 0) return archive_walk_tar(walk, bytes, count);
    size_t unpacked = 0;
    char *tar = unzip(walk, bytes, count, &unpacked);
    Status status = tar ? archive_walk_tar(walk, tar, unpacked) : error_status();
    memory_free(tar);
    return status;
}

Status archive_each_of(const char *name, const char *bytes, size_t count, ArchiveTake *take,
                       void *argument) {
    ArchiveWalk walk = {.path = name, .take = take, .argument = argument};
    walk.names = memory_new(ARCHIVE_MOST_ENTRIES * sizeof *walk.names);
    Status status = walk.names ? walk_any(&walk, bytes, count) : error_status();
    memory_free(walk.names);
    return status;
}

Status archive_each(const char *path, ArchiveTake *take, void *argument) {
    size_t count = 0;
    char *bytes = file_read(NULL, path, ARCHIVE_MOST_BYTES, &count);
    if (bytes == NULL) return error_status();
    Status status = archive_each_of(path, bytes, count, take, argument);
    memory_free(bytes);
    return status;
}

// text_file.c -- reads small files as a whole, and makes strangers' texts harmless. Opening a file
// never blocks (on a FIFO) and never follows a link in a stranger's folder.
#include "exercises/course/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layers/files/whole_file.h"
#include "tensor/memory.h"

enum { MOST_LINE = 4096 };

static int open_in(const char *folder, const char *name) {
    const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    if (!folder) return open(name, flags);
    if (strchr(name, '/')) {
        errno = EINVAL;
        return -1;
    }
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    int file = openat(directory, name, flags | O_NOFOLLOW);
    int reason = errno;
    close(directory);
    errno = reason;
    return file;
}

// Reads up to `most` + 1 bytes. Returns the count, or -1.
static ssize_t read_all(int file, char *text, size_t most) {
    size_t used = 0;
    while (used < most + 1) {
        ssize_t part = read(file, text + used, most + 1 - used);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return -1;
        if (part == 0) break;
        used += (size_t)part;
    }
    return (ssize_t)used;
}

char *file_read(const char *folder, const char *name, size_t most, size_t *count) {
    struct stat about;
    int file = open_in(folder, name);
    bool plain = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    size_t room = plain && (size_t)about.st_size < most ? (size_t)about.st_size : most;
    char *text = plain ? memory_new(room + 2) : NULL;
    ssize_t used = text ? read_all(file, text, room) : -1;
    int reason = file < 0 || plain ? errno : EINVAL;
    if (file >= 0) close(file);
    if (plain && !text) return NULL;
    if (used >= 0 && (size_t)used <= room) {
        text[used] = '\0';
        if (count) *count = (size_t)used;
        return text;
    }
    memory_free(text);
    if (used >= 0)
        error_set(STATUS_FORMAT, "%s: more than %zu bytes. HINT: is it the right file?", name,
                  most);
    else
        error_set(STATUS_IO, "%s: cannot be read: %s. HINT: a plain file is needed", name,
                  strerror(reason));
    return NULL;
}

char *file_first_line(const char *path) {
    char *text = path ? file_read(NULL, path, MOST_LINE, NULL) : memory_copy_string("");
    if (text) text[strcspn(text, "\r\n")] = '\0';
    return text;
}

Status file_write(const char *folder, const char *name, const void *bytes, size_t count) {
    char path[PATH_MAX];
    int length =
        snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    if (length < 0 || length >= PATH_MAX)
        return error_set(STATUS_IO, "%s: too long a path. HINT: use a shorter folder", name);
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    whole_file_write(file, bytes, count);
    return whole_file_close(file);
}

// ---- strangers' bytes ---------------------------------------------------------------------------
// The number of bytes of the UTF-8 sequence at `text`; 0: invalid, which includes overlong forms,
// surrogates and code points beyond U+10FFFF.
static int sequence_length(const unsigned char *text) {
    static const struct {
        unsigned char first, last, second_first, second_last;
        int length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last) continue;
        if (text[1] < forms[i].second_first || text[1] > forms[i].second_last) return 0;
        for (int k = 2; k < forms[i].length; k++)
            if ((text[k] & 0xc0) != 0x80) return 0;
        return forms[i].length;
    }
    return 0;
}

// False for control characters, line separators, marks of text direction, invisible tags, and code
// points that XML does not allow.
static bool is_harmless(const unsigned char *text, int length) {
    static const struct {
        uint32_t first, last;
    } refused[] = {{0x80, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},  {0x2028, 0x202e},
                   {0x2066, 0x2069}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}};
    uint32_t code = text[0] & (0xffU >> (length + 1));
    for (int k = 1; k < length; k++) code = code << 6 | (text[k] & 0x3fU);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (code >= refused[i].first && code <= refused[i].last) return false;
    return true;
}

void text_clean(char *text) {
    unsigned char *in = (unsigned char *)text, *out = in;
    while (*in) {
        int length = *in < 0x80 ? 1 : sequence_length(in);
        bool plain = *in == '\n' || *in == '\t' || (*in >= 0x20 && *in < 0x7f);
        if (length == 1 ? !plain : length == 0 || !is_harmless(in, length)) {
            *out++ = '?';
            in += length ? length : 1;
            continue;
        }
        for (int k = 0; k < length; k++) *out++ = *in++;
    }
    *out = '\0';
}

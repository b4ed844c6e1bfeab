// tar.c -- blocks of 512 bytes: a header and the content for each file, two empty ones at the end.
#include "exercises/lab/tar.h"

enum { BLOCK = 512 };

typedef struct TarHeader {
    char name[100], mode[8], user[8], group[8], size[12], modified[12], checksum[8], type;
    char link[100], magic[8], rest[247];
} TarHeader;
_Static_assert(sizeof(TarHeader) == BLOCK, "a header is one block");

static const char nothing[BLOCK];

void tar_add(WholeFile *archive, const char *name, const void *content, size_t size) {
    TarHeader header = {.mode = "0000644",
                        .user = "0000000",
                        .group = "0000000",
                        .modified = "00000000000",
                        .checksum = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '},
                        .type = '0',
                        .magic = {'u', 's', 't', 'a', 'r', '\0', '0', '0'}};
    snprintf(header.name, sizeof header.name, "%s", name);
    snprintf(header.size, sizeof header.size, "%011llo", (unsigned long long)size & 077777777777);
    unsigned sum = 0; // of all bytes, with the sum itself taken for spaces
    const unsigned char *bytes = (const unsigned char *)&header;
    for (int i = 0; i < BLOCK; i++) sum += bytes[i];
    snprintf(header.checksum, sizeof header.checksum, "%06o", sum & 0777777);
    whole_file_write(archive, &header, sizeof header);
    whole_file_write(archive, content, size);
    whole_file_write(archive, nothing, (BLOCK - size % BLOCK) % BLOCK);
}

void tar_end(WholeFile *archive) {
    for (int i = 0; i < 2; i++) whole_file_write(archive, nothing, BLOCK);
}

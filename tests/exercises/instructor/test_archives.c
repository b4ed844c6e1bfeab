// test_archives.c -- archives handed in by strangers: three kinds, good ones and hostile ones, and
// the names that platforms and browsers give files.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "exercises/instructor/submissions.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096, BLOCK = 512 };

// ---- tar ---------------------------------------------------------------------------------------
typedef struct Kind { // a header with a fault
    const char *what, *name;
    char size[13];
    char type;
    int checksum_off, blocks; // checksum's error; blocks of content
} Kind;
static const Kind kinds[] = {
    {"a path upwards", "../ex01_count_parameters.c", "00000000001", '0', 0, 1},
    {"a path upwards inside", "a/../../x", "00000000001", '0', 0, 1},
    {"only upwards", "..", "00000000001", '0', 0, 1},
    {"an absolute path", "/etc/passwd", "00000000001", '0', 0, 1},
    {"a link", "x", "00000000000", '1', 0, 0},
    {"a symbolic link", "x", "00000000000", '2', 0, 0},
    {"a character device", "x", "00000000000", '3', 0, 0},
    {"a block device", "x", "00000000000", '4', 0, 0},
    {"a FIFO", "x", "00000000000", '6', 0, 0},
    {"a sparse file", "x", "00000000001", 'S', 0, 1},
    {"an unknown kind", "x", "00000000001", '~', 0, 1},
    {"a file of 2 MB", "x", "00010000000", '0', 0, 4096},
    {"a file of 8 GB", "x", "77777777777", '0', 0, 1},
    {"a size in binary", "x", "\200\0\0\0\0\0\0\0\0\0\001", '0', 0, 1},
    {"a size that is no number", "x", "12x", '0', 0, 1},
    {"half a file", "x", "00000002000", '0', 0, 1},
    {"control characters", "a\033[31mb", "00000000001", '0', 0, 1},
    {"a file of no name", ".", "00000000001", '0', 0, 1},
    {"a file without a name", "", "00000000001", '0', 0, 1},
    {"a wrong sum", "x", "00000000001", '0', 1, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void put_header(char *block, const char *name, const char *size, char type, int off) {
    memset(block, 0, BLOCK);
    snprintf(block, 100, "%s", name);
    memcpy(block + 124, size, 12);
    memcpy(block + 257, "ustar\00000", 8);
    memset(block + 148, ' ', 8);
    block[156] = type;
    int sum = off;
    for (int i = 0; i < BLOCK; i++) sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", (unsigned)sum & 0777777);
}

static Status count_files(void *argument, const char *name, const char *bytes, size_t count) {
    (void)name;
    (void)bytes;
    *(int *)argument += 1 + (int)count;
    return STATUS_OK;
}

static Status read_archive(const char *bytes, size_t count, int *files) {
    char path[64];
    snprintf(path, sizeof path, "%s/x.tar", work_folder);
    FILE *file = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    fclose(file);
    *files = 0;
    return archive_each(path, count_files, files);
}

START_TEST(an_archive_that_tries_something_is_refused) {
    const Kind *kind = &kinds[_i];
    int files = 0;
    work_folder_begin();
    size_t count = (size_t)(1 + kind->blocks + 2) * BLOCK;
    char *bytes = calloc(1, count + BLOCK);
    put_header(bytes, kind->name, kind->size, kind->type, kind->checksum_off);
    if (strcmp(kind->what, "half a file") == 0) count = 2 * BLOCK;
    ck_assert_msg(read_archive(bytes, count, &files) == STATUS_FORMAT, "%s", kind->what);
    ck_assert_int_eq(files, 0);
    error_clear();
    free(bytes);
    work_folder_end();
}
END_TEST

// If the header has no kind, a slash at the end marks a folder.
START_TEST(an_old_tar_has_folders_by_their_slash) {
    int files;
    char bytes[6 * BLOCK] = {0};
    work_folder_begin();
    put_header(bytes, "./", "00000000000", '\0', 0);
    put_header(bytes + BLOCK, "d/", "00000000000", '\0', 0);
    put_header(bytes + 2 * BLOCK, "d/x", "00000000001", '\0', 0);
    ck_assert_int_eq(read_archive(bytes, sizeof bytes, &files), STATUS_OK);
    ck_assert_int_eq(files, 2); // one folder, one file of one byte
    work_folder_end();
}
END_TEST

START_TEST(what_is_no_archive_is_refused) {
    int files;
    char bytes[4 * BLOCK] = {0};
    work_folder_begin();
    ck_assert_int_eq(read_archive(bytes, 0, &files), STATUS_FORMAT);
    error_clear();
    ck_assert_int_eq(read_archive(bytes, sizeof bytes, &files), STATUS_FORMAT);
    error_clear();
    ck_assert_int_eq(read_archive("\037\213\010 gzip", 8, &files), STATUS_FORMAT);
    error_clear();
    unsigned state = 1;
    for (int turn = 0; turn < 300; turn++) { // changed bytes: refused or read, never out of bounds
        put_header(bytes, "ex01_count_parameters.c", "00000000005", '0', 0);
        for (int i = 0; i < 4; i++) {
            state = state * 1103515245 + 12345;
            bytes[state / 65536 % BLOCK] = (char)(state >> 8);
        }
        read_archive(bytes, sizeof bytes, &files);
        error_clear();
    }
    char *many = calloc(1, (ARCHIVE_MOST_ENTRIES + 3) * (size_t)BLOCK);
    for (int i = 0; i <= ARCHIVE_MOST_ENTRIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        put_header(many + (size_t)i * BLOCK, name, "00000000000", '0', 0);
    }
    size_t count = (ARCHIVE_MOST_ENTRIES + 3) * (size_t)BLOCK;
    ck_assert_int_eq(read_archive(many, count, &files), STATUS_FORMAT);
    ck_assert_msg(strstr(error_message(), "too many") != NULL, "%s", error_message());
    error_clear();
    free(many);
    work_folder_end();
}
END_TEST

START_TEST(archives_of_every_tar_are_read) {
    static const char *const tars[] = {"gnu", "oldgnu", "pax", "posix", "ustar", "v7"};
    int files = 0;
    work_folder_begin();
    char command[TEXT], path[64];
    snprintf(command, sizeof command,
             "mkdir -p in/exercises; printf 12345 >in/exercises/a; : >in/exercises/b\n"
             "tar --format=%s -cf x.tar -C in .",
             tars[_i]);
    work_folder_run(command);
    snprintf(path, sizeof path, "%s/x.tar", work_folder);
    ck_assert_int_eq(archive_each(path, count_files, &files), STATUS_OK);
    ck_assert_int_eq(files, 2 + 5);
    // Every allocation failing in turn.
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        Status status = archive_each(path, count_files, &files);
        memory_fail_at(0);
        if (status == STATUS_OK) break;
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        error_clear();
    }
    work_folder_end();
}
END_TEST

// ---- gzip --------------------------------------------------------------------------------------
static size_t pack_gzip(const char *bytes, size_t count, char *out, size_t most) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)count};
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)most;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t used = stream.total_out;
    deflateEnd(&stream);
    return used;
}

// A gzip file that is whole, in two members, cut short, or has a byte changed.
START_TEST(a_gzip_is_read_whole_or_not_at_all) {
    char tar[5 * BLOCK] = "", packed[4 * BLOCK];
    int files;
    work_folder_begin();
    put_header(tar, "ex01_count_parameters.c", "00000001000", '0', 0);
    for (int i = 0; i < BLOCK; i++) tar[BLOCK + i] = (char)(i * i % 251);
    size_t count = pack_gzip(tar, sizeof tar, packed, sizeof packed);
    ck_assert_int_eq(read_archive(packed, count, &files), STATUS_OK);
    ck_assert_int_eq(files, 1 + BLOCK);
    for (size_t cut = 1; cut < count; cut++) {
        ck_assert_int_eq(read_archive(packed, cut, &files), STATUS_FORMAT);
        error_clear();
    }
    for (size_t i = 10; i < count; i++) {
        packed[i] ^= 4;
        Status status = read_archive(packed, count, &files);
        ck_assert(status == STATUS_FORMAT || files == 1 + BLOCK); // an unused bit
        error_clear();
        packed[i] ^= 4;
    }
    count = pack_gzip(tar, 700, packed, sizeof packed);
    count += pack_gzip(tar + 700, sizeof tar - 700, packed + count, sizeof packed - count);
    ck_assert_int_eq(read_archive(packed, count, &files), STATUS_OK);
    ck_assert_int_eq(files, 1 + BLOCK);
    work_folder_end();
}
END_TEST

START_TEST(a_bomb_is_not_unpacked) {
    enum { MUCH = ARCHIVE_MOST_BYTES + (1 << 20) };
    char *zeros = calloc(1, MUCH), *packed = malloc(1 << 20);
    int files;
    work_folder_begin();
    size_t count = pack_gzip(zeros, MUCH, packed, 1 << 20);
    ck_assert_int_lt((int)count, 100000);
    ck_assert_int_eq(read_archive(packed, count, &files), STATUS_FORMAT);
    ck_assert_ptr_nonnull(strstr(error_message(), "more than 32 MB"));
    error_clear();
    free(zeros);
    free(packed);
    work_folder_end();
}
END_TEST

// ---- zip ---------------------------------------------------------------------------------------
// Writes a zip archive; numbers are little endian. False: the archive is full.
typedef struct ZipText {
    unsigned char bytes[1 << 16];
    size_t count;
} ZipText;

static void zip_number(ZipText *zip, uint64_t value, int width) {
    for (int i = 0; i < width; i++) zip->bytes[zip->count++] = (unsigned char)(value >> 8 * i);
}

static void zip_bytes(ZipText *zip, const void *bytes, size_t count) {
    memcpy(zip->bytes + zip->count, bytes, count);
    zip->count += count;
}

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, CONTENT = 600 };

// A file of 600 bytes under each name, the first stored, the others deflated.
static void zip_make(ZipText *zip, const char *const names[], int count) {
    static unsigned char content[CONTENT], packed[2 * CONTENT];
    uint32_t crc, local[8], sizes[8];
    zip->count = 0;
    for (int i = 0; i < CONTENT; i++) content[i] = (unsigned char)(i % 7 + 'a');
    crc = (uint32_t)crc32(crc32(0, NULL, 0), content, CONTENT);
    z_stream stream = {.next_in = content, .avail_in = CONTENT};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    for (int pass = 0; pass < 2; pass++) { // the files, then the directory
        size_t directory = zip->count;
        for (int i = 0; i < count; i++) {
            uint32_t method = i == 0 ? 0 : 8, length = (uint32_t)strlen(names[i]);
            sizes[i] = i == 0 ? CONTENT : (uint32_t)stream.total_out;
            if (pass == 0) local[i] = (uint32_t)zip->count;
            zip_number(zip, pass ? CENTRAL : LOCAL, 4);
            if (pass) zip_number(zip, 3 << 8 | 20, 2); // made by Unix
            const uint32_t head[] = {20, 0, method, 0, 0};
            for (int k = 0; k < 5; k++) zip_number(zip, head[k], 2);
            const uint32_t facts[] = {crc, sizes[i], CONTENT};
            for (int k = 0; k < 3; k++) zip_number(zip, facts[k], 4);
            zip_number(zip, length, 2);
            zip_number(zip, 0, pass ? 8 : 2);
            if (pass) zip_number(zip, 0100644U << 16, 4);
            if (pass) zip_number(zip, local[i], 4);
            zip_bytes(zip, names[i], length);
            if (!pass) zip_bytes(zip, i == 0 ? content : packed, sizes[i]);
        }
        if (!pass) continue;
        uint32_t size = (uint32_t)(zip->count - directory);
        zip_number(zip, END, 4);
        zip_number(zip, 0, 4);
        zip_number(zip, (uint32_t)count, 2);
        zip_number(zip, (uint32_t)count, 2);
        zip_number(zip, size, 4);
        zip_number(zip, (uint32_t)directory, 4);
        zip_number(zip, 0, 2);
    }
    deflateEnd(&stream);
}

static unsigned char *zip_find(ZipText *zip, uint32_t mark) {
    for (size_t i = 0; i + 4 <= zip->count; i++) {
        const unsigned char *at = zip->bytes + i;
        if ((at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24) == mark)
            return zip->bytes + i;
    }
    ck_abort_msg("no record %x", mark);
    return NULL;
}

static Status zip_read(const ZipText *zip, int *files) {
    return read_archive((const char *)zip->bytes, zip->count, files);
}

// A changed field of a record, and the resulting message.
static const struct {
    const char *what;
    uint32_t mark;
    int at;
    const char *bytes;
    size_t count;
} lies[] = {
    {"encrypted", CENTRAL, 8, "\1", 1},
    {"encrypted", CENTRAL, 8, "\100", 1},
    {"encrypted", LOCAL, 6, "\1", 1},
    {"another method", CENTRAL, 10, "\14", 1},
    {"another method", CENTRAL, 10, "\137", 1},
    {"damaged", CENTRAL, 16, "abcd", 4},
    {"in the middle", CENTRAL, 20, "\0\0\0\1", 4},
    {"ZIP64", CENTRAL, 20, "\377\377\377\377", 4},
    {"ZIP64", CENTRAL, 24, "\377\377\377\377", 4},
    {"too large", CENTRAL, 24, "\0\0\0\1", 4},
    {"damaged", CENTRAL, 24, "\1\0\0\0", 4},
    {"damaged", CENTRAL, 28, "\377\377", 2},
    {"split archive", CENTRAL, 34, "\1", 1},
    {"a link", CENTRAL, 40, "\377\241", 2},
    {"a device", CENTRAL, 40, "\266\041", 2},
    {"not where", CENTRAL, 42, "\377\377\377\177", 4},
    {"not where", CENTRAL, 42, "\1\0\0\0", 4},
    {"two names", LOCAL, 30, "Z", 1},
    {"several parts", END, 4, "\1", 1},
    {"several parts", END, 8, "\1", 1},
    {"ZIP64", END, 10, "\377\377", 2},
    {"ZIP64", END, 16, "\377\377\377\377", 4},
    {"damaged", END, 12, "\1\0\0\0", 4},
    {"empty", END, 8, "\0\0\0\0", 4},
    {"too many", END, 8, "\377\376\377\376", 4},
};
enum { LIES = sizeof lies / sizeof lies[0] };

START_TEST(a_zip_is_read_and_one_that_lies_is_refused) {
    static const char *const names[] = {"ex01_count_parameters.c", "lab/exercises/ex05_clock.c"};
    ZipText *zip = malloc(sizeof *zip);
    int files;
    work_folder_begin();
    zip_make(zip, names, 2);
    ck_assert_msg(zip_read(zip, &files) == STATUS_OK, "%s", error_message());
    ck_assert_int_eq(files, 2 + 2 * CONTENT);
    memcpy(zip_find(zip, lies[_i].mark) + lies[_i].at, lies[_i].bytes, lies[_i].count);
    ck_assert_int_eq(zip_read(zip, &files), STATUS_FORMAT);
    ck_assert_msg(strstr(error_message(), lies[_i].what) != NULL, "not %s: %s", lies[_i].what,
                  error_message());
    error_clear();
    free(zip);
    work_folder_end();
}
END_TEST

START_TEST(names_in_a_zip_are_held_to_the_same) {
    static const struct {
        const char *names[2], *what;
    } named[] = {{{"../ex05_clock.c", "b"}, "leads out"},
                 {{"a/../../b", "b"}, "leads out"},
                 {{"a\\..\\..\\b", "b"}, "leads out"},
                 {{"/etc/passwd", "b"}, "leads out"},
                 {{"\\etc\\passwd", "b"}, "leads out"},
                 {{"C:\\b", "b"}, "another disk"},
                 {{"a\nb", "b"}, "control characters"},
                 {{"a", "a"}, "twice"},
                 {{"./a", "a"}, "twice"},
                 {{"b/a", "b\\a"}, "twice"},
                 {{"", "b"}, "no name"}};
    ZipText *zip = malloc(sizeof *zip);
    int files;
    work_folder_begin();
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        zip_make(zip, named[i].names, 2);
        ck_assert_int_eq(zip_read(zip, &files), STATUS_FORMAT);
        ck_assert_msg(strstr(error_message(), named[i].what) != NULL, "%s", error_message());
        error_clear();
    }
    free(zip);
    work_folder_end();
}
END_TEST

// Cut anywhere, and bytes changed anywhere: refused or read, never out of bounds.
START_TEST(a_damaged_zip_is_read_with_care) {
    static const char *const names[] = {"ex01_count_parameters.c", "ex05_clock.c"};
    ZipText *zip = malloc(sizeof *zip);
    int files;
    unsigned state = 1;
    work_folder_begin();
    zip_make(zip, names, 2);
    size_t whole = zip->count;
    for (zip->count = 0; zip->count < whole; zip->count++) {
        ck_assert_int_eq(zip_read(zip, &files), STATUS_FORMAT);
        error_clear();
    }
    for (int turn = 0; turn < 500; turn++) {
        zip_make(zip, names, 2);
        for (int i = 0; i < 3; i++) {
            state = state * 1103515245 + 12345;
            zip->bytes[state / 65536 % whole] = (unsigned char)(state >> 8);
        }
        zip_read(zip, &files);
        error_clear();
    }
    for (uint64_t n = 1;; n++) { // every allocation failing in turn
        zip_make(zip, names, 2);
        memory_fail_at(n);
        Status status = zip_read(zip, &files);
        memory_fail_at(0);
        if (status == STATUS_OK) break;
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        error_clear();
    }
    free(zip);
    work_folder_end();
}
END_TEST

// ---- names -------------------------------------------------------------------------------------
START_TEST(a_name_says_which_file_is_meant) {
    static const struct {
        const char *name;
        int copy; // -1: another file
    } named[] = {{"ex05_clock.c", 0},
                 {"ex05_clock (1).c", 2},
                 {"ex05_clock(12).c", 13},
                 {"ex05_clock-1.c", 2},
                 {"ex05_clock copy.c", 1},
                 {"ex05_clock - Copy (3).c", 4},
                 {"ex05_clock copy 2.c", 3},
                 {"EX05_Clock.C", 1},
                 {"ex05-clock.c", 1},
                 {"ex05_clock.c.txt", 1},
                 {"ex05_clock.c ", 1},
                 {"ex05_clock.txt", -1},
                 {"ex05_clock.h", -1},
                 {"ex05_clocks.c", -1},
                 {"myex05_clock.c", -1},
                 {"ex05.c", -1},
                 {"ex05_clock (one).c", -1},
                 {"ex05_clock (1.c", -1},
                 {"(1).c", -1},
                 {"", -1},
                 {"ex05_clock_1234.c", -1},
                 {"copy.c", -1}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        int copy = -1;
        if (!asked_is_meant("ex05_clock.c", named[i].name, &copy)) copy = -1;
        ck_assert_msg(copy == named[i].copy, "%s: %d", named[i].name, copy);
    }
}
END_TEST

START_TEST(a_platforms_name_says_whose_it_is) {
    static const struct {
        const char *entry;
        bool folder;
        const char *student, *id, *file; // student NULL: skipped
    } named[] = {
        {"doejane_12345_678_ex05_clock.c", false, "doejane", "12345", "ex05_clock.c"},
        {"doejane_LATE_12345_678_lab_1_2_x.zip", false, "doejane", "12345", "lab_1_2_x.zip"},
        {"doe-jane_1_2_a.tar", false, "doe-jane", "1", "a.tar"},
        {"Jane Doe_123456_assignsubmission_file_", true, "Jane Doe", "#123456", ""},
        {"Jane Doe_123456_assignsubmission_file", true, "Jane Doe", "#123456", ""},
        {"Jane_Doe_1_assignsubmission_file_ex05_clock (1).c", false, "Jane_Doe", "#1",
         "ex05_clock (1).c"},
        {"Jane Doe_123456_assignsubmission_onlinetext_", true, NULL, "", ""},
        {"lab-1-ada", true, "lab-1-ada", "", ""},
        {"a_1_2_b", true, "a_1_2_b", "", ""},
        {"ada.tar.gz", false, "ada", "", "ada.tar.gz"},
        {"ada.b.TGZ", false, "ada.b", "", "ada.b.TGZ"},
        {"ada.7z", false, "ada", "", "ada.7z"},
        {"ada_ex05_clock.c", false, "ada", "", "ex05_clock.c"},
        {"ada-by_hand.txt", false, "ada", "", "by_hand.txt"},
        {"ada.c", false, "ada", "", "ada.c"},
        {"ex05_clock.c", false, NULL, "", ""},
        {"README", false, NULL, "", ""},
        {"roster.csv", false, NULL, "", ""},
        {".DS_Store", false, NULL, "", ""},
        {"__MACOSX", true, NULL, "", ""},
        {".hidden", true, NULL, "", ""},
    };
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        EntryName name = entry_name(named[i].entry, named[i].folder);
        ck_assert_msg((name.skipped == NULL) == (named[i].student != NULL), "%s", named[i].entry);
        if (name.skipped != NULL) continue;
        ck_assert_str_eq(name.student, named[i].student);
        ck_assert_str_eq(name.id, named[i].id);
        ck_assert_str_eq(name.file, named[i].folder ? "" : named[i].file);
        ck_assert_int_eq(name.late, strstr(named[i].entry, "_LATE_") != NULL);
    }
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_ptr_nonnull(entry_name(longer, true).skipped); // two such names would become one
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {an_archive_that_tries_something_is_refused, KINDS},
        {an_old_tar_has_folders_by_their_slash, 0},
        {what_is_no_archive_is_refused, 0},
        {archives_of_every_tar_are_read, 6},
        {a_gzip_is_read_whole_or_not_at_all, 0},
        {a_bomb_is_not_unpacked, 0},
        {a_zip_is_read_and_one_that_lies_is_refused, LIES},
        {names_in_a_zip_are_held_to_the_same, 0},
        {a_damaged_zip_is_read_with_care, 0},
        {a_name_says_which_file_is_meant, 0},
        {a_platforms_name_says_whose_it_is, 0},
        {NULL, 0},
    };
    return harness_main("archives", tests);
}

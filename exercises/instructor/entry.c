// entry.c -- finds the student of an entry in a downloaded class by the name from the platform:
//
//     Canvas   doejane_LATE_12345_67890_ex05_clock.c      a file; _LATE_ only if it was late
//     Moodle   Jane Doe_123456_assignsubmission_file_     a folder, or the start of a file's name
//     with any      jane/  jane.zip  jane_ex05_clock.c
//
// GitHub's "assignment-jane" needs a roster (roster.c).
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "exercises/instructor/submissions.h"

static void copy(char *to, size_t size, const char *from, size_t length) {
    if (length >= size) length = size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

// Reads "_123" and moves *at behind it; false if no digit follows.
static bool take_number(const char **at, const char **digits, size_t *length) {
    if (**at != '_') return false;
    *digits = *at + 1;
    *length = strspn(*digits, "0123456789");
    if (*length == 0) return false;
    *at = *digits + *length;
    return true;
}

static bool read_moodle(const char *entry, EntryName *name) {
    static const char file[] = "_assignsubmission_file", text[] = "_assignsubmission_onlinetext";
    const char *at = strstr(entry, file), *typed = strstr(entry, text);
    if (typed != NULL) at = typed;
    if (at == NULL) return false;
    const char *digits = at;
    while (digits > entry && isdigit((unsigned char)digits[-1])) digits--;
    if (digits == at || digits - entry < 2 || digits[-1] != '_') return false;
    copy(name->student, CLASS_NAME, entry, (size_t)(digits - 1 - entry));
    snprintf(name->id, CLASS_NAME, "#%.*s", (int)(at - digits), digits);
    at += typed != NULL ? strlen(text) : strlen(file);
    copy(name->file, ENTRY_FILE, at + (*at == '_'), strlen(at + (*at == '_')));
    if (typed != NULL) name->skipped = "typed into Moodle's own box: only files are graded";
    return true;
}

static bool read_canvas(const char *entry, EntryName *name) {
    for (const char *at = strchr(entry, '_'); at != NULL; at = strchr(at + 1, '_')) {
        const char *after = at, *user, *file;
        size_t user_length, file_length;
        bool late = strncmp(at, "_LATE_", 6) == 0;
        if (late) after += 5;
        if (!take_number(&after, &user, &user_length)) continue;
        if (!take_number(&after, &file, &file_length) || *after != '_' || after[1] == '\0')
            continue;
        if (at == entry) return false;
        copy(name->student, CLASS_NAME, entry, (size_t)(at - entry));
        copy(name->id, CLASS_NAME, user, user_length);
        copy(name->file, ENTRY_FILE, after + 1, strlen(after + 1));
        name->late = late;
        return true;
    }
    return false;
}

static void read_file(const char *entry, EntryName *name) {
    size_t length = strlen(entry), begins = 0;
    const char *other = archive_other_kind(entry), *dot = strrchr(entry, '.');
    copy(name->file, ENTRY_FILE, entry, length);
    if (archive_is_named(entry, &length) || other != NULL) {
        if (other != NULL) length -= strlen(other);
    } else if (asked_ends_in(entry, &begins)) {
        if (begins < 2) {
            name->skipped = "its name does not say whose it is: put it into the student's folder";
            return;
        }
        copy(name->file, ENTRY_FILE, entry + begins, length - begins);
        length = begins - 1;
        while (length > 1 && (entry[length - 1] == ' ' || entry[length - 1] == '_')) length--;
    } else if (dot != NULL && dot != entry && strlen(dot) == 2 && strchr("cChH", dot[1]) != NULL) {
        length = (size_t)(dot - entry);
    } else {
        name->skipped = "neither a folder, nor an archive, nor a file that is asked for";
        return;
    }
    copy(name->student, CLASS_NAME, entry, length);
}

EntryName entry_name(const char *entry, bool is_folder) {
    EntryName name = {.late = false};
    if (asked_is_litter(entry)) {
        name.skipped = "hidden, or left there by a system";
    } else if (!read_moodle(entry, &name) && (is_folder || !read_canvas(entry, &name))) {
        if (is_folder)
            copy(name.student, CLASS_NAME, entry, strlen(entry));
        else
            read_file(entry, &name);
    }
    if (name.skipped == NULL && strlen(name.student) == CLASS_NAME - 1)
        name.skipped = "the name of its student is longer than 62 bytes: give it a shorter one";
    return name;
}

// roster.c -- the roster of a class, which gives each student's name, whatever name a platform gave
// a file; and points of written answers.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exercises/course/text_file.h"
#include "exercises/instructor/submissions.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 16 << 20 };

// ---- roster ------------------------------------------------------------------------------------
// Reads a cell of a CSV line, and moves *line behind it. In quotes, two quotes stand for one.
static void take_cell(const char **line, char cell[CLASS_NAME]) {
    const char *at = *line + strspn(*line, " ");
    bool quoted = *at == '"';
    size_t used = 0;
    for (at += quoted; *at != '\0' && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && *++at != '"') break;
        if (used + 1 < CLASS_NAME) cell[used++] = *at;
    }
    while (used > 0 && !quoted && cell[used - 1] == ' ') used--;
    cell[used] = '\0';
    at += strcspn(at, ",");
    *line = at + (*at == ',');
}

static Status add_from_roster(Class *class, const char *line, bool first) {
    char student[CLASS_NAME], name[CLASS_NAME], id[CLASS_NAME], section[CLASS_NAME];
    char *const cells[] = {student, name, id, section};
    for (int i = 0; i < 4; i++) take_cell(&line, cells[i]);
    if (student[0] == '\0' || (first && strncasecmp(student, "student", 7) == 0)) return STATUS_OK;
    Member *member = class_find(class, student);
    if (member == NULL) member = class_add(class, student);
    if (member == NULL) return error_status();
    member->on_roster = true;
    if (name[0] != '\0') snprintf(member->name, CLASS_NAME, "%s", name);
    class_clean_name(member->name);
    memcpy(member->id, id, sizeof id);
    memcpy(member->section, section, sizeof section);
    class_clean_name(member->id);
    class_clean_name(member->section);
    return STATUS_OK;
}

static Status each_line(Class *class, const char *path,
                        Status (*take)(Class *class, const char *line, bool first)) {
    char *text = file_read(NULL, path, MOST_TEXT, NULL), *rest = NULL;
    if (text == NULL) return error_status();
    Status status = STATUS_OK;
    bool first = true;
    size_t line_length = strcspn(text, "\r\n");
    if (memchr(text, ';', line_length) != NULL && memchr(text, ',', line_length) == NULL)
        status = error_set(STATUS_FORMAT,
                           "%.200s: its cells are parted by ';'. HINT: save it as CSV with commas",
                           path);
    char *begin = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0); // a byte-order mark
    for (char *line = strtok_r(begin, "\r\n", &rest); line != NULL && status == STATUS_OK;
         line = strtok_r(NULL, "\r\n", &rest)) {
        status = take(class, line, first);
        first = false;
    }
    memory_free(text);
    return status;
}

// ---- other names of the same -------------------------------------------------------------------
// Appends the letters and digits of a text in lower case. `plain` drops letters beyond ASCII, as
// some platforms do.
static void append_key(const char *text, size_t length, bool plain, char key[CLASS_NAME]) {
    size_t used = strlen(key);
    for (size_t i = 0; i < length && used + 1 < CLASS_NAME; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80 ? !plain : isalnum(c) != 0) key[used++] = (char)tolower(c);
    }
    key[used] = '\0';
}

// True if `own` is the name with its words in this order or rotated: "Jane Doe", "Doe, Jane" and
// Canvas's "doejane", whichever part is the surname.
static bool is_name(const char *name, const char *own, bool plain) {
    const char *words[16];
    size_t lengths[16];
    int count = 0;
    char wanted[CLASS_NAME] = "";
    append_key(own, strlen(own), plain, wanted);
    for (const char *at = name; *at != '\0' && count < 16;) {
        at += strspn(at, " ,");
        lengths[count] = strcspn(at, " ,");
        words[count] = at;
        at += lengths[count];
        count += lengths[count] > 0;
    }
    for (int first = 0; first < count && wanted[0] != '\0'; first++) {
        char key[CLASS_NAME] = "";
        for (int i = 0; i < count; i++)
            append_key(words[(first + i) % count], lengths[(first + i) % count], plain, key);
        if (strcmp(key, wanted) == 0) return true;
    }
    return false;
}

// True for GitHub's "assignment-jane": "assignment-" precedes several names, or the only one.
static bool is_behind(const Class *class, const char *own, const char *name) {
    size_t length = strlen(own), width = strlen(name);
    int others = 0, all = 0;
    if (width == 0 || length < width + 2 || own[length - width - 1] != '-') return false;
    if (strcasecmp(own + length - width, name) != 0) return false;
    for (int i = 0; i < class->count; i++) {
        const Member *member = &class->members[i];
        if (member->n_parts == 0) continue;
        all++;
        others += strncasecmp(member->student, own, length - width) == 0;
    }
    return others > 1 || all == 1;
}

static bool is_ascii(const char *text) {
    while (*text != '\0' && (unsigned char)*text < 0x80) text++;
    return *text == '\0';
}

// Rates how surely this row of the roster means the student `own`; 0: it does not. If the roster's
// ids are the platform's numbers, another number is another student; and a name that two students
// share means neither.
static int match(const Class *class, const Member *own, const Member *row, bool numbered) {
    if (!row->on_roster) return 0;
    if (row->id[0] != '\0' && strcmp(row->id, own->platform_id) == 0) return 5;
    if (row->id[0] != '\0' && strcasecmp(row->id, own->student) == 0) return 4;
    bool number = own->platform_id[0] != '\0' && own->platform_id[0] != '#';
    if (own->shared || (numbered && number && row->id[0] != '\0')) return 0;
    if (is_name(row->name, own->student, false)) return 3;
    if (is_name(row->student, own->student, false)) return 3;
    if (is_ascii(own->student) && is_name(row->name, own->student, true)) return 2;
    if (is_behind(class, own->student, row->student) || is_behind(class, own->student, row->id))
        return 1;
    return 0;
}

static Status hand_over(Member *row, Member *own) {
    Status status = STATUS_OK;
    for (int i = 0; i < own->n_parts && status == STATUS_OK; i++)
        status = class_add_part(row, own->parts[i].path, own->parts[i].name);
    row->too_many = row->too_many || own->too_many;
    size_t used = strlen(row->note);
    snprintf(row->note + used, sizeof row->note - used, "%scame as %.70s%s%.60s", used ? "; " : "",
             own->student, own->note[0] ? ", " : "", own->note);
    class_free_member(own);
    return status;
}

// Finds the surest row of the roster; NULL with a note if there is none, or if two are equally
// sure.
static Member *find_row(const Class *class, Member *own, bool numbered) {
    Member *best = NULL;
    int most = 0, as_good = 0;
    for (int i = 0; i < class->count; i++) {
        int found = match(class, own, &class->members[i], numbered);
        if (found < most || found == 0) continue;
        as_good = found > most ? 1 : as_good + 1;
        most = found;
        best = &class->members[i];
    }
    if (as_good > 1)
        snprintf(own->note, sizeof own->note,
                 "%d on the roster may be called so: give its folder the right one's name",
                 as_good);
    else if (best == NULL && own->shared)
        snprintf(own->note, sizeof own->note,
                 "two have this name: give each folder the name that the roster has");
    else if (best == NULL)
        snprintf(own->note, sizeof own->note, "nobody on the roster is called so");
    return as_good == 1 ? best : NULL;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// True if any id of the roster is a number that the platform gave a file.
static bool is_numbered(const Class *class) {
    const char **ids = memory_new(((size_t) class->count + 1) * sizeof *ids);
    size_t n = 0;
    bool found = false;
    for (int i = 0; ids && i < class->count; i++)
        if (class->members[i].id[0] != '\0') ids[n++] = class->members[i].id;
    if (n > 0) qsort(ids, n, sizeof *ids, compare_texts);
    for (int i = 0; n > 0 && i < class->count && !found; i++) {
        const char *own = class->members[i].platform_id;
        found = own[0] != '\0' && bsearch(&own, ids, n, sizeof *ids, compare_texts) != NULL;
    }
    memory_free(ids);
    return found;
}

// Finds all rows before moving any submission, because GitHub's names need all submissions.
static Status match_all(Class *class) {
    Member **rows = memory_new(((size_t) class->count + 1) * sizeof(Member *));
    bool numbered = rows && is_numbered(class);
    Status status = error_status();
    int kept = 0;
    for (int i = 0; i < class->count && status == STATUS_OK; i++) {
        Member *own = &class->members[i];
        rows[i] = own->on_roster || own->n_parts == 0 ? NULL : find_row(class, own, numbered);
    }
    for (int i = 0; i < class->count && status == STATUS_OK; i++)
        if (rows[i] != NULL) status = hand_over(rows[i], &class->members[i]);
    for (int i = 0; i < class->count; i++) {
        const Member *member = &class->members[i];
        if (member->on_roster || member->n_parts > 0) class->members[kept++] = *member;
    }
    class->count = kept;
    memory_free(rows);
    return status;
}

Status class_add_roster(Class *class, const char *path) {
    Status status = each_line(class, path, add_from_roster);
    if (status == STATUS_OK) status = match_all(class);
    class_arrange(class);
    return status;
}

Status class_add_names(Class *class, const char *names) {
    const char *ends = strchr(names, ',') ? "," : " ";
    char *text = memory_copy_string(names), *rest = NULL;
    Status status = text ? STATUS_OK : error_status();
    for (char *name = text ? strtok_r(text, ends, &rest) : NULL; name != NULL && !status;
         name = strtok_r(NULL, ends, &rest)) {
        name += strspn(name, " ");
        for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--) name[n - 1] = '\0';
        if (name[0] != '\0' && class_find(class, name) == NULL && class_add(class, name) == NULL)
            status = error_status();
    }
    memory_free(text);
    class_arrange(class);
    return status;
}

// ---- answers in writing ------------------------------------------------------------------------
static Status add_points(Class *class, const char *line, bool first) {
    char student[CLASS_NAME], points[CLASS_NAME], *end;
    take_cell(&line, student);
    take_cell(&line, points);
    if (student[0] == '\0' || (first && strncasecmp(student, "student", 7) == 0)) return STATUS_OK;
    long number = strtol(points, &end, 10);
    if (end == points || end[strspn(end, " ")] != '\0' || number < 0 || number > 1000)
        return error_set(STATUS_FORMAT,
                         "written points of %.60s: \"%.20s\". HINT: a whole number, 0 to 1000",
                         student, points);
    Member *member = class_find(class, student);
    if (strcmp(student, "possible") == 0)
        class->possible = (int)number;
    else if (member != NULL)
        member->written = (int)number;
    else
        fprintf(stderr, "instructor: written points of %s, who is not in the class\n", student);
    return STATUS_OK;
}

Status class_add_written(Class *class, const char *path) {
    int most = 0;
    Status status = each_line(class, path, add_points);
    for (int i = 0; i < class->count; i++) {
        if (class->members[i].written > most) most = class->members[i].written;
    }
    if (status != STATUS_OK || class->possible >= most) return status;
    if (class->possible != WRITTEN_NONE)
        return error_set(STATUS_FORMAT, "%.200s: %d of %d possible points. HINT: mend one of them",
                         path, most, class->possible);
    class->possible = most; // the best answer counts as full marks
    return STATUS_OK;
}

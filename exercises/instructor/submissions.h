// submissions.h -- submissions: finds out who handed in which files from the names that platforms
// give, reads folders, archives and single files that strangers made, and picks the files to grade.
// Archives are in archive.h, grading in instructor.h.
#ifndef EXERCISES_INSTRUCTOR_SUBMISSIONS_H
#define EXERCISES_INSTRUCTOR_SUBMISSIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "exercises/course/sha256.h"
#include "exercises/grader/room.h"
#include "exercises/instructor/archive.h"
#include "tensor/status.h"

// ---- required files (asked.c) ------------------------------------------------------------------
enum { STAGE_MOST_FILES = 64, STAGE_NAME = 96 };

// Stores the names of the files that the exercises ask for, MANIFEST last; returns their number.
int asked_files(char names[STAGE_MOST_FILES][STAGE_NAME]);
// True if a student meant the file `asked` by `name`. *copy is 0 for the exact name, 1 if letter
// case, blanks or dashes differ, and n + 1 for a copy named by a browser or Canvas, "ex05_clock
// (n).c".
bool asked_is_meant(const char *asked, const char *name, int *copy);
// True if a name ends in the name of a required file, as "doe-ex05_clock.c" does; *begins is the
// offset of that name.
bool asked_ends_in(const char *name, size_t *begins);
// True if a part of the path is a leftover of a system: ".DS_Store", "__MACOSX", "Thumbs.db", any
// name that begins with a dot.
bool asked_is_litter(const char *path);

// ---- names from platforms (entry.c) ------------------------------------------------------------
enum { CLASS_NAME = 64, ENTRY_FILE = 256 };

typedef struct EntryName {
    char student[CLASS_NAME]; // "doejane", "Jane Doe"; "": the entry names no student
    char id[CLASS_NAME];      // the user's number in Canvas, "#123" in Moodle; "": another platform
    char file[ENTRY_FILE];    // the student's name for it: "ex05_clock.c"; "": the entry itself
    const char *skipped;      // the reason why it is no submission; NULL: it may be one
    bool late;
} EntryName;
EntryName entry_name(const char *entry, bool is_folder);

// ---- a class (class.c) -------------------------------------------------------------------------
// All students and their submissions. A student's name decides the numbers in the questions, so it
// must be one that the student knows, too: the name of the folder or archive, or the e-mail address
// in a Gradescope export.
enum { CLASS_MOST = 5000, CLASS_PARTS = 200, WRITTEN_NONE = -1 };

typedef struct Part {
    char *path; // owned: path of a folder, an archive or a file
    char *name; // owned: name of a file, without the platform's prefix
} Part;

typedef struct Member {
    char student[CLASS_NAME]; // name as given: "jane@x.edu"
    char folder[CLASS_NAME];  // unique name that is safe for a file: "jane@x.edu"
    char name[CLASS_NAME];    // name for people, from the roster or the export; "": not known
    char id[CLASS_NAME], section[CLASS_NAME]; // from the roster, for a gradebook
    char platform_id[CLASS_NAME]; // as EntryName.id: distinguishes students of the same name
    char note[160];               // remark for the instructor: "handed in late"; "": none
    int written;                  // points of written answers; WRITTEN_NONE: none
    bool on_roster;
    bool shared;   // another member has the same name, but another number
    bool too_many; // too many files: not all are in `parts`
    Part *parts;   // owned: the folders, archives and files of this student
    int n_parts;
} Member;

typedef struct Skipped { // an entry of the class's folder that is no submission
    char entry[ENTRY_FILE];
    const char *why;
} Skipped;

typedef struct Class {
    Member *members; // owned, by student
    int count, capacity;
    int possible;     // most points of written answers; WRITTEN_NONE: not asked for
    Skipped *skipped; // owned, by entry
    int n_skipped;
} Class;

// Reads all folders, archives and files in `path`, by student; other entries go into `skipped`,
// with the reason. Students' names come from the entries' names (entry.c), or from Gradescope's
// submission_metadata.yml if there is one. STATUS_IO, STATUS_FORMAT.
Status class_read(const char *path, Class *class);
// Removes a file of the instructor's, such as the roster, from the skipped entries.
void class_pass_over(Class *class, const char *folder, const char *file);
// Reads a CSV with lines "student,name,id,section" (the first cell is enough; a first line that
// begins with "student" is a heading). Sets names, and adds students who handed nothing in. A
// submission under another name of a student (Canvas's number or "doejane", Moodle's "Jane Doe",
// GitHub's "assignment-jane") becomes that student's. STATUS_IO, STATUS_FORMAT.
Status class_add_roster(Class *class, const char *path);
// Like class_add_roster, for a list of names: "ada bob", or with commas "Ada L, Bob".
Status class_add_names(Class *class, const char *names);
// Reads lines "student,points" with whole numbers, at most N if there is a line "possible,N".
// Prints students who are not in the class on standard error. STATUS_IO, STATUS_FORMAT (a bad
// line).
Status class_add_written(Class *class, const char *path);
void class_free(Class *class);

// For class.c, roster.c and export.c. class_find finds a member by name (letter case does not
// count, as in keys), or NULL. class_add adds one; NULL with an error pending: no room.
Member *class_find(const Class *class, const char *student);
Member *class_add(Class *class, const char *student);
Status class_add_part(Member *member, const char *path, const char *name); // copies both
void class_free_member(Member *member);                                    // frees its parts
void class_clean_name(char name[CLASS_NAME]); // makes it one line of printable characters
void class_arrange(Class *class);
// A Gradescope export: calls `take` for each folder in the text, which it changes.
typedef void ExportTake(void *argument, const char *folder, const char *email, const char *name);
void export_each(char *text, ExportTake *take, void *argument);

// ---- files to grade (stage.c) ------------------------------------------------------------------
// A stage is our own folder with copies of the files that the exercises ask for and nothing else,
// wherever a student's tools have put them. If two files for one exercise differ, the exact name
// wins over a copy's, a later copy over an earlier one, and then the file that is nested less; the
// note says which was taken and why. If that does not decide, the submission is refused.
enum { STAGE_DIGEST = 2 * SHA256_BYTES + 1, STAGE_NOTE = 480, STAGE_PATH = 128 };

typedef struct StagedFile {
    char name[STAGE_NAME];
    char digest[STAGE_DIGEST]; // in hexadecimal; "": not handed in
    char from[STAGE_PATH];     // path of the file taken
    char other[STAGE_PATH];    // path of a file not taken; "": none
    int rank;                  // the file with the lowest rank is taken
    int other_rank;            // rank of `other`
    int copy;                  // 0: the name is exact
    bool tied;                 // another file has the same rank
} StagedFile;

typedef struct Stage {
    Room room; // the room with the files
    StagedFile files[STAGE_MOST_FILES];
    int n_files;
    int staged;            // number of files present, not counting the MANIFEST
    char note[STAGE_NOTE]; // what was not taken, and why; "": all was
} Stage;

// Makes an empty stage that knows the required files. STATUS_IO.
Status stage_new(Stage *stage);
// Fills it with a student's files. STATUS_FORMAT or STATUS_IO: the submission is refused, and
// nothing of it is staged.
Status stage_fill(Stage *stage, const Member *member);
// Fills it from one folder, archive or file.
Status stage_fill_from(Stage *stage, const char *path);
void stage_remove(Stage *stage);

// Writes the digest of the bytes in hexadecimal.
void digest_text(const void *bytes, size_t count, char text[STAGE_DIGEST]);

#endif

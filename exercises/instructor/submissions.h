// submissions.h -- what was handed in: by whom, under the names that platforms give it, read from
// folders, archives and single files that strangers made, and what of it is graded. Not here: the
// archives themselves (archive.h), grading (instructor.h).
#ifndef EXERCISES_INSTRUCTOR_SUBMISSIONS_H
#define EXERCISES_INSTRUCTOR_SUBMISSIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "exercises/course/sha256.h"
#include "exercises/grader/room.h"
#include "exercises/instructor/archive.h"
#include "tensor/status.h"

// ---- files that are asked for (asked.c) --------------------------------------------------------
enum { STAGE_MOST_FILES = 64, STAGE_NAME = 96 };

// Writes the names of the files that exercises ask for, MANIFEST last; returns their number.
int asked_files(char names[STAGE_MOST_FILES][STAGE_NAME]);
// Whether a student meant that file by this name. *copy is 0 for the exact name, 1 where letter
// case, blanks or dashes differ, and n + 1 for a copy as browsers and Canvas name it, "ex05_clock
// (n).c".
bool asked_is_meant(const char *asked, const char *name, int *copy);
// Whether a name ends in that of a file that is asked for, as "doe-ex05_clock.c" does; *begins is
// where that begins.
bool asked_ends_in(const char *name, size_t *begins);
// Whether a part of the path is what systems leave behind: ".DS_Store", "__MACOSX", "Thumbs.db",
// anything that begins with a dot.
bool asked_is_litter(const char *path);

// ---- names that platforms give (entry.c) -------------------------------------------------------
enum { CLASS_NAME = 64, ENTRY_FILE = 256 };

typedef struct EntryName {
    char student[CLASS_NAME]; // "doejane", "Jane Doe"; "": it says nobody's
    char id[CLASS_NAME];      // the user's number in Canvas, "#123" in Moodle; "": another platform
    char file[ENTRY_FILE];    // what the student called it: "ex05_clock.c"; "": the entry itself
    const char *skipped;      // why it is no submission; NULL: it may be one
    bool late;
} EntryName;
EntryName entry_name(const char *entry, bool is_folder);

// ---- a class (class.c) -------------------------------------------------------------------------
// Who handed in what, and under which name a student is known. A student's name decides the numbers
// that are asked for, so it is one that the student knows, too: that of the folder or archive, or
// in a Gradescope export the e-mail address.
enum { CLASS_MOST = 5000, CLASS_PARTS = 200, WRITTEN_NONE = -1 };

typedef struct Part {
    char *path; // owned: of a folder, an archive or a file
    char *name; // owned: of a file, without what the platform put before it
} Part;

typedef struct Member {
    char student[CLASS_NAME]; // as given: "jane@x.edu"
    char folder[CLASS_NAME];  // safe as a file's name, and nobody else's: "jane@x.edu"
    char name[CLASS_NAME];    // for people, from the roster or the export; "": not known
    char id[CLASS_NAME], section[CLASS_NAME]; // of the roster, for a gradebook
    char platform_id[CLASS_NAME];             // as EntryName.id: tells apart who has one name
    char note[160]; // for the instructor, on how it came: "handed in late"; "": nothing
    int written;    // points of answers in writing; WRITTEN_NONE: there are none
    bool on_roster;
    bool shared;   // another one has the same name, and another number
    bool too_many; // files: not all are among the parts
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
    int possible;     // points of answers in writing; WRITTEN_NONE: nobody asked for any
    Skipped *skipped; // owned, by entry
    int n_skipped;
} Class;

// All folders, archives and files in `path`, by student: what is neither is in `skipped`, with the
// reason. Names are what platforms make them (entry.c); where there is a submission_metadata.yml,
// as Gradescope exports it, they come from there. STATUS_IO, STATUS_FORMAT.
Status class_read(const char *path, Class *class);
// Takes a file of the instructor's own, such as the roster, off the list of skipped entries.
void class_pass_over(Class *class, const char *folder, const char *file);
// Lines "student,name,id,section", of which the first cell is enough (CSV; a first line that begins
// with "student" is a heading): gives names, and adds who handed nothing in. A submission under
// another name of such a student (Canvas's number or "doejane", Moodle's "Jane Doe", GitHub's
// "assignment-jane") becomes that student's. STATUS_IO, STATUS_FORMAT.
Status class_add_roster(Class *class, const char *path);
// The same of names: "ada bob", or with commas "Ada L, Bob".
Status class_add_names(Class *class, const char *names);
// Lines "student,points", whole numbers, and where a line "possible,N" says so N at most. Who is in
// it but not in the class is told on standard error. STATUS_IO, STATUS_FORMAT (a line of it).
Status class_add_written(Class *class, const char *path);
void class_free(Class *class);

// For class.c, roster.c and export.c. A member by name (letter case does not count, as in keys):
// NULL where there is none; from class_add NULL with an error pending where there is no room.
Member *class_find(const Class *class, const char *student);
Member *class_add(Class *class, const char *student);
Status class_add_part(Member *member, const char *path, const char *name); // copies both
void class_free_member(Member *member);                                    // its parts
void class_clean_name(char name[CLASS_NAME]); // one line of what can be read
void class_arrange(Class *class);
// A Gradescope export: calls `take` for each folder in the text, which it changes.
typedef void ExportTake(void *argument, const char *folder, const char *email, const char *name);
void export_each(char *text, ExportTake *take, void *argument);

// ---- what is graded (stage.c) ------------------------------------------------------------------
// Copied into a folder of our own: the files that the exercises ask for and nothing else, wherever
// a student's tools have put them. Of two that are meant for one exercise and differ, the one with
// the exact name is taken before a copy's, a later copy before an earlier one, and the one that
// lies further out; which was taken and why is in the note. Where that decides nothing, the
// submission is refused.
enum { STAGE_DIGEST = 2 * SHA256_BYTES + 1, STAGE_NOTE = 480, STAGE_PATH = 128 };

typedef struct StagedFile {
    char name[STAGE_NAME];
    char digest[STAGE_DIGEST]; // in hexadecimal; "": it was not handed in
    char from[STAGE_PATH];     // where it lay
    char other[STAGE_PATH];    // where one that was not taken lies; "": there is none
    int rank;                  // the file with the least is taken
    int other_rank;            // of the other
    int copy;                  // 0: its name is exact
    bool tied;                 // another one has the same rank
} StagedFile;

typedef struct Stage {
    Room room; // in which they lie
    StagedFile files[STAGE_MOST_FILES];
    int n_files;
    int staged;            // files that are there, not counting the MANIFEST
    char note[STAGE_NOTE]; // what was not taken, and why; ""
} Stage;

// Makes an empty one that knows which files are asked for. STATUS_IO.
Status stage_new(Stage *stage);
// Fills it with a student's files. STATUS_FORMAT or STATUS_IO where the submission is refused;
// nothing of it is staged then.
Status stage_fill(Stage *stage, const Member *member);
// The same for one folder, archive or file.
Status stage_fill_from(Stage *stage, const char *path);
void stage_remove(Stage *stage);

// In hexadecimal, of all bytes.
void digest_text(const void *bytes, size_t count, char text[STAGE_DIGEST]);

#endif

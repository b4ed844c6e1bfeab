// submissions.h -- what was handed in: by whom, read from a folder or from a tar archive that a
// stranger made, and what of it is graded. Not here: grading (instructor.h).
#ifndef EXERCISES_INSTRUCTOR_SUBMISSIONS_H
#define EXERCISES_INSTRUCTOR_SUBMISSIONS_H

#include <limits.h>
#include <stddef.h>

#include "exercises/course/sha256.h"
#include "exercises/grader/room.h"
#include "tensor/status.h"

// ---- a class (class.c) -------------------------------------------------------------------------
// Who handed in what, and under which name a student is known. A student's name decides the numbers
// that are asked for, so it is one that the student knows, too: that of the folder or archive, or
// in a Gradescope export the e-mail address.
enum { CLASS_NAME = 64, CLASS_MOST = 5000, WRITTEN_NONE = -1 };

typedef struct Member {
    char student[CLASS_NAME]; // as given: "jane@x.edu"
    char folder[CLASS_NAME];  // safe as a file's name, and nobody else's: "jane@x.edu"
    char name[CLASS_NAME];    // for people, from the roster or the export; "": not known
    char id[CLASS_NAME], section[CLASS_NAME]; // of the roster, for a gradebook
    int written;         // points of answers in writing; WRITTEN_NONE: there are none
    char path[PATH_MAX]; // of the folder or archive; "": of the roster, and handed nothing in
} Member;

typedef struct Class {
    Member *members; // owned, by student
    int count, capacity;
    int possible; // points of answers in writing; WRITTEN_NONE: nobody asked for any
} Class;

// All folders and archives (*.tar) in `path`; those that begin with a dot are passed over. Where
// there is a submission_metadata.yml, as Gradescope exports it, names come from there. STATUS_IO,
// STATUS_FORMAT.
Status class_read(const char *path, Class *class);
// Lines "student,name,id,section", of which the first cell is enough (CSV; a first line that begins
// with "student" is a heading): gives names, and adds who handed nothing in. STATUS_IO,
// STATUS_FORMAT.
Status class_add_roster(Class *class, const char *path);
// The same of names: "ada bob", or with commas "Ada L, Bob".
Status class_add_names(Class *class, const char *names);
// Lines "student,points", whole numbers, and where a line "possible,N" says so N at most. Who is in
// it but not in the class is told on standard error. STATUS_IO, STATUS_FORMAT (a line of it).
Status class_add_written(Class *class, const char *path);
void class_free(Class *class);

// ---- an archive (archive.c) --------------------------------------------------------------------
// Nothing is written anywhere, and an archive that tries anything is refused as a whole.
enum { ARCHIVE_MOST_BYTES = 32 << 20, ARCHIVE_MOST_FILE = 1 << 20, ARCHIVE_MOST_ENTRIES = 2000 };

// One regular file: its path in the archive (relative, without ".."), and its bytes, borrowed.
typedef Status ArchiveTake(void *argument, const char *name, const char *bytes, size_t count);

// Calls `take` for each file in turn; what it returns ends the walk unless STATUS_OK. Folders and
// the extra headers that tars of today write are passed over. STATUS_FORMAT says why not: no tar, a
// sum that is wrong, a link, a device, a path that leads elsewhere, a file or archive too large.
Status archive_each(const char *path, ArchiveTake *take, void *argument);

// ---- what is graded (stage.c) ------------------------------------------------------------------
// Copied into a folder of our own: the files that the exercises ask for and nothing else.
enum { STAGE_MOST_FILES = 64, STAGE_NAME = 96, STAGE_DIGEST = 2 * SHA256_BYTES + 1 };

typedef struct StagedFile {
    char name[STAGE_NAME];
    char digest[STAGE_DIGEST]; // in hexadecimal; "": it was not handed in
} StagedFile;

typedef struct Stage {
    Room room; // in which they lie
    StagedFile files[STAGE_MOST_FILES];
    int n_files;
    int staged; // of them are there, but for the MANIFEST
} Stage;

// Makes an empty one that knows which files are asked for. STATUS_IO.
Status stage_new(Stage *stage);
// Fills it from a folder (or its exercises/, or the submission.tar in it), or from a tar archive.
// STATUS_FORMAT or STATUS_IO where the submission is refused; nothing of it is staged then.
Status stage_fill(Stage *stage, const char *path);
void stage_remove(Stage *stage);

// In hexadecimal, of all bytes.
void digest_text(const void *bytes, size_t count, char text[STAGE_DIGEST]);

#endif

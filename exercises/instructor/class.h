// class.h -- a class: who handed in what, and under which name a student is known. A student's name
// decides the numbers that are asked for, so it is one that the student knows, too: that of the
// folder or archive, or in a Gradescope export the e-mail address.
#ifndef EXERCISES_INSTRUCTOR_CLASS_H
#define EXERCISES_INSTRUCTOR_CLASS_H

#include <limits.h>

#include "tensor/status.h"

enum { CLASS_NAME = 64, CLASS_MOST = 5000 };

typedef struct Member {
    char student[CLASS_NAME]; // as given: "jane@x.edu"
    char folder[CLASS_NAME];  // safe as a file's name, and nobody else's: "jane@x.edu"
    char name[CLASS_NAME];    // for people, from the roster or the export; "": not known
    char path[PATH_MAX];      // of the folder or archive; "": of the roster, and handed nothing in
} Member;

typedef struct Class {
    Member *members; // owned, by student
    int count, capacity;
} Class;

// All folders and archives (*.tar) in `path`; those that begin with a dot are passed over. Where
// there is a submission_metadata.yml, as Gradescope exports it, names come from there. STATUS_IO,
// STATUS_FORMAT.
Status class_read(const char *path, Class *class);
// Lines "student,name" or "student" (CSV; a first line that begins with "student" is a heading):
// gives names, and adds who handed nothing in. STATUS_IO, STATUS_FORMAT.
Status class_add_roster(Class *class, const char *path);
void class_free(Class *class);

// export.c: the submitters of a Gradescope export, one call for each submission's folder.
typedef void ExportTake(void *argument, const char *folder, const char *email, const char *name);
void export_each(char *text, ExportTake *take, void *argument); // cuts `text`

#endif

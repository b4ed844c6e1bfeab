// names.h -- internal to the grader: which functions a student's file may call, the same in every
// exercise, and where it calls what. A diagnosis for honest students: it keeps nobody out.
#ifndef EXERCISES_GRADER_NAMES_H
#define EXERCISES_GRADER_NAMES_H

#include "exercises/grader/object.h"

// Functions that student code finds under the same name with lab_ before it; NULL at the end.
extern const char *const names_redirected[];
extern const char names_allowed_text[]; // what may be called, for people

typedef enum NameRule {
    NAME_ALLOWED,
    NAME_REFUSED,   // there is such a function, and it is not for exercises
    NAME_ELSEWHERE, // it may be called, but is not there in this exercise
    NAME_NOWHERE,   // nobody defines it
} NameRule;
// `worker`: the exercise's side, which defines what of the library may be called.
NameRule name_rule(const char *name, const Object *worker, bool sanitize);

// The line of a source, from 1, in which `name` is called, or else first stands; 0: in none. A
// comment or a string may look like it: it is for people.
int source_line_of(const char *source, const char *name);
// The line in which a function of that name begins; 0.
int source_definition(const char *source, const char *name);

#endif

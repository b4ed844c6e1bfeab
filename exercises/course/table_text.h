// table_text.h -- a table that ./lab writes and a student hands in, read line by line and with
// suspicion; and the seal below it, which says to whom has the key's token that it is as it was.
#ifndef EXERCISES_COURSE_TABLE_TEXT_H
#define EXERCISES_COURSE_TABLE_TEXT_H

#include "exercises/course/exercise.h"
#include "exercises/course/key.h"

#define TABLE_SEAL_LINE "# sealed "
enum { TABLE_LINE = 120 };

typedef struct TableText {
    const char *at;        // what is still to be read
    int number;            // of `line`, from 1; 0: none was read yet
    char line[TABLE_LINE]; // without blanks around it; a longer one is cut, and then does not fit
    char seal[KEY_SEAL];   // of a seal that was passed; "": none was
} TableText;

// The next line that is neither empty nor a comment; false: there is none.
bool table_next(TableText *table);
// So many decimal numbers from 0 on, with commas between them and nothing behind the last: no nan,
// inf, hexadecimals or blanks, and nothing with a minus before it.
bool table_numbers(const char *text, double numbers[], int count);

// Whether the seal that was found is that of these bytes. One without a seal is taken as it is, and
// so is any where there is no token (practice). False: `problem` says so, of that file, which that
// command of ./lab writes.
typedef struct TableSeal {
    const char *file, *command; // "sweep.csv", "sweep"
    const char *found, *token;
} TableSeal;
bool table_is_of(TableSeal seal, const void *bytes, size_t count, char problem[CASE_LINE]);

#endif

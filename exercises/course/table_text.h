// table_text.h -- a table that ./lab writes and a student hands in, read line by line and with
// suspicion; and the seal below it, which proves to the token's holder that nothing was changed.
#ifndef EXERCISES_COURSE_TABLE_TEXT_H
#define EXERCISES_COURSE_TABLE_TEXT_H

#include "exercises/course/exercise.h"
#include "exercises/course/key.h"

#define TABLE_SEAL_LINE "# sealed "
enum { TABLE_LINE = 120 };

typedef struct TableText {
    const char *at;        // the rest of the text, still to be read
    int number;            // number of `line`, from 1; 0: no line was read yet
    char line[TABLE_LINE]; // without blanks around it; a longer line is cut, and then is no row
    char seal[KEY_SEAL];   // the seal, once it was read; "": none so far
} TableText;

// Reads the next line that is neither empty nor a comment; false: no more lines.
bool table_next(TableText *table);
// Reads `count` decimal numbers, at least 0, with commas between them and nothing after the last
// one: no nan, inf, hexadecimals, blanks or minus signs.
bool table_numbers(const char *text, double numbers[], int count);

// True if the seal that was found belongs to these bytes. A file without a seal passes, and so does
// any file without a token (practice). False: `problem` names the file and the ./lab command that
// writes it.
typedef struct TableSeal {
    const char *file, *command; // "sweep.csv", "sweep"
    const char *found, *token;
} TableSeal;
bool table_is_of(TableSeal seal, const void *bytes, size_t count, char problem[CASE_LINE]);

#endif

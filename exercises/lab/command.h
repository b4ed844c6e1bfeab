// command.h -- internal to the lab program: what its commands share. Each is one row of the table
// in lab.c: a name, its options, and a function that returns the exit status.
#ifndef EXERCISES_LAB_COMMAND_H
#define EXERCISES_LAB_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "exercises/grader/grade.h"
#include "exercises/grader/page.h"
#include "exercises/lab/progress.h"

// What a program ends with: conventions.md's exit status.
enum { LAB_DONE = 0, LAB_FAILED = 1, LAB_USAGE = 2, LAB_FILE = 3 };
enum { LAB_MOST_BYTES = 64 << 20 }; // of a file that is read

// What all options of all commands set.
typedef struct LabOptions {
    const char *files; // folder of the student's files; NULL: exercises/
    bool help;
    const char *case_name, *student, *secret, *output;
    int64_t seed, fuzz, level, most;
    bool asan, gdb, all;
} LabOptions;

typedef struct LabOption {
    const char *name;     // "case"
    const char *argument; // "NAME"; NULL: it takes none
    const char *help;
    size_t offset;       // of what it sets in LabOptions
    int64_t least, most; // of a number; both 0: a text, or a switch
} LabOption;

typedef struct Lab {
    LabOptions options;
    char folder[PATH_MAX];    // of the student's files
    const char *shown_folder; // as messages name it: "exercises"
    const char *argument;     // what follows the command and its options; NULL: nothing
    bool terminal, colour;    // standard output is one; and colours are wanted
    Progress progress;
} Lab;

typedef struct Command {
    const char *name;
    const char *arguments; // "NN", "[NN]", "DIR"; "": none
    const char *summary;   // one line of ./lab --help
    const char *text;      // more of ./lab NAME --help; NULL: nothing
    const LabOption *options;
    int n_options;
    int (*run)(Lab *lab);
} Command;

int command_list(Lab *lab);
int command_check(Lab *lab);
int command_watch(Lab *lab);
int command_hint(Lab *lab);
int command_explain(Lab *lab);
int command_questions(Lab *lab);
int command_reset(Lab *lab);
int command_submit(Lab *lab);
int command_profile(Lab *lab);
int command_sweep(Lab *lab);
int command_grade(Lab *lab);

// options.c: reads the options of `command` into lab->options and lab->argument. False after one
// line on standard error (exit status 2).
bool options_read(Lab *lab, const Command *command, int argc, char **argv);
void options_help(const Command *command);

// common.c
// One line on standard error, "lab: ..."; returns `status`.
int lab_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int lab_fail(void); // the pending error, and the exit status that goes with it
// The exercise that the argument names; NULL after one line on standard error.
const Exercise *lab_exercise(const Lab *lab);
GradeOptions lab_grade_options(const Lab *lab);
// "ex02_count_flops.c"; of a text exercise "answers.txt".
void lab_file_name(const Exercise *exercise, char *name, size_t size);
// Ends the page, writes it to standard output and frees it. LAB_DONE, or lab_fail's.
int lab_show(Page *page);

// check.c: grades one exercise (NULL: each), keeps its score, and adds what a student reads.
typedef struct CheckCount {
    int passed, failed, skipped; // cases
} CheckCount;
Status check_exercises(Lab *lab, const Exercise *only, Page *page, CheckCount *count);

// list.c, hint.c, explain.c: what watch shows, too.
void list_page(const Lab *lab, Page *page);
Status hint_page(Lab *lab, const Exercise *exercise, Page *page);
Status explain_page(const char *name, Page *page);

// watch_terminal.c: the terminal while keys are read one by one.
bool terminal_take(void); // false: standard input is none
void terminal_return(void);
int terminal_ended_by(void); // the signal that asks to end; 0: none

#endif

// command.h -- internal to the lab program: what its commands share. Each is one row of the table
// in lab.c: a name, its options, and a function that returns the exit status.
#ifndef EXERCISES_LAB_COMMAND_H
#define EXERCISES_LAB_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "exercises/course/key.h"
#include "exercises/grader/grade.h"
#include "exercises/lab/page.h"

// What a student has reached so far: one small file beside the student's files,
// .lab/progress.json, replaced as a whole. It is a convenience: no grade is made from it.
enum { PROGRESS_MOST = 40 };

typedef struct ProgressEntry {
    char number[8]; // of the exercise
    int best;       // points, at the best of all checks
    int last;       // at the last one; -1: never checked
    int hints;      // levels shown, 0 to 3
    char state[24]; // "passed", or the word of the first failure of the last check
} ProgressEntry;

typedef struct Progress {
    char key[KEY_TEXT];        // as the course has handed it out; "": practice, and what it says:
    char student[KEY_STUDENT]; // whose numbers the questions have; "": practice
    char token[KEY_TOKEN];
    char mistake[64]; // of the last failure that was shown
    char exercise[8]; // checked last
    ProgressEntry entries[PROGRESS_MOST];
    int n_entries;
} Progress;

// What a program ends with: profiler/CONVENTIONS.md, section 6.
enum { LAB_DONE = 0, LAB_FAILED = 1, LAB_USAGE = 2, LAB_FILE = 3 };
enum { LAB_MOST_BYTES = 64 << 20 }; // of a file that is read

// What all options of all commands set.
typedef struct LabOptions {
    const char *files; // folder of the student's files; NULL: exercises/
    bool help;
    const char *case_name, *student, *secret, *output, *peaks, *recorded;
    int64_t seed, fuzz, level, most, minimum;
    bool asan, gdb, all, disposable;
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
int command_whoami(Lab *lab);
int command_questions(Lab *lab);
int command_sweep(Lab *lab);
int command_mystery(Lab *lab);
int command_reset(Lab *lab);
int command_submit(Lab *lab);
int command_profile(Lab *lab);
int command_grade(Lab *lab);

// command.c: reads the options of `command` into lab->options and lab->argument. False after one
// line on standard error (exit status 2).
bool options_read(Lab *lab, const Command *command, int argc, char **argv);
void options_help(const Command *command);

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

// progress.c: that of the student's files in `folder`. No file is no progress; a broken one is
// STATUS_FORMAT, and the message says what to do.
Status progress_read(const char *folder, Progress *progress);
Status progress_write(const char *folder, const Progress *progress);
// Takes a key; false, and nothing is changed: it is none.
bool progress_take_key(Progress *progress, const char *key);
// The entry of an exercise, made where there is none; never NULL (the last one where all are
// taken).
ProgressEntry *progress_entry(Progress *progress, const char *number);
const ProgressEntry *progress_find(const Progress *progress, const char *number); // or NULL

// check.c: grades one exercise (NULL: each), keeps its score, and adds what a student reads.
typedef struct CheckCount {
    int passed, failed, skipped; // cases
    int broken;                  // of the failed ones, by the machine
    bool told;                   // that nothing is confined here
} CheckCount;
Status check_exercises(Lab *lab, const Exercise *only, Page *page, CheckCount *count);

// debugger.c: the worker of one exercise, run by gdb with the input of --case, or of the first case
// that is not asked by hand. Nothing contains it: it is the student's own machine. Exit status.
int debugger_run(Lab *lab, const Exercise *exercise);

// list.c, explain.c: what watch shows, too.
void list_page(const Lab *lab, Page *page);
Status hint_page(Lab *lab, const Exercise *exercise, Page *page);
Status explain_page(const char *name, Page *page);

// measure.c: one model at many batch sizes, for sweep.csv, which exercise 11 reads.
typedef struct SweepOptions {
    int64_t most_batch;         // batches 1, 2, 4 ... up to this one
    int64_t warmup, iterations; // of each batch
    double least_share; // of its time that the measuring thread has to have a core: else again
    const char *token;  // of the student's key: the model is drawn, the file sealed; NULL: practice
    void (*progress)(void *argument, int64_t batch, double seconds); // after each; NULL: none
    void *argument;
} SweepOptions;
SweepOptions sweep_defaults(void); // up to 1024, 5 and 31
// Forward of an MLP (sweep_sizes) in inference mode: a header and a line for each batch,
//     batch,seconds,samples_per_second
//     1,2.31e-05,43290.0433
// with the median of the samples. The file is written whole or not at all. STATUS_STATE: other work
// had the cores for longer than sweep_write waits.
Status sweep_write(const char *path, SweepOptions options);

#endif

// command.h -- internal to the lab program: declarations that its commands share. Each command is a
// row of the table in lab.c: a name, its options, and a function that returns the exit status.
#ifndef EXERCISES_LAB_COMMAND_H
#define EXERCISES_LAB_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "exercises/course/key.h"
#include "exercises/grader/grade.h"
#include "exercises/lab/page.h"

// A student's progress: one small file beside the student's files, .lab/progress.json, replaced as
// a whole. It is a convenience: no grade depends on it.
enum { PROGRESS_MOST = 40 };

typedef struct ProgressEntry {
    char number[8]; // number of the exercise
    int best;       // points in the best check
    int last;       // points in the last check; -1: never checked
    int hints;      // hint levels shown, 0 to 3
    char state[24]; // "passed", or the word of the first failure of the last check
} ProgressEntry;

typedef struct Progress {
    char key[KEY_TEXT];        // the key from the course; "": practice
    char student[KEY_STUDENT]; // the name in the key; "": practice
    char token[KEY_TOKEN];     // the token in the key
    char mistake[64];          // mistake of the last failure shown
    char exercise[8];          // exercise checked last
    ProgressEntry entries[PROGRESS_MOST];
    int n_entries;
} Progress;

// Exit statuses: profiler/CONVENTIONS.md, section 6.
enum { LAB_DONE = 0, LAB_FAILED = 1, LAB_USAGE = 2, LAB_FILE = 3 };
enum { LAB_MOST_BYTES = 64 << 20 }; // largest file that is read, in bytes

// The values of all options of all commands.
typedef struct LabOptions {
    const char *files; // folder of the student's files; NULL: exercises/
    bool help;
    const char *case_name, *student, *secret, *output, *peaks, *recorded;
    int64_t seed, fuzz, level, most, minimum;
    bool asan, gdb, all, disposable;
} LabOptions;

typedef struct LabOption {
    const char *name;     // "case"
    const char *argument; // "NAME"; NULL: no argument
    const char *help;
    size_t offset;       // offset of its field in LabOptions
    int64_t least, most; // bounds of a number; both 0: a text, or a switch
} LabOption;

typedef struct Lab {
    LabOptions options;
    char folder[PATH_MAX];    // folder of the student's files
    const char *shown_folder; // that folder's name in messages: "exercises"
    const char *argument;     // the argument after the command and its options; NULL: none
    bool terminal, colour;    // standard output is a terminal; colours are wanted
    Progress progress;
} Lab;

typedef struct Command {
    const char *name;
    const char *arguments; // "NN", "[NN]", "DIR"; "": none
    const char *summary;   // one line of ./lab --help
    const char *text;      // further text of ./lab NAME --help; NULL: none
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
int lab_fail(void); // prints the pending error, and returns its exit status
// The exercise that the argument names; NULL after one line on standard error.
const Exercise *lab_exercise(const Lab *lab);
GradeOptions lab_grade_options(const Lab *lab);
// Writes the name of the exercise's file: "ex02_count_flops.c", or "answers.txt" for a text.
void lab_file_name(const Exercise *exercise, char *name, size_t size);
// Ends the page, writes it to standard output and frees it. LAB_DONE, or the status of lab_fail.
int lab_show(Page *page);

// progress.c: the progress file in `folder`. A missing file is no progress; a broken one gives
// STATUS_FORMAT, with a message that says what to do.
Status progress_read(const char *folder, Progress *progress);
Status progress_write(const char *folder, const Progress *progress);
// Takes a key. False: the text is not a key, and nothing changes.
bool progress_take_key(Progress *progress, const char *key);
// The entry of an exercise, made if missing; never NULL (the last entry if all are taken).
ProgressEntry *progress_entry(Progress *progress, const char *number);
const ProgressEntry *progress_find(const Progress *progress, const char *number); // or NULL

// check.c: grades one exercise (NULL: each), keeps its score, and adds what a student reads.
typedef struct CheckCount {
    int passed, failed, skipped; // cases
    int broken;                  // failed cases that are the machine's fault
    bool told;                   // the page says already that nothing is confined here
} CheckCount;
Status check_exercises(Lab *lab, const Exercise *only, Page *page, CheckCount *count);

// debugger.c: runs the worker of one exercise in gdb with the input of --case, or of the first case
// with code. Nothing confines it: the machine is the student's own. Returns the exit status.
int debugger_run(Lab *lab, const Exercise *exercise);

// list.c, explain.c: pages that `watch` shows, too.
void list_page(const Lab *lab, Page *page);
Status hint_page(Lab *lab, const Exercise *exercise, Page *page);
Status explain_page(const char *name, Page *page);

// measure.c: measures a model at many batch sizes, for sweep.csv, which exercise 11 reads.
typedef struct SweepOptions {
    int64_t most_batch;         // the batches are 1, 2, 4 ... up to this one
    int64_t warmup, iterations; // runs for each batch
    double least_share; // least part of its time that the thread must have a core, or it repeats
    const char *token;  // the key's token draws the model and seals the file; NULL: practice
    void (*progress)(void *argument, int64_t batch, double seconds); // after each; NULL: none
    void *argument;
} SweepOptions;
SweepOptions sweep_defaults(void); // batches up to 1024, 5 warm-up runs, 31 iterations
// Times the forward pass of an MLP (sweep_sizes) in inference mode. Writes a header and a line for
// each batch,
//     batch,seconds,samples_per_second
//     1,2.31e-05,43290.0433
// with the median of the samples, all or nothing. STATUS_STATE: other work kept the cores busy.
Status sweep_write(const char *path, SweepOptions options);

#endif

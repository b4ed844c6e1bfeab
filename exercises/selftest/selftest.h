// selftest.h -- internal to the program that tests the grader: a list of tasks, several at a time
// in processes of their own; each leaves a finding.
#ifndef EXERCISES_SELFTEST_SELFTEST_H
#define EXERCISES_SELFTEST_SELFTEST_H

#include <stdbool.h>

#include "exercises/grader/grade.h"
#include "exercises/selftest/alone.h"
#include "exercises/selftest/sections.h"

enum { TASK_NAME = 72, FINDING_TEXT = 480, TASKS_MOST = 2000 };

typedef enum TaskGroup { // columns of the table
    GROUP_COURSE,
    GROUP_SOLUTION,
    GROUP_SKELETON,
    GROUP_MUTANT,
    GROUP_HOSTILE,
    GROUP_REPEAT,
    GROUP_COUNT
} TaskGroup;

typedef struct Finding { // all zero: success
    bool failed, skipped;
    char text[FINDING_TEXT]; // the reason
} Finding;

typedef struct Options {
    const char *only; // number of an exercise; NULL: all
    int seeds;
    bool quick, hostile; // fewer tasks of each group; hostile files alone
} Options;

typedef struct Task Task;
typedef struct TaskList TaskList;
struct Task {
    const TaskList *list;
    TaskGroup group;
    const Exercise *exercise; // NULL: all
    char name[TASK_NAME];
    void (*run)(const Task *task, Finding *finding);
    char *text;                // a mutant's or a hostile source, owned
    char words[SECTION_WORDS]; // states that the cases of a hostile source must get
    int mode;                  // protections that are left out for a hostile source
    int style;                 // style of a solution
    bool plain;                // run as a plain user, though we are root
    int first, seeds;          // first seed, number of seeds
};

struct TaskList {
    Task *tasks; // owned
    int count;
    const Options *options;
    const char *not_alone; // the reason why hostile files cannot run here; NULL: they can
    Bystander bystander;
};

// Adds a new task, which the caller completes; NULL with an error pending.
Task *task_add(TaskList *list, TaskGroup group, const Exercise *exercise, const char *name,
               void (*run)(const Task *, Finding *));
void finding_fail(Finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_skip(Finding *finding, const char *why);
bool is_asked(const Options *options, const Exercise *exercise);

// Add the tasks of a group. STATUS_IO, STATUS_FORMAT, STATUS_OUT_OF_MEMORY.
Status course_tasks(TaskList *list);
Status solution_tasks(TaskList *list);
Status mutant_tasks(TaskList *list);
Status hostile_tasks(TaskList *list);
Status repeat_tasks(TaskList *list);

// tasks.c: runs all tasks; findings[i] is that of task i. Returns the number of processes that
// outlived the grader that started them.
int tasks_run(const TaskList *list, Finding findings[]);

// scratch.c: a folder with a submission made of files from the course.
typedef struct Scratch {
    char folder[64];
} Scratch;
Status scratch_new(Scratch *scratch);
Status scratch_write(const Scratch *scratch, const char *name, const char *text);
Status scratch_copy(const Scratch *scratch, const char *from, const char *name);
// Counts the styles of the exercise's solution; code has at least LEAST_STYLES.
enum { LEAST_STYLES = 3 };
Status scratch_count_styles(const Exercise *exercise, int *count);
// Adds the solution in one of its styles, from 1, and the other right files.
Status scratch_add_solution(const Scratch *scratch, const Exercise *exercise, int style,
                            DrawKey key);
void scratch_remove(Scratch *scratch);
// Writes the name of the exercise's file: "ex02_count_flops.c", or its text file.
void exercise_file(const Exercise *exercise, char name[TASK_NAME]);
GradeOptions scratch_grade(const Scratch *scratch, const Exercise *const list[], int count);
// The first case that is not right, withheld cases last; NULL: all are right.
const CaseResult *first_wrong(const ExerciseResult *result);

#endif

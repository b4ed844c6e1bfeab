// class_files.c -- what is written about a class: a line for each student, and for each student a
// page. Both are made from results alone.
#include <stdio.h>
#include <string.h>

#include "exercises/grader/exercise.h"
#include "exercises/instructor/instructor.h"
#include "exercises/lab/formats.h"
#include "profiler/files/whole_file.h"

static const char *const words[] = {
#define OUTCOME_WORD(name, word) [OUTCOME_##name] = word,
    OUTCOME_LIST(OUTCOME_WORD)
#undef OUTCOME_WORD
};

const char *outcome_word(Outcome outcome) { return words[outcome]; }

ExercisePoints result_points_of(const Result *result, const char *number) {
    ExercisePoints sum = {0, 0};
    size_t length = strlen(number);
    for (int i = 0; i < result->n_cases; i++) {
        const ResultCase *one = &result->cases[i];
        if (strncmp(one->exercise, number, length) != 0 || one->exercise[length] != ' ') continue;
        sum.points += one->points;
        sum.most += one->most;
    }
    return sum;
}

// ---- class.csv ---------------------------------------------------------------------------------
static void write_row(WholeFile *file, const Graded *graded) {
    const char *const cells[] = {graded->member->student, graded->member->name,
                                 outcome_word(graded->outcome)};
    for (int i = 0; i < 3; i++) {
        csv_cell(file, cells[i]);
        whole_file_print(file, ",");
    }
    whole_file_print(file, "%d,%d,%d", graded->result.points, graded->result.most,
                     graded->result.stretch_points);
    for (int i = 0; i < exercise_count; i++) {
        whole_file_print(file, ",%d",
                         result_points_of(&graded->result, exercises[i]->number).points);
    }
    whole_file_print(file, ",");
    csv_cell(file, graded->note);
    whole_file_print(file, "\r\n");
}

Status class_csv_write(const Graded *graded, int count, const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/class.csv", folder);
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    whole_file_print(file, "student,name,state,points,most,stretch");
    for (int i = 0; i < exercise_count; i++) whole_file_print(file, ",%s", exercises[i]->number);
    whole_file_print(file, ",note\r\n");
    for (int i = 0; i < count; i++) write_row(file, &graded[i]);
    return whole_file_close(file);
}

// ---- a student's page --------------------------------------------------------------------------
static void write_points(WholeFile *file, const Result *result) {
    for (int i = 0; i < exercise_count; i++) {
        ExercisePoints sum = result_points_of(result, exercises[i]->number);
        if (sum.most == 0) continue;
        whole_file_print(file, "  %s %-24s %3d of %3d\n", exercises[i]->number, exercises[i]->name,
                         sum.points, sum.most);
    }
}

Status student_report_write(const Graded *graded, const char *folder) {
    char path[PATH_MAX];
    const Result *result = &graded->result;
    snprintf(path, sizeof path, "%.3900s/%s/report.txt", folder, graded->member->folder);
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    const char *name = graded->member->name;
    whole_file_print(file, "%s%s%s%s\n%d of %d points", graded->member->student,
                     name[0] ? " (" : "", name, name[0] ? ")" : "", result->points, result->most);
    if (result->stretch_points > 0)
        whole_file_print(file, ", and %d to stretch", result->stretch_points);
    whole_file_print(file, "\n");
    if (graded->note[0] != '\0') whole_file_print(file, "%s\n", graded->note);
    whole_file_print(file, "\n");
    write_points(file, result);
    for (int i = 0; i < result->n_cases; i++) {
        if (result->cases[i].state == CASE_PASSED) continue;
        whole_file_print(file, "\n%s", result->cases[i].output ? result->cases[i].output : "");
    }
    return whole_file_close(file);
}

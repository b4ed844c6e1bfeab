// results.c -- the results of a class: reads them from the folders of the grades, and writes a
// table, a gradebook, and a page for each student.
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/exercise.h"
#include "exercises/instructor/instructor.h"
#include "exercises/lab/formats.h"
#include "layers/files/whole_file.h"
#include "profiler/base/escape.h"
#include "tensor/memory.h"

// ---- result.json -------------------------------------------------------------------------------
// Loads a JSON file. result.json has the states as words of grade.h; results.json (for Gradescope)
// has the texts for students, as tests in the order of the cases.
static json_t *load(const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    if (document == NULL) {
        error_set(STATUS_IO, "%.300s: line %d: %.100s. HINT: grade it again", path, error.line,
                  error.text);
    }
    return document;
}

static int whole(const json_t *object, const char *key) {
    return (int)json_integer_value(json_object_get(object, key));
}

static void copy_text(const json_t *object, const char *key, char text[RESULT_NAME]) {
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, RESULT_NAME, "%s", value ? value : "");
}

static bool find_state(const json_t *object, CaseState *state) {
    const char *word = json_string_value(json_object_get(object, "state"));
    for (int i = 0; word && i < CASE_STATE_COUNT; i++) {
        *state = (CaseState)i;
        if (strcmp(case_state_word(*state), word) == 0) return true;
    }
    return false;
}

static bool take_case(const json_t *exercise, const json_t *object, ResultCase *one) {
    char number[RESULT_NAME], name[RESULT_NAME];
    copy_text(exercise, "number", number);
    copy_text(exercise, "name", name);
    snprintf(one->exercise, RESULT_NAME, "%.10s %.50s", number, name);
    copy_text(object, "name", one->name);
    copy_text(object, "mistake", one->mistake);
    one->points = whole(object, "points");
    one->most = whole(object, "most_points");
    one->hidden = json_is_true(json_object_get(object, "hidden"));
    one->stretch = json_is_true(json_object_get(exercise, "stretch"));
    return find_state(object, &one->state) && one->name[0] != '\0' && number[0] != '\0';
}

static size_t count_cases(const json_t *graded) {
    size_t count = 0, i;
    json_t *exercise;
    json_array_foreach(graded, i, exercise) {
        count += json_array_size(json_object_get(exercise, "cases"));
    }
    return count;
}

static bool take_cases(const json_t *graded, Result *result) {
    size_t i, k;
    json_t *exercise, *object;
    bool sound = true;
    json_array_foreach(graded, i, exercise) {
        json_array_foreach(json_object_get(exercise, "cases"), k, object) {
            sound = take_case(exercise, object, &result->cases[result->n_cases++]) && sound;
        }
    }
    return sound;
}

// Takes the texts for people, which a result may lack.
static void take_outputs(const char *folder, Result *result) {
    json_t *document = load(folder, "results.json");
    const json_t *tests = json_object_get(document, "tests");
    error_clear();
    for (int i = 0; i < result->n_cases && (int)json_array_size(tests) == result->n_cases; i++) {
        const json_t *test = json_array_get(tests, (size_t)i);
        const char *output = json_string_value(json_object_get(test, "output"));
        if (output) result->cases[i].output = memory_copy_string(output);
    }
    json_decref(document);
}

Status result_read(const char *folder, Result *result) {
    *result = (Result){.n_cases = 0};
    json_t *document = load(folder, "result.json");
    if (document == NULL) return error_status();
    const json_t *graded = json_object_get(document, "exercises");
    copy_text(document, "student", result->student);
    result->points = whole(document, "points");
    result->most = whole(document, "most_points");
    result->stretch_points = whole(document, "stretch_points");
    result->cases = memory_new((count_cases(graded) + 1) * sizeof *result->cases);
    Status status = result->cases ? STATUS_OK : error_status();
    if (!status && (!json_is_array(graded) || !take_cases(graded, result))) {
        status =
            error_set(STATUS_FORMAT, "%.300s/result.json: no result. HINT: grade it again", folder);
    }
    json_decref(document);
    if (!status) take_outputs(folder, result);
    return status ? status : error_status();
}

// ---- words and sums ----------------------------------------------------------------------------
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

// ---- on the screen ----------------------------------------------------------------------------
// Prints indented lines of at most 80 columns.
static void print_wrapped(const char *text) {
    enum { COLUMNS = 80, INDENT = 11 };
    for (int column = 0; *text != '\0';) {
        int length = (int)strcspn(text, " ");
        if (column == 0 || column + 1 + length > COLUMNS)
            column = printf("%s%*s", column ? "\n" : "", INDENT, "") - (column > 0);
        else
            column += printf(" ");
        column += printf("%.*s", length, text);
        text += length + strspn(text + length, " ");
        if (*text == '\0') printf("\n");
    }
}

void class_print_member(const Graded *graded, int index, int count) {
    bool before = graded->outcome == OUTCOME_UNCHANGED;
    const char *word = before ? "before" : outcome_word(graded->outcome);
    printf("%4d/%d  %-32.44s %s", index + 1, count, graded->member->student, word);
    if (before || graded->outcome == OUTCOME_GRADED)
        printf("%*s%3d of %d", 9 - (int)strlen(word), "", graded->result.points,
               graded->result.most);
    printf("\n");
    print_wrapped(graded->note);
    fflush(stdout);
}

void class_print_skipped(const Class *class) {
    for (int i = 0; i < class->n_skipped; i++) {
        printf("  skipped  %.69s\n", class->skipped[i].entry);
        print_wrapped(class->skipped[i].why);
    }
}

// ---- class.csv ---------------------------------------------------------------------------------
static void write_row(WholeFile *file, const Graded *graded, int possible) {
    const char *const cells[] = {graded->member->student, graded->member->name,
                                 outcome_word(graded->outcome)};
    for (int i = 0; i < 3; i++) {
        escape_csv(file, cells[i]);
        whole_file_print(file, ",");
    }
    whole_file_print(file, "%d,%d,%d", graded->result.points, graded->result.most,
                     graded->result.stretch_points);
    for (int i = 0; i < exercise_count; i++) {
        whole_file_print(file, ",%d",
                         result_points_of(&graded->result, exercises[i]->number).points);
    }
    if (possible != WRITTEN_NONE) {
        int written = graded->member->written, more = written == WRITTEN_NONE ? 0 : written;
        int total = graded->result.points + graded->result.stretch_points + more;
        whole_file_print(file, ",");
        if (written != WRITTEN_NONE) whole_file_print(file, "%d", written);
        whole_file_print(file, ",%d", total);
    }
    whole_file_print(file, ",");
    escape_csv(file, graded->note);
    whole_file_print(file, "\r\n");
}

Status class_csv_write(const Graded *graded, int count, int possible, const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/class.csv", folder);
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    whole_file_print(file, "student,name,state,points,most,stretch");
    for (int i = 0; i < exercise_count; i++) whole_file_print(file, ",%s", exercises[i]->number);
    whole_file_print(file, "%s,note\r\n", possible != WRITTEN_NONE ? ",written,total" : "");
    for (int i = 0; i < count; i++) write_row(file, &graded[i], possible);
    return whole_file_close(file);
}

// ---- gradebook.csv -----------------------------------------------------------------------------
// Canvas finds a student by ID or by login, and ignores empty cells. Points stay empty for students
// who handed nothing in, whose submission was unreadable, or for whom the grader failed.
static void write_entry(WholeFile *file, const Graded *graded, int possible) {
    const Member *member = graded->member;
    const char *const cells[] = {member->name[0] ? member->name : member->student, member->id,
                                 member->student, member->section};
    for (int i = 0; i < 4; i++) {
        escape_csv(file, cells[i]);
        whole_file_print(file, ",");
    }
    if (graded->outcome == OUTCOME_GRADED || graded->outcome == OUTCOME_UNCHANGED)
        whole_file_print(file, "%d", graded->result.points + graded->result.stretch_points);
    if (possible != WRITTEN_NONE) whole_file_print(file, ",");
    if (member->written != WRITTEN_NONE) whole_file_print(file, "%d", member->written);
    whole_file_print(file, "\r\n");
}

static void write_heading(WholeFile *file, int possible, const char *assignment) {
    char written[RESULT_NAME + 16];
    int most = 0;
    for (int i = 0; i < exercise_count; i++) {
        most += exercises[i]->stretch ? 0 : exercises[i]->points;
    }
    snprintf(written, sizeof written, "%.60s, written", assignment);
    whole_file_print(file, "Student,ID,SIS Login ID,Section,");
    escape_csv(file, assignment);
    if (possible != WRITTEN_NONE) {
        whole_file_print(file, ",");
        escape_csv(file, written);
    }
    whole_file_print(file, "\r\n    Points Possible,,,,%d", most);
    if (possible != WRITTEN_NONE) whole_file_print(file, ",%d", possible);
    whole_file_print(file, "\r\n");
}

Status gradebook_write(const Graded *graded, int count, int possible, const char *assignment,
                       const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/gradebook.csv", folder);
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    write_heading(file, possible, assignment);
    for (int i = 0; i < count; i++) write_entry(file, &graded[i], possible);
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

// similar_command.c -- make similar: lists the pairs of a class that share unusually much code, and
// the text answers that are identical. It says where to look, not who did what.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/table_text.h"
#include "exercises/course/text_file.h"
#include "exercises/instructor/instructor.h"
#include "exercises/instructor/similar.h"
#include "tensor/memory.h"

enum { TEXTS = 4, FIRST_TABLE = 2, LEAST_NUMBERS = 3 };
static const char *const texts[TEXTS] = {"by_hand.txt", "answers.txt", "sweep.csv", "mystery.csv"};

typedef struct Handed {                // the files of one member
    Fingerprints *prints;              // owned: one entry for each exercise
    char numbers[TEXTS][STAGE_DIGEST]; // digest of each text file's answers; "": too few
    bool there[TEXTS], sealed[TEXTS];
} Handed;

// ---- reading -----------------------------------------------------------------------------------
// Digests the answers in numbers, without comments and blanks. Two people who measure, or who have
// their own numbers, do not get the same digest.
static Status digest_numbers(char *text, char digest[STAGE_DIGEST]) {
    char *rest = NULL, *all = memory_new(strlen(text) + 1);
    size_t used = 0;
    int lines = 0;
    if (all == NULL) return error_status();
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "#")] = '\0';
        const char *value = line + strspn(line, " \t");
        const char *after = strpbrk(line, "=,"); // after a name, or after another number
        if (after && !isdigit((unsigned char)*value)) value = after + 1 + strspn(after + 1, " \t");
        if (!isdigit((unsigned char)*value)) continue;
        for (const char *c = line; *c != '\0'; c++) {
            if (!isspace((unsigned char)*c)) all[used++] = *c;
        }
        lines++;
    }
    digest[0] = '\0';
    if (lines >= LEAST_NUMBERS) digest_text(all, used, digest);
    memory_free(all);
    return STATUS_OK;
}

// Reads a file. NULL: there is none, or an error is pending.
static char *read_file(const char *folder, const char *name) {
    char *text = file_read(folder, name, ARCHIVE_MOST_FILE, NULL);
    if (error_status() != STATUS_OUT_OF_MEMORY) error_clear();
    return text;
}

static Status read_texts(const Stage *stage, Handed *handed) {
    for (int i = 0; i < TEXTS; i++) {
        char *text = read_file(stage->room.path, texts[i]);
        if (text == NULL) continue;
        handed->there[i] = true;
        handed->sealed[i] = strstr(text, TABLE_SEAL_LINE) != NULL;
        Status status = digest_numbers(text, handed->numbers[i]);
        memory_free(text);
        if (status != STATUS_OK) return status;
    }
    return error_status();
}

static char *read_source(const char *folder, const Exercise *exercise) {
    char name[STAGE_NAME];
    snprintf(name, sizeof name, "ex%.8s_%.64s.c", exercise->number, exercise->name);
    return read_file(folder, name);
}

static Status read_codes(const Stage *stage, const Fingerprints *skeletons, Handed *handed) {
    for (int i = 0; i < exercise_count; i++) {
        char *text = exercises[i]->answers ? NULL : read_source(stage->room.path, exercises[i]);
        if (text == NULL) continue;
        Status status = fingerprints_of(text, &handed->prints[i]);
        memory_free(text);
        if (status != STATUS_OK) return status;
        fingerprints_remove(&handed->prints[i], &skeletons[i]);
    }
    return error_status();
}

static Status read_member(const Member *member, const Fingerprints *skeletons, Handed *handed) {
    handed->prints = memory_new(((size_t)exercise_count + 1) * sizeof *handed->prints);
    if (handed->prints == NULL) return error_status();
    if (member->n_parts == 0) return STATUS_OK;
    Stage *stage = memory_new(sizeof *stage);
    if (stage == NULL) return error_status();
    Status status = stage_new(stage);
    if (status == STATUS_OK) {
        if (stage_fill(stage, member) == STATUS_OK) {
            status = read_texts(stage, handed);
            if (status == STATUS_OK) status = read_codes(stage, skeletons, handed);
        } else { // refused, and so graded as empty, too
            error_clear();
        }
    }
    stage_remove(stage);
    memory_free(stage);
    return status;
}

// Reads the skeletons as they were handed out, or as they are here.
static Status read_skeletons(Fingerprints *skeletons) {
    for (int i = 0; i < exercise_count; i++) {
        if (exercises[i]->answers) continue;
        char *text = read_source("exercises/.lab/skeletons", exercises[i]);
        if (text == NULL) text = read_source("exercises", exercises[i]);
        Status status = text ? fingerprints_of_all(text, &skeletons[i]) : error_status();
        memory_free(text);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

// ---- what is told ------------------------------------------------------------------------------
static void print_pairs(const Class *class, const Exercise *exercise, const Similar *similar) {
    if (similar->compared == 0) return;
    printf("%s %s: %d pairs, usually %.0f %% in common; above %.0f %% stand%s out\n",
           exercise->number, exercise->name, similar->compared, 100.0 * similar->usual,
           100.0 * similar->bound, similar->count == 1 ? "s" : "");
    for (int i = 0; i < similar->count; i++) {
        const SimilarPair *pair = &similar->pairs[i];
        printf("  %3.0f %% of %s, %.0f %% of %s   (%d fingerprints, %d of them rare)\n",
               100.0 * pair->of_left, class->members[pair->left].student, 100.0 * pair->of_right,
               class->members[pair->right].student, pair->shared, pair->rare);
    }
    if (similar->count == 0) printf("  none\n");
}

static Status compare_exercise(const Class *class, const Handed *handed, int exercise) {
    Fingerprints *prints = memory_new(((size_t) class->count + 1) * sizeof *prints);
    if (prints == NULL) return error_status();
    for (int i = 0; i < class->count; i++) prints[i] = handed[i].prints[exercise]; // borrowed
    Similar similar;
    Status status = similar_find(prints, class->count, &similar);
    if (status == STATUS_OK) print_pairs(class, exercises[exercise], &similar);
    similar_free(&similar);
    memory_free(prints);
    return status;
}

// Prints a line for each group of students with the same answers.
static int print_same(const Class *class, const Handed *handed, int text) {
    int groups = 0;
    for (int i = 0; i < class->count; i++) {
        const char *own = handed[i].numbers[text];
        bool first = own[0] != '\0', any = false;
        for (int k = 0; k < i && first; k++) first = strcmp(handed[k].numbers[text], own) != 0;
        for (int k = i + 1; k < class->count && first; k++) {
            if (strcmp(handed[k].numbers[text], own) != 0) continue;
            if (!any) printf("  %-12s %s", texts[text], class->members[i].student);
            printf(", %s", class->members[k].student);
            any = true;
        }
        if (any) printf("\n");
        groups += any;
    }
    return groups;
}

// Prints students with unsealed tables, if others have sealed ones.
static void print_unsealed(const Class *class, const Handed *handed, int text) {
    int sealed = 0, open = 0;
    for (int i = 0; i < class->count; i++) {
        sealed += handed[i].sealed[text];
        open += handed[i].there[text] && !handed[i].sealed[text];
    }
    if (sealed == 0 || open == 0) return;
    printf("a %s that does not say whose it is\n ", texts[text]);
    for (int i = 0; i < class->count; i++) {
        if (handed[i].there[text] && !handed[i].sealed[text])
            printf(" %s", class->members[i].student);
    }
    printf("\n");
}

static void print_texts(const Class *class, const Handed *handed) {
    int groups = 0;
    printf("the same numbers to the last digit\n");
    for (int text = 0; text < TEXTS; text++) groups += print_same(class, handed, text);
    if (groups == 0) printf("  none\n");
    for (int text = FIRST_TABLE; text < TEXTS; text++) print_unsealed(class, handed, text);
}

int command_similar(const Orders *orders) {
    Class class = {.count = 0};
    Status status = class_read(orders->argument, &class);
    if (status == STATUS_OK && orders->roster) status = class_add_roster(&class, orders->roster);
    Handed *handed = memory_new(((size_t) class.count + 1) * sizeof *handed);
    Fingerprints *skeletons = memory_new(((size_t)exercise_count + 1) * sizeof *skeletons);
    if (status == STATUS_OK) status = error_status();
    if (status == STATUS_OK) status = read_skeletons(skeletons);
    for (int i = 0; i < class.count && status == STATUS_OK; i++) {
        status = read_member(&class.members[i], skeletons, &handed[i]);
    }
    for (int i = 0; i < exercise_count && status == STATUS_OK; i++) {
        if (!exercises[i]->answers) status = compare_exercise(&class, handed, i);
    }
    if (status == STATUS_OK) print_texts(&class, handed);
    for (int i = 0; handed && i < class.count; i++) {
        for (int k = 0; handed[i].prints && k < exercise_count; k++)
            fingerprints_free(&handed[i].prints[k]);
        memory_free(handed[i].prints);
    }
    for (int k = 0; skeletons && k < exercise_count; k++) fingerprints_free(&skeletons[k]);
    memory_free(skeletons);
    memory_free(handed);
    class_free(&class);
    return status == STATUS_OK ? INSTRUCTOR_DONE : instructor_fail();
}

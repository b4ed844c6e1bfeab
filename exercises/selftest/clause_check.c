// clause_check.c -- every sentence of a contract that is numbered [1], [2] ... has a case that
// stands for it and a mistake that breaks it. That the mistake costs points is mutant_check.c's.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/text_file.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 1 << 20, MOST_CLAUSES = 64, PATH = 200 };

typedef struct Clauses { // by number; those of a contract, of its cases, of its mutants
    bool contract[MOST_CLAUSES], cases[MOST_CLAUSES], mutants[MOST_CLAUSES];
} Clauses;

static void mark(bool *clauses, long number, const char *where, Finding *finding) {
    if (number > 0 && number < MOST_CLAUSES)
        clauses[number] = true;
    else
        finding_fail(finding, "%s: clause %ld", where, number);
}

// "[4]" in the header's comments; the index of an array in an example is no clause: it has letters
// before it.
static void read_contract(const char *header, bool *clauses, Finding *finding) {
    for (const char *at = strchr(header, '['); at; at = strchr(at + 1, '[')) {
        char *end;
        long number = strtol(at + 1, &end, 10);
        bool apart = at == header || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' ||
                                       at[-1] == ']' || at[-1] == ')');
        if (apart && end > at + 1 && *end == ']') mark(clauses, number, "the contract", finding);
    }
}

static void read_cases(const Exercise *exercise, bool *clauses, Finding *finding) {
    for (int i = 0; i < exercise->n_cases; i++) {
        const char *at = exercise->cases[i].clauses;
        for (char *end; at && *at; at = end) {
            long number = strtol(at, &end, 10);
            if (end == at) break;
            mark(clauses, number, exercise->cases[i].name, finding);
        }
    }
}

static Status read_mutants(const char *text, const char *solution, bool *clauses,
                           Finding *finding) {
    bool found = true;
    Status status = STATUS_OK;
    for (const char *at = text; found && !status;) {
        Mutant mutant;
        status = mutant_next(&at, solution, &mutant, &found);
        if (status || !found) break;
        if (mutant.clause) mark(clauses, mutant.clause, mutant.name, finding);
        memory_free(mutant.source);
    }
    return status;
}

static char *read_file(const char *folder, const char *stem, const char *end) {
    char path[PATH];
    snprintf(path, sizeof path, "exercises/%s%s%s", folder, stem, end);
    return file_read(NULL, path, MOST_TEXT, NULL);
}

static void compare(const Clauses *clauses, Finding *finding) {
    for (int i = 1; i < MOST_CLAUSES; i++) {
        bool any = clauses->cases[i] || clauses->mutants[i];
        if (any && !clauses->contract[i])
            finding_fail(finding, "clause %d is not in the contract", i);
        if (clauses->contract[i] && !clauses->cases[i])
            finding_fail(finding, "no case stands for clause %d", i);
        if (clauses->contract[i] && !clauses->mutants[i])
            finding_fail(finding, "no mistake breaks clause %d", i);
    }
    if (!clauses->contract[1]) finding_fail(finding, "the contract has no numbered clause");
}

static void check_clauses(const Task *task, Finding *finding) {
    char stem[TASK_NAME];
    Clauses clauses = {{false}, {false}, {false}};
    snprintf(stem, sizeof stem, "ex%.8s_%.48s", task->exercise->number, task->exercise->name);
    char *header = read_file("", stem, ".h"), *solution = read_file("solutions/", stem, ".c");
    char *mutants = read_file("mutants/", stem, ".txt");
    if (header && solution && mutants) {
        read_contract(header, clauses.contract, finding);
        read_cases(task->exercise, clauses.cases, finding);
        if (read_mutants(mutants, solution, clauses.mutants, finding))
            finding_fail(finding, "%s", error_message());
        compare(&clauses, finding);
    } else {
        finding_fail(finding, "%s", error_message());
    }
    error_clear();
    memory_free(header);
    memory_free(solution);
    memory_free(mutants);
}

Status clause_tasks(TaskList *list) {
    for (int i = 0; i < exercise_count; i++)
        if (is_asked(list->options, exercises[i]) && !exercises[i]->answers)
            task_add(list, GROUP_COURSE, exercises[i], "clauses", check_clauses);
    return error_status();
}

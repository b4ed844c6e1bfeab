// grade_text.c -- a case whose answers stand in a text file: read, judged, no code is run. What
// scores is sealed: neither the answer nor the way to it leaves this file.
#include <string.h>
#include <strings.h>

#include "exercises/course/key.h"
#include "exercises/grader/grade_parts.h"
#include "tensor/memory.h"

// All values of the run; false: the case has ended.
static bool read_values(const Answers *answers, CaseResult *result, const CaseRun *run,
                        Reply *reply) {
    const char *by_hand = result->definition->by_hand;
    char problem[CASE_LINE];
    for (int i = 0; i < run->n_values; i++) {
        const ExpectedValue *expected = &run->values[i];
        const char *key = by_hand ? by_hand : expected->name;
        AnswerEnd end = answers_value(answers, key, expected, &reply->values[i], problem);
        if (end == ANSWER_GIVEN) continue;
        case_end(result, end == ANSWER_MISSING ? CASE_MISSING : CASE_WRONG, "%s", problem);
        return false;
    }
    return true;
}

// Everything goes that tells the answer: what writes a result cannot write what it does not have.
static void seal(CaseRun *run) {
    memset(run->formula, 0, sizeof run->formula);
    memset(run->mistakes, 0, sizeof run->mistakes);
    run->n_mistakes = 0;
    for (int i = 0; i < run->n_values; i++) {
        run->values[i].value = (Value){.integer = 0};
        run->values[i].tolerance = 0.0;
    }
}

// Right, but with numbers that everybody has: shown with the way to it, worth nothing.
static Status end_practice(CaseResult *result, const CaseRun *run, Value got) {
    case_end(result, CASE_PRACTICE, "%s", "");
    result->got = got;
    result->asked = memory_new(sizeof *run);
    if (!result->asked) return error_status();
    *result->asked = *run;
    return STATUS_OK;
}

static Status conclude(const DrawKey *key, CaseResult *result, const CaseRun *run,
                       const Reply *reply) {
    Verdict verdict = judge(run, reply);
    bool practice = result->definition->by_hand && key->student[0] == '\0';
    if (verdict.right && practice) return end_practice(result, run, reply->values[0]);
    Status status = case_judged(result, &verdict, run, 0);
    if (result->sealed && result->asked) seal(result->asked);
    return status;
}

// Answers to somebody else's numbers, and the submission says so itself. What is measured and
// explained (exercise 11) is one's own also with a key of before there was a secret.
static bool is_of_another(const GradeOptions *options, const CaseResult *result) {
    const DrawKey *key = &options->key;
    char student[KEY_STUDENT], token[KEY_TOKEN];
    if (!options->handed_key || !result->sealed || key->student[0] == '\0') return false;
    if (result->definition->by_hand)
        return !key_is_of(options->handed_key, key->secret, key->student);
    return key_read(options->handed_key, student, token) && strcasecmp(student, key->student) != 0;
}

Status case_answered(const Grading *grading, const Answers *answers, CaseResult *result) {
    const ExerciseCase *definition = result->definition;
    DrawKey key = grading->options->key;
    key.seed = 0; // what is answered by hand does not change with --seed
    result->sealed = case_is_sealed(grading->exercise, definition, key.student);
    char *beside = case_beside(grading, result);
    if (definition->beside && !beside) return error_status();
    CaseRun *run = memory_new(sizeof *run);
    Reply *reply = memory_new(sizeof *reply);
    Status status = STATUS_OUT_OF_MEMORY;
    if (run && reply) {
        status = exercise_run_make(grading->exercise, definition, key, 0, beside, run);
        if (status) {
            status = case_fail(result);
        } else if (read_values(answers, result, run, reply)) {
            reply->n_values = run->n_values;
            if (is_of_another(grading->options, result))
                case_end(result, CASE_OTHER_KEY, "MANIFEST says %.80s",
                         grading->options->handed_key);
            else
                status = conclude(&key, result, run, reply);
        }
    }
    memory_free(beside);
    memory_free(run);
    memory_free(reply);
    return status;
}

// grade_text.c -- a case whose answers stand in a text file: read, judged, no code is run.
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

Status case_answered(const Grading *grading, const Answers *answers, CaseResult *result) {
    const ExerciseCase *definition = result->definition;
    char *beside = case_beside(grading, result);
    if (definition->beside && !beside) return error_status();
    CaseRun *run = memory_new(sizeof *run);
    Reply *reply = memory_new(sizeof *reply);
    Status status = STATUS_OUT_OF_MEMORY;
    // What is answered by hand, the student has been shown: it depends on no secret and no seed.
    DrawKey key = {.secret = "", .student = grading->options->key.student};
    if (run && reply) {
        status = exercise_run_make(grading->exercise, definition, key, 0, beside, run);
        if (status) {
            status = case_fail(result);
        } else if (read_values(answers, result, run, reply)) {
            reply->n_values = run->n_values;
            Verdict verdict = judge(run, reply);
            status = case_judged(result, &verdict, run, 0);
        }
    }
    memory_free(beside);
    memory_free(run);
    memory_free(reply);
    return status;
}

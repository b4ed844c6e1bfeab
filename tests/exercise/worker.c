// worker.c -- runs a student's function on every line of standard input and prints what it answers:
// for the tests of cases and mutants, without the grader's containment. CALL is its call function.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exercises/grader/worker.h"

struct Answer {
    bool began;
};

void answer_begin(Answer *answer) { answer->began = true; }
void answer_status(Answer *answer, Status status) {
    (void)answer;
    printf("status %d", (int)status);
}
void answer_integer(Answer *answer, int64_t value) {
    (void)answer;
    printf(" %" PRId64, value);
}
void answer_real(Answer *answer, double value) {
    (void)answer;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    printf(" x%" PRIx64, bits);
}

ExerciseCall CALL;
int main(void) {
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        Answer answer = {false};
        Status status = CALL(line, &answer);
        printf("%s\n", status || !answer.began ? " set-up failed" : "");
    }
    return 0;
}

// worker.c -- the program around a student's function: lines in, frames out. It knows no answer;
// what it sends is judged elsewhere, and so is the way it ends.
#include "exercises/grader/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Answer {
    uint64_t nonce;
    uint16_t run;
};

enum { SETUP_FAILED = 3, MOST_LINE = 1024 };

Status exercise_call(const char *input, Answer *answer);

static void send(const Answer *answer, FrameKind kind, uint64_t bits) {
    WorkerFrame frame = {WORKER_MAGIC, (uint16_t)kind, answer->run, answer->nonce, bits};
    if (write(WORKER_DESCRIPTOR, &frame, sizeof frame) != (ssize_t)sizeof frame)
        _exit(SETUP_FAILED);
}

void answer_begin(Answer *answer) { send(answer, FRAME_BEGIN, 0); }

void answer_status(Answer *answer, Status status) {
    send(answer, FRAME_STATUS, (uint64_t)(int64_t)(int)status);
}

void answer_integer(Answer *answer, int64_t value) { send(answer, FRAME_INTEGER, (uint64_t)value); }

void answer_real(Answer *answer, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    send(answer, FRAME_REAL, bits);
}

static char *read_line(char line[MOST_LINE]) {
    if (!fgets(line, MOST_LINE, stdin)) return NULL;
    line[strcspn(line, "\n")] = '\0';
    return line;
}

int main(void) {
    char line[MOST_LINE];
    Answer answer = {0};
    setvbuf(stdout, NULL, _IOLBF, 0); // what was printed before a crash is seen
    if (!read_line(line)) return SETUP_FAILED;
    answer.nonce = strtoull(line, NULL, 16);
    for (; read_line(line); answer.run++) {
        error_clear(); // of the run before
        if (exercise_call(line, &answer) != STATUS_OK) {
            fprintf(stderr, "set-up: %s\n", error_message());
            _exit(SETUP_FAILED);
        }
        send(&answer, FRAME_END, 0);
        fflush(stdout);
    }
    _exit(0); // nothing that was left behind to run at exit
}

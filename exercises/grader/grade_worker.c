// grade_worker.c -- a case whose code is run: its inputs go to a worker, and what comes back is
// held against what is expected. How the worker ends never adds a point.
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "exercises/grader/frames.h"
#include "exercises/grader/grade_parts.h"
#include "exercises/grader/worker.h"
#include "tensor/memory.h"

enum { OUTPUT_BYTES = 64 << 10, WALL_SECONDS = 10, CPU_SECONDS = 3 };
enum { WORKER_SETUP_FAILED = 3, EXEC_FAILED = 126 };

struct Job {
    CaseResult *result;
    CaseRun *runs;
    int n_runs;
    uint64_t nonce;
    char *input;
    size_t input_bytes;
    ContainRun *run; // NULL: was not begun, the case has ended
};

// ---- the runs ----------------------------------------------------------------------------------
static int count_seeds(const GradeOptions *options) {
    return options->seeds > 1 ? options->seeds : 1;
}

static Status make_run(const Grading *grading, Job *job, DrawKey key, int index,
                       const char *beside) {
    CaseRun *run = &job->runs[job->n_runs];
    int own = job->result->definition->runs;
    Status status =
        exercise_run_make(grading->exercise, job->result->definition, key, index, beside, run);
    // Another seed may ask the same: a named model.
    bool again = job->n_runs >= own && strcmp(run->input, job->runs[index].input) == 0;
    if (!status && !again) job->n_runs++;
    return status;
}

// The case's own runs, once or for many seeds; then further ones, each of a seed of its own.
static Status make_runs(const Grading *grading, Job *job, const char *beside) {
    const GradeOptions *options = grading->options;
    int own = job->result->definition->runs;
    DrawKey key = options->key;
    Status status = STATUS_OK;
    for (int i = 0; i < own * count_seeds(options) && !status; i++) {
        key.seed = options->key.seed + (uint64_t)(i / own);
        status = make_run(grading, job, key, i % own, beside);
    }
    for (int i = 0; i < options->fuzz && !status; i++) {
        key.seed++;
        status = make_run(grading, job, key, i % own, beside);
    }
    return status;
}

static Status write_input(Job *job) {
    size_t room = 32, used;
    for (int i = 0; i < job->n_runs; i++) room += strlen(job->runs[i].input) + 1;
    if (getrandom(&job->nonce, sizeof job->nonce, 0) != sizeof job->nonce)
        return error_set(STATUS_IO, "grade: no random numbers. HINT: getrandom failed");
    job->input = memory_new(room);
    if (!job->input) return error_status();
    used = (size_t)snprintf(job->input, room, "%llx\n", (unsigned long long)job->nonce);
    for (int i = 0; i < job->n_runs; i++)
        used += (size_t)snprintf(job->input + used, room - used, "%s\n", job->runs[i].input);
    job->input_bytes = used;
    return STATUS_OK;
}

// ---- beginning ---------------------------------------------------------------------------------
static int64_t frame_bytes(const Job *job) {
    return (int64_t)sizeof(WorkerFrame) * (CASE_MOST_VALUES + 3) * job->n_runs;
}

static Status start(const Grading *grading, Job *job) {
    const GradeOptions *options = grading->options;
    const char *const argv[] = {grading->build->worker, NULL};
    bool slow = options->sanitize;
    ContainCommand command = {.argv = argv,
                              .directory = grading->build->directory,
                              .input = job->input,
                              .input_bytes = job->input_bytes,
                              .limits = {.wall_seconds = slow ? 4.0 * WALL_SECONDS : WALL_SECONDS,
                                         .cpu_seconds = slow ? 4.0 * CPU_SECONDS : CPU_SECONDS,
                                         .memory_bytes = slow ? 0 : INT64_C(1) << 30,
                                         .output_bytes = OUTPUT_BYTES + frame_bytes(job),
                                         .processes = 1},
                              // AddressSanitizer makes calls that no list foresees.
                              .without = options->without | (slow ? LAYER_SECCOMP : 0)};
    return contain_begin(&command, &job->run);
}

static void job_free(Job *job) {
    if (!job) return;
    memory_free(job->runs);
    memory_free(job->input);
    memory_free(job);
}

static Status make_all(const Grading *grading, Job *job, const char *beside) {
    int64_t most = (int64_t)job->result->definition->runs * count_seeds(grading->options) +
                   (grading->options->fuzz > 0 ? grading->options->fuzz : 0);
    if (most > UINT16_MAX) // a frame counts no further
        return error_set(STATUS_INVALID_ARGUMENT, "grade: more than %d runs. HINT: ask for fewer",
                         UINT16_MAX);
    job->runs = memory_new((size_t)most * sizeof *job->runs);
    Status status = job->runs ? make_runs(grading, job, beside) : error_status();
    return status ? status : write_input(job);
}

static Status prepare(Grading *grading, Job *job) {
    char *beside = case_beside(grading, job->result);
    bool missing = job->result->definition->beside && !beside;
    Status status = missing ? error_status() : make_all(grading, job, beside);
    if (!status && !missing) status = start(grading, job);
    memory_free(beside);
    return status ? case_fail(job->result) : STATUS_OK;
}

Status job_begin(Grading *grading, CaseResult *result, Job **job) {
    *job = memory_new(sizeof **job);
    if (!*job) return error_status();
    (*job)->result = result;
    Status status = prepare(grading, *job);
    if (!status) return STATUS_OK;
    job_free(*job);
    *job = NULL;
    return status;
}

// ---- the end of a process ----------------------------------------------------------------------
// What AddressSanitizer says of it: its name of the error.
static bool sanitizer_ended(CaseResult *result, const char *output) {
    const char *mark = "AddressSanitizer: ", *found = output ? strstr(output, mark) : NULL;
    if (!found) return false;
    case_end(result, CASE_CRASHED, "%.*s",
             (int)(strlen(mark) + strcspn(found + strlen(mark), " \n")), found);
    return true;
}

static void exited(CaseResult *result, const ContainResult *contained, int index, bool begun) {
    if (sanitizer_ended(result, contained->output)) return;
    bool failed = contained->code == WORKER_SETUP_FAILED || contained->code >= EXEC_FAILED;
    if (index == 0 && !begun && failed)
        case_end(result, CASE_GRADER_FAILED, "the worker did not get to the function: %.120s",
                 contained->output ? contained->output : "");
    else
        case_end(result, CASE_EXITED, "exit status %d in run %d", contained->code, index + 1);
}

// A worker that did not finish run `index`.
static void ended(CaseResult *result, const ContainResult *contained, int index, bool begun) {
    result->run = index;
    switch (contained->end) {
    case CONTAIN_EXITED:
        exited(result, contained, index, begun);
        return;
    case CONTAIN_CRASHED:
        if (!sanitizer_ended(result, contained->output))
            case_end(result, CASE_CRASHED, "signal %d (%s)", contained->code,
                     strsignal(contained->code));
        return;
    case CONTAIN_TIMED_OUT:
        case_end(result, CASE_TIMED_OUT, "after %d s of computing, or %d s in all", CPU_SECONDS,
                 WALL_SECONDS);
        return;
    case CONTAIN_FLOODED:
        case_end(result, CASE_FLOODED, "more than %d KiB", OUTPUT_BYTES >> 10);
        return;
    case CONTAIN_OUT_OF_MEMORY:
        case_end(result, CASE_OUT_OF_MEMORY, "more than 1 GiB");
        return;
    case CONTAIN_FORBIDDEN:
        case_end(result, CASE_FORBIDDEN, "a system call");
        return;
    }
}

// ---- judging -----------------------------------------------------------------------------------
static Status keep_asked(CaseResult *result, const CaseRun *run) {
    if (result->asked) return STATUS_OK;
    result->asked = memory_new(sizeof *run);
    if (!result->asked) return error_status();
    *result->asked = *run;
    return STATUS_OK;
}

// The first run that went wrong decides. All frames are read, because a forgery after that counts.
static Status judge_frames(Job *job, const ContainResult *contained, Reply *reply) {
    CaseResult *result = job->result;
    FrameReader reader = {.bytes = contained->values,
                          .count = contained->values_bytes,
                          .nonce = job->nonce};
    Verdict first = {.right = true};
    int wrong = 0, index = 0;
    ReplyEnd end = REPLY_COMPLETE;
    for (; index < job->n_runs && end == REPLY_COMPLETE; index++) {
        end = frames_read(&reader, index, &job->runs[index], reply);
        if (end != REPLY_COMPLETE || !first.right) continue;
        first = judge(&job->runs[index], reply);
        if (!first.right) wrong = index;
    }
    bool all = end == REPLY_COMPLETE;
    int last = index - 1;
    if (end == REPLY_FORGED || (all && reader.at != reader.count)) {
        result->run = last;
        case_end(result, CASE_FORGED, "in run %d", last + 1);
        return STATUS_OK;
    }
    if (!first.right) return case_judged(result, &first, &job->runs[wrong], wrong);
    if (all && contained->end == CONTAIN_EXITED)
        return case_judged(result, &first, &job->runs[0], 0);
    ended(result, contained, last, all || end == REPLY_CUT);
    return keep_asked(result, &job->runs[last]);
}

static Status judge_end(Job *job, ContainResult *contained, Reply *reply) {
    // Its frames may have been cut short: they say nothing.
    if (contained->end == CONTAIN_FLOODED) {
        ended(job->result, contained, 0, true);
        return STATUS_OK;
    }
    return judge_frames(job, contained, reply);
}

Status job_finish(Grading *grading, Job *job) {
    ContainResult contained = {.end = CONTAIN_EXITED};
    Status status = STATUS_OK;
    if (job->run) {
        Reply *reply = memory_new(sizeof *reply);
        status = contain_finish(job->run, &contained);
        if (status)
            status = case_fail(job->result);
        else
            status = reply ? judge_end(job, &contained, reply) : error_status();
        grading->layers &= contained.layers;
        if (contained.output && contained.output[0]) {
            job->result->output = contained.output;
            contained.output = NULL;
        }
        contain_result_free(&contained);
        memory_free(reply);
    }
    job_free(job);
    return status;
}

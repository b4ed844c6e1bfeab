// grade_worker.c -- a case whose code is run: its runs are talked through with a worker
// (dialogue.h), which is confined. How the worker ends never adds a point.
#include <stdio.h>
#include <string.h>

#include "exercises/grader/dialogue.h"
#include "exercises/grader/grade_parts.h"
#include "tensor/memory.h"

enum { OUTPUT_BYTES = 64 << 10, WALL_SECONDS = 6, CPU_SECONDS = 3 };

struct Job {
    CaseResult *result;
    CaseRun *runs;
    int n_runs;
    Dialogue dialogue;
    Confined *run; // NULL: was not begun, the case has ended
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
    const CaseRun *first = &job->runs[index];
    bool again = job->n_runs >= own && strcmp(run->input, first->input) == 0 &&
                 strcmp(run->scene, first->scene) == 0;
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

// ---- beginning ---------------------------------------------------------------------------------
static bool hear(void *argument, Confined *run, const char *bytes, size_t count) {
    Job *job = argument;
    job->run = run;
    return dialogue_hear(&job->dialogue, bytes, count);
}

static bool say(void *to, const void *bytes, size_t count) {
    const Job *job = to;
    return confine_say(job->run, bytes, count);
}

static Status start(const Grading *grading, Job *job, const char *program) {
    const char *const argv[] = {program, NULL};
    bool slow = grading->options->sanitize;
    ConfineOrder order = {.argv = argv,
                          .folder = grading->build->room.descriptor,
                          .shut = grading->shut,
                          .kind = slow ? CONFINE_SANITIZED : CONFINE_WORKER,
                          .limits = {.wall_seconds = slow ? 4.0 * WALL_SECONDS : WALL_SECONDS,
                                     .cpu_seconds = slow ? 4.0 * CPU_SECONDS : CPU_SECONDS,
                                     .memory_bytes = slow ? 0 : INT64_C(1) << 30,
                                     .output_bytes = OUTPUT_BYTES},
                          .hear = hear,
                          .argument = job,
                          .without = grading->without};
    Status status = confine_begin(&order, &job->run);
    bool filtered = !slow && (confine_layers_but(grading->without) & LAYER_CALLS);
    job->dialogue = (Dialogue){.runs = job->runs,
                               .n_runs = job->n_runs,
                               .hello = {.flags = filtered ? WORKER_FILTERED : 0},
                               .say = say,
                               .to = job};
    return status ? status : dialogue_begin(&job->dialogue);
}

static void job_free(Job *job) {
    if (!job) return;
    dialogue_free(&job->dialogue);
    memory_free(job->runs);
    memory_free(job);
}

static Status make_all(const Grading *grading, Job *job, const char *beside) {
    int64_t most = (int64_t)job->result->definition->runs * count_seeds(grading->options) +
                   (grading->options->fuzz > 0 ? grading->options->fuzz : 0);
    if (most > UINT16_MAX) // a frame counts no further
        return error_set(STATUS_INVALID_ARGUMENT, "grade: more than %d runs. HINT: ask for fewer",
                         UINT16_MAX);
    job->runs = memory_new((size_t)most * sizeof *job->runs);
    return job->runs ? make_runs(grading, job, beside) : error_status();
}

static Status prepare(Grading *grading, Job *job) {
    char *beside = case_beside(grading, job->result);
    bool missing = job->result->definition->beside && !beside;
    Status status = missing ? error_status() : make_all(grading, job, beside);
    if (!status && !missing) status = start(grading, job, BUILD_WORKER);
    memory_free(beside);
    if (!status) return STATUS_OK;
    status = case_fail(job->result);
    ConfineResult unused;
    if (job->run && confine_finish(job->run, &unused)) error_clear();
    if (job->run) confine_result_free(&unused);
    job->run = NULL;
    return status;
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

// ---- whose fault -------------------------------------------------------------------------------
// A student's file can run before the worker does, and end it with any status. So where one did not
// get to the function, the same worker is tried without the student's file.
static bool machine_works(Grading *grading, const CaseRun *run) {
    Job job = {.n_runs = 1};
    ConfineResult ran = {.end = CONFINE_MACHINE};
    job.runs = memory_new(sizeof *run);
    if (job.runs) *job.runs = *run;
    bool began = job.runs && build_control(grading->order, grading->build) &&
                 start(grading, &job, BUILD_CONTROL) == STATUS_OK;
    if (began) confine_serve(&job.run, 1);
    if (job.run && confine_finish(job.run, &ran) != STATUS_OK) began = false;
    began = began && job.dialogue.begun;
    error_clear();
    confine_result_free(&ran);
    dialogue_free(&job.dialogue);
    memory_free(job.runs);
    return began;
}

// ---- the end of a process ----------------------------------------------------------------------
// Ends the case with AddressSanitizer's name for the error, if the output has one.
static bool sanitizer_ended(CaseResult *result, const char *output) {
    const char *mark = "AddressSanitizer: ", *found = output ? strstr(output, mark) : NULL;
    if (!found) return false;
    case_end(result, CASE_CRASHED, "%.*s",
             (int)(strlen(mark) + strcspn(found + strlen(mark), " \n")), found);
    return true;
}

static void exited(CaseResult *result, const ConfineResult *ran, int index) {
    if (sanitizer_ended(result, ran->output)) return;
    if (ran->code == WORKER_OVERRUN)
        case_end(result, CASE_CRASHED, "it wrote beyond its arrays, in run %d", index + 1);
    else
        case_end(result, CASE_EXITED, "exit status %d in run %d", ran->code, index + 1);
}

// A worker that did not finish run `index`.
static void ended(CaseResult *result, const ConfineResult *ran, int index) {
    result->run = index;
    switch (ran->end) {
    case CONFINE_EXITED:
        exited(result, ran, index);
        return;
    case CONFINE_CRASHED:
        if (!sanitizer_ended(result, ran->output))
            case_end(result, CASE_CRASHED, "signal %d (%s)", ran->code, strsignal(ran->code));
        return;
    case CONFINE_TIMED_OUT:
        case_end(result, CASE_TIMED_OUT, "after %d s of computing, or %d s in all", CPU_SECONDS,
                 WALL_SECONDS);
        return;
    case CONFINE_FLOODED:
        case_end(result, CASE_FLOODED, "more than %d KiB", OUTPUT_BYTES >> 10);
        return;
    case CONFINE_OUT_OF_MEMORY:
        case_end(result, CASE_OUT_OF_MEMORY, "more than 1 GiB");
        return;
    case CONFINE_FORBIDDEN:
        case_end(result, CASE_FORBIDDEN, "a system call");
        return;
    case CONFINE_UNHEARD:
        case_end(result, CASE_TIMED_OUT, "it asks for more than anybody needs");
        return;
    case CONFINE_MACHINE:
        case_end(result, CASE_CRASHED, "signal %d (%s), before the function", ran->code,
                 strsignal(ran->code));
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

// It did not get to the function, or was ended from outside: is it the machine's fault?
static bool is_machine_at_fault(Grading *grading, Job *job, const ConfineResult *ran) {
    bool begun = job->dialogue.begun || job->dialogue.run > 0;
    bool failed = ran->end == CONFINE_EXITED && ran->code >= WORKER_SETUP_FAILED;
    if (ran->end == CONFINE_MACHINE && (begun || ran->code == 0)) return true;
    if (begun || (!failed && ran->end != CONFINE_MACHINE)) return false;
    return !machine_works(grading, &job->runs[0]);
}

// The first run that went wrong decides; but a forgery after that counts.
static Status judge_end(Grading *grading, Job *job, const ConfineResult *ran) {
    const Dialogue *dialogue = &job->dialogue;
    CaseResult *result = job->result;
    int last = dialogue->run < job->n_runs ? dialogue->run : job->n_runs - 1;
    result->run = last;
    if (dialogue->end == DIALOGUE_FAILED) return case_fail(result);
    if (dialogue->end == DIALOGUE_FORGED || dialogue->end == DIALOGUE_BROKEN) {
        if (dialogue->end == DIALOGUE_FORGED)
            case_end(result, CASE_FORGED, "in run %d", last + 1);
        else
            case_end(result, CASE_CRASHED, "it wrote over the program around it, in run %d",
                     last + 1);
        return STATUS_OK;
    }
    bool machine = ran->end == CONFINE_MACHINE;
    if (!dialogue->first.right && !machine && ran->end != CONFINE_FLOODED)
        return case_judged(result, &dialogue->first, &job->runs[dialogue->first_run],
                           dialogue->first_run);
    if (dialogue->end == DIALOGUE_DONE && ran->end == CONFINE_EXITED)
        return case_judged(result, &dialogue->first, &job->runs[0], 0);
    if (is_machine_at_fault(grading, job, ran))
        case_end(result, CASE_GRADER_FAILED, "%s %.120s",
                 ran->end == CONFINE_MACHINE ? "the machine had no processor or no memory for it"
                                             : "the worker did not get to the function:",
                 ran->output ? ran->output : "");
    else
        ended(result, ran, last);
    return keep_asked(result, &job->runs[last]);
}

// It could not even be started.
static Status judge_unstarted(Grading *grading, Job *job) {
    Status status = case_fail(job->result);
    if (status || !machine_works(grading, &job->runs[0])) return status;
    case_end(job->result, CASE_CRASHED, "the program that was made of it cannot be started");
    return STATUS_OK;
}

const Confined *job_run(const Job *job) { return job->run; }

Status job_finish(Grading *grading, Job *job) {
    ConfineResult ran = {.end = CONFINE_EXITED};
    Status status = STATUS_OK;
    if (job->run) {
        status = confine_finish(job->run, &ran);
        status = status ? judge_unstarted(grading, job) : judge_end(grading, job, &ran);
        grading->layers &= ran.layers;
        if (ran.output && ran.output[0]) {
            job->result->output = ran.output;
            ran.output = NULL;
        }
        confine_result_free(&ran);
    }
    job_free(job);
    return status;
}

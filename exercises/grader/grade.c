// grade.c -- a submission, exercise by exercise: what is asked for is set out, and each part is
// graded by grade_worker.c or grade_text.c.
#include "exercises/grader/grade.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/grade_parts.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum { MOST_AT_ONCE = 8, STOP_AFTER = 2 };

// ---- what is asked for -------------------------------------------------------------------------
static bool is_case_wanted(const GradeOptions *options, const ExerciseCase *definition) {
    return !options->only_case || strcmp(options->only_case, definition->name) == 0;
}

static const Exercise *const *list_of(const GradeOptions *options, int *count) {
    *count = options->exercises ? options->n_exercises : exercise_count;
    return options->exercises ? options->exercises : exercises;
}

static bool is_wanted(const GradeOptions *options, const Exercise *exercise) {
    int count;
    const Exercise *const *list = list_of(options, &count);
    const char *only = options->only_exercise;
    if (only && exercise_find(list, count, only) != exercise) return false;
    for (int i = 0; i < exercise->n_cases; i++)
        if (is_case_wanted(options, &exercise->cases[i])) return true;
    return false;
}

// Every case of the exercise, failed by the grader until it has been graded.
static Status set_out(ExerciseResult *result, const Exercise *exercise) {
    *result = (ExerciseResult){.exercise = exercise};
    result->cases = memory_new((size_t)exercise->n_cases * sizeof *result->cases);
    if (!result->cases) return error_status();
    result->n_cases = exercise->n_cases;
    for (int i = 0; i < exercise->n_cases; i++) {
        result->cases[i].definition = &exercise->cases[i];
        case_end(&result->cases[i], CASE_GRADER_FAILED, "not graded");
    }
    return STATUS_OK;
}

static Status set_out_all(const GradeOptions *options, GradeResult *result) {
    int count;
    const Exercise *const *list = list_of(options, &count);
    *result = (GradeResult){.seed = options->key.seed};
    snprintf(result->student, sizeof result->student, "%s", options->key.student);
    text_clean(result->student);
    result->exercises = memory_new(((size_t)count + 1) * sizeof *result->exercises);
    Status status = result->exercises ? STATUS_OK : error_status();
    for (int i = 0; i < count && !status; i++)
        if (is_wanted(options, list[i]))
            status = set_out(&result->exercises[result->n_exercises++], list[i]);
    if (!status && result->n_exercises == 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "grade: there is no exercise %s with a case %s. HINT: ./lab lists them",
                         options->only_exercise ? options->only_exercise : "(any)",
                         options->only_case ? options->only_case : "(any)");
    return status;
}

// Only now that siblings have been looked at, the cases that nobody asked for are dropped.
static void keep_wanted(const GradeOptions *options, ExerciseResult *result) {
    int kept = 0;
    for (int i = 0; i < result->n_cases; i++) {
        if (is_case_wanted(options, result->cases[i].definition))
            result->cases[kept++] = result->cases[i];
        else
            case_free(&result->cases[i]);
    }
    result->n_cases = kept;
}

// ---- an exercise -------------------------------------------------------------------------------
// Whether the case is asked for, or decides on one that is.
static bool is_graded(const GradeOptions *options, const Exercise *exercise,
                      const ExerciseCase *definition) {
    if (is_case_wanted(options, definition)) return true;
    for (int i = 0; i < exercise->n_cases; i++) {
        const ExerciseCase *other = &exercise->cases[i];
        if (other->needs && strcmp(other->needs, definition->name) == 0 &&
            is_case_wanted(options, other))
            return true;
    }
    return false;
}

static Status grade_texts(const Grading *grading, ExerciseResult *result) {
    const Exercise *exercise = grading->exercise;
    Answers answers;
    Status status = answers_read(grading->options->folder,
                                 exercise->answers ? exercise->answers : "by_hand.txt", &answers);
    for (int i = 0; i < result->n_cases && !status; i++) {
        const ExerciseCase *definition = result->cases[i].definition;
        if (!case_is_text(exercise, definition) ||
            !is_graded(grading->options, exercise, definition))
            continue;
        status = case_answered(grading, &answers, &result->cases[i]);
    }
    answers_free(&answers);
    return status;
}

static void end_unbuilt(const Build *build, CaseResult *result) {
    static const CaseState states[] = {[BUILD_NO_FILE] = CASE_MISSING,
                                       [BUILD_FAILED] = CASE_NOT_COMPILED,
                                       [BUILD_FORBIDDEN] = CASE_FORBIDDEN,
                                       [BUILD_MACHINE] = CASE_GRADER_FAILED};
    case_end(result, states[build->end], "%s", build->detail);
}

typedef struct Running { // workers of one exercise, in the order of its cases
    Job *jobs[MOST_AT_ONCE];
    CaseResult *results[MOST_AT_ONCE];
    int begun, finished;
    int timed_out; // cases, so far
} Running;

static void serve(const Running *running) {
    Confined *runs[MOST_AT_ONCE];
    int count = 0;
    for (int i = running->finished; i < running->begun; i++) {
        const Confined *run = job_run(running->jobs[i % MOST_AT_ONCE]);
        if (run && !confine_ended(run)) runs[count++] = (Confined *)(uintptr_t)run;
    }
    confine_serve(runs, count);
}

// A file that never ends costs two deadlines, not one for each case. What stands in the list after
// the second has ended so, whether or not it had been started: that does not depend on the machine.
static void stop_after_two(Running *running, CaseResult *result) {
    if (running->timed_out == STOP_AFTER) {
        case_free(result);
        result->asked = NULL;
        result->output = NULL;
        result->mistake = NULL;
        case_end(result, CASE_TIMED_OUT, "not run: %d cases before it did not end", STOP_AFTER);
    } else if (result->state == CASE_TIMED_OUT) {
        running->timed_out++;
    }
}

static Status finish_one(Grading *grading, Running *running) {
    int place = running->finished % MOST_AT_ONCE;
    const Confined *run = job_run(running->jobs[place]);
    // Nobody waits for what is not going to count.
    while (run && !confine_ended(run) && running->timed_out < STOP_AFTER) serve(running);
    Status status = job_finish(grading, running->jobs[place]);
    running->finished++;
    stop_after_two(running, running->results[place]);
    return status;
}

// Begins each case's worker as soon as there is a free place, and finishes them in order.
static Status run_cases(Grading *grading, ExerciseResult *result) {
    Running running = {.begun = 0};
    Status status = STATUS_OK;
    for (int i = 0; i < result->n_cases && !status; i++) {
        CaseResult *one = &result->cases[i];
        if (case_is_text(grading->exercise, one->definition) ||
            !is_graded(grading->options, grading->exercise, one->definition))
            continue;
        if (grading->build->end != BUILD_DONE) {
            end_unbuilt(grading->build, one);
            continue;
        }
        if (running.begun - running.finished == grading->at_once)
            status = finish_one(grading, &running);
        int place = running.begun % MOST_AT_ONCE;
        running.results[place] = one;
        if (!status && running.timed_out == STOP_AFTER)
            stop_after_two(&running, one);
        else if (!status && !(status = job_begin(grading, one, &running.jobs[place])))
            running.begun++;
    }
    while (running.finished < running.begun) {
        Status last = finish_one(grading, &running);
        if (!status) status = last;
    }
    return status;
}

static bool has_code(const GradeOptions *options, const Exercise *exercise) {
    for (int i = 0; i < exercise->n_cases; i++)
        if (!case_is_text(exercise, &exercise->cases[i]) &&
            is_graded(options, exercise, &exercise->cases[i]))
            return true;
    return false;
}

static Status grade_code(Grading *grading, ExerciseResult *result) {
    const GradeOptions *options = grading->options;
    Build build;
    BuildOrder order = {.parts = options->parts,
                        .exercise = grading->exercise,
                        .folder = options->folder,
                        .shut = grading->shut,
                        .sanitize = options->sanitize,
                        .any_name = options->any_name,
                        .without = grading->without};
    grading->order = &order;
    grading->build = &build;
    Status status = build_make(&order, &build);
    if (!status) {
        memcpy(result->lines, build.lines, sizeof result->lines);
        memcpy(result->note, build.note, sizeof result->note);
        result->compiler = build.output;
        build.output = NULL;
        status = run_cases(grading, result);
    }
    build_free(&build);
    grading->order = NULL;
    grading->build = NULL;
    return status;
}

static Status grade_exercise(Grading *grading, ExerciseResult *result) {
    double start = clock_seconds();
    grading->exercise = result->exercise;
    Status status = grade_texts(grading, result);
    if (!status && has_code(grading->options, result->exercise))
        status = grade_code(grading, result);
    points_withhold(result);
    keep_wanted(grading->options, result);
    points_add(result);
    result->seconds = clock_seconds() - start;
    return status;
}

// ---- a submission ------------------------------------------------------------------------------
static int count_cores(void) {
    cpu_set_t ours;
    int cores = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 1;
    return cores < 1 ? 1 : cores > MOST_AT_ONCE ? MOST_AT_ONCE : cores;
}

// Verifies that this machine can keep strangers' code from files and system calls, where it must.
static Status check_confinement(const GradeOptions *options, Grading *grading) {
    grading->without = options->without;
    if (options->disposable && !confine_is_safe(confine_layers_but(options->without)))
        grading->without |= LAYER_FILES | LAYER_BUBBLEWRAP;
    grading->layers = confine_layers_but(grading->without);
    if (confine_is_safe(grading->layers) || options->own || options->disposable) return STATUS_OK;
    bool calls = grading->layers & LAYER_CALLS;
    bool files = grading->layers & (LAYER_FILES | LAYER_BUBBLEWRAP);
    return error_set(STATUS_STATE,
                     "grade: this machine cannot keep a stranger's program from %s%s%s. HINT: "
                     "--disposable, in a container for one submission%s",
                     files ? "" : "files (Landlock or bubblewrap)", files || calls ? "" : " and ",
                     calls ? "" : "system calls (seccomp)", files ? "" : "; or install bubblewrap");
}

static Status grade_all(Grading *grading, GradeResult *result) {
    const GradeOptions *options = grading->options;
    Status status = STATUS_OK;
    for (int i = 0; i < result->n_exercises && !status; i++) {
        status = grade_exercise(grading, &result->exercises[i]);
        if (!status && confine_is_called_off())
            status = error_set(STATUS_STATE, "grade: called off. HINT: grade it again");
        if (status) break;
        points_add_exercise(result, &result->exercises[i]);
        if (options->progress) options->progress(options->argument, &result->exercises[i]);
    }
    return status;
}

Status grade(const GradeOptions *options, GradeResult *result) {
    double start = clock_seconds();
    *result = (GradeResult){.n_exercises = 0};
    // No program may read the project, where the solutions are, the submission or the secret.
    const char *const shut[] = {"exercises", options->folder, options->secret_file, NULL};
    Grading grading = {.options = options, .shut = shut, .at_once = count_cores()};
    ConfineHold hold;
    Status status = check_confinement(options, &grading);
    if (!status) status = set_out_all(options, result);
    confine_hold(&hold);
    if (!status) status = grade_all(&grading, result);
    confine_release(&hold);
    result->layers = grading.layers;
    result->disposable = !options->own && !confine_is_safe(grading.layers);
    if (result->machine_failed) result->points = result->stretch_points = 0;
    result->seconds = clock_seconds() - start;
    return status;
}

Status grade_nothing(const GradeOptions *options, GradeResult *result) {
    Status status = set_out_all(options, result);
    for (int i = 0; i < result->n_exercises && !status; i++) {
        keep_wanted(options, &result->exercises[i]);
        points_add(&result->exercises[i]);
        points_add_exercise(result, &result->exercises[i]);
    }
    return status;
}

void grade_free(GradeResult *result) {
    for (int i = 0; i < result->n_exercises; i++) {
        ExerciseResult *one = &result->exercises[i];
        for (int k = 0; k < one->n_cases; k++) case_free(&one->cases[k]);
        memory_free(one->cases);
        memory_free(one->compiler);
    }
    memory_free(result->exercises);
    *result = (GradeResult){.n_exercises = 0};
}

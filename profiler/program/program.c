// program.c -- the course of a program from its arguments to its exit status. Not here: the parts
// (the other files here), the subject of the profile (the program's own file).
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/base/environment.h"
#include "profiler/base/text.h"
#include "profiler/program/options_table.h"
#include "profiler/program/program.h"
#include "profiler/program/sweep_axes.h"
#include "profiler/report/report.h"
#include "tensor/gemm.h"
#include "tensor/memory.h"
#include "tensor/plugin.h"
#include "tensor/version.h"

enum { EXIT_USAGE = 2, EXIT_UNUSABLE = 3 }; // 1: a check failed
enum { LEAST_STACK = 1 << 19 };             // bytes

static int fail(const ProgramKind *kind) {
    fprintf(stderr, "%s: ", kind->line.name);
    text_print_plain(error_message(), stderr); // a name in it may hold escape sequences
    fputc('\n', stderr);
    switch (error_status()) {
    case STATUS_IO:
    case STATUS_FORMAT:
    case STATUS_DEVICE:
    case STATUS_NOT_IMPLEMENTED:
    case STATUS_OUT_OF_MEMORY:
        return EXIT_UNUSABLE;
    case STATUS_INVALID_ARGUMENT:
    case STATUS_SHAPE:
    case STATUS_DTYPE:
    case STATUS_OVERFLOW:
        return EXIT_USAGE;
    default:
        return EXIT_FAILURE; // a loss that is not finite
    }
}

// The command in a form that can be typed again, with special words in single quotes; a quote
// inside a word ends the quoting and is escaped. The caller memory_frees it.
static char *command_line_new(int argc, char **argv) {
    size_t size = 1;
    for (int i = 0; i < argc; i++) size += 4 * strlen(argv[i]) + 3;
    char *text = memory_new(size), *end = text;
    for (int i = 0; i < argc && text; i++) {
        bool plain = argv[i][0] && !strpbrk(argv[i], " \t\n\"\\$`()<>|&;*?[]{}!#~'");
        end += sprintf(end, "%s%s", i ? " " : "", plain ? "" : "'");
        for (const char *c = argv[i]; *c; c++)
            end += sprintf(end, *c == '\'' && !plain ? "'\\''" : "%c", *c);
        end += sprintf(end, "%s", plain ? "" : "'");
    }
    return text;
}

// Returns 0, or the errno of the first failed write, which a later success would hide.
static int flush_output(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return errno ? errno : EIO;
}

// Prints one line if prediction and execution differ, or if an op has no cost under --strict.
int program_verdict(const Program *program) {
    const Profile *profile = &program->profile;
    const char *name = program->kind->line.name;
    if (profile->difference[0]) {
        fprintf(stderr, "%s: %s: predicted is not executed: %s\n", name, profile->model,
                profile->difference);
        return EXIT_FAILURE;
    }
    const Options *options = program->options;
    bool told = program->report && !options_ask(options); // the report has said it
    if (program->failed && options_choose_recompute(options) && !told)
        fprintf(stderr, "%s: --recompute auto: the lowest peak found is %s, and the budget %s\n",
                name, text_bytes_si(profile->measured.peak.total).s,
                text_bytes_si(options->memory_budget).s);
    if (program->failed) return EXIT_FAILURE; // the answer has given the reason
    if (!options->strict || profile->n_uncounted == 0) return EXIT_SUCCESS;
    fprintf(stderr, "%s: --strict: op %s of %s has no cost, so the totals lack it\n", name,
            profile->uncounted[0], profile->model);
    return EXIT_FAILURE;
}

static void print_untrained(const Program *program) {
    const Options *options = program->options;
    if (!program->report) return;
    if (options->epochs == 0 && options->data)
        printf("\nTRAINING  none: --epochs N trains on what --data names.\n");
    else if (options->epochs > 0 && program->device->has_data)
        printf("\nTRAINING  none: %s.%s\n", program->training.absent,
               program_is_stopped() ? "" : " --data takes others.");
}

// Also names the number of layers that could not be chosen.
static void print_refused(const Program *program) {
    int64_t refused = program->choice.refused;
    if (program->report && refused > 0)
        printf("%lld layer%s cannot be run again, and %s not chosen\n", (long long)refused,
               refused == 1 ? "" : "s", refused == 1 ? "was" : "were");
}

// Profiles, reports or answers, trains, and writes the files last: the JSON has the reason of a
// failed training.
static Status work(Program *program, int *output_error) {
    const Options *options = program->options;
    // Unreadable or unwritable files are reported before the work, not after it.
    Status status = program->kind->find(program);
    if (!status) status = program_load(program);
    if (!status) status = program_check_files(options);
    if (options->measure_only && !options->trains_too)
        program->training.absent = "this process only measures";
    JsonWriter *json = !status && options->json ? json_file_open(options->json) : NULL;
    if (!status && options->json && !json) status = error_status();
    if (!status) status = program_profile(program);
    if (status) {
        json_writer_discard(json);
        return status;
    }
    if (!options->quiet && program->report && program->subject.remark[0])
        text_print_wrapped(program->subject.remark, "", "", stdout);
    if (options_ask(options))
        status = program_answer(program);
    else if (program->report)
        report_print(&program->profile, stdout);
    print_refused(program);
    if (!status) status = program_judge(program, &(ThresholdSides){.now = &program->profile});
    *output_error = flush_output(); // the reader sees it before training starts
    if (program_is_stopped() && !program->training.absent)
        program->training.absent = "stopped before it began";
    if (!status && !program->training.absent)
        status = program_train(program);
    else if (!status)
        print_untrained(program);
    Status written = program_write_files(program, json);
    if (!status && !written && options->save && program->report) {
        printf("\nSaved in ");
        text_print_plain(options->save, stdout);
        printf("\nAfter a change: the same with --compare instead of --save\n");
    }
    if (!status && !written && options->history && program->report)
        printf("\nAdded to the history; --trend shows it\n");
    return status ? status : written;
}

static void print_devices(void) {
    enum { MOST = 8 };
    DeviceState states[MOST];
    int n = device_list(states, MOST);
    for (int i = 0; i < n && i < MOST; i++)
        printf("%-6s %-12s %s\n", states[i].name, states[i].usable ? "usable" : "not usable",
               states[i].reason);
}

typedef struct Typed { // the typed command, as one line and in words; getopt reorders argv
    char *command, **words;
} Typed;

static void typed_free(Typed *typed) {
    memory_free(typed->command);
    memory_free(typed->words);
}

static bool typed_make(int argc, char **argv, Typed *typed) {
    size_t bytes = (size_t)(argc + 1) * sizeof(char *);
    *typed = (Typed){.command = command_line_new(argc, argv), .words = memory_new(bytes)};
    if (typed->command && typed->words) {
        memcpy(typed->words, argv, bytes);
        return true;
    }
    typed_free(typed);
    return false;
}

static int profile_and_train(const ProgramKind *kind, const Options *options, const Typed *typed,
                             int *output_error) {
    Device *device = device_open(options->device);
    if (!device) return fail(kind);
    context_set_device(device);
    context_set_precision(options->precision);
    if (options->threads > 0) context_set_threads((int)options->threads);
    Program program = {.kind = kind,
                       .options = options,
                       .device = device,
                       .progress = "profiling",
                       .command = typed->command,
                       .arguments = typed->words,
                       .thresholds = options->thresholds,
                       .report = !options->quiet && !options_take_output(options)};
    const char *term = getenv("TERM"); // a terminal that cannot erase a line gets no progress
    program.terminal =
        !options->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    program.training.test_accuracy = program.training.held_out_loss = (double)NAN;
    bool several = options->n_models > 1, differs = options_beside(options) != NULL;
    bool sweeps = options->n_sweeps > 0;
    Status status = options->trend ? program_trend(options)
                    : sweeps       ? program_sweep(&program)
                    : differs      ? program_diff(&program)
                    : several      ? program_compare(&program)
                                   : work(&program, output_error);
    int code = status                                           ? fail(kind)
               : several || differs || sweeps || options->trend ? program.failed
                                                                : program_verdict(&program);
    program_free_runs(&program);
    profile_free(&program.profile);
    tensor_free(program.x);
    tensor_free(program.labels);
    layer_free(program.model);
    onnx_model_free(&program.onnx); // after the profile, which borrows from it
    dataset_free(&program.images.train);
    dataset_free(&program.images.test);
    corpus_free(&program.texts.train);
    corpus_free(&program.texts.held_out);
    return code;
}

static bool same_text(const char *one, const char *other) {
    return one && other ? strcmp(one, other) == 0 : one == other;
}

// A flag of another command that cannot be compared, since it changes nothing that is measured.
// NULL: there is none.
static const char *idle_flag(const Options *own, const Options *other) {
    const struct {
        const char *name;
        bool given;
    } flags[] = {{"help, --version and such", other->told},
                 {"against", !same_text(other->against, own->against)},
                 {"compare", !same_text(other->compare, own->compare)},
                 {"against-program", !same_text(other->against_program, own->against_program)},
                 {"output", !same_text(other->folder, own->folder)},
                 {"threshold", other->thresholds.n != own->thresholds.n},
                 {"runs", other->runs != own->runs && same_text(other->device, own->device)},
                 {"quiet", other->quiet != own->quiet},
                 {"force", other->force != own->force}};
    const char *name, *path, *ours;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (flags[i].given) return flags[i].name;
    for (int i = 0; (name = options_output(other, i, &path)); i++) {
        options_output(own, i, &ours);
        if (!same_text(path, ours)) return name;
    }
    return NULL;
}

static const char *kind_name(const Options *options) {
    return options->inference ? "inference" : "a training step";
}

// Reports another command's mistakes before any run: returns 0, or the exit status after a line.
static int misunderstood(const ProgramKind *kind, const Options *own, const char *other,
                         char *const typed[]) {
    char *text, **words = program_other_words(own, other, typed, &text);
    Options options = {0};
    int n = 0, code = EXIT_SUCCESS;
    while (words && words[n]) n++;
    if (error_pending()) {
        code = fail(kind);
    } else if (!options_parse(n, words, own->line, &options)) {
        code = EXIT_USAGE;
    } else {
        const char *idle = idle_flag(own, &options);
        Program program = {.kind = kind, .options = &options};
        bool unlike = !options.kind_said && own->inference != options.inference;
        if (idle) options_refuse(own, "%s: --%s changes nothing that is measured", other, idle);
        if (!idle && unlike)
            options_refuse(own, "%s: it opens as %s, and %s as %s; say --inference or --train",
                           other, kind_name(&options), own->model ? own->model : "the other",
                           kind_name(own));
        code = idle || unlike ? EXIT_USAGE : kind->find(&program) ? fail(kind) : EXIT_SUCCESS;
        onnx_model_free(&program.onnx);
    }
    options_free(&options);
    memory_free(words);
    memory_free(text);
    return code;
}

static int misunderstood_others(const ProgramKind *kind, const Options *options,
                                char *const typed[]) {
    Sweep sweep = {0};
    int code = EXIT_SUCCESS;
    if (options->against) return misunderstood(kind, options, options->against, typed);
    if (options->n_sweeps > 0 && sweep_axes_take(options, &sweep)) code = fail(kind);
    for (int64_t i = 0; i < sweep.n && code == EXIT_SUCCESS; i++) {
        char *words = sweep_point_words(options, &sweep, i);
        code = words ? misunderstood(kind, options, words, typed) : fail(kind);
        memory_free(words);
    }
    sweep_free(&sweep);
    return code;
}

// If memory is short, OpenBLAS's threads request it forever, and exit() waits for them: so this
// checks first, and calls _exit.
static void need_room(const ProgramKind *kind) {
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < LEAST_STACK) {
        fprintf(stderr, "%s: the stack may have %lld kB, and %d are needed. HINT: ulimit -s %d\n",
                kind->line.name, (long long)(stack.rlim_cur >> 10), LEAST_STACK >> 10,
                LEAST_STACK >> 10);
        _exit(EXIT_UNUSABLE);
    }
    if (blas_has_room()) return;
    fprintf(stderr,
            "%s: there is no room for what a matrix product takes, 147456 kB of addresses. HINT: "
            "ulimit -v unlimited, or 150000 more than now\n",
            kind->line.name);
    _exit(EXIT_UNUSABLE);
}

int program_main(int argc, char **argv, const ProgramKind *kind) {
    need_room(kind);
    ProgramRole role = program_role();
    signal(SIGPIPE, SIG_IGN); // a reader that closes early must not lose the JSON
    Options options;
    Typed typed;
    if (!typed_make(argc, argv, &typed)) return fail(kind);
    bool understood = options_parse(argc, argv, &kind->line, &options) &&
                      (!options.help || options_print_help(&options));
    int refused = !understood ? (options.file_is_unusable ? EXIT_UNUSABLE : EXIT_USAGE)
                  : role == PROGRAM_WHOLE && !options.told
                      ? misunderstood_others(kind, &options, typed.words)
                      : EXIT_SUCCESS;
    if (refused) {
        typed_free(&typed);
        options_free(&options);
        return refused;
    }
    if (role != PROGRAM_WHOLE) options_measure_only(&options, role == PROGRAM_MEASURES_AND_TRAINS);
    if (options.version) printf("%s %s\n", kind->line.name, ridgepoint_version());
    if (options.completion) options_print_completion(&options);
    if (options.man) options_print_man(&options);
    if (options.devices) print_devices();
    if (options.list) kind->list();
    int code = EXIT_SUCCESS, output_error = 0;
    if (!options.told) code = profile_and_train(kind, &options, &typed, &output_error);
    typed_free(&typed);
    context_release_thread();
    // A file on standard output was checked by its writer.
    if (output_error == 0 && !options_take_output(&options)) output_error = flush_output();
    options_free(&options);
    code = program_stop_code(code);
    if (output_error == 0 || output_error == EPIPE || code > EXIT_FAILURE)
        return code; // a reader that closes early is no failure
    fprintf(stderr, "%s: standard output: %s\n", kind->line.name, strerror(output_error));
    return EXIT_UNUSABLE;
}

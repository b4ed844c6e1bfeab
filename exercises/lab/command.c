// command.c -- shared by the commands of lab: their options, which getopt_long and the help take
// from one table; the requested exercise, its file, error messages.
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/lab/command.h"

int lab_refuse(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("lab: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return status;
}

int lab_fail(void) {
    Status status = error_status();
    bool usage = status == STATUS_INVALID_ARGUMENT;
    bool file = status == STATUS_IO || status == STATUS_FORMAT || status == STATUS_OUT_OF_MEMORY ||
                status == STATUS_STATE;
    lab_refuse(0, "%s", error_message());
    error_clear();
    return usage ? LAB_USAGE : file ? LAB_FILE : LAB_FAILED;
}

const Exercise *lab_exercise(const Lab *lab) {
    const Exercise *exercise = exercise_by_number(lab->argument);
    if (!exercise)
        lab_refuse(LAB_USAGE, "%s: there is no such exercise; ./lab lists them", lab->argument);
    return exercise;
}

GradeOptions lab_grade_options(const Lab *lab) {
    return (GradeOptions){.folder = lab->folder,
                          .parts = "build/lab",
                          .key = {.secret = "",
                                  .student = lab->progress.student,
                                  .token = lab->progress.token,
                                  .seed = (uint64_t)lab->options.seed},
                          .only_case = lab->options.case_name,
                          .fuzz = (int)lab->options.fuzz,
                          .sanitize = lab->options.asan,
                          .own = true};
}

void lab_file_name(const Exercise *exercise, char *name, size_t size) {
    if (exercise->answers)
        snprintf(name, size, "%s", exercise->answers);
    else
        snprintf(name, size, "ex%s_%s.c", exercise->number, exercise->name);
}

int lab_show(Page *page) {
    int status = page->failed ? lab_fail() : LAB_DONE;
    if (status == LAB_DONE) fputs(page_text(page), stdout);
    page_free(page);
    return status;
}

// ---- options ------------------------------------------------------------------------------------
enum { MOST_OPTIONS = 16, FIRST_OPTION = 256 };

// The options of every command.
static const LabOption common[] = {
    {"files", "DIR", "the student's files (exercises)", offsetof(LabOptions, files), 0, 0},
    {"help", NULL, "this text", offsetof(LabOptions, help), 0, 0},
};
enum { N_COMMON = sizeof common / sizeof common[0] };

static const LabOption *option_at(const Command *command, int index) {
    return index < command->n_options ? &command->options[index]
                                      : &common[index - command->n_options];
}

static bool take_number(LabOptions *options, const LabOption *option, const char *text) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && !*end && errno == 0 && value >= option->least && value <= option->most) {
        *(int64_t *)(void *)((char *)options + option->offset) = value;
        return true;
    }
    lab_refuse(LAB_USAGE, "--%s %s: expected a whole number from %lld to %lld", option->name, text,
               (long long)option->least, (long long)option->most);
    return false;
}

static bool take(LabOptions *options, const LabOption *option, const char *text) {
    void *place = (char *)options + option->offset;
    if (!option->argument)
        *(bool *)place = true;
    else if (option->most > 0)
        return take_number(options, option, text);
    else
        *(const char **)place = text;
    return true;
}

static bool unknown(const Command *command, const char *given) {
    const LabOption *option =
        optopt >= FIRST_OPTION ? option_at(command, optopt - FIRST_OPTION) : NULL;
    if (option && option->argument)
        lab_refuse(LAB_USAGE, "--%s needs a value, as in --%s %s", option->name, option->name,
                   option->argument);
    else if (option)
        lab_refuse(LAB_USAGE, "--%s takes no value", option->name);
    else
        lab_refuse(LAB_USAGE, "%s: unknown option; see ./lab %s --help", given, command->name);
    return false;
}

static bool take_arguments(Lab *lab, const Command *command, int argc, char **argv) {
    bool optional = command->arguments[0] == '[' || command->arguments[0] == '\0';
    int most = command->arguments[0] ? 1 : 0, given = argc - optind;
    if (given > 0) lab->argument = argv[optind];
    if (given > most) {
        lab_refuse(LAB_USAGE, "%s: unexpected argument; see ./lab %s --help", argv[optind + most],
                   command->name);
        return false;
    }
    if (given > 0 || optional || lab->options.help) return true;
    lab_refuse(LAB_USAGE, "%s needs an argument, as in ./lab %s %s", command->name, command->name,
               strcmp(command->arguments, "NN") == 0 ? "02" : command->arguments);
    return false;
}

bool options_read(Lab *lab, const Command *command, int argc, char **argv) {
    struct option table[MOST_OPTIONS + 1] = {{0}};
    int count = command->n_options + N_COMMON;
    for (int i = 0; i < count && i < MOST_OPTIONS; i++) {
        const LabOption *option = option_at(command, i);
        int has = option->argument ? required_argument : no_argument;
        table[i] = (struct option){option->name, has, NULL, FIRST_OPTION + i};
    }
    opterr = 0;
    optind = 0;
    for (;;) {
        int found = getopt_long(argc, argv, ":h", table, NULL);
        if (found == -1) break;
        if (found == 'h') {
            lab->options.help = true;
            continue;
        }
        if (found < FIRST_OPTION) return unknown(command, argv[optind - 1]);
        if (!take(&lab->options, option_at(command, found - FIRST_OPTION), optarg)) return false;
    }
    return take_arguments(lab, command, argc, argv);
}

void options_help(const Command *command) {
    printf("./lab %s%s%s [options]\n    %s\n", command->name, command->arguments[0] ? " " : "",
           command->arguments, command->summary);
    if (command->text) printf("\n%s\n", command->text);
    printf("\n");
    for (int i = 0; i < command->n_options + N_COMMON; i++) {
        const LabOption *option = option_at(command, i);
        char left[48];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        printf("  %-18s %s\n", left, option->help);
    }
}

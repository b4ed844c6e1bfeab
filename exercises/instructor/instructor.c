// instructor.c -- the instructor's program: grades a class, says how its cases did, makes the
// course's secret. One submission is graded by the lab program, in a process of its own.
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/instructor/instructor.h"
#include "tensor/context.h"

typedef struct Command {
    const char *name, *argument, *help;
    int (*run)(const Orders *orders);
} Command;
static const Command commands[] = {
    {"grade", "PATH", "grade one submission, a folder or submission.tar", command_grade},
    {"grade-all", "DIR", "grade every submission in DIR; what is graded already is skipped",
     command_grade_all},
    {"report", "DIR", "how each case did, from the results that grade-all left in DIR",
     command_report},
    {"secret", "FILE", "make the course's secret, on which hidden numbers depend", command_secret},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const char options_text[] =
    "  --output DIR     where the results go (PATH-grade, DIR-grades)\n"
    "  --student NAME   grade: whose numbers are asked for\n"
    "  --roster FILE    grade-all: lines student,name\n"
    "  --secret FILE    the course's secret (none: practice numbers)\n"
    "  --lab PROGRAM    that grades one submission (./lab)\n"
    "  --again          grade-all: also what is graded already\n";

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},  {"roster", required_argument, NULL, 'r'},
    {"secret", required_argument, NULL, 's'},  {"lab", required_argument, NULL, 'l'},
    {"student", required_argument, NULL, 't'}, {"again", no_argument, NULL, 'a'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

int instructor_refuse(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("instructor: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return status;
}

int instructor_fail(void) {
    Status status = error_status();
    instructor_refuse(0, "%s", error_message());
    error_clear();
    return status == STATUS_INVALID_ARGUMENT ? INSTRUCTOR_USAGE : INSTRUCTOR_FILE;
}

static int help(void) {
    printf("instructor COMMAND [options]\n\n");
    for (int i = 0; i < N_COMMANDS; i++) {
        printf("  %-9s %-5s  %s\n", commands[i].name, commands[i].argument, commands[i].help);
    }
    printf("\n%s", options_text);
    return fflush(stdout) ? INSTRUCTOR_FILE : INSTRUCTOR_DONE;
}

static int read_options(int argc, char **argv, Orders *orders) {
    for (int found; (found = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (found == 'o') orders->output = optarg;
        if (found == 'r') orders->roster = optarg;
        if (found == 's') orders->secret = optarg;
        if (found == 'l') orders->lab = optarg;
        if (found == 't') orders->student = optarg;
        if (found == 'a') orders->again = true;
        if (found == 'h' || found == '?') return found;
    }
    return 0;
}

int main(int argc, char **argv) {
    Orders orders = {.lab = "./lab"};
    int stopped = read_options(argc, argv, &orders);
    if (stopped == 'h') return help();
    if (stopped == '?') return INSTRUCTOR_USAGE; // getopt has said why
    const char *name = optind < argc ? argv[optind] : "no command";
    const Command *command = NULL;
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) command = &commands[i];
    }
    if (command == NULL || argc - optind != 2) {
        return instructor_refuse(INSTRUCTOR_USAGE,
                                 "%s: expected a command and what it is about; see --help", name);
    }
    orders.argument = argv[optind + 1];
    int status = command->run(&orders);
    if (fflush(stdout) != 0 && status == INSTRUCTOR_DONE) status = INSTRUCTOR_FILE;
    context_release_thread();
    return status;
}

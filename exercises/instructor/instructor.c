// instructor.c -- the instructor's program: grades a class, reports on its cases, makes the
// course's secret. The lab program grades each submission, in a process of its own.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/instructor/instructor.h"
#include "tensor/context.h"
#include "tensor/memory.h"

typedef struct Command {
    const char *name, *argument, *help;
    int (*run)(const Orders *orders);
} Command;
static int command_secret(const Orders *orders);
static int command_tables(const Orders *orders);
static const Command commands[] = {
    {"grade", "PATH", "grade one submission, a folder or submission.tar", command_grade},
    {"grade-all", "DIR", "grade every submission in DIR; what is graded already is skipped",
     command_grade_all},
    {"report", "DIR", "how each case did, from the results that grade-all left in DIR",
     command_report},
    {"answers", "ROSTER",
     "keys to hand out, and the answers to the questions by hand; a file or names",
     command_answers},
    {"similar", "DIR", "pairs of submissions that share more than the class does", command_similar},
    {"secret", "FILE", "make the course's secret, on which hidden numbers depend", command_secret},
    {"tables", "FILE", "make the tables of exercises in a page anew", command_tables},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };
enum { MOST_PAGE = 1 << 20, SECRET_BYTES = 32 };

static const char options_text[] =
    "  --output DIR     where the results go (PATH-grade, DIR-grades)\n"
    "  --student NAME   grade: whose numbers are asked for\n"
    "  --roster FILE    grade-all, similar: lines student,name,id,section\n"
    "  --written FILE   grade-all: lines student,points of answers in writing\n"
    "  --assignment A   grade-all: its name in the gradebook (Profiler exercises)\n"
    "  --secret FILE    the course's secret, if it has one\n"
    "  --lab PROGRAM    that grades one submission (./lab)\n"
    "  --disposable     grade: a machine for this one submission; the secret is removed first\n"
    "  --again          grade-all: also what is graded already\n";

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"roster", required_argument, NULL, 'r'},
    {"secret", required_argument, NULL, 's'},
    {"lab", required_argument, NULL, 'l'},
    {"written", required_argument, NULL, 'w'},
    {"assignment", required_argument, NULL, 'n'},
    {"student", required_argument, NULL, 't'},
    {"again", no_argument, NULL, 'a'},
    {"disposable", no_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
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

static int command_tables(const Orders *orders) {
    char *page = file_read(NULL, orders->argument, MOST_PAGE, NULL);
    char *updated = page ? tables_update(page) : NULL;
    Status status = updated ? STATUS_OK : error_status();
    bool same = updated && strcmp(page, updated) == 0;
    if (updated && !same) status = file_write(NULL, orders->argument, updated, strlen(updated));
    if (!status) printf("%s: %s\n", orders->argument, same ? "as it was" : "made anew");
    memory_free(page);
    memory_free(updated);
    return status ? instructor_fail() : INSTRUCTOR_DONE;
}

// Writes 32 random bytes in hexadecimal to a file that only its owner can read. It never replaces a
// secret, because a new one would change every student's numbers.
static int command_secret(const Orders *orders) {
    unsigned char bytes[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 2];
    if (getrandom(bytes, sizeof bytes, 0) != SECRET_BYTES) {
        return instructor_refuse(INSTRUCTOR_FILE, "no random bytes: %s", strerror(errno));
    }
    for (int i = 0; i < SECRET_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    strcpy(text + 2 * SECRET_BYTES, "\n");
    int file = open(orders->argument, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file < 0) {
        return instructor_refuse(INSTRUCTOR_FILE, "%s: %s; a secret is never replaced",
                                 orders->argument, strerror(errno));
    }
    bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text) && fsync(file) == 0;
    written = close(file) == 0 && written;
    if (!written) {
        unlink(orders->argument);
        return instructor_refuse(INSTRUCTOR_FILE, "%s: it could not be written", orders->argument);
    }
    printf("%s: made. Keep it: with another one, every student gets other numbers.\n",
           orders->argument);
    return INSTRUCTOR_DONE;
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
        if (found == 'w') orders->written = optarg;
        if (found == 'n') orders->assignment = optarg;
        if (found == 'a') orders->again = true;
        if (found == 'd') orders->disposable = true;
        if (found == 'h' || found == '?') return found;
    }
    return 0;
}

int main(int argc, char **argv) {
    Orders orders = {.lab = "./lab", .assignment = "Profiler exercises"};
    int stopped = read_options(argc, argv, &orders);
    if (stopped == 'h') return help();
    if (stopped == '?') return INSTRUCTOR_USAGE; // getopt printed the reason
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

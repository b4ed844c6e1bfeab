// lab.c -- the program that students use: the table of commands, and finding a command.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/command.h"
#include "tensor/context.h"

#define TEXT(member) offsetof(LabOptions, member), 0, 0
#define SWITCH(member) offsetof(LabOptions, member), 0, 0
#define NUMBER(member, least, most) offsetof(LabOptions, member), least, most
static const LabOption student_option[] = {
    {"student", "NAME", "of a course that hands out no keys: whose numbers", TEXT(student)},
};
static const LabOption check_options[] = {
    {"case", "NAME", "one case only", TEXT(case_name)},
    {"seed", "N", "other random numbers", NUMBER(seed, 0, INT64_MAX)},
    {"fuzz", "N", "so many random runs more of each case", NUMBER(fuzz, 1, 100000)},
    {"all", NULL, "show every failure, not only the first", SWITCH(all)},
    {"asan", NULL, "with AddressSanitizer, which finds bad memory accesses", SWITCH(asan)},
    {"gdb", NULL, "run the case in the debugger", SWITCH(gdb)},
};
static const LabOption hint_options[] = {
    {"level", "N", "this level, 1 to 3, not the next", NUMBER(level, 1, 3)},
};
static const LabOption submit_options[] = {
    {"output", "FILE", "the archive (submission.tar)", TEXT(output)},
};
static const LabOption sweep_options[] = {
    {"most", "N", "the largest batch (1024)", NUMBER(most, 1, 1 << 20)},
};
static const LabOption mystery_options[] = {
    {"recorded", "DIR", "take the one that was measured elsewhere by --files DIR", TEXT(recorded)},
};
static const LabOption profile_options[] = {
    {"peaks", "FILE", "ceilings: a machine file, or a known machine's name", TEXT(peaks)},
};
static const LabOption grade_options[] = {
    {"output", "DIR", "folder of the results (that of the submission)", TEXT(output)},
    {"student", "NAME", "whose numbers", TEXT(student)},
    {"secret", "FILE", "the course's secret, if it has one", TEXT(secret)},
    {"minimum", "N", "exit status 1 below so many points", NUMBER(minimum, 0, 1000)},
    {"disposable", NULL, "for this one submission only: the secret's file goes first",
     SWITCH(disposable)},
};

#define NO_OPTIONS NULL, 0
#define OPTIONS(table) table, (int)(sizeof table / sizeof table[0])
static const Command commands[] = {
    {"list", "", "the exercises, what each is worth, what to type next", NULL, NO_OPTIONS,
     command_list},
    {"check", "[NN]", "grade an exercise, or all; the first failure is shown", NULL,
     OPTIONS(check_options), command_check},
    {"watch", "[NN]", "check again whenever the file is saved",
     "Keys: n next exercise, h hint, l list, c check, x explain the failure, q quit.", NO_OPTIONS,
     command_watch},
    {"hint", "NN", "a hint; each time one level further, three in all", NULL, OPTIONS(hint_options),
     command_hint},
    {"explain", "[NAME]", "a page on a misconception; without a name, which there are", NULL,
     NO_OPTIONS, command_explain},
    {"whoami", "[KEY]", "take the key that your course hands out, or say whose it is", NULL,
     NO_OPTIONS, command_whoami},
    {"questions", "[NN]", "the questions to answer by hand, with your own numbers", NULL,
     OPTIONS(student_option), command_questions},
    {"reset", "NN", "put the skeleton back; what you wrote is kept in .lab/backup", NULL,
     NO_OPTIONS, command_reset},
    {"submit", "", "pack what is graded into submission.tar", NULL, OPTIONS(submit_options),
     command_submit},
    {"profile", "", "a real report, with your numbers beside the library's", NULL,
     OPTIONS(profile_options), command_profile},
    {"sweep", "", "measure the batch sizes of exercise 11 into sweep.csv", NULL,
     OPTIONS(sweep_options), command_sweep},
    {"mystery", "SEED", "measure a program in which one thing is wrong (16)",
     "SEED, 1 to 999999, is what your teacher hands out: a program of its own each.",
     OPTIONS(mystery_options), command_mystery},
    {"grade", "DIR", "grade the files in DIR: result.json and what platforms read", NULL,
     OPTIONS(grade_options), command_grade},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const Command *find_command(const char *name) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_help(void) {
    printf("./lab [COMMAND] [options]\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        printf("  %-9s %-7s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    printf("\nNN is an exercise: 02, 2 or count_flops. Options: ./lab COMMAND --help\n");
}

// ---- where we are ------------------------------------------------------------------------------
// The program runs in the project's root, so it makes the user's paths absolute first.
static const char *absolute(const char *path, char *room) {
    char here[PATH_MAX];
    if (!path || path[0] == '/' || strcmp(path, "-") == 0 || !getcwd(here, sizeof here))
        return path;
    int length = snprintf(room, PATH_MAX, "%s/%s", here, path);
    return length < PATH_MAX ? room : path;
}

// The root is the program's folder, or the one above its build folder.
static bool enter_root(void) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    for (char *end = strrchr(path, '/'); end; end = strrchr(path, '/')) {
        *end = '\0';
        char mark[PATH_MAX + 32];
        snprintf(mark, sizeof mark, "%s/exercises/pages", path);
        if (access(mark, F_OK) == 0) return chdir(path) == 0;
    }
    return false;
}

static bool find_folder(Lab *lab) {
    const char *files = lab->options.files ? lab->options.files : "exercises";
    return realpath(files, lab->folder) && access(lab->folder, X_OK) == 0;
}

// ---- the command -------------------------------------------------------------------------------
static bool wants_colour(bool terminal) {
    const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
    return terminal && !(no_colour && no_colour[0]) && !(kind && strcmp(kind, "dumb") == 0);
}

static int run(Lab *lab, const Command *command) {
    LabOptions *options = &lab->options;
    lab->shown_folder = options->files ? options->files : "exercises";
    char rooms[6][PATH_MAX];
    bool is_grade = command->run == command_grade;
    options->files = absolute(options->files, rooms[0]);
    options->output = absolute(options->output, rooms[1]);
    options->secret = absolute(options->secret, rooms[2]);
    options->recorded = absolute(options->recorded, rooms[5]);
    if (options->peaks && access(options->peaks, F_OK) == 0) // else it names a known machine
        options->peaks = absolute(options->peaks, rooms[4]);
    if (is_grade) lab->argument = absolute(lab->argument, rooms[3]);
    if (!enter_root()) return lab_refuse(LAB_FILE, "exercises/: not found from this program");
    if (!find_folder(lab))
        return lab_refuse(LAB_FILE, "--files %s: %s; it names the folder of the student's files",
                          lab->shown_folder, strerror(errno));
    lab->terminal = isatty(STDOUT_FILENO);
    lab->colour = wants_colour(lab->terminal);
    if (is_grade) return command->run(lab);
    if (progress_read(lab->folder, &lab->progress)) return lab_fail();
    return command->run(lab);
}

// A closed pipe is no failure of ours.
static int flush(int status) {
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE || errno == 0) return status;
    return lab_refuse(LAB_FILE, "standard output: %s", strerror(errno));
}

static int find_and_run(Lab *lab, int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "list";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return LAB_DONE;
    }
    const Command *command = find_command(name[0] == '-' ? "list" : name);
    int skipped = argc > 1 && name[0] != '-';
    if (!command)
        return lab_refuse(LAB_USAGE, "%s: there is no such command; see ./lab --help", name);
    if (!options_read(lab, command, argc - skipped, argv + skipped)) return LAB_USAGE;
    if (!lab->options.help) return run(lab, command);
    options_help(command);
    return LAB_DONE;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    Lab *lab = calloc(1, sizeof *lab);
    if (!lab) return lab_refuse(LAB_FILE, "out of memory");
    int status = flush(find_and_run(lab, argc, argv));
    context_release_thread();
    free(lab);
    return status;
}

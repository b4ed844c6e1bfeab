// test_contain.c -- what nobody trusts runs contained: one program does one bad thing after another
// (fixtures/villain.c), as root's other user and as a plain user, with each layer of protection in
// turn left out. It ends as it should, and nothing of it is left.
#include "exercises/grader/contain.h"
#include "exercises/grader/contain_parts.h"
#include "exercises/grader/contain_remove.h"
#include "tensor/memory.h"
#include "tests/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLAIN_USER = 65534 };

static char villain_folder[] = "/tmp/villain-test-XXXXXX", villain[64];

// Compiled once, where every user may execute it.
static void make_villain(void) {
    char command[256];
    if (!mkdtemp(villain_folder) || chmod(villain_folder, 0755) != 0) abort();
    snprintf(villain, sizeof villain, "%s/villain", villain_folder);
    snprintf(command, sizeof command,
             "cc -w -O0 -D_GNU_SOURCE -o %s tests/fixtures/villain.c && chmod 755 %s", villain,
             villain);
    if (system(command) != 0) abort();
}

static void remove_villain(void) {
    unlink(villain);
    rmdir(villain_folder);
}

// ---- running it --------------------------------------------------------------------------------
static const ContainLimits usual = {.wall_seconds = 5,
                                    .cpu_seconds = 2,
                                    .memory_bytes = INT64_C(256) << 20,
                                    .output_bytes = 20000,
                                    .processes = 1};

typedef struct Mode {
    bool plain; // as a user who is not root
    unsigned without;
} Mode;
static const Mode modes[] = {{false, 0},
                             {false, LAYER_NAMESPACE},
                             {false, LAYER_SECCOMP},
                             {false, LAYER_SECCOMP | LAYER_NAMESPACE},
                             {true, 0},
                             {true, LAYER_NAMESPACE},
                             {true, LAYER_SECCOMP},
                             {true, LAYER_SECCOMP | LAYER_NAMESPACE}};
enum { MODES = sizeof modes / sizeof modes[0] };

// For the rest of this test's process.
static void become_plain(void) {
    if (geteuid() != 0) return;
    if (strcmp(getenv("CK_FORK") ? getenv("CK_FORK") : "", "no") == 0)
        test_skip("it would stay another user: CK_FORK=no");
    if (setgroups(0, NULL) != 0 || setresgid(PLAIN_USER, PLAIN_USER, PLAIN_USER) != 0 ||
        setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) != 0)
        test_skip("there is no other user here");
}

static void enter(const Mode *mode) {
    if (mode->plain) become_plain();
    if (geteuid() == 0 && !(contain_layers() & LAYER_USER))
        test_skip("root, and no other user here");
}

static ContainResult run_with(const char *deed, const ContainLimits *limits, unsigned without) {
    const char *const arguments[] = {villain, deed, NULL};
    const ContainCommand command = {.argv = arguments,
                                    .input = "ping",
                                    .input_bytes = 4,
                                    .limits = *limits,
                                    .without = without};
    ContainResult result;
    Status status = contain_run(&command, &result);
    ck_assert_msg(status == STATUS_OK, "%s: %s", deed, error_message());
    return result;
}

// ---- nothing is left ---------------------------------------------------------------------------
static int count_descriptors(void) {
    int count = 0;
    for (int i = 0; i < 1024; i++) count += fcntl(i, F_GETFD) >= 0;
    return count;
}

// Processes whose command line begins with the villain's path.
static int count_villains(void) {
    int count = 0;
    DIR *processes = opendir("/proc");
    ck_assert_ptr_nonnull(processes);
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        char path[300], line[128] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        (void)!fread(line, 1, sizeof line - 1, file);
        fclose(file);
        count += strcmp(line, villain) == 0;
    }
    closedir(processes);
    return count;
}

static void check_nothing_left(int descriptors) {
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); // not even a zombie
    ck_assert_int_eq(count_villains(), 0);
    ck_assert_int_eq(count_descriptors(), descriptors);
}

// ---- every deed in every mode ------------------------------------------------------------------
typedef struct Deed {
    const char *name;
    ContainEnd end; // with, and without a list of system calls
    int code;       // -1: any
    ContainEnd bare_end;
    int bare_code;
} Deed;

#define SAME(end, code) (end), (code), (end), (code)
static const Deed deeds[] = {
    {"well", SAME(CONTAIN_EXITED, 7)},
    {"crash", SAME(CONTAIN_CRASHED, SIGSEGV)},
    {"abort", SAME(CONTAIN_CRASHED, SIGABRT)},
    {"stack", SAME(CONTAIN_CRASHED, SIGSEGV)},
    {"flood_output", SAME(CONTAIN_FLOODED, -1)},
    {"flood_error", SAME(CONTAIN_FLOODED, -1)},
    {"flood_values", SAME(CONTAIN_FLOODED, -1)},
    {"memory", SAME(CONTAIN_OUT_OF_MEMORY, -1)},
    {"sleep", SAME(CONTAIN_TIMED_OUT, -1)},
    {"deaf", SAME(CONTAIN_TIMED_OUT, -1)},
    {"bomb", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_TIMED_OUT, -1},
    {"fork", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
    {"disk", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 20},
    {"socket", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, -1},
    {"parent", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
    {"shell", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 5},
    {"limits", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
    {"root", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
};
enum { DEEDS = sizeof deeds / sizeof deeds[0] };

START_TEST(ends_as_it_should) {
    const Deed *deed = &deeds[_i % DEEDS];
    const Mode *mode = &modes[_i / DEEDS];
    enter(mode);
    int descriptors = count_descriptors();
    bool listed = contain_layers() & ~mode->without & LAYER_SECCOMP;
    ContainLimits limits = usual;
    limits.wall_seconds = 0.2; // the others end by themselves, but a slow machine may need longer
    if (deed->end != CONTAIN_TIMED_OUT && (listed || deed->bare_end != CONTAIN_TIMED_OUT))
        limits.wall_seconds = 15;
    ContainResult result = run_with(deed->name, &limits, mode->without);
    ContainEnd end = listed ? deed->end : deed->bare_end;
    int code = listed ? deed->code : deed->bare_code;
    ck_assert_msg(result.end == end && (code < 0 || result.code == code),
                  "%s without %u: end %d, code %d: %s", deed->name, mode->without, result.end,
                  result.code, result.output);
    ck_assert_uint_eq(result.layers, contain_layers() & ~mode->without);
    ck_assert_uint_le(result.values_bytes, 20000);
    ck_assert_uint_le(strlen(result.output), 20000);
    contain_result_free(&result);
    check_nothing_left(descriptors);
}
END_TEST

START_TEST(a_good_program_is_heard) {
    enter(&modes[_i]);
    ContainResult result = run_with("well", &usual, modes[_i].without);
    ck_assert_str_eq(result.output, "out\nerror\n");
    ck_assert_uint_eq(result.values_bytes, 4);
    ck_assert_mem_eq(result.values, "ping", 4);
    ck_assert_int_eq(result.leftovers, 0);
    contain_result_free(&result);
}
END_TEST

START_TEST(a_program_finds_little) {
    enter(&modes[_i]);
    setenv("LD_PRELOAD", "", 1);
    int open_too = open("/dev/null", O_RDONLY); // and not closed on execution
    ContainResult result = run_with("look", &usual, modes[_i].without);
    close(open_too);
    ck_assert_ptr_nonnull(strstr(result.output, "core=0 files=0 open=4 home=/nonexistent"));
    ck_assert_ptr_nonnull(strstr(result.output, "preload=no"));
    int uid = atoi(strstr(result.output, "uid=") + 4);
    if (result.layers & LAYER_USER)
        ck_assert(uid >= CONTAIN_FIRST_USER && uid < CONTAIN_FIRST_USER + CONTAIN_USERS);
    else
        ck_assert_int_eq(uid, (int)getuid());
    contain_result_free(&result);
}
END_TEST

// ---- what outlives its program -----------------------------------------------------------------
START_TEST(a_daemon_ends_with_its_program) {
    const Mode *mode = &modes[_i];
    enter(mode);
    ContainLimits limits = usual;
    limits.processes = mode->plain ? 1000 : 8;
    ContainResult result = run_with("daemon", &limits, mode->without | LAYER_SECCOMP);
    ck_assert_int_eq(result.end, CONTAIN_EXITED);
    if (!(result.layers & LAYER_NAMESPACE)) ck_assert_int_ge(result.leftovers, 1);
    ck_assert_double_lt(result.seconds, 4);
    contain_result_free(&result);
    ck_assert_int_eq(count_villains(), 0);
}
END_TEST

START_TEST(files_of_another_user_are_removed) {
    enter(&modes[0]);
    if (!(contain_layers() & LAYER_USER)) test_skip("not root");
    int before = open("/tmp/villain-not-mine", O_CREAT | O_RDWR, 0600); // root's: it stays
    ContainLimits limits = usual;
    limits.processes = 2;
    ContainResult result = run_with("litter", &limits, LAYER_SECCOMP | LAYER_NAMESPACE);
    ck_assert_int_eq(result.end, CONTAIN_EXITED);
    ck_assert_int_ge(result.leftovers, 3 + 2 + 300);
    contain_result_free(&result);
    ck_assert_int_ne(access("/tmp/villain-file", F_OK), 0);
    ck_assert_int_ne(access("/var/tmp/villain-file", F_OK), 0);
    ck_assert_int_ne(access("/dev/shm/villain-file", F_OK), 0);
    ck_assert_int_ne(access("/tmp/villain-folder", F_OK), 0);
    ck_assert_int_eq(access("/usr/bin", F_OK), 0);
    if (before >= 0) {
        ck_assert_int_eq(unlink("/tmp/villain-not-mine"), 0);
        close(before);
    }
}
END_TEST

START_TEST(nothing_is_written_outside_of_a_namespace) {
    enter(&modes[_i]);
    if (!(contain_layers() & LAYER_NAMESPACE)) test_skip("no namespaces here");
    ContainResult result = run_with("litter", &usual, LAYER_SECCOMP);
    ck_assert_int_eq(result.leftovers, 0);
    contain_result_free(&result);
    ck_assert_int_ne(access("/tmp/villain-file", F_OK), 0);
}
END_TEST

START_TEST(processor_time_is_limited_even_for_the_deaf) {
    enter(&modes[_i]);
    ContainLimits limits = usual;
    limits.cpu_seconds = 1;
    limits.wall_seconds = 15;
    ContainResult result = run_with(_i ? "spin_deaf" : "spin", &limits, modes[_i].without);
    ck_assert_int_eq(result.end, CONTAIN_TIMED_OUT);
    ck_assert_double_lt(result.seconds, 14);
    contain_result_free(&result);
}
END_TEST

START_TEST(what_it_ends_above_it_is_not_the_grader) {
    enter(&modes[_i]);
    ContainResult result = run_with("end_parent", &usual, modes[_i].without);
    ck_assert(result.end == CONTAIN_FORBIDDEN || result.end == CONTAIN_EXITED ||
              result.end == CONTAIN_CRASHED);
    contain_result_free(&result);
    while (count_villains() > 0) usleep(10000); // it ends with the keeper that it ended
}
END_TEST

// ---- several at once ---------------------------------------------------------------------------
START_TEST(several_run_at_once) {
    enter(&modes[_i]);
    enum { RUNS = 6 };
    const char *const arguments[] = {villain, "well", NULL};
    const ContainCommand command = {.argv = arguments,
                                    .limits = usual,
                                    .without = modes[_i].without};
    int descriptors = count_descriptors();
    ContainRun *runs[RUNS];
    for (int i = 0; i < RUNS; i++) ck_assert_int_eq(contain_begin(&command, &runs[i]), STATUS_OK);
    for (int i = 0; i < RUNS; i++) {
        ContainResult result;
        ck_assert_int_eq(contain_finish(runs[i], &result), STATUS_OK);
        ck_assert_int_eq(result.end, CONTAIN_EXITED);
        ck_assert_int_eq(result.code, 7);
        contain_result_free(&result);
    }
    check_nothing_left(descriptors);
}
END_TEST

START_TEST(each_run_takes_another_user) {
    enum { TAKEN = 3 };
    uid_t users[TAKEN], again;
    int slots[TAKEN], slot;
    for (int i = 0; i < TAKEN; i++) {
        ck_assert_int_eq(user_take(&users[i], &slots[i]), STATUS_OK);
        ck_assert(user_is_contained(users[i]));
        for (int k = 0; k < i; k++) ck_assert_uint_ne(users[i], users[k]);
    }
    for (int i = 0; i < TAKEN; i++) close(slots[i]);
    ck_assert_int_eq(user_take(&again, &slot), STATUS_OK);
    close(slot);
}
END_TEST

// The functions that kill and remove begin with this question.
START_TEST(other_users_are_never_touched) {
    static const uid_t others[] = {
        0,      1, 1000, PLAIN_USER, CONTAIN_FIRST_USER - 1, CONTAIN_FIRST_USER + CONTAIN_USERS,
        NO_USER};
    char path[128];
    int folder = open(villain_folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(folder, 0);
    snprintf(path, sizeof path, "%s/stays", villain_folder);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert(!user_is_contained(others[i]));
        ck_assert_int_eq(remove_owned(folder, others[i]), 0);
    }
    ck_assert(user_is_contained(CONTAIN_FIRST_USER));
    ck_assert(user_is_contained(CONTAIN_FIRST_USER + CONTAIN_USERS - 1));
    ck_assert_int_eq(remove_owned(folder, CONTAIN_FIRST_USER), 0); // nothing here is of it
    if (file >= 0) ck_assert_int_eq(unlink(path), 0);
    close(file);
    close(folder);
}
END_TEST

// One that is ended itself, with all that it began.
START_TEST(what_a_dead_grader_began_ends_too) {
    enter(&modes[_i]);
    contain_layers();
    pid_t grader = fork();
    ck_assert_int_ge(grader, 0);
    if (grader == 0) {
        const char *const arguments[] = {villain, "deaf", NULL};
        ContainCommand command = {.argv = arguments, .limits = usual, .without = modes[_i].without};
        command.limits.wall_seconds = 1000;
        ContainRun *run;
        _exit(contain_begin(&command, &run) == STATUS_OK ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(grader, &status, 0), grader);
    ck_assert_int_eq(status, 0);
    while (count_villains() > 0) usleep(10000); // the test's own time limit ends this
}
END_TEST

// A run that is still alive keeps its user.
START_TEST(a_user_is_taken_while_its_run_lasts) {
    enter(&modes[0]);
    if (!(contain_layers() & LAYER_USER)) test_skip("not root");
    const char *const rest[] = {villain, "sleep", NULL};
    ContainCommand command = {.argv = rest, .limits = usual};
    command.limits.wall_seconds = 1;
    ContainRun *run;
    ck_assert_int_eq(contain_begin(&command, &run), STATUS_OK);
    ContainResult one = run_with("look", &usual, 0), other = run_with("well", &usual, 0);
    ck_assert_int_eq(one.end, CONTAIN_EXITED);
    ck_assert_int_eq(other.end, CONTAIN_EXITED);
    contain_result_free(&one);
    contain_result_free(&other);
    ck_assert_int_eq(contain_finish(run, &one), STATUS_OK);
    ck_assert_int_eq(one.end, CONTAIN_TIMED_OUT); // the others' ends did not end it
    contain_result_free(&one);
}
END_TEST

// ---- refusals and failures ---------------------------------------------------------------------
START_TEST(what_cannot_be_run_is_an_error) {
    enter(&modes[_i]);
    const char *const missing[] = {"/nonexistent/program", NULL};
    const char *const relative[] = {"villain", NULL};
    ContainCommand command = {.argv = missing, .limits = usual, .without = modes[_i].without};
    ContainResult result;
    int descriptors = count_descriptors();
    ck_assert_int_eq(contain_run(&command, &result), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error_message(), "execute"));
    error_clear();
    contain_result_free(&result);
    command.argv = relative;
    ck_assert_int_eq(contain_run(&command, &result), STATUS_INVALID_ARGUMENT);
    error_clear();
    check_nothing_left(descriptors);
}
END_TEST

START_TEST(no_memory_is_an_error) {
    enter(&modes[0]);
    contain_layers();
    const char *const arguments[] = {villain, "well", NULL};
    const ContainCommand command = {.argv = arguments, .limits = usual};
    int failed = 0;
    for (uint64_t nth = 1;; nth++) {
        ContainResult result;
        memory_fail_at(nth);
        Status status = contain_run(&command, &result);
        memory_fail_at(0);
        contain_result_free(&result);
        if (status == STATUS_OK) break;
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        error_clear();
        failed++;
    }
    ck_assert_int_ge(failed, 3);
}
END_TEST

START_TEST(layers_have_names) {
    char text[64];
    ck_assert_str_eq(contain_layers_text(LAYER_LIMITS | LAYER_USER, text, sizeof text),
                     "limits, user");
    ck_assert_str_eq(contain_layers_text(0, text, sizeof text), "");
    ck_assert_uint_eq(contain_layers() & (LAYER_LIMITS | LAYER_GROUP), LAYER_LIMITS | LAYER_GROUP);
}
END_TEST

// ---- folders -----------------------------------------------------------------------------------
START_TEST(a_folder_is_writable_only_where_files_are_allowed) {
    enter(&modes[_i]);
    char folder[128];
    ck_assert_int_eq(contain_directory_new(folder, sizeof folder), STATUS_OK);
    const char *const arguments[] = {villain, "disk", NULL};
    ContainCommand command = {.argv = arguments,
                              .directory = folder,
                              .limits = usual,
                              .without = modes[_i].without | LAYER_SECCOMP};
    command.limits.file_bytes = 10000;
    ContainResult result;
    ck_assert_int_eq(contain_run(&command, &result), STATUS_OK);
    ck_assert_int_eq(result.end, CONTAIN_CRASHED);
    ck_assert_int_eq(result.code, SIGXFSZ);
    contain_result_free(&result);
    char path[160];
    struct stat found;
    snprintf(path, sizeof path, "%s/filled", folder);
    ck_assert_int_eq(stat(path, &found), 0);
    ck_assert_int_eq((int)found.st_size, 10000);
    ck_assert_uint_eq(found.st_uid, geteuid());
    ck_assert_int_eq(contain_directory_remove(folder), STATUS_OK);
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

START_TEST(only_own_folders_are_removed) {
    enter(&modes[_i]);
    static const char *const others[] = {
        "", "/", "/tmp", "/tmp/", "ridgepoint-abcdef", "/tmp/..", "/etc", "/tmp/ridgepoint-"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_int_eq(contain_directory_remove(others[i]), STATUS_INVALID_ARGUMENT);
        error_clear();
    }
    char folder[128], path[160], link[160];
    ck_assert_int_eq(contain_directory_new(folder, sizeof folder), STATUS_OK);
    snprintf(link, sizeof link, "%.100s/link", folder);
    snprintf(path, sizeof path, "%.100s/..", folder);
    ck_assert_int_eq(contain_directory_remove(path), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert_int_eq(symlink(villain_folder, link), 0); // goes, and not what it leads to
    ck_assert_int_eq(contain_directory_remove(folder), STATUS_OK);
    ck_assert_int_eq(access(villain, X_OK), 0);
}
END_TEST

// ---- text --------------------------------------------------------------------------------------
START_TEST(text_becomes_harmless) {
    static const struct {
        const char *text, *clean;
    } texts[] = {{"plain\n\ttext", "plain\n\ttext"},
                 {"\033[31mred\r", "?[31mred?"},
                 {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
                  "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
                 {"\xff\xfe", "??"},
                 {"\xc3", "?"},
                 {"\xe2\x82", "??"},
                 {"\xc0\xaf", "??"},
                 {"\xed\xa0\x80", "???"},
                 {"\xf4\x90\x80\x80", "????"},
                 {"\xc2\x9b", "?"},
                 {"\xef\xbf\xbe", "?"},
                 {"\x7f\x01", "??"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", texts[i].text);
        text_clean(text);
        ck_assert_str_eq(text, texts[i].clean);
    }
    enter(&modes[0]);
    ContainResult result = run_with("bytes", &usual, 0);
    ck_assert_str_eq(result.output, "a?b?[2J?\xc3\xa4\n");
    contain_result_free(&result);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{ends_as_it_should, DEEDS * MODES},
                                 {a_good_program_is_heard, MODES},
                                 {a_program_finds_little, MODES},
                                 {a_daemon_ends_with_its_program, MODES},
                                 {files_of_another_user_are_removed, 0},
                                 {nothing_is_written_outside_of_a_namespace, MODES},
                                 {processor_time_is_limited_even_for_the_deaf, 2},
                                 {what_it_ends_above_it_is_not_the_grader, MODES},
                                 {several_run_at_once, MODES},
                                 {each_run_takes_another_user, 0},
                                 {other_users_are_never_touched, 0},
                                 {what_a_dead_grader_began_ends_too, MODES},
                                 {a_user_is_taken_while_its_run_lasts, 0},
                                 {what_cannot_be_run_is_an_error, MODES},
                                 {no_memory_is_an_error, 0},
                                 {layers_have_names, 0},
                                 {a_folder_is_writable_only_where_files_are_allowed, MODES},
                                 {only_own_folders_are_removed, MODES},
                                 {text_becomes_harmless, 0},
                                 {NULL, 0}};
    make_villain();
    int status = harness_main("contain", tests);
    remove_villain();
    return status;
}

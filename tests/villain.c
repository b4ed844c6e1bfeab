// villain.c -- compiles fixtures/villain.c, runs it contained, and looks what is left of it.
#include "tests/villain.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char villain_folder[] = "/tmp/villain-test-XXXXXX", villain_path[64];

// Compiled once, where every user may execute it.
static void make_villain(void) {
    char command[256];
    if (!mkdtemp(villain_folder) || chmod(villain_folder, 0755) != 0) abort();
    snprintf(villain_path, sizeof villain_path, "%s/villain", villain_folder);
    snprintf(command, sizeof command,
             "cc -w -O0 -D_GNU_SOURCE -o %s tests/fixtures/villain.c && chmod 755 %s", villain_path,
             villain_path);
    if (system(command) != 0) abort();
}

static void remove_villain(void) {
    unlink(villain_path);
    rmdir(villain_folder);
}

// ---- running it --------------------------------------------------------------------------------
const ContainLimits villain_limits = {.wall_seconds = 5,
                                      .cpu_seconds = 2,
                                      .memory_bytes = INT64_C(256) << 20,
                                      .output_bytes = 20000,
                                      .processes = 1};

const VillainMode villain_modes[VILLAIN_MODES] = {{false, 0},
                                                  {false, LAYER_NAMESPACE},
                                                  {false, LAYER_SECCOMP},
                                                  {false, LAYER_SECCOMP | LAYER_NAMESPACE},
                                                  {true, 0},
                                                  {true, LAYER_NAMESPACE},
                                                  {true, LAYER_SECCOMP},
                                                  {true, LAYER_SECCOMP | LAYER_NAMESPACE}};

// For the rest of this test's process.
static void become_plain(void) {
    if (geteuid() != 0) return;
    if (strcmp(getenv("CK_FORK") ? getenv("CK_FORK") : "", "no") == 0)
        test_skip("it would stay another user: CK_FORK=no");
    if (setgroups(0, NULL) != 0 || setresgid(VILLAIN_USER, VILLAIN_USER, VILLAIN_USER) != 0 ||
        setresuid(VILLAIN_USER, VILLAIN_USER, VILLAIN_USER) != 0)
        test_skip("there is no other user here");
}

void villain_enter(const VillainMode *mode) {
    if (mode->plain) become_plain();
    if (geteuid() == 0 && !(contain_layers() & LAYER_USER))
        test_skip("root, and no other user here");
}

ContainResult villain_run(const char *deed, const ContainLimits *limits, unsigned without) {
    const char *const arguments[] = {villain_path, deed, NULL};
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
int villain_count_descriptors(void) {
    int count = 0;
    for (int i = 0; i < 1024; i++) count += fcntl(i, F_GETFD) >= 0;
    return count;
}

// Processes whose command line begins with the villain's path.
int villain_count(void) {
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
        count += strcmp(line, villain_path) == 0;
    }
    closedir(processes);
    return count;
}

void villain_check_nothing_left(int descriptors) {
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); // not even a zombie
    ck_assert_int_eq(villain_count(), 0);
    ck_assert_int_eq(villain_count_descriptors(), descriptors);
}

int villain_main(const char *topic, const HarnessTest tests[]) {
    make_villain();
    int status = harness_main(topic, tests);
    remove_villain();
    return status;
}

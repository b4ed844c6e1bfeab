// villain.c -- compiles fixtures/villain.c, runs it confined, and checks for leftovers.
#include "tests/exercises/grader/villain.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The program lies in a folder that may be read, and for workers in the folder where it runs.
static const char place[] = "/tmp/place", room[] = "/tmp/room";
static char secret[64];
static const char *not_alone; // the reason; NULL: none
static struct {
    int descriptors;
    struct stat secret;
    Bystander bystander;
} watched;

const ConfineLimits villain_limits = {.wall_seconds = 15,
                                      .cpu_seconds = 4,
                                      .memory_bytes = INT64_C(256) << 20,
                                      .file_bytes = 1 << 20,
                                      .output_bytes = 20000};

// ---- preparing ---------------------------------------------------------------------------------
static void make_villain(void) {
    char command[400];
    umask(022);
    if (mkdir(place, 0755) != 0 || mkdir("/tmp/place/bin", 0755) != 0 || mkdir(room, 0755) != 0 ||
        chmod(room, 01777) != 0 || chmod(place, 0777) != 0)
        abort();
    snprintf(command, sizeof command,
             "cc -w -O0 -D_GNU_SOURCE -I. -o %s/bin/villain tests/fixtures/villain.c "
             "exercises/support/filter.c && cp %s/bin/villain %s/villain",
             place, place, room);
    if (system(command) != 0) abort();
}

int villain_main(const char *topic, const HarnessTest tests[]) {
    not_alone = alone_enter();
    if (!not_alone) make_villain();
    return harness_main(topic, tests);
}

void villain_needed(AloneUser user) {
    if (not_alone) test_skip(not_alone);
    if (user != ALONE_SELF && strcmp(getenv("CK_FORK") ? getenv("CK_FORK") : "", "no") == 0)
        test_skip("it would stay another user: CK_FORK=no");
    if (user == ALONE_PLAIN && geteuid() != 0) test_skip("it is one already");
    const char *reason = alone_become(user);
    if (reason) test_skip(reason);
}

// ---- running it --------------------------------------------------------------------------------
static bool hear(void *argument, Confined *run, const char *bytes, size_t count) {
    VillainRun *villain = argument;
    (void)run;
    for (size_t i = 0; i < count; i++, villain->heard_bytes++)
        if (villain->heard_bytes < sizeof villain->heard)
            villain->heard[villain->heard_bytes] = bytes[i];
    return villain->heard_bytes < 20000;
}

Status villain_begin(VillainRun *villain, Confined **run) {
    bool compiler = villain->kind == CONFINE_COMPILER;
    char other[16];
    snprintf(other, sizeof other, "%d", (int)watched.bystander.pid);
    const char *const argv[] = {compiler ? "/tmp/place/bin/villain" : "./villain",
                                villain->deed,
                                villain->filtered ? "run" : "start",
                                other,
                                secret,
                                NULL};
    static const char *const reads[] = {"/tmp/place/bin", NULL};
    int folder = open(room, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ConfineOrder order = {.argv = argv,
                          .folder = folder,
                          .reads = compiler ? reads : NULL,
                          .kind = villain->kind,
                          .limits =
                              villain->limits.wall_seconds > 0 ? villain->limits : villain_limits,
                          .hear = hear,
                          .argument = villain,
                          .without = villain->without};
    if (!compiler) order.limits.file_bytes = 0; // as graders set it
    Status status = confine_begin(&order, run);
    if (!status) (void)confine_say(*run, "ping", 4);
    close(folder);
    return status;
}

ConfineResult villain_run(VillainRun *villain) {
    Confined *run;
    ConfineResult result;
    Status status = villain_begin(villain, &run);
    if (!status) confine_serve(&run, 1);
    if (!status) status = confine_finish(run, &result);
    ck_assert_msg(status == STATUS_OK, "%s: %s", villain->deed, error_message());
    return result;
}

// ---- leftovers ---------------------------------------------------------------------------------
int villain_count_descriptors(void) {
    int count = 0;
    for (int i = 0; i < 1024; i++) count += fcntl(i, F_GETFD) >= 0;
    return count;
}

int villain_count(void) {
    int count = 0;
    DIR *processes = opendir("/proc");
    ck_assert_ptr_nonnull(processes);
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        char path[300], name[64] = "";
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        count += fgets(name, sizeof name, file) && strcmp(name, "villain\n") == 0;
        fclose(file);
    }
    closedir(processes);
    return count;
}

void villain_watch(void) {
    snprintf(secret, sizeof secret, "%s/secret-%d", place, (int)getpid());
    FILE *file = fopen(secret, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs("the secret word", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    if (geteuid() == 0) (void)!chown(secret, 65534, 65534); // so that only confinement protects it
    ck_assert_int_eq(stat(secret, &watched.secret), 0);
    watched.bystander = bystander_start();
    watched.descriptors = villain_count_descriptors();
}

const char *villain_harm(void) {
    static const char *const made[] = {"/tmp/villain-made", "/var/tmp/villain-made",
                                       "/dev/shm/villain-made"};
    struct stat now;
    siginfo_t ended = {.si_pid = 0};
    for (int i = 0; i < 3; i++)
        if (access(made[i], F_OK) == 0) return made[i];
    if (stat(secret, &now) != 0) return "the secret is gone";
    const struct stat *then = &watched.secret;
    if (now.st_mode != then->st_mode || now.st_uid != then->st_uid ||
        now.st_size != then->st_size || now.st_nlink != then->st_nlink ||
        now.st_mtim.tv_sec != then->st_mtim.tv_sec || now.st_mtim.tv_nsec != then->st_mtim.tv_nsec)
        return "the secret is not what it was";
    const char *harm = bystander_harm(&watched.bystander);
    if (harm) return harm;
    if (villain_count_descriptors() != watched.descriptors) return "a descriptor is left";
    for (int i = 0; i < 500 && villain_count() > 0; i++) usleep(10000); // ending takes a moment
    if (villain_count() > 0) return "a process is left";
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
        return "a zombie is left";
    return NULL;
}

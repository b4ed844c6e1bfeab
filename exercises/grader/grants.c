// grants.c -- the lists of files, for both of those that keep to them. What a list does not name
// cannot be opened, whatever a student's file says.
#include "exercises/grader/confine_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Paths for a compiler: headers, libraries, its own parts. Paths that do not exist are left out.
static const char *const for_compiler[] = {
    "/usr/include", "/usr/local/include", "/usr/bin", "/bin",
    "/usr/lib",     "/usr/lib64",         "/lib",     "/lib64",
    "/usr/libexec", "/etc/ld.so.cache",   NULL};
// AddressSanitizer reads the map of its own process besides.
static const char *const for_sanitized[] = {"/usr/lib",         "/lib",  "/usr/lib64", "/lib64",
                                            "/etc/ld.so.cache", "/proc", NULL};
static const char *const for_worker[] = {"/etc/ld.so.cache", NULL};
static const char *const for_wrapped[] = {"/usr/lib",         "/lib", "/usr/lib64", "/lib64",
                                          "/etc/ld.so.cache", NULL};

static const char *const *system_reads(ConfineKind kind) {
    return kind == CONFINE_COMPILER ? for_compiler
           : kind == CONFINE_WORKER ? for_worker
                                    : for_sanitized;
}

// The libraries that a worker is linked with, where this process has them from.
typedef struct Libraries {
    char paths[8][256];
    int count;
} Libraries;

static int note_library(struct dl_phdr_info *info, size_t size, void *argument) {
    static const char *const own[] = {"libc.so", "libm.so", "ld-linux", "libpthread.so",
                                      "libdl.so"};
    Libraries *libraries = argument;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    for (size_t i = 0; name && i < sizeof own / sizeof own[0]; i++)
        if (strncmp(name + 1, own[i], strlen(own[i])) == 0 && libraries->count < 8)
            snprintf(libraries->paths[libraries->count++], sizeof libraries->paths[0], "%s",
                     info->dlpi_name);
    return 0;
}

static Libraries find_libraries(void) {
    Libraries libraries = {.count = 0};
    dl_iterate_phdr(note_library, &libraries);
    return libraries;
}

// ---- Landlock ----------------------------------------------------------------------------------
// Rights by the version of the kernel's Landlock that knows them; the headers may be older.
enum {
    RIGHT_EXECUTE = 1 << 0,
    RIGHT_WRITE_FILE = 1 << 1,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_DIR = 1 << 3,
    RIGHT_REMOVE_FILE = 1 << 5,
    RIGHT_MAKE_REG = 1 << 8,
    RIGHT_TRUNCATE = 1 << 14,
    RIGHTS_OF_FILES = RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE,
    RIGHTS_READ = RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR,
    RIGHTS_WRITE = RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_READ_DIR | RIGHT_REMOVE_FILE |
                   RIGHT_MAKE_REG | RIGHT_TRUNCATE,
};

typedef struct Ruleset {
    uint64_t files, network, scoped;
} Ruleset;

int landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U /* VERSION */);
    return version < 0 ? 0 : (int)version;
}

static Ruleset handled(int version, size_t *size) {
    static const int bits[] = {0, 13, 14, 15, 15, 16}; // of file rights, by version
    int known = bits[version < 5 ? version : 5];
    *size = version < 4 ? 8 : version < 6 ? 16 : 24;
    return (Ruleset){.files = (UINT64_C(1) << known) - 1,
                     .network = 3, // TCP: bind, connect
                     .scoped = 3}; // abstract sockets, signals
}

// False: it cannot be said. What is not there needs no rule.
static bool grant(int rules, uint64_t known, int from, const char *path, uint64_t rights) {
    struct stat found;
    int file = openat(from, path, O_PATH | O_CLOEXEC);
    if (file < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (fstat(file, &found) == 0 && !S_ISDIR(found.st_mode)) rights &= RIGHTS_OF_FILES;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights & known, .parent_fd = file};
    bool said = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(file);
    return said;
}

static bool grant_all(int rules, uint64_t known, const char *const *paths) {
    for (int i = 0; paths && paths[i]; i++)
        if (!grant(rules, known, AT_FDCWD, paths[i], RIGHTS_READ)) return false;
    return true;
}

int landlock_make(const ConfineOrder *order) {
    size_t size;
    Ruleset all = handled(landlock_version(), &size);
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    if (rules < 0) return -1;
    bool said = grant_all(rules, all.files, system_reads(order->kind)) &&
                grant_all(rules, all.files, order->reads);
    if (order->kind == CONFINE_COMPILER) {
        said = said && grant(rules, all.files, order->folder, ".", RIGHTS_WRITE);
    } else {
        Libraries libraries = find_libraries();
        for (int i = 0; said && i < libraries.count; i++)
            said = grant(rules, all.files, AT_FDCWD, libraries.paths[i], RIGHTS_READ);
        said = said && grant(rules, all.files, AT_FDCWD, order->argv[0], RIGHTS_READ);
    }
    if (said) return rules;
    int reason = errno;
    close(rules);
    errno = reason;
    return -1;
}

// ---- bubblewrap --------------------------------------------------------------------------------
static bool runs_well(const char *path) {
    const char *const words[] = {path, "--unshare-all", "--ro-bind", "/", "/", "/bin/true", NULL};
    int status = 1;
    pid_t child = _Fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3; i++) (void)dup2(nothing, i);
        execv(path, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

const char *bubblewrap_path(void) {
    static const char *const places[] = {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"};
    static _Thread_local int found = -1; // 0: none, else 1 + index
    if (found >= 0) return found ? places[found - 1] : NULL;
    found = 0;
    for (int i = 0; i < 3 && !found; i++)
        if (access(places[i], X_OK) == 0 && runs_well(places[i])) found = i + 1;
    return bubblewrap_path();
}

typedef struct Words {
    char **words;
    int count;
} Words;

static void add(Words *line, const char *word) {
    if (line->count < BUBBLEWRAP_MOST_WORDS - 1)
        line->words[line->count++] = (char *)(uintptr_t)word;
    line->words[line->count] = NULL;
}

static void bind(Words *line, const char *how, const char *path) {
    add(line, how);
    add(line, path);
    add(line, path);
}

void bubblewrap_words(const ConfineOrder *order, const char *path, int filter,
                      char *words[BUBBLEWRAP_MOST_WORDS]) {
    static char folder[PATH_MAX], program[PATH_MAX], number[16]; // in a child that becomes this
    Words line = {.words = words};
    const char *const alone[] = {
        path, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"};
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) add(&line, alone[i]);
    bool writes = order->kind == CONFINE_COMPILER;
    const char *const *lists[] = {writes ? for_compiler : for_wrapped, order->reads};
    for (int k = 0; k < 2; k++)
        for (int i = 0; lists[k] && lists[k][i]; i++) bind(&line, "--ro-bind-try", lists[k][i]);
    if (writes) bind(&line, "--ro-bind-try", "/etc/alternatives"); // /usr/bin/cc leads there
    if (order->kind == CONFINE_SANITIZED) { // its own processes only: /proc/N/root is every file
        add(&line, "--proc");
        add(&line, "/proc");
    }
    if (!getcwd(folder, sizeof folder)) _exit(127);
    if (writes) {
        bind(&line, "--bind", folder);
    } else if (order->argv[0][0] != '/') {
        snprintf(program, sizeof program, "%.3800s/%.200s", folder, order->argv[0]);
        bind(&line, "--ro-bind", program);
    }
    add(&line, "--chdir");
    add(&line, folder);
    if (filter >= 0) {
        snprintf(number, sizeof number, "%d", filter);
        add(&line, "--seccomp");
        add(&line, number);
    }
    add(&line, "--");
    for (int i = 0; order->argv[i]; i++) add(&line, order->argv[i]);
}

// ---- what no grant may contain -----------------------------------------------------------------
// Whether `folder` is `path` or one that it lies in, asked of the file system.
static bool contains(const char *folder, const char *path) {
    struct stat wanted, found;
    char *real = realpath(path, NULL);
    bool inside = false;
    if (!real || stat(folder, &wanted) != 0) {
        free(real);
        return false;
    }
    for (char *end = real + strlen(real); end && !inside; end = strrchr(real, '/')) {
        *end = '\0';
        inside = stat(real[0] ? real : "/", &found) == 0 && found.st_dev == wanted.st_dev &&
                 found.st_ino == wanted.st_ino;
    }
    free(real);
    return inside;
}

Status grants_check(const ConfineOrder *order) {
    const char *const *lists[] = {system_reads(order->kind), order->reads};
    for (int k = 0; k < 2; k++)
        for (int i = 0; lists[k] && lists[k][i]; i++)
            for (int n = 0; order->shut && order->shut[n]; n++)
                if (contains(lists[k][i], order->shut[n]))
                    return error_set(STATUS_INVALID_ARGUMENT,
                                     "programs may read '%s', and '%s' lies in it. HINT: move the "
                                     "project, the secret and submissions to a folder of their own",
                                     lists[k][i], order->shut[n]);
    return STATUS_OK;
}

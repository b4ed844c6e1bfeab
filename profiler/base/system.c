// system.c -- clocks and /proc.
#include "profiler/base/system.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Linux updates other threads' processor time at their ticks, up to 4 ms ago; reading a thread's
// own clock brings it up to date. About 8 us.
static void settle_threads(void) {
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads && (thread = readdir(threads));) {
        unsigned id = (unsigned)strtoul(thread->d_name, NULL, 10);
        if (id > 0) seconds_of((clockid_t)(~id << 3 | 6)); // as in pthread_getcpuclockid
    }
    if (threads) closedir(threads);
}

double system_processor_seconds(void) {
    settle_threads();
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
double system_thread_seconds(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

// Sums the second number of schedstat: nanoseconds in which a thread was ready but did not run.
double system_waiting_seconds(void) {
    DIR *threads = opendir("/proc/self/task");
    double all = threads ? 0.0 : (double)NAN, waited;
    for (struct dirent *thread; threads && (thread = readdir(threads));) {
        char path[64];
        if (thread->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", thread->d_name);
        FILE *file = fopen(path, "r");
        bool known = file && fscanf(file, "%*f %lf", &waited) == 1;
        all += known ? 1e-9 * waited : (double)NAN;
        if (file) fclose(file);
    }
    if (threads) closedir(threads);
    return all;
}

int64_t system_page_faults(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_minflt;
}

double system_fault_seconds(void) {
    enum { PAGES = 128 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return (double)NAN;
    double begin = system_thread_seconds();
    for (size_t i = 0; i < bytes; i += page) *(volatile char *)(fresh + i) = 1;
    munmap(fresh, bytes);
    return (system_thread_seconds() - begin) / PAGES;
}

int64_t system_bytes(const char *file, const char *key) {
    FILE *lines = fopen(file, "r");
    if (!lines) return -1;
    char line[128];
    size_t length = strlen(key);
    int64_t bytes = -1;
    while (bytes < 0 && fgets(line, sizeof(line), lines))
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            bytes = 1024 * strtoll(line + length + 1, NULL, 10);
    fclose(lines);
    return bytes;
}

bool system_has_memory(int64_t bytes) {
    int64_t available = system_bytes("/proc/meminfo", "MemAvailable");
    return available < 0 || bytes + bytes / 8 <= available;
}

// system.c -- clocks and /proc.
#include "profiler/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double system_processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

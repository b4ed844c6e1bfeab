// machine_levels.c -- reads Linux's description of the caches, or finds the steps of a sweep.
#include "profiler/machine/machine_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads one line of the system's description of a cache; false when there is none.
static bool read_line(const char *folder, int index, const char *name, char *text, int size) {
    char path[512];
    int length = snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
    FILE *file = length < (int)sizeof path ? fopen(path, "r") : NULL;
    if (!file) return false;
    bool found = fgets(text, size, file) != NULL;
    fclose(file);
    if (found) text[strcspn(text, "\n")] = '\0';
    return found;
}

// Reads "48K", "32M"; 0: no size, or an implausible one.
static int64_t parse_size(const char *text) {
    char *unit;
    long long count = strtoll(text, &unit, 10);
    int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;
    return count > 0 && count <= INT64_C(1) << 20 ? (int64_t)count << shift : 0;
}

// "0-3,8" names 5 cores; 0: it cannot be read.
static int count_cores(const char *list) {
    long count = 0;
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list) return 0;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        if (last < first || last - first > 65535) return 0;
        count += last - first + 1;
        if (*end && *end != ',') return 0;
        list = *end ? end + 1 : end;
    }
    return (int)count;
}

int machine_levels_of_system(const char *folder, int threads,
                             MachineLevel levels[MACHINE_MAX_CACHES]) {
    enum { MOST_ENTRIES = 16 };
    int64_t bytes[MACHINE_MAX_CACHES + 1] = {0}, alone[MACHINE_MAX_CACHES + 1] = {0};
    char line[256];
    for (int i = 0; i < MOST_ENTRIES; i++) {
        if (!read_line(folder, i, "level", line, sizeof line)) break;
        int level = atoi(line);
        if (level < 1 || level > MACHINE_MAX_CACHES) continue;
        if (!read_line(folder, i, "type", line, sizeof line) || !strcmp(line, "Instruction"))
            continue;
        if (!read_line(folder, i, "size", line, sizeof line)) continue;
        int64_t size = parse_size(line);
        if (!read_line(folder, i, "shared_cpu_list", line, sizeof line)) continue;
        int sharing = count_cores(line);
        if (sharing <= 0) continue;
        bytes[level] = size * ((threads + sharing - 1) / sharing);
        alone[level] = size;
    }
    int n = 0;
    for (int level = 1; level <= MACHINE_MAX_CACHES; level++) {
        // A shared last cache smaller than the sum of private caches is skipped.
        if (bytes[level] <= (n ? levels[n - 1].bytes : 0)) continue;
        levels[n] = (MachineLevel){.bytes = bytes[level], .bytes_alone = alone[level]};
        snprintf(levels[n++].name, sizeof levels[0].name, "L%d", level % 10);
    }
    return n;
}

int machine_levels_of_sweep(const int64_t bytes[], const double bytes_per_second[], int n,
                            MachineLevel levels[MACHINE_MAX_LEVELS]) {
    const double fall = 0.75;
    int n_levels = 0;
    double best = bytes_per_second[0]; // best rate of the level so far
    bool falling = false;
    for (int i = 1; i < n; i++) {
        double now = bytes_per_second[i], before = bytes_per_second[i - 1];
        if (falling) {
            falling = now < fall * before;
            best = now;
        } else if (now < fall * best && n_levels < MACHINE_MAX_CACHES) {
            MachineLevel *level = &levels[n_levels++];
            *level = (MachineLevel){.bytes = bytes[i - 1], .bytes_per_second = best};
            snprintf(level->name, sizeof level->name, "L%d", n_levels % 10);
            falling = true;
            best = now;
        } else if (now > best) {
            best = now;
        }
    }
    levels[n_levels] = (MachineLevel){.name = "DRAM",
                                      .bytes = INT64_MAX,
                                      .bytes_per_second = bytes_per_second[n - 1]};
    return n_levels + 1;
}

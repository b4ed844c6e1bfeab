// likwid.c -- runs one command and reads one line of its output.
#include "tests/bench/likwid.h"

#include <math.h>
#include <stdio.h>

const char *likwid_kernel(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return "stream_sp_avx512_fma";
    if (__builtin_cpu_supports("fma")) return "stream_sp_avx_fma";
    return "stream_sp_sse";
#else
    return "stream_sp";
#endif
}

double likwid_triad(int threads, int64_t bytes, double seconds, double guess) {
    char command[256], line[256];
    double found = (double)NAN, passes = seconds * guess / (double)bytes, megabytes;
    snprintf(command, sizeof command, "likwid-bench -t %s -i %.0f -w N:%lldB:%d 2>/dev/null",
             likwid_kernel(), fmax(passes, 2.0), (long long)bytes, threads);
    FILE *output = popen(command, "r");
    if (!output) return found;
    while (fgets(line, sizeof line, output))
        if (sscanf(line, "MByte/s: %lf", &megabytes) == 1) found = 1e6 * megabytes;
    pclose(output);
    return found;
}

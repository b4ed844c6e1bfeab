// environment.c -- reads /proc/cpuinfo, and the descriptions of the compiler and the BLAS.
#include "profiler/base/environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "tensor/gemm.h"
#include "tensor/plugin.h"
#include "tensor/pool.h"

static void read_cpu(char *cpu, size_t size) {
    struct utsname system;
    snprintf(cpu, size, "%s", uname(&system) == 0 ? system.machine : "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[256];
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "model name", 10) != 0) continue;
        const char *value = strchr(line, ':');
        if (!value) continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(cpu, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(file);
}

void environment_read(Environment *environment) {
    memset(environment, 0, sizeof(*environment));
    read_cpu(environment->cpu, sizeof(environment->cpu));
    environment->cores = pool_default_threads();
    snprintf(environment->blas, sizeof(environment->blas), "%s", blas_name());
#ifdef __clang__
    snprintf(environment->compiler, sizeof(environment->compiler), "clang %d.%d.%d",
             __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    snprintf(environment->compiler, sizeof(environment->compiler), "gcc %d.%d.%d", __GNUC__,
             __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    snprintf(environment->flags, sizeof(environment->flags), "%s", BUILD_FLAGS);
}

char *environment_device(const char *name, char text[ENVIRONMENT_DEVICE]) {
    enum { MOST = 8 };
    DeviceState states[MOST];
    int n = device_list(states, MOST);
    text[0] = '\0';
    for (int i = 0; i < n && i < MOST; i++)
        if (states[i].usable && strcmp(states[i].name, name) == 0)
            snprintf(text, ENVIRONMENT_DEVICE, "%s", states[i].reason);
    return text;
}

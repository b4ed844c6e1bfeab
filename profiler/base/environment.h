// environment.h -- describes the environment of a measurement: CPU, cores, libraries, compiler.
#ifndef PROFILER_BASE_ENVIRONMENT_H
#define PROFILER_BASE_ENVIRONMENT_H

typedef struct Environment {
    char cpu[96];      // "AMD EPYC 9354", or the architecture where the system does not say
    int cores;         // number of cores this process may use
    char blas[64];     // "OpenBLAS 0.3.21 (SkylakeX)"
    char compiler[64]; // "gcc 12.2.0"
    char flags[512];   // optimisation flags of the build
} Environment;

void environment_read(Environment *environment);

// Describes a device other than the CPU: "NVIDIA H200, CUDA 13.0"; "" if nothing is known about it.
enum { ENVIRONMENT_DEVICE = 256 };
char *environment_device(const char *name, char text[ENVIRONMENT_DEVICE]);

#endif

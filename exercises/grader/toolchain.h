// toolchain.h -- what the Makefile tells the grader (build/lab/toolchain, "key = value" lines):
// compiler, flags, headers that student code may include, and each exercise's side of the worker.
#ifndef EXERCISES_GRADER_TOOLCHAIN_H
#define EXERCISES_GRADER_TOOLCHAIN_H

#include "tensor/status.h"

enum { TOOLCHAIN_MOST_EXERCISES = 32, TOOLCHAIN_MOST_WORDS = 64 };

typedef struct ToolchainWorker {
    char number[8];   // "02"
    char object[512]; // worker.o, the call file and the library parts, linked to one relocatable
} ToolchainWorker;

typedef struct Toolchain {
    char compiler[512], nm[512], objcopy[512], readelf[512]; // absolute paths
    char *cflags[TOOLCHAIN_MOST_WORDS];                      // owned, NULL at the end
    char *libraries[TOOLCHAIN_MOST_WORDS];                   // to link a worker with
    char headers[512]; // the folder that -I names; the only own headers a student may include
    ToolchainWorker workers[TOOLCHAIN_MOST_EXERCISES];
    int n_workers;
} Toolchain;

// STATUS_IO, STATUS_FORMAT naming the line, STATUS_OUT_OF_MEMORY; free it in any case.
Status toolchain_read(const char *path, Toolchain *toolchain);
void toolchain_free(Toolchain *toolchain);
const ToolchainWorker *toolchain_worker(const Toolchain *toolchain, const char *number); // or NULL

#endif

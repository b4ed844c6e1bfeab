// mystery.h -- internal to ./lab mystery: a program with a planted cause (mystery_model.h) is
// profiled, and told in the numbers that exercise 16 reads (course/mystery_record.h).
#ifndef EXERCISES_LAB_MYSTERY_H
#define EXERCISES_LAB_MYSTERY_H

#include "exercises/lab/mystery_model.h"
#include "profiler/measure/profile.h"

// So many threads, that a seed is the same program on any machine; on one core it is one.
enum { MYSTERY_THREADS = 2 };

typedef struct MysteryOptions {
    const Machine *machine; // the ceilings; NULL: this machine's, measured where they are not known
    int64_t iterations;     // samples, soon; 0: as many as is usual, when times have settled
} MysteryOptions;

typedef struct MysteryProfiles {
    Profile together, alone; // with MYSTERY_THREADS; with one
} MysteryProfiles;

// Profiles of the plan's program. The context's threads stay as they were. Free it with
// mystery_profiles_free, also after a failure.
Status mystery_measure(const MysteryPlan *plan, MysteryOptions options, MysteryProfiles *profiles);
void mystery_profiles_free(MysteryProfiles *profiles);
// What they say, without a seal.
MysteryRecord mystery_record(int64_t seed, const MysteryProfiles *profiles);

// What a student looks at, in the folder mystery/. Each is written whole or not at all.
typedef struct MysteryFile {
    const char *name, *what; // "report.txt", and what it is for
    Status (*write)(const MysteryProfiles *profiles, const char *path);
} MysteryFile;
extern const MysteryFile mystery_files[];
extern const int mystery_file_count;

#endif

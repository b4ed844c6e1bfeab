// mystery.h -- internal to ./lab mystery: profiles a program with a planted cause
// (mystery_model.h), and reports the numbers that exercise 16 reads (course/mystery_record.h).
#ifndef EXERCISES_LAB_MYSTERY_H
#define EXERCISES_LAB_MYSTERY_H

#include "exercises/lab/mystery_model.h"
#include "profiler/measure/profile.h"

// A fixed number of threads, so that a seed is the same program on any machine; one on one core.
enum { MYSTERY_THREADS = 2 };

typedef struct MysteryOptions {
    const Machine *machine; // the ceilings; NULL: this machine's, measured if they are not known
    int64_t iterations;     // samples, taken at once; 0: the usual number, after times have settled
} MysteryOptions;

typedef struct MysteryProfiles {
    Profile together, alone; // with MYSTERY_THREADS threads; with one
} MysteryProfiles;

// Profiles the plan's program. The context's number of threads stays unchanged. Free the profiles
// with mystery_profiles_free, also after a failure.
Status mystery_measure(const MysteryPlan *plan, MysteryOptions options, MysteryProfiles *profiles);
void mystery_profiles_free(MysteryProfiles *profiles);
// The numbers of the profiles, without a seal.
MysteryRecord mystery_record(int64_t seed, const MysteryProfiles *profiles);

// A file for the student in the folder mystery/. Each is written whole or not at all.
typedef struct MysteryFile {
    const char *name, *what; // "report.txt", and its purpose
    Status (*write)(const MysteryProfiles *profiles, const char *path);
} MysteryFile;
extern const MysteryFile mystery_files[];
extern const int mystery_file_count;

#endif

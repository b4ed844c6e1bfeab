// mystery_record.h -- the measurements that ./lab mystery made of a program with one planted cause,
// as a student hands them in (mystery.csv); and the rule that finds layer and cause from these
// numbers alone. How the cause is planted is in lab/mystery_model.h.
#ifndef EXERCISES_COURSE_MYSTERY_RECORD_H
#define EXERCISES_COURSE_MYSTERY_RECORD_H

#include "exercises/course/exercise.h"
#include "exercises/course/key.h"

// Causes in the order in which the rule checks them: the first that shows is the cause.
typedef enum Cause {
    CAUSE_STARVED_LOADER,
    CAUSE_SLEEPING_THREADS,
    CAUSE_PAGE_FAULTS,
    CAUSE_HEAVY_OPTIMIZER,
    CAUSE_FALSE_SHARING,
    CAUSE_COLD_CACHE,
    CAUSE_OUT_OF_PROPORTION,
    CAUSE_COUNT
} Cause;
extern const char *const cause_words[]; // "starved_loader"; NULL at the end

// The rows of a step's table: layers in the order in which they run, then the other parts.
enum {
    PLACE_FC1,
    PLACE_RELU1,
    PLACE_RECALL1,
    PLACE_FC2,
    PLACE_RELU2,
    PLACE_RECALL2,
    PLACE_FC3,
    PLACE_LOSS,
    PLACE_OPTIMIZER,
    PLACE_LOADER, // the wait for the next batch, before the step
    PLACE_COUNT
};
extern const char *const place_words[]; // "fc1"; NULL at the end

typedef struct MysteryRow {
    double seconds;    // with two threads: medians of forward, backward and optimizer, added
    double roof;       // seconds at best, by the roofline
    double one_thread; // as `seconds`, with one thread
    double flops;      // a whole number
    char memory[8];    // memory level that limits the row: "L2", "DRAM"; "-": none
} MysteryRow;

typedef struct MysteryRecord {
    int64_t seed;
    MysteryRow rows[PLACE_COUNT];
    double step, page_faults, off_cores; // seconds of a step; parts in page faults, off cores
    char seal[KEY_SEAL];                 // "": practice
} MysteryRecord;
enum { MYSTERY_MOST_SEED = 999999 };

typedef struct MysteryFinding {
    Cause cause; // CAUSE_COUNT: no cause shows
    int place;   // place of the cause; PLACE_COUNT: none
} MysteryFinding;
MysteryFinding mystery_find(const MysteryRecord *record);

// Writes the file's text without its seal, zero-terminated. Returns the number of bytes.
enum { MYSTERY_TEXT = 2048 };
size_t mystery_text(const MysteryRecord *record, char text[MYSTERY_TEXT]);
// False: `problem` names the line that ./lab mystery did not write so. `text` NULL: no file.
bool mystery_read(const char *text, MysteryRecord *record, char problem[CASE_LINE]);
// Checks the seal as table_is_of does.
bool mystery_is_of(const MysteryRecord *record, const char *token, char problem[CASE_LINE]);

#endif

// mystery_record.h -- what ./lab mystery has measured of a program with one planted cause, as a
// student hands it in (mystery.csv); and the rule that finds layer and cause in it. Numbers of a
// profile alone: how the cause was planted is not known here (lab/mystery_model.h).
#ifndef EXERCISES_COURSE_MYSTERY_RECORD_H
#define EXERCISES_COURSE_MYSTERY_RECORD_H

#include "exercises/course/exercise.h"
#include "exercises/course/key.h"

// In the order in which the rule asks: the first that shows is the cause.
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

// The rows of a step's table: layers in the order in which they run, then what is no layer.
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
    double roof;       // at best
    double one_thread; // as `seconds`, with one
    double flops;      // a whole number
    char memory[8];    // the level whose memory it waits for: "L2", "DRAM"; "-": none
} MysteryRow;

typedef struct MysteryRecord {
    int64_t seed;
    MysteryRow rows[PLACE_COUNT];
    double step, page_faults, off_cores; // seconds of one step, of which these
    char seal[KEY_SEAL];                 // "": of practice
} MysteryRecord;
enum { MYSTERY_MOST_SEED = 999999 };

typedef struct MysteryFinding {
    Cause cause; // CAUSE_COUNT: none shows
    int place;   // where; PLACE_COUNT: nowhere
} MysteryFinding;
MysteryFinding mystery_find(const MysteryRecord *record);

// The file's text without its seal, zero-terminated; how many bytes it has.
enum { MYSTERY_TEXT = 2048 };
size_t mystery_text(const MysteryRecord *record, char text[MYSTERY_TEXT]);
// False: `problem` says which line is not as ./lab mystery writes it. `text` NULL: there is no
// file.
bool mystery_read(const char *text, MysteryRecord *record, char problem[CASE_LINE]);
// As table_is_of.
bool mystery_is_of(const MysteryRecord *record, const char *token, char problem[CASE_LINE]);

#endif

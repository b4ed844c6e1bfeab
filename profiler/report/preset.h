// preset.h -- counts by other tools' rules, from the same records, for --flop-convention. Each rule
// is a pure function of one op (profiler/CONVENTIONS.md, section 1), never a formula of a layer.
#ifndef PROFILER_REPORT_PRESET_H
#define PROFILER_REPORT_PRESET_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

#define PRESET_LIST(X)                                                                             \
    X(TORCH, "torch")                                                                              \
    X(PAPER, "paper")                                                                              \
    X(TEXTBOOK, "textbook")                                                                        \
    X(FVCORE, "fvcore")                                                                            \
    X(DEEPSPEED, "deepspeed")                                                                      \
    X(TORCHINFO, "torchinfo")                                                                      \
    X(TINYTORCH, "tinytorch")
typedef enum Preset {
#define PRESET_ENUM(name, text) PRESET_##name,
    PRESET_LIST(PRESET_ENUM)
#undef PRESET_ENUM
        PRESET_COUNT
} Preset;
const char *preset_name(Preset preset); // "fvcore"
const char *preset_rule(Preset preset); // one line about what it counts
bool preset_per_sample(Preset preset);  // false: counts the whole batch. Work that is not a
                                        // multiple of the batch counts whole

// The count of the tool for a profile's forward. For torch also for its backward, since its
// FlopCounterMode counts that too; the others count only forward.
typedef struct PresetCount {
    uint64_t forward, backward;
    bool counts_backward;
} PresetCount;
PresetCount preset_count_layer(Preset preset, const Profile *profile, int layer);
PresetCount preset_count(Preset preset, const Profile *profile);

// Prints the table of --flop-convention: every layer, the total (and the part per sample if it is a
// batch's), the rule, and our own headline count beside it. 80 columns.
void preset_print(Preset preset, const Profile *profile, FILE *file);

RIDGEPOINT_API_END

#endif

// preset.h -- other tools' counts, from the same records: what --flop-convention prints. Each rule
// is a pure function of one op (profiler/CONVENTIONS.md, section 1); none is a formula of a layer.
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
const char *preset_rule(Preset preset); // one line: what it counts
bool preset_per_sample(Preset preset);  // else for the whole batch. Work that is
                                        // no multiple of it counts whole

// What the tool would say of a profile's forward. For torch alone also of its backward, since its
// FlopCounterMode counts that too; the others look at forward only.
typedef struct PresetCount {
    uint64_t forward, backward;
    bool counts_backward;
} PresetCount;
PresetCount preset_count_layer(Preset preset, const Profile *profile, int layer);
PresetCount preset_count(Preset preset, const Profile *profile);

// The table of --flop-convention: every layer, the total (and its part in one sample, where it is a
// batch's), the rule, and our own headline count beside it. 80 columns.
void preset_print(Preset preset, const Profile *profile, FILE *file);

RIDGEPOINT_API_END

#endif

// advice_rules.h -- internal to profiler/: the rules that advice.c asks, and what they share.
#ifndef PROFILER_ADVICE_ADVICE_RULES_H
#define PROFILER_ADVICE_ADVICE_RULES_H

#include "profiler/advice/advice.h"
#include "profiler/base/text.h"

// What a step spends however many samples are in it: provably (`least`), and with all that
// arithmetic at the machine's peak would not need (`most`; NaN without a machine).
typedef struct SharedTime {
    double optimizer; // updates parameters
    double between;   // ops: unattributed, as far as it is no noise
    double dispatch;  // of ops, each phase's at most what it took
    double least, most;
} SharedTime;
SharedTime advice_shared_time(const Profile *profile);

// advice_range.c. Where the change was tried for a few steps: the gain from that, its evidence, and
// the flags that do it; else false. `seconds`, at least, then follow from a step's.
bool advice_probed(const Profile *profile, ProbeKind kind, double step, Advice *advice);

#define ADVICE_WIDEST 0.3 // of a range: a wider one predicts nothing
// "+11-23%", "+11%" where both round alike, "-3 to +2%"; "at least +11%" without an upper end
// (NaN), or where the range would be wider than the widest
Text advice_range(double least, double most);

double advice_known(double seconds); // 0 where it is not a positive finite number
double advice_optimizer_seconds(const Profile *profile);

// Fills *advice (zeroed before) where it has something to say about a profile whose step was
// measured.
typedef bool AdviceRule(const Profile *profile, double step, Advice *advice);
AdviceRule advice_larger_batch, advice_recompute;                             // advice_batch.c
AdviceRule advice_optimizer, advice_fusing, advice_fewer_layers;              // advice_rules.c
AdviceRule advice_threads, advice_far_from_roof, advice_data, advice_at_roof; // advice_rules.c

#endif

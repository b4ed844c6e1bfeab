// advice_rules.h -- internal to profiler/: the rules that advice.c applies, and their helpers.
#ifndef PROFILER_ADVICE_ADVICE_RULES_H
#define PROFILER_ADVICE_ADVICE_RULES_H

#include "profiler/advice/advice.h"
#include "profiler/base/text.h"

// Seconds of a step that do not depend on the number of samples. `least` is certain; `most` also
// counts all time beyond arithmetic at the machine's peak (NaN without a machine).
typedef struct SharedTime {
    double optimizer; // updates parameters
    double between;   // between ops: unattributed time above noise
    double dispatch;  // dispatch of ops, at most each phase's measured time
    double least, most;
} SharedTime;
SharedTime advice_shared_time(const Profile *profile);

// advice_range.c. If the change was tried for a few steps, fills gain, evidence, flags and, from
// the step's seconds, the least `seconds` saved; else returns false.
bool advice_probed(const Profile *profile, ProbeKind kind, double step, Advice *advice);

#define ADVICE_WIDEST 0.3 // widest range that still predicts anything
// "+11-23%"; "+11%" if both ends round alike; "-3 to +2%"; "at least +11%" if `most` is NaN or the
// range is wider than ADVICE_WIDEST
Text advice_range(double least, double most);

double advice_known(double seconds); // 0 if it is not positive and finite
double advice_optimizer_seconds(const Profile *profile);

// Fills *advice (zeroed before) and returns true if the rule applies to the profile, whose step was
// measured.
typedef bool AdviceRule(const Profile *profile, double step, Advice *advice);
AdviceRule advice_larger_batch, advice_recompute;                             // advice_batch.c
AdviceRule advice_optimizer, advice_fusing, advice_fewer_layers;              // advice_rules.c
AdviceRule advice_threads, advice_far_from_roof, advice_data, advice_at_roof; // advice_rules.c

#endif

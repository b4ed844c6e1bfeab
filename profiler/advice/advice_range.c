// advice_range.c -- the predicted range of a change that was tried for a few steps
// (measure/profile_probe.c), and its text.
#include <math.h>

#include "profiler/advice/advice_rules.h"

bool advice_probed(const Profile *profile, ProbeKind kind, double step, Advice *advice) {
    const double margin = 0.015; // uncertainty of a few steps, as a share of units/s
    const double widest = 0.15;  // rounds with a wider spread tell nothing
    const Probe *probe = &profile->probes[kind];
    double low = probe->low - 1.0 - margin, high = probe->high - 1.0 + margin;
    if (probe->rounds == 0 || probe->high - probe->low > widest * probe->low) return false;
    if (high - low > ADVICE_WIDEST) return false;
    advice->gain_low = low;
    advice->gain_high = high;
    advice->seconds = advice_known(step - step / (1.0 + advice->gain_low));
    snprintf(advice->apply, sizeof(advice->apply), "%.31s", advice->check);
    snprintf(advice->assumes, sizeof(advice->assumes), "a fresh process behaves as this one");
    snprintf(
        advice->evidence, sizeof(advice->evidence),
        "%d rounds of a few steps with it, in turns with the step as it is: %.3f to %.3f times "
        "the %.15s/s; of %.12s",
        probe->rounds, probe->low, probe->high, profile->unit, text_duration(step).s);
    return true;
}

Text advice_range(double least, double most) {
    Text text;
    long low = lround(100.0 * least), high = isnan(most) ? low : lround(100.0 * most);
    if (isnan(most) || most - least > ADVICE_WIDEST)
        snprintf(text.s, sizeof(text.s), "at least %+ld%%", low);
    else if (low == high)
        snprintf(text.s, sizeof(text.s), "%+ld%%", low);
    else if (low >= 0)
        snprintf(text.s, sizeof(text.s), "+%ld-%ld%%", low, high);
    else
        snprintf(text.s, sizeof(text.s), "%ld to %+ld%%", low, high);
    return text;
}

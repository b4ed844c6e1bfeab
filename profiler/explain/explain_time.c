// explain_time.c -- where time went, as a sum of what was measured by itself: of the step in the
// report, of an op or a layer in an explanation. Not here: the parts (measure/time_parts.c).
#include <math.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/report/report_table.h"

// "roof 700 us + kernels 52.0 us + left 31.0 us (4%)", without what is under half a percent.
static void print_parts(const TimeParts *parts, double seconds, bool several, FILE *file) {
    const struct {
        const char *name;
        double seconds;
    } part[] = {{"roof", parts->roof},
                {several ? "kernels" : "kernel", parts->kernel},
                {"hand-offs", parts->handoff},
                {"wake-ups", parts->wake},
                {"dispatch", parts->dispatch},
                {"page faults", parts->fault},
                {"off the cores", parts->off_core}};
    const double least = 0.005 * seconds, left = time_parts_left(parts, seconds);
    if (!(parts->roof > 0.0) || isnan(left)) return;
    Flow flow = flow_open(file, "where it went");
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        if (i == 0 || part[i].seconds >= least)
            flow_say(&flow, "%s%s %s", i ? " + " : "", part[i].name,
                     text_duration(part[i].seconds).s);
        if (i == 0 && parts->other_core >= least)
            flow_say(&flow, " (%s of it another core's data)", text_duration(parts->other_core).s);
    }
    if (fabs(left) >= least)
        flow_say(&flow, left > 0.0 ? " + left %s (%s)" : ": %s (%s) more than was measured",
                 text_duration(fabs(left)).s, text_percent(fabs(left) / seconds).s);
    flow_close(&flow);
}

void explain_parts(const TimeParts *parts, double seconds, FILE *file) {
    print_parts(parts, seconds, false, file);
}

void explain_step_parts(const Profile *profile, FILE *file) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    print_parts(&step->parts, latency_median(&step->latency), true, file);
}

// explain_time.c -- where time went, in four terms that are found by themselves and what they
// leave: of the step in the report, of an op or a layer in an explanation. Not here: the terms
// (measure/time_terms.c).
#include <math.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/report/report_table.h"

// " + others 1.22 ms (1.20 ms off the cores, 20.0 us page faults)"
static void say_others(Flow *flow, const TimeTerms *terms, double least) {
    double off = terms->others - terms->faults;
    flow_say(flow, " + others %s", text_duration(terms->others).s);
    if (off >= least && terms->faults >= least)
        flow_say(flow, " (%s off the cores, %s page faults)", text_duration(off).s,
                 text_duration(terms->faults).s);
    else
        flow_say(flow, " (%s)", off >= least ? "off the cores" : "page faults");
}

// "roofs 700 us + kernels 52.0 us + threads 12.0 us + left 31.0 us (4%)", without terms that are
// under half a percent.
void explain_terms(const TimeTerms *terms, double seconds, FILE *file) {
    const double least = 0.005 * seconds, left = time_terms_left(terms, seconds);
    if (isnan(left)) return;
    Flow flow = flow_open(file, "where it went");
    flow_say(&flow, "roofs %s", text_duration(terms->roofs).s);
    if (terms->kernels >= least) flow_say(&flow, " + kernels %s", text_duration(terms->kernels).s);
    if (terms->threads >= least) flow_say(&flow, " + threads %s", text_duration(terms->threads).s);
    if (terms->others >= least) say_others(&flow, terms, least);
    if (fabs(left) >= least)
        flow_say(&flow, " + left %s%s (%s)", left < 0.0 ? "-" : "", text_duration(fabs(left)).s,
                 text_percent(left / seconds).s);
    flow_close(&flow);
}

void explain_step_terms(const Profile *profile, FILE *file) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    explain_terms(&step->terms, latency_median(&step->latency), file);
}

// report_terms.c -- prints four independent terms of a time, and the unexplained rest, for a step,
// an op or a layer: "700 us at best + 52.0 us slower kernels + 31.0 us not explained (4%)", without
// terms under half a percent. Not here: finding the terms (measure/time_terms.c).
#include <math.h>

#include "profiler/base/flow.h"
#include "profiler/report/report_table.h"

void report_terms(const TimeTerms *terms, double seconds, FILE *file) {
    const struct {
        double seconds;
        const char *name;
    } parts[] = {{terms->kernels, "slower kernels"},
                 {terms->threads, "threads"},
                 {terms->others - terms->faults, "off the cores"},
                 {terms->faults, "page faults"}};
    const double least = 0.005 * seconds, left = time_terms_left(terms, seconds);
    if (isnan(left)) return;
    Flow flow = flow_open(file, "where it went");
    flow_say(&flow, "%s at best", text_duration(terms->roofs).s);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].seconds >= least)
            flow_say(&flow, " + %s %s", text_duration(parts[i].seconds).s, parts[i].name);
    if (fabs(left) >= least)
        flow_say(&flow, " %s %s not explained (%s)", left < 0.0 ? "-" : "+",
                 text_duration(fabs(left)).s, text_percent(left / seconds).s);
    flow_close(&flow);
}

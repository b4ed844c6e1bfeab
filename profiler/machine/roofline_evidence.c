// roofline_evidence.c -- explains a verdict in one sentence with its figures.
#include "profiler/machine/roofline.h"

#include "profiler/base/text.h"
#include "tensor/given.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t counted_bytes(const RooflineInput *input) {
    return input->cost.bytes_read + input->cost.bytes_written;
}

bool roofline_is_past(const Roofline *roofline) {
    if (!GIVEN(roofline)) return false;
    return roofline->judged && roofline->roof_fraction > (double)ROOFLINE_PAST_PERCENT / 100.0;
}

const char *roofline_why_past(const Machine *machine) {
    if (!GIVEN(machine)) return NULL;
    if (!machine->measured)
        return "the ceilings given are too low, or data lay nearer than counted";
    return "data lay nearer than counted, or it does less than it declares";
}

// Appends to the sentence.
static void say(char text[ROOFLINE_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(char text[ROOFLINE_TEXT], const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, ROOFLINE_TEXT - length, format, arguments);
    va_end(arguments);
}

// "207 of 333 GFLOP/s": a common unit is given once.
static Text part_of(Text part, Text whole) {
    const char *unit = strchr(part.s, ' ');
    const char *whole_unit = strchr(whole.s, ' ');
    bool same = unit && whole_unit && strcmp(unit, whole_unit) == 0;
    int length = same ? (int)(unit - part.s) : 60;
    Text text;
    snprintf(text.s, sizeof text.s, "%.*s of %.60s", length, part.s, whole.s);
    return text;
}

static Text time_of(double seconds, const RooflineInput *input) {
    return part_of(text_duration(seconds), text_duration(input->seconds));
}

// Tells the intensity's position. Figures that round to the same text are told apart.
static void say_position(char *text, const Machine *machine, const RooflineInput *input,
                         const Roofline *roofline) {
    const MachineLevel *level = &machine->levels[roofline->level];
    Traffic traffic;
    roofline_traffic(machine, input, &traffic);
    Text intensity = text_number(roofline->intensity);
    Text ridge = text_number(roofline->ridge);
    bool close = strcmp(intensity.s, ridge.s) == 0;
    bool mixed = traffic_bytes(&traffic, roofline->level) != counted_bytes(input);
    const char *relation = roofline->bound == BOUND_COMPUTE ? " >=" : close ? ", just below" : " <";
    say(text, "%s FLOP/B%s ridge %s (%s / %s, %s%.7s)", intensity.s, relation, ridge.s,
        text_rate(roofline->flops_per_second, "FLOP/s").s,
        text_rate(roofline->bytes_per_second, "B/s").s, mixed ? "mostly " : "", level->name);
}

static void say_intensity(char *text, const Machine *machine, const RooflineInput *input,
                          const Roofline *roofline) {
    bool compute = roofline->bound == BOUND_COMPUTE;
    char near[ROOFLINE_NEAR_TEXT];
    roofline_near_text(roofline, near);
    if (isnan(roofline->intensity))
        say(text, "no bytes to wait for");
    else
        say_position(text, machine, input, roofline);
    say(text, ": %s-bound%s%.7s%s%s; ", bound_name(roofline->bound), compute ? "" : " in ",
        compute ? "" : machine->levels[roofline->level].name, near[0] ? ", " : "", near);
    if (!roofline->judged) {
        say(text, "roof %s, not measured", text_duration(roofline->roof_seconds).s);
        return;
    }
    if (roofline->slow) {
        say(text, "its roots and divisions, the roof, take %s = %s",
            time_of(roofline->roof_seconds, input).s, text_percent(roofline->roof_fraction).s);
        return;
    }
    double amount =
        compute ? (double)op_cost_total_flops(input->cost) : (double)counted_bytes(input);
    double limit = compute ? roofline->flops_per_second : roofline->bytes_per_second;
    const char *unit = compute ? "FLOP/s" : "B/s";
    Text rate = part_of(text_rate(amount / input->seconds, unit), text_rate(limit, unit));
    say(text, "%s = %s of the roof (%s)", rate.s, text_percent(roofline->roof_fraction).s,
        time_of(roofline->roof_seconds, input).s);
}

static void say_number_of(char *text, int64_t count, const char *what, const char *ending) {
    say(text, "%s %s%s", text_count(count).s, what, count == 1 ? "" : ending);
}

// Continues the sentence with the cost (seconds, at best), the roof beside it, the bound, and the
// cost's part of the measured time.
static void say_cost(char *text, double seconds, const RooflineInput *input,
                     const Roofline *roofline) {
    char near[ROOFLINE_NEAR_TEXT];
    roofline_near_text(roofline, near);
    say(text, "%s, the roof is %s: %s%s%s", text_duration(seconds).s,
        text_duration(roofline->roof_seconds).s, bound_name(roofline->bound), near[0] ? ", " : "",
        near);
    if (roofline->judged)
        say(text, "; %s of its time (%s)", text_percent(seconds / input->seconds).s,
            time_of(seconds, input).s);
    else
        say(text, "; not measured");
}

// "3 dispatches and 2 hand-offs to threads cost 2.1 us, the roof is 0.4 us: overhead; 66% of its
// time (2.1 of 3.2 us)"
static void say_overhead(char *text, const Machine *machine, const RooflineInput *input,
                         const Roofline *roofline) {
    int64_t handoffs = machine->spin_seconds > 0.0 ? input->traffic.handoffs : 0;
    say_number_of(text, input->ops, machine->device[0] ? "launch" : "dispatch", "es");
    if (handoffs > 0) {
        say(text, " and ");
        say_number_of(text, handoffs, "hand-off", "s");
        say(text, " to threads");
    }
    say(text, input->ops == 1 && handoffs == 0 ? " costs " : " cost ");
    say_cost(text, roofline->overhead_seconds, input, roofline);
}

char *roofline_near_text(const Roofline *roofline, char text[ROOFLINE_NEAR_TEXT]) {
    if (!GIVEN(roofline) || !GIVEN(text)) return NULL;
    text[0] = '\0';
    if (roofline->near == BOUND_COUNT) return text;
    if (roofline->bound + roofline->near == BOUND_COMPUTE + BOUND_MEMORY)
        snprintf(text, ROOFLINE_NEAR_TEXT, "near the ridge");
    else
        snprintf(text, ROOFLINE_NEAR_TEXT, "between %.8s and %.8s", bound_name(roofline->bound),
                 bound_name(roofline->near));
    return text;
}

char *roofline_evidence(const Machine *machine, const RooflineInput *input,
                        const Roofline *roofline, char text[ROOFLINE_TEXT]) {
    if (!GIVEN(machine) || !GIVEN(input) || !GIVEN(roofline) || !GIVEN(text)) return NULL;
    text[0] = '\0';
    switch (roofline->bound) {
    case BOUND_COMPUTE:
    case BOUND_MEMORY:
        say_intensity(text, machine, input, roofline);
        return text;
    case BOUND_OVERHEAD:
        say_overhead(text, machine, input, roofline);
        break;
    case BOUND_TRANSFER:
        say(text, "copying %s costs ", text_bytes_si(input->transfer_bytes).s);
        say_cost(text, roofline->transfer_seconds, input, roofline);
        break;
    default:
        say(text, "nothing was counted: no verdict");
        return text;
    }
    if (isnan(roofline->intensity))
        say(text, "; no bytes");
    else
        say(text, "; %s FLOP/B, ridge %s", text_number(roofline->intensity).s,
            text_number(roofline->ridge).s);
    return text;
}

// roofline.h -- turns counts, ceilings and a measured time into a verdict with its evidence. Pure
// functions; profiler/CONVENTIONS.md, section 4, gives the reasons, --help roofline all rules.
#ifndef PROFILER_MACHINE_ROOFLINE_H
#define PROFILER_MACHINE_ROOFLINE_H

#include "profiler/machine/traffic.h"

RIDGEPOINT_API_BEGIN

// The bound: the largest of four figures computed from counts and ceilings, so it never varies.
#define BOUND_LIST(X)                                                                              \
    X(COMPUTE, "compute")   /* total FLOPs at the peak */                                          \
    X(MEMORY, "memory")     /* moving bytes; with the level that costs most time */                \
    X(OVERHEAD, "overhead") /* dispatching ops, handing work to threads; card: launches */         \
    X(TRANSFER, "transfer") /* copying a batch to a card */
typedef enum Bound {
#define BOUND_ENUM(name, text) BOUND_##name,
    BOUND_LIST(BOUND_ENUM)
#undef BOUND_ENUM
        BOUND_COUNT // no bound: nothing was counted
} Bound;
const char *bound_name(Bound bound); // "memory"; "-" for BOUND_COUNT

enum {
    ROOFLINE_NEAR_PERCENT = 125, // percent of the second figure: up to it the bound is between both
    ROOFLINE_PAST_PERCENT = 110, // percent: a time with a larger roof fraction is past its roof
};

typedef struct RooflineInput {
    OpCost cost;
    // The levels of the cost's bytes. Bytes of bytes_read and bytes_written that it does not place
    // count at the machine's last level, for all threads; any excess is ignored.
    Traffic traffic;
    int64_t ops;            // number of dispatched ops
    double seconds;         // measured; NaN, or not positive and finite: not measured
    int64_t transfer_bytes; // copied to the card that runs it
} RooflineInput;

// The input of an execution that took `seconds` and copied nothing to a card.
RooflineInput roofline_input(OpCost cost, const Traffic *traffic, int64_t ops, double seconds);
// The input of one op.
RooflineInput roofline_op_input(const OpCost *cost, const OpTraffic *traffic, double seconds);
// Places all of the input's bytes, each charged once, at the machine's levels.
void roofline_traffic(const Machine *machine, const RooflineInput *input, Traffic *traffic);
// The best time of a team for its traffic at a level, with the reason: bytes / bytes_per_second.
// With the level's rates, it is the longest of the times for bytes coming in (read or allocated; in
// the first level, which fetches nothing before a write, only read), for bytes stored, and for
// bytes coming in and going out. If only a bandwidth is given, counted bytes apply.
typedef struct LevelTime {
    double seconds;
    uint64_t bytes;
    double bytes_per_second;
    const char *what; // the kind of traffic: "fetched", "stored", "moved"; "": counted
} LevelTime;
LevelTime roofline_level_time(const MachineLevel *level, Team team, const LevelTraffic *traffic);

typedef struct Roofline {
    double intensity;        // FLOP/B; NaN without bytes
    double flop_seconds;     // total_flops / peak; ops run by one thread at that thread's peak
    double compute_seconds;  // flop_seconds, or the time of roots and divisions if longer
    double memory_seconds;   // sum of roofline_level_time over levels and teams
    double roof_seconds;     // the larger of compute_seconds and memory_seconds
    double roof_fraction;    // roof / measured seconds; NaN when not measured
    int level;               // the level with the most memory time; the last one without bytes
    bool slow;               // true if roots and divisions set the roof
    double flops_per_second; // total_flops / flop_seconds: the peak, unless one thread ran a part
    double bytes_per_second; // bytes / memory_seconds, of counted bytes
    // flops_per_second / bytes_per_second, so that intensity against ridge always agrees with
    // flop_seconds against memory_seconds. The ridge of `level` alone would disagree if bytes lie
    // at several levels, are only read, or are written in place.
    double ridge;
    double overhead_seconds; // best time of its dispatches and hand-offs
    double transfer_seconds; // best time of its copies; 0: none, or the rate is unknown
    Bound bound;             // BOUND_COUNT without any count
    Bound near;              // the second largest figure, if within a quarter of the largest
    Bound roof_bound;        // compute or memory, by the intensity
    bool judged;             // counted and measured, so roof_fraction is valid
} Roofline;

// An intensity on the ridge is compute, and so are FLOPs without bytes. Bytes without FLOPs are
// memory. The machine has at least one level.
Roofline roofline_judge(const Machine *machine, const RooflineInput *input);

// Says if the bound lies between two figures: "near the ridge", "between overhead and memory"; ""
// if not.
enum { ROOFLINE_NEAR_TEXT = 40 };
char *roofline_near_text(const Roofline *roofline, char text[ROOFLINE_NEAR_TEXT]);

// True if a time is below its roof by more than the measurement error; and the possible reasons, in
// words that follow "past its roof: ".
bool roofline_is_past(const Roofline *roofline);
const char *roofline_why_past(const Machine *machine);

// The verdict with intensity, ridge, roof and measured time: "26.5 FLOP/B >= ridge 5.74 (333
// GFLOP/s / 58.0 GB/s, L3): compute-bound; 207 of 333 GFLOP/s = 62% of the roof (309 of 496 us)".
enum { ROOFLINE_TEXT = 256 }; // large enough for any figures
char *roofline_evidence(const Machine *machine, const RooflineInput *input,
                        const Roofline *roofline, char text[ROOFLINE_TEXT]);

// Text of --help roofline: every constant, formula and the order of the bounds.
extern const char roofline_help_text[];

RIDGEPOINT_API_END

#endif

// roofline.h -- from counts, ceilings and a measured time to a verdict with its evidence. Pure
// functions; profiler/CONVENTIONS.md, section 4, says why, and --help roofline prints every rule.
#ifndef PROFILER_MACHINE_ROOFLINE_H
#define PROFILER_MACHINE_ROOFLINE_H

#include "profiler/machine/traffic.h"

RIDGEPOINT_API_BEGIN

// The largest of four figures that counts and ceilings give: the same in every run.
#define BOUND_LIST(X)                                                                              \
    X(COMPUTE, "compute")   /* total FLOPs at the peak */                                          \
    X(MEMORY, "memory")     /* moving bytes; with the level that costs most of it */               \
    X(OVERHEAD, "overhead") /* dispatching ops and handing work to threads; on a card launches */  \
    X(TRANSFER, "transfer") /* copying a batch to a card */
typedef enum Bound {
#define BOUND_ENUM(name, text) BOUND_##name,
    BOUND_LIST(BOUND_ENUM)
#undef BOUND_ENUM
        BOUND_COUNT // no bound: nothing was counted
} Bound;
const char *bound_name(Bound bound); // "memory"; "-" for BOUND_COUNT

enum {
    ROOFLINE_NEAR_PERCENT = 125, // of the second largest figure, up to: the bound is between both
    ROOFLINE_PAST_PERCENT = 110, // of the roof, above: past it, which a bound must not be
};

typedef struct RooflineInput {
    OpCost cost;
    // Where the cost's bytes are. What it leaves of bytes_read and bytes_written counts at the
    // machine's last level, as all threads'; what goes beyond them is ignored.
    Traffic traffic;
    int64_t ops;            // dispatched
    double seconds;         // measured; NaN, or no positive finite number: not measured
    int64_t transfer_bytes; // copied to the card that it runs on
} RooflineInput;

// The input of an execution that took so many seconds and copied nothing to a card.
RooflineInput roofline_input(OpCost cost, const Traffic *traffic, int64_t ops, double seconds);
// The same of one op.
RooflineInput roofline_op_input(const OpCost *cost, const OpTraffic *traffic, double seconds);
// All of its bytes, each charged once, to the machine's levels.
void roofline_traffic(const Machine *machine, const RooflineInput *input, Traffic *traffic);
// How long a team takes at best for what it moves at a level, and why: bytes / bytes_per_second. By
// the level's rates it is the longest of what comes (read or allocated; in the first level, where
// nothing is fetched before it is written, read alone), of what is stored, and of what comes and
// goes. Where only a bandwidth is given, counted bytes.
typedef struct LevelTime {
    double seconds;
    uint64_t bytes;
    double bytes_per_second;
    const char *what; // happens to the bytes: "fetched", "stored", "moved"; "": counted
} LevelTime;
LevelTime roofline_level_time(const MachineLevel *level, Team team, const LevelTraffic *traffic);

typedef struct Roofline {
    double intensity;        // FLOP/B; NaN without bytes
    double flop_seconds;     // total_flops / peak; of ops that one thread did, by that thread's
    double compute_seconds;  // that, or what its roots and divisions take
    double memory_seconds;   // sum of roofline_level_time over levels and teams
    double roof_seconds;     // the larger of the two
    double roof_fraction;    // roof / measured seconds; NaN when not measured
    int level;               // the level that costs most memory time; the last without bytes
    bool slow;               // roots and divisions are the roof
    double flops_per_second; // total_flops / flop_seconds: the peak, unless one thread did a part
    double bytes_per_second; // bytes / memory_seconds, of counted bytes
    // flops_per_second / bytes_per_second, so that intensity against ridge always agrees with
    // flop_seconds against memory_seconds; a ridge of `level` alone would not where bytes lie at
    // several levels, or are read only, or written in place.
    double ridge;
    double overhead_seconds; // of its dispatches and hand-offs at best
    double transfer_seconds; // of its copies at best; 0: none, or at an unknown rate
    Bound bound;             // BOUND_COUNT without any count
    Bound near;              // the second largest figure, where it is as large but for a quarter
    Bound roof_bound;        // compute or memory alone, as the intensity says
    bool judged;             // counted and measured: there is a roof_fraction
} Roofline;

// On the ridge is compute; so are FLOPs without bytes. Bytes without FLOPs are
// memory. The machine has at least one level.
Roofline roofline_judge(const Machine *machine, const RooflineInput *input);

// Whether the bound lies between two figures, in words: "near the ridge", "between overhead and
// memory"; "" where it does not.
enum { ROOFLINE_NEAR_TEXT = 40 };
char *roofline_near_text(const Roofline *roofline, char text[ROOFLINE_NEAR_TEXT]);

// Was it faster than its roof by more than measuring errs? And what that may be due to, in words
// that follow "past its roof: ".
bool roofline_is_past(const Roofline *roofline);
const char *roofline_why_past(const Machine *machine);

// In words, each with intensity, ridge, roof and measured time: "26.5 FLOP/B >= ridge 5.74 (333
// GFLOP/s / 58.0 GB/s, L3): compute-bound; 207 of 333 GFLOP/s = 62% of the roof (309 of 496 us)".
enum { ROOFLINE_TEXT = 256 }; // it fits, whatever the figures
char *roofline_evidence(const Machine *machine, const RooflineInput *input,
                        const Roofline *roofline, char text[ROOFLINE_TEXT]);

// --help roofline: every constant, formula and the order of the bounds.
extern const char roofline_help_text[];

RIDGEPOINT_API_END

#endif

// profile_parts.h -- internal to profiler/: the three parts of making a Profile.
#ifndef PROFILER_MEASURE_PROFILE_PARTS_H
#define PROFILER_MEASURE_PROFILE_PARTS_H

#include "profiler/measure/metronome.h"
#include "profiler/measure/profile.h"
#include "profiler/record/timeline.h"

// Seconds that a sample takes at least: a thousand times what reading the clock takes.
#define PROFILE_LEAST_SAMPLE 20e-6

// How many samples of steps, and of what they wait for data.
enum {
    PROFILE_MOST_SAMPLES = 200,
    PROFILE_FEWEST_SAMPLES = 10, // where the time is there for them, and else
    PROFILE_FEWEST_ROUNDS = 3,
    PROFILE_MOST_WAITS = 50
};

typedef struct StepTimes { // seconds of one step
    double forward, backward, optimizer, total;
    double launching; // of a device with stamps: until the host had launched everything
} StepTimes;

typedef struct Work { // what a step is; the dry run has its own, over the same model
    ProfileKind kind;
    Layer *model;
    Optimizer *optimizer;     // PROFILE_TRAINING
    Tensor *x, *labels, *out; // labels: PROFILE_TRAINING; out: PROFILE_BACKWARD, the output's
                              // gradient, all ones
    LossFunction loss;        // PROFILE_TRAINING; NULL: loss_cross_entropy
    int64_t accumulate;       // PROFILE_TRAINING: batches in a step; 0: 1
    bool plain;               // a dry run is to leave no layer marked for recomputation
    const char *marks;        // a dry run is to mark these (layer_recompute_matching); NULL: none
    ParameterList parameters; // PROFILE_BACKWARD: whose gradients each step forgets
    double begun;             // when the profile was asked for, by clock_seconds
    double step_seconds;      // of a step, as far as is known before the measurement
    ModelSource source;       // for other batches
} Work;

// Makes what the work needs beside model, x and labels: optimizer, or the output's gradient.
Status work_begin(Work *work, OptimizerConfig config, Shape out);
void work_end(Work *work);

Tensor *work_loss(const Work *work, Tensor *out); // of what the model gave

// What is live and none of the work's business: all but the model, the gradients that its steps
// will write to, x and labels (where there are any).
Status work_bystanders(const Work *work, MemoryUse *others);

// One step, with the clock read between its phases. A device with stamps is not waited for between
// them, so that phases are the launching's, unless they are marked: by work_stamps() stamps from
// number `first` on, which the caller reserves and reads: the step's beginning, the ends of each
// batch's forward and backward in turn, and the end of the optimizer.
int64_t work_batches(const Work *work); // in a step, at least 1
int64_t work_stamps(const Work *work);
Status work_step(const Work *work, StepTimes *times);
Status work_step_marked(const Work *work, int64_t first, StepTimes *times);
// Forward alone, without gradients, in whichever mode the model is.
void work_infer(Layer *model, Tensor *x);
double work_infer_seconds(const Work *work);

// profile_verdict.c: judges every phase by its counts and its median; needs profile->machine.
// `looks`: where an op was faster than its roof, it looks at the ceilings for longer, and raises in
// this profile alone what is still too low.
void profile_judge(Profile *profile, bool looks);
// time_terms.c: the terms of each layer and phase, from the roofs and times of its ops.
void profile_find_terms(Profile *profile);

// What one step of the current context's device costs: the second of two steps is counted, so that
// gradients and optimizer state exist. Both are timed; the first ever pays for page faults too.
// Afterwards the ledger's peak is the step's.
Status profile_count_step(const Work *work, const Machine *machine, StepRecord *record,
                          ProfileMemory *memory, StepTimes times[2]);

// Fills ops, layers, totals' counts and memory events from a record made in the current context.
Status profile_take_counts(Profile *profile, const StepRecord *record, const Layer *model);

// Dry runs of a step and of inference: predicted memory, bytes per sample, inference peak; and the
// comparison of every predicted count with the profile's executed ones, where it ran. `out`: the
// output's shape.
Status profile_predict(const Work *work, OptimizerConfig config, Shape out, Profile *profile);

// A step by a dry run alone, over a batch of `more` samples more (or fewer).
typedef struct DryStep {
    Shape out; // of the output, as for profile_predict
    int64_t more;
    // May be NULL: sees the record while the dry run's context is there.
    Status (*look)(struct DryStep *self, const StepRecord *record, const Layer *model);
    void *argument;       // the caller's
    ProfileMemory memory; // found
    uint64_t flops;       // found: in all
} DryStep;
Status profile_predict_step(const Work *work, OptimizerConfig config, DryStep *step);
// Only its memory.
Status profile_predict_peak(const Work *work, OptimizerConfig config, Shape out, int64_t more,
                            ProfileMemory *memory);

// profile_recompute.c: of a layer and all below it, how many are marked for recomputation, and
// which: "layer1.*, h.0-7, fc1", cut with ", ..."; and no marks any more.
int64_t profile_marked(const Layer *model, char *paths, size_t size);
Status profile_unmark(Layer *model);

// Latencies of steps, layers and ops, which must be those that were counted.
Status profile_measure(const Work *work, ProfileOptions options, Profile *profile);

// The stages of a measurement, one after the other.
typedef enum ProfileStage {
    STAGE_WARM_UP,
    STAGE_ROUNDS,
    STAGE_INFERENCE,
    STAGE_WAITS,
    STAGE_PROBES,
    STAGE_COUNT
} ProfileStage;

typedef struct Limits {
    int64_t fewest; // samples of each stage, whatever the time
    bool brief;     // a step takes so long that three rounds of one observed step have to do, with
                    // the kernels alone in the last; no other stage runs
    double until[STAGE_COUNT]; // by clock_seconds; HUGE_VAL: no limit
} Limits;

typedef struct Measurement {
    const Work *work;
    ProfileOptions options;
    Profile *profile;
    Limits limits;
    Timeline timeline;
    Latency observed;  // whole steps of the observed pass
    Latency processor; // processor time of the unobserved ones
    Latency off_core;  // and the calling thread's time on no core
    int64_t faults;    // of pages, in all of them
    double clock;      // what a reading adds
    // Of a device with stamps:
    int64_t *marks;              // readings of a sample's phases
    double stamp;                // what a stamp adds to what lies between two
    double launching;            // how long the host launched the last observed step
    struct Beats *beats;         // of the metronome; NULL: it does not run
    StepTimes beaten;            // what it took within the last sample's steps
    StepTimes step;              // the last unobserved one, by which what is ahead is estimated
    struct KernelTimes *kernels; // profile_turns.c; NULL: they do not run again
} Measurement;

// profile_progress.c: how long the stages may take. Whether one has enough samples and no more
// time.
Limits profile_limits(const Work *work, const ProfileOptions *options);
bool profile_is_over(const Measurement *m, ProfileStage stage, int64_t samples);
// Tells the caller how far a profile is, by what a step takes, while so many steps come before its
// measurement; or which is in a stage since `start`, after so many samples.
void profile_tell(const Work *work, const ProfileOptions *options, const StepTimes *step,
                  double steps);
void profile_tell_done(const Measurement *m, ProfileStage stage, int64_t samples, int64_t planned,
                       double start);

Status latency_make_room(Latency *latency, int64_t samples);
Status latency_summarise(Latency *latency); // of no samples: nothing
static inline void latency_push(Latency *latency, double seconds) {
    if (latency->samples) latency->samples[latency->count++] = seconds;
}

// The events of a sample's steps, which must be op by op those of the step that was counted: added
// up by layer, or only how long their launches took.
Status profile_take_events(Measurement *m);
Status profile_take_launches(Measurement *m);

// Names what there was no time for: a string that stays.
void profile_leave_out(Profile *profile, const char *what);

// profile_statistics.c: from the samples of a measurement to what they say.
Status profile_finish(Measurement *m);

// profile_turns.c: what each op's kernel takes alone and warm (nothing on a card, or without
// ceilings), and the metronome. Room for so many samples; both in a round, unless it is the last
// one with an untimed step behind them, which leaves the caches as a step does; the kernels'
// medians.
Status profile_begin_between(Measurement *m, int64_t kernels, int64_t rounds);
Status profile_run_between(Measurement *m, bool kernels, bool last);
Status profile_finish_kernels(Measurement *m);
// Around an observed step: where that is long, the metronome also runs between its ops, a hundredth
// of the time. What that took of the times of its phases.
void profile_begin_inside(Measurement *m);
StepTimes profile_end_inside(Measurement *m);
void profile_end_between(Measurement *m);

// profile.c: what the process and the ledger take by now.
void profile_take_process(Profile *profile);

// profile_probe.c: what some changes make of a step, by a few of them; once all else is known.
void profile_measure_probes(const Measurement *m);
void profile_predict_probes(const Work *work, OptimizerConfig config, Shape out, Profile *profile);

// profile_device.c: nothing, where the device is the host itself.
Status profile_begin_device(Measurement *m, int64_t samples); // room, and what a stamp adds
Status profile_reserve_marks(Measurement *m);
Status profile_mark_phases(Measurement *m, StepTimes *mean); // from the marks of a sample
Status profile_measure_copy(Measurement *m);
Status profile_hold(const Measurement *m); // until about a step is launched

// Which report phase an op's phase adds to, besides the step: itself, and for backward's parts
// both.
ReportPhase profile_report_phase(Phase phase);
static inline bool report_part_of_backward(ReportPhase phase) {
    return phase > REPORT_BACKWARD && phase < REPORT_OPTIMIZER;
}

#endif

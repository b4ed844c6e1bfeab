// profile_parts.h -- internal to profiler/: functions shared by the files that make a Profile.
#ifndef PROFILER_MEASURE_PROFILE_PARTS_H
#define PROFILER_MEASURE_PROFILE_PARTS_H

#include "profiler/measure/metronome.h"
#include "profiler/measure/profile.h"
#include "profiler/measure/profile_fields.h"
#include "profiler/record/timeline.h"

// Minimum seconds of a sample: a thousand times the time to read the clock.
#define PROFILE_LEAST_SAMPLE 20e-6

// Numbers of samples of steps, and of waits for data.
enum {
    PROFILE_MOST_SAMPLES = 200,
    PROFILE_FEWEST_SAMPLES = 10, // if time allows, and else
    PROFILE_FEWEST_ROUNDS = 3,
    PROFILE_MOST_WAITS = 50
};

typedef struct StepTimes { // seconds of one step
    double forward, backward, optimizer, total;
    double launching; // device with stamps: until the host had launched everything
} StepTimes;

typedef struct Work { // the work of a step; the dry run has its own, over the same model
    ProfileKind kind;
    Layer *model;
    Optimizer *optimizer;     // PROFILE_TRAINING
    Tensor *x, *labels, *out; // labels: PROFILE_TRAINING; out: PROFILE_BACKWARD, the output's
                              // gradient, all ones
    LossFunction loss;        // PROFILE_TRAINING; NULL: loss_cross_entropy
    int64_t accumulate;       // PROFILE_TRAINING: batches in a step; 0: 1
    bool plain;               // for a dry run: mark no layer for recomputation
    const char *marks;        // for a dry run: mark these (layer_recompute_matching); NULL: none
    ParameterList parameters; // PROFILE_BACKWARD: parameters whose gradients each step clears
    double begun;             // start of the profile, by clock_seconds
    double step_seconds;      // estimate for a step before the measurement
    ModelSource source;       // for other batches
} Work;

// Creates the parts of the work besides model, x and labels: optimizer, or the output's gradient.
Status work_begin(Work *work, OptimizerConfig config, Shape out);
void work_end(Work *work);

Tensor *work_loss(const Work *work, Tensor *out); // loss of the model's output

// Live memory outside the work: all but the model, the gradients written by its steps, x and labels
// (if any).
Status work_bystanders(const Work *work, MemoryUse *others);

// Runs one step, reading the clock between its phases. A device with stamps is not waited for
// between them, so phases are launch times only, unless they are marked by work_stamps() stamps
// from number `first` on, which the caller reserves and reads: the step's beginning, the ends of
// each batch's forward and backward in turn, and the end of the optimizer.
int64_t work_batches(const Work *work); // batches in a step, at least 1
int64_t work_stamps(const Work *work);
Status work_step(const Work *work, StepTimes *times);
Status work_step_marked(const Work *work, int64_t first, StepTimes *times);
// Runs forward alone, without gradients, in the model's current mode.
void work_infer(Layer *model, Tensor *x);
double work_infer_seconds(const Work *work);

// profile_verdict.c: judges every phase by its counts and its median; needs profile->machine.
// `looks`: if an op was faster than its roof, measures the ceilings again for longer, and raises
// those still too low, in this profile only.
void profile_judge(Profile *profile, bool looks);
// time_terms.c: finds the terms of each layer and phase, from the roofs and times of its ops.
void profile_find_terms(Profile *profile);

// Counts one step on the current context's device: the second of two steps, so that gradients and
// optimizer state exist. Both are timed; the very first also includes page faults. Afterwards the
// ledger's peak is the step's.
Status profile_count_step(const Work *work, const Machine *machine, StepRecord *record,
                          ProfileMemory *memory, StepTimes times[2]);

// Fills ops, layers, the totals' counts and memory events from a record of the current context.
Status profile_take_counts(Profile *profile, const StepRecord *record, const Layer *model);

// Dry runs of a step and of inference: predicts memory, bytes per sample and inference peak, and
// compares every predicted count with the profile's executed one, if it ran. `out`: the output's
// shape.
Status profile_predict(const Work *work, OptimizerConfig config, Shape out, Profile *profile);

// A step of a dry run only, with a batch of `more` more samples (or fewer).
typedef struct DryStep {
    Shape out; // output shape, as for profile_predict
    int64_t more;
    // May be NULL: gets the record while the dry run's context exists.
    Status (*look)(struct DryStep *self, const StepRecord *record, const Layer *model);
    void *argument;       // the caller's
    ProfileMemory memory; // result
    uint64_t flops;       // result: total FLOPs
} DryStep;
Status profile_predict_step(const Work *work, OptimizerConfig config, DryStep *step);
// Predicts only the memory.
Status profile_predict_peak(const Work *work, OptimizerConfig config, Shape out, int64_t more,
                            ProfileMemory *memory);

// profile_recompute.c: counts the layers marked for recomputation, at `model` or below, and names
// them: "layer1.*, h.0-7, fc1", cut with ", ..."; and removes all marks.
int64_t profile_marked(const Layer *model, char *paths, size_t size);
Status profile_unmark(Layer *model);

// Measures latencies of steps, layers and ops; they must be the steps and ops that were counted.
Status profile_measure(const Work *work, ProfileOptions options, Profile *profile);

// The stages of a measurement, in order.
typedef enum ProfileStage {
    STAGE_WARM_UP,
    STAGE_ROUNDS,
    STAGE_INFERENCE,
    STAGE_WAITS,
    STAGE_PROBES,
    STAGE_COUNT
} ProfileStage;

typedef struct Limits {
    int64_t fewest; // samples of each stage, at any cost of time
    bool brief;     // a step takes so long that only three rounds of one observed step run, with
                    // the kernels alone in the last; all other stages are skipped
    double until[STAGE_COUNT]; // by clock_seconds; HUGE_VAL: no limit
} Limits;

typedef struct Measurement {
    const Work *work;
    ProfileOptions options;
    Profile *profile;
    Limits limits;
    Timeline timeline;
    Latency observed;  // whole steps of the observed rounds
    Latency processor; // processor time of unobserved steps
    Latency off_core;  // the calling thread's time on no core, in those steps
    int64_t faults;    // page faults in all unobserved steps
    double clock;      // overhead of reading the clock
    // For a device with stamps:
    int64_t *marks;              // stamps of a sample's phases
    double stamp;                // overhead of a stamp between two others
    double launching;            // host's time to launch the last observed step
    struct Beats *beats;         // of the metronome; NULL: not used
    StepTimes beaten;            // metronome time within the last sample's steps
    StepTimes step;              // the last unobserved step, used for estimates
    struct KernelTimes *kernels; // profile_turns.c; NULL: kernels do not run again
} Measurement;

// profile_progress.c: the time limits of stages; true if a stage has enough samples and no time
// left.
Limits profile_limits(const Work *work, const ProfileOptions *options);
bool profile_is_over(const Measurement *m, ProfileStage stage, int64_t samples);
// Reports a profile's progress to the caller: while `steps` more steps come before its measurement,
// estimated by a step's time; or within a stage begun at `start`, after `samples` samples.
void profile_tell(const Work *work, const ProfileOptions *options, const StepTimes *step,
                  double steps);
void profile_tell_done(const Measurement *m, ProfileStage stage, int64_t samples, int64_t planned,
                       double start);

Status latency_make_room(Latency *latency, int64_t samples);
Status latency_summarise(Latency *latency); // no samples: does nothing
static inline void latency_push(Latency *latency, double seconds) {
    if (latency->samples) latency->samples[latency->count++] = seconds;
}

// Takes the events of a sample's steps, which must match the counted step op by op: summed by
// layer, or only the time of their launches.
Status profile_take_events(Measurement *m);
Status profile_take_launches(Measurement *m);

// Adds the name of a skipped measurement; the string is kept, not copied.
void profile_leave_out(Profile *profile, const char *what);

// profile_statistics.c: turns the samples of a measurement into statistics.
Status profile_finish(Measurement *m);

// profile_turns.c: times each op's kernel alone and warm (not on a card, or without ceilings), and
// the metronome. The functions allocate the samples; run both in a round, followed by an untimed
// step unless it is the last round, which leaves the caches as a step does; and take the kernels'
// medians.
Status profile_begin_between(Measurement *m, int64_t kernels, int64_t rounds);
Status profile_run_between(Measurement *m, bool kernels, bool last);
Status profile_finish_kernels(Measurement *m);
// Enclose an observed step: in a long step, the metronome also runs between its ops, for a
// hundredth of the time. The end returns the metronome's part of each phase's time.
void profile_begin_inside(Measurement *m);
StepTimes profile_end_inside(Measurement *m);
void profile_end_between(Measurement *m);

// profile.c: takes the current memory of the process and the ledger.
void profile_take_process(Profile *profile);

// profile_probe.c: measures the effect of some changes on a few steps, after everything else.
void profile_measure_probes(const Measurement *m);
void profile_predict_probes(const Work *work, OptimizerConfig config, Shape out, Profile *profile);

// profile_device.c: does nothing if the device is the host itself.
Status profile_begin_device(Measurement *m, int64_t samples); // memory, and the overhead of a stamp
Status profile_reserve_marks(Measurement *m);
Status profile_mark_phases(Measurement *m, StepTimes *mean); // from the marks of a sample
Status profile_measure_copy(Measurement *m);
Status profile_hold(const Measurement *m); // until about one step is launched

// The report phase for an op's phase, besides REPORT_STEP: the same phase; parts of backward also
// count in REPORT_BACKWARD.
ReportPhase profile_report_phase(Phase phase);
static inline bool report_part_of_backward(ReportPhase phase) {
    return phase > REPORT_BACKWARD && phase < REPORT_OPTIMIZER;
}

#endif

// profile.h -- the costs and times of one training step: the record that every report reads. Counts
// come from the ops that ran (step_record.h), times from the clock (timeline.h), memory from the
// ledger; each count of ops and bytes exists twice, predicted by a dry run and as executed.
#ifndef PROFILER_MEASURE_PROFILE_H
#define PROFILER_MEASURE_PROFILE_H

#include <math.h>

#include "layers/train/fit.h"
#include "profiler/base/statistics.h"
#include "profiler/machine/roofline.h"
#include "profiler/measure/time_terms.h"
#include "profiler/record/step_record.h"

RIDGEPOINT_API_BEGIN

// Samples of one latency, in seconds, and their statistics: of this process alone, with its own
// memory layout. count 0: not measured (meta).
typedef struct Latency {
    double *samples; // owned
    int64_t count;
    LatencyStatistics statistics;
    struct Latency *across; // owned: this median and those of other processes (saved.h); NULL:
                            // there were none
} Latency;
void latency_free(Latency *latency); // frees its contents; NULL is fine

typedef struct ProfilePhase {
    OpCost cost;
    Traffic traffic; // bytes by level of reuse
    int64_t ops;     // number of dispatched ops; 0: the phase did not happen
    Latency latency;
    Roofline roofline; // zero if no machine was given
    TimeTerms terms;   // breakdown of its time; without ceilings roofs is 0
} ProfilePhase;

// The phases in reports, of a layer and of the whole: backward is the sum of the three parts below
// it and the rest (accumulation, broadcasting reductions).
typedef enum ReportPhase {
    REPORT_FORWARD,
    REPORT_BACKWARD,
    REPORT_BACKWARD_INPUT,
    REPORT_BACKWARD_WEIGHT,
    REPORT_RECOMPUTE, // repeated forward of marked layers (layer_recompute)
    REPORT_OPTIMIZER,
    REPORT_STEP, // forward + backward + optimizer
    REPORT_COUNT
} ReportPhase;
const char *report_phase_name(ReportPhase phase); // "backward_input"

typedef struct ProfileLayer { // a call site, without nested sites
    char path[96];            // "fc1", "(model)", "loss"
    char type[32];            // "Linear"
    Shape input, output;      // shapes of its first and last forward op; ndim -1: no forward
    int64_t parameters;       // each at the first layer that holds it; the sum is the model's
    int64_t saved_bytes;
    ProfilePhase phase[REPORT_COUNT];
} ProfileLayer;

typedef struct ProfileOp { // one op of the step, in the order of their ends
    OpRecord record;
    int layer; // index into Profile.layers
    Latency latency;
    Roofline roofline;
    int64_t woken;       // sleeping threads that got ranges of its work, in all observed steps
    double warm_seconds; // median of its kernel alone and warm; NaN: not run again
    OpTraffic warm_traffic;
} ProfileOp;

typedef struct ProfileMemory {
    MemoryUse start;     // live bytes at the step's start
    MemoryUse peak;      // the composition at the step's peak, summing to its total
    int64_t saved_bytes; // activations kept for backward
    char peak_op[160];   // "relu_backward in relu1 (backward_input)"
} ProfileMemory;

typedef struct ProfileMemoryEvent { // a change of memory in the step
    MemoryEvent event;
    int layer; // requesting layer, of Profile.layers; -1: none that ran an op
} ProfileMemoryEvent;

typedef enum ProfileKind { // the contents of a step
    PROFILE_TRAINING,      // forward, cross-entropy, backward (repeated if accumulating), optimizer
    PROFILE_BACKWARD,      // forward, and backward from an output gradient of ones
    PROFILE_INFERENCE,     // forward, without gradients, in inference mode
} ProfileKind;

enum {
    PROFILE_LEFT_OUT = 4,
    PROFILE_UNCOUNTED = 64,
    PROFILE_PATHS = 400,
    PROFILE_MOST_BATCHES = 1 << 10
};

typedef struct ProfileRecompute { // the effect of marking layers (layer_recompute)
    int64_t layers;               // number of marked layers; 0: the rest is zero
    char paths[PROFILE_PATHS];    // "layer1.*, layer2.0": all of them, or cut with ", ..."
    int64_t plain_bytes;          // peak of the step with no layer marked, by a dry run
    uint64_t plain_flops;         // total FLOPs of that step
    // If none is marked and activations dominate the peak: a pattern that lowers the peak by a
    // tenth or more ("*": the model's own layers; "*.*": those inside them), and that peak.
    char pattern[8]; // "": no simple pattern does
    int64_t pattern_bytes;
} ProfileRecompute;

// A change tried for a few steps, in rounds that alternate with the unchanged step.
typedef enum ProbeKind {
    PROBE_LARGER_BATCH, // PROBE_LARGER times the samples
    PROBE_SGD,          // in place of a stateful optimizer
    PROBE_FEWER_THREADS,
    PROBE_RECOMPUTE, // with ProfileRecompute.pattern
    PROBE_COUNT
} ProbeKind;
enum { PROBE_LARGER = 4, PROBE_ROUNDS = 9 };
typedef struct Probe {
    int rounds; // 0: not tried (useless, too long, or impossible)
    // Units/s with the change over units/s without: range of the rounds' middle half.
    double low, high;
    int64_t bytes; // bytes saved at the peak, by a dry run, for the changed batch; else 0
} Probe;

// A fixed loop, timed beside each round of a profile whose times are compared with those of other
// processes (measure/metronome.h), because a machine's speed changes from second to second.
typedef struct ProfileMetronome {
    int version;           // version of the loop; 0: it did not run
    Latency product, read; // seconds of its arithmetic on a core, and of its reads
    Latency sharing;       // factor by which steps took longer because others used their cores
} ProfileMetronome;

struct Generation; // generation.h
struct Trials;     // advice/advice_tried.h

typedef struct Profile {
    ProfileKind kind;
    char model[160];
    Shape input;
    int64_t batch, parameters, trainable_parameters, parameter_bytes;
    Precision precision;        // precision in which reals are counted; float32 if it ran
    bool fixed_layers;          // no flag sets the layers: advice does not name --layers or --fuse
    int64_t parameters_stored;  // in the model's file, tied ones counted separately
    int64_t parameters_guessed; // numbers in that file whose meaning it does not state
    int64_t accumulate;         // batches in a step, whose gradients add up; 1: one
    char unit[16];              // unit of a step's rate: "samples", "images", "tokens"
    int64_t units;              // number of units in a step
    char optimizer[32];         // "": none
    char device[16];
    int threads;

    Machine machine;  // the ceilings for verdicts
    bool has_machine; // false: none were given, so there are no verdicts

    ProfileLayer *layers; // owned, in the order of their runs
    int n_layers;
    ProfileOp *ops; // owned; layers and totals are sums over them
    int64_t n_ops;
    ProfileMemoryEvent *memory_events; // owned; they lead from measured.start to the peak and back
    int64_t n_memory_events, allocations; // allocations: how many of them take bytes
    ProfilePhase totals[REPORT_COUNT];
    // The step's median minus the sum over layers (forward, backward, optimizer); NaN on meta.
    double unattributed_seconds;
    double overhead_fraction; // observed step / unobserved step - 1, interleaved; NaN on meta
    double overhead_low, overhead_high; // its 95 % interval; NaN: fewer than 6 pairs
    Latency inference;                  // forward alone, no gradients
    Latency data_wait; // wait for the next batch of ProfileOptions.loader; count 0: no loader
    // A device with its own time (stamps): phases, layers and ops have the device's time, a whole
    // step has the host's, from its start until the one wait for the device at its end.
    bool has_device_times;
    int64_t launches;            // ops that a step launches on the device
    Latency launch;              // host's time per launch, the mean over a step; else count 0
    double device_busy_fraction; // fraction of the step in which its layers run on the device; else
                                 // NaN
    // Time to copy x and labels to a device with its own memory: an extra cost of each step in a
    // loop without a resident batch. Else count 0.
    Latency batch_copy;
    int64_t batch_copy_bytes;
    ProfileMetronome metronome;
    double cpu_seconds;  // mean processor time of a step, all threads; NaN on meta
    double cold_seconds; // the very first step
    int64_t warmup;      // steps before the first sample
    bool steady;         // at least 20 samples, no trend (statistics.h), and an IQR under 10 %
    bool trend;          // the samples have a trend
    double others_share; // share of the time its threads wanted a core, during measured steps, in
                         // which other work had the core; NaN: unknown
    const char *left_out[PROFILE_LEFT_OUT]; // skipped for lack of time: "forward alone"
    int n_left_out;
    bool cut_short; // the caller stopped it (ProfileOptions.stop): not all is measured
    Probe probes[PROBE_COUNT];
    int64_t steps_per_sample; // steps per sample: 1, or as many as the clock's resolution needs

    ProfileMemory predicted, measured;
    ProfileRecompute recompute;
    int64_t budget;            // ProfileOptions.budget
    int64_t large_batch_bytes; // peak if a step's batches were one batch; 0: they are one
    int64_t unaccounted_bytes, reserved_bytes, cached_bytes, process_peak_bytes;
    bool has_card; // ran on a device with its own memory, whose state at the end is `card`
    DeviceMemory card;
    int64_t inference_bytes;  // peak of a forward alone, including parameters and batch
    int64_t bytes_per_sample; // extra peak bytes for one more sample in the batch; 0 if
    bool one_batch;           // the model takes no other batch

    const char *config;   // the caller's: command options that came from a file, one a line
    bool reconciled;      // the step ran; all counts and bytes of layers match the prediction
    char difference[200]; // the first count that differs; "": none, or nothing ran
    const struct OnnxAssumption *assumed; // the caller's: what its file leaves open
    int n_assumed;
    const char *uncounted[PROFILE_UNCOUNTED]; // first ops without a cost, and missing ones
    int n_uncounted;
    struct Generation *generation; // owned; NULL: not requested
    struct Trials *trials;         // owned; NULL: not requested
} Profile;

// Builds the model for another batch, for models with fixed shapes (onnx_load's): on the context's
// device, to be freed by the caller; NULL with an error pending. If model_new is NULL, the model
// takes either any batch, or only its own.
typedef struct ModelSource {
    Layer *(*model_new)(void *argument, int64_t batch);
    void *argument;
} ModelSource;

typedef struct ProfileOptions {
    int64_t warmup;         // steps before the first sample; 0: until steady, 10 to 200
    int64_t iterations;     // samples of each latency; 0: as many as fit in `seconds`, 3 to 200
    double seconds;         // time of a measurement if iterations is 0. Without percentiles and
                            // most_seconds, the whole profile ends within 20 times that, or, if one
                            // step takes longer than that, after seven steps (Profile.left_out)
    bool percentiles;       // take as many samples of steps as p99.9 needs, whatever the limits
    double most_seconds;    // limit that ends iterations and percentiles, too; 0: none
    LossFunction loss;      // loss for training; NULL: loss_cross_entropy
    const char *unit;       // unit of a step's rate, "images"; NULL: "samples"
    int64_t units;          // units in a step; 0: the batch's samples
    const Machine *machine; // for verdicts; NULL: none. Measured ceilings are measured again before
                            // and after the profile (machine_look)
    bool ceilings_stay;     // no machine_look: the ceilings stay unchanged
    int64_t accumulate;     // for training: batches of x in a step, each loss divided by their
                            // number (FitOptions.accumulate); 0: 1; at most PROFILE_MOST_BATCHES
    int64_t budget;         // budget in bytes for a step's peak, for the report; 0: none
    Loader *loader;         // endless; to measure a step's wait for its next batch. NULL: none
    double probe_seconds;   // limit for each probe; 0: a tenth of the profile; below 0: no probes
    // Called between steps; fraction: the elapsed share of the total time. NULL: none
    void (*progress)(void *argument, double fraction);
    void *argument;
    ModelSource source; // for bytes per sample, and for advice on the batch
    // Called between steps: true ends the measurement with the data so far, but not before one
    // sample (Profile.cut_short). NULL: never
    bool (*stop)(void);
    bool metronome; // run the metronome beside each round, for comparison with other processes
} ProfileOptions;
ProfileOptions profile_defaults(void);

// Profiles steps of `model` on one resident batch: x (batch, ...), and labels as the loss requires
// (cross-entropy: (batch)). Weights and modes stay (training uses a learning rate of 0, the work is
// the same); gradients are overwritten. A non-finite training loss is refused at the start.
// *profile is the caller's; free it with profile_free, also after a failure.
Status profile_training(Layer *model, OptimizerConfig optimizer, Tensor *x, Tensor *labels,
                        ProfileOptions options, Profile *profile);
Status profile_backward(Layer *model, Tensor *x, ProfileOptions options, Profile *profile);
Status profile_inference(Layer *model, Tensor *x, ProfileOptions options, Profile *profile);
void profile_free(Profile *profile);

// A layer's seconds in a step: the sum of the medians of its forward, backward and optimizer
// phases. NaN on meta.
double profile_layer_seconds(const ProfileLayer *layer);
// A unique name of a layer: its path, "fc1"; for a layer called several times with the call's
// number, "fc1#2".
enum { PROFILE_LAYER_NAME = 112 };
char *profile_layer_name(const Profile *profile, int layer, char name[PROFILE_LAYER_NAME]);
// Number of busy threads, by processor time, which includes spinning; all threads if others used
// the cores.
int profile_threads_enough(const Profile *profile);
double profile_intensity(OpCost cost); // FLOP per byte; NaN without bytes
// The inputs of verdicts: for a phase that took `seconds`; for an op; and for a whole step, whose
// batch is copied to a card.
RooflineInput profile_phase_input(const ProfilePhase *phase, double seconds);
RooflineInput profile_op_input(const ProfileOp *op);
RooflineInput profile_step_input(const Profile *profile);
TimeTerms profile_op_terms(const Profile *profile, const ProfileOp *op); // 0 without ceilings
// FLOPs of a forward per parameter and unit ("token"); NaN without parameters.
double profile_flops_per_parameter(const Profile *profile);

// The divisor for times of run number `run`, from 0: for compute-bound work the metronome's
// product; for memory-bound work the geometric mean of product and read. Seconds; NaN: it did not
// run. Work with 4 FLOP per byte or more counts as compute-bound on any machine: that lies between
// the ridges of a core's own caches and of memory.
double profile_beat(const Profile *profile, int64_t run, bool computes);
bool profile_computes(OpCost cost);
double profile_sharing(const Profile *profile, int64_t run); // 1: others had no core; NaN: unknown

// The latency over several processes if there are any, else that of this process.
static inline const Latency *latency_whole(const Latency *latency) {
    return latency && latency->across ? latency->across : latency;
}
static inline double latency_median(const Latency *latency) {
    return latency && latency->count > 0 ? latency->statistics.median : (double)NAN;
}

RIDGEPOINT_API_END

#endif

// profile.h -- what one training step costs and took: the record that every report reads.
// Counts come from the ops that ran (step_record.h), times from the clock (timeline.h), memory from
// the ledger; each count and byte is there twice, predicted by a dry run and as executed.
#ifndef PROFILER_MEASURE_PROFILE_H
#define PROFILER_MEASURE_PROFILE_H

#include <math.h>

#include "layers/train/fit.h"
#include "profiler/base/statistics.h"
#include "profiler/machine/roofline.h"
#include "profiler/measure/time_terms.h"
#include "profiler/record/step_record.h"

RIDGEPOINT_API_BEGIN

// Samples of one latency, in seconds, and what they say: of this process alone, whose memory lies
// where it lies. count 0: not measured (meta).
typedef struct Latency {
    double *samples; // owned
    int64_t count;
    LatencyStatistics statistics;
    struct Latency *across; // owned: this median and those of other processes (saved.h);
                            // NULL: there were none
} Latency;
void latency_free(Latency *latency); // what it holds; NULL is fine

typedef struct ProfilePhase {
    OpCost cost;
    Traffic traffic; // its bytes, by level of reuse
    int64_t ops;     // dispatched; 0: the phase did not happen
    Latency latency;
    Roofline roofline; // zero where no machine was given
    TimeTerms terms;   // where its time went; without ceilings roofs is 0
} ProfilePhase;

// What a report shows of a layer and of the whole: backward is the sum of the three parts below it
// and of the rest (accumulation, broadcasting reductions).
typedef enum ReportPhase {
    REPORT_FORWARD,
    REPORT_BACKWARD,
    REPORT_BACKWARD_INPUT,
    REPORT_BACKWARD_WEIGHT,
    REPORT_RECOMPUTE, // forward of marked layers, run again (layer_recompute)
    REPORT_OPTIMIZER,
    REPORT_STEP, // forward + backward + optimizer
    REPORT_COUNT
} ReportPhase;
const char *report_phase_name(ReportPhase phase); // "backward_input"

typedef struct ProfileLayer { // a call site, exclusive of what runs inside other sites
    char path[96];            // "fc1", "(model)", "loss"
    char type[32];            // "Linear"
    Shape input, output;      // of its first and last forward op; ndim -1: it has no forward
    int64_t parameters;       // each at the first layer that holds it; adding up to the model's
    int64_t saved_bytes;
    ProfilePhase phase[REPORT_COUNT];
} ProfileLayer;

typedef struct ProfileOp { // one op of the step, in the order in which they ended
    OpRecord record;
    int layer; // of Profile.layers
    Latency latency;
    Roofline roofline;
    int64_t woken;       // sleeping threads that were given ranges of it, in all observed steps
    double warm_seconds; // its kernel alone and warm, the median; NaN: not run again
    OpTraffic warm_traffic;
} ProfileOp;

typedef struct ProfileMemory {
    MemoryUse start;     // live as the step began
    MemoryUse peak;      // the composition at the step's highest moment, adding up to its total
    int64_t saved_bytes; // activations kept for backward
    char peak_op[160];   // "relu_backward in relu1 (backward_input)"
} ProfileMemory;

typedef struct ProfileMemoryEvent { // a change of memory in the step
    MemoryEvent event;
    int layer; // that asked for the bytes, of Profile.layers; -1: none that ran an op
} ProfileMemoryEvent;

typedef enum ProfileKind { // what a step is
    PROFILE_TRAINING,      // forward, cross-entropy, backward (so many times), optimizer
    PROFILE_BACKWARD,      // forward, and backward from an output gradient of ones
    PROFILE_INFERENCE,     // forward, without gradients, in inference mode
} ProfileKind;

enum {
    PROFILE_LEFT_OUT = 4,
    PROFILE_UNCOUNTED = 64,
    PROFILE_PATHS = 400,
    PROFILE_MOST_BATCHES = 1 << 10
};

typedef struct ProfileRecompute { // what marking layers changed (layer_recompute)
    int64_t layers;               // marked; 0: the rest is zero
    char paths[PROFILE_PATHS];    // "layer1.*, layer2.0": all of them, or cut with ", ..."
    int64_t plain_bytes;          // the peak of the same step with none marked, by a dry run
    uint64_t plain_flops;         // and its total FLOPs
    // Where none is marked, and activations are most of the peak: what would lower it by a tenth at
    // least ("*": each of the model's own layers; "*.*": those in them), and its peak then.
    char pattern[8]; // "": nothing so simple
    int64_t pattern_bytes;
} ProfileRecompute;

// A change that was tried for a few steps, in rounds of turns with the step as it was.
typedef enum ProbeKind {
    PROBE_LARGER_BATCH, // PROBE_LARGER times the samples
    PROBE_SGD,          // in place of an optimizer that keeps state
    PROBE_FEWER_THREADS,
    PROBE_RECOMPUTE, // of ProfileRecompute.pattern
    PROBE_COUNT
} ProbeKind;
enum { PROBE_LARGER = 4, PROBE_ROUNDS = 9 };
typedef struct Probe {
    int rounds; // 0: not tried: of no use, too long, or it cannot be
    // Units/s with it, over those without: from and to, of the rounds' middle half.
    double low, high;
    int64_t bytes; // saved at the peak, by a dry run, of another batch; else 0
} Probe;

// A loop of ours, timed beside each round of a profile whose times are to be compared with those of
// other processes (measure/metronome.h): what a machine gives changes from second to second.
typedef struct ProfileMetronome {
    int version;           // of the loop; 0: it did not run
    Latency product, read; // seconds of its arithmetic on a core, and of its reading
    Latency sharing;       // of the steps: how many times as long, because others had their cores
} ProfileMetronome;

struct Generation; // generation.h
struct Trials;     // advice/advice_tried.h

typedef struct Profile {
    ProfileKind kind;
    char model[160];
    Shape input;
    int64_t batch, parameters, trainable_parameters, parameter_bytes;
    Precision precision;        // in which its reals are counted; float32 where it ran
    bool fixed_layers;          // by no flag: advice does not name --layers or --fuse
    int64_t parameters_stored;  // in the file that the model came from, tied ones apart
    int64_t parameters_guessed; // numbers of that file of which it does not say what they are
    int64_t accumulate;         // batches in a step, whose gradients add up; 1: one
    char unit[16];              // what a step's rate counts: "samples", "images", "tokens"
    int64_t units;              // the units in a step
    char optimizer[32];         // "": none
    char device[16];
    int threads;

    Machine machine;  // the ceilings that verdicts stand on
    bool has_machine; // false: none were given, and there are no verdicts

    ProfileLayer *layers; // owned, in the order in which they ran
    int n_layers;
    ProfileOp *ops; // owned; layers and totals are sums over them
    int64_t n_ops;
    ProfileMemoryEvent *memory_events; // owned; from measured.start they lead to the peak and back
    int64_t n_memory_events, allocations; // of which so many take bytes
    ProfilePhase totals[REPORT_COUNT];
    // The step's median less every layer's (forward, backward, optimizer); NaN on meta.
    double unattributed_seconds;
    double overhead_fraction; // observed step / unobserved step - 1, interleaved; NaN on meta
    double overhead_low, overhead_high; // its 95 % interval; NaN: fewer than 6 pairs
    Latency inference;                  // forward alone, no gradients
    Latency data_wait; // for the next batch of ProfileOptions.loader; count 0: none given
    // A device with a time of its own (stamps): phases, layers and ops have the device's, a whole
    // step has the host's, from before it to after waiting for the device once.
    bool has_device_times;
    int64_t launches;            // ops that a step launches on it
    Latency launch;              // of one: the host's time, the mean of a step's; else count 0
    double device_busy_fraction; // of the step the device works: its layers' seconds; else NaN
    // Carrying x and labels to a device with memory of its own, until they are there: what a loop
    // whose batch is not resident pays besides the step. Else count 0.
    Latency batch_copy;
    int64_t batch_copy_bytes;
    ProfileMetronome metronome;
    double cpu_seconds;  // mean processor time of a step, of all threads; NaN on meta
    double cold_seconds; // the very first step
    int64_t warmup;      // steps that ran before the first sample
    bool steady; // at least 20 samples without a trend (statistics.h), and their IQR is under 10 %
    bool trend;  // they have one
    double others_share; // of the time in which its threads wanted a core while steps were
                         // measured, other work had it; NaN: not known
    const char *left_out[PROFILE_LEFT_OUT]; // what there was no time for: "forward alone"
    int n_left_out;
    bool cut_short; // by the caller's wish (ProfileOptions.stop): not all was measured
    Probe probes[PROBE_COUNT];
    int64_t steps_per_sample; // 1, or as many as it takes for the clock to tell

    ProfileMemory predicted, measured;
    ProfileRecompute recompute;
    int64_t budget;            // ProfileOptions.budget
    int64_t large_batch_bytes; // the peak, were the batches of a step one; 0: they are
    int64_t unaccounted_bytes, reserved_bytes, cached_bytes, process_peak_bytes;
    bool has_card; // it ran on a device with a memory of its own: of that, when all was over
    DeviceMemory card;
    int64_t inference_bytes;  // peak of a forward alone, parameters and batch included
    int64_t bytes_per_sample; // more at the peak for one more sample in the batch; 0 where
    bool one_batch;           // the model takes no batch but this

    const char *config; // the caller's: options of its command that came from a file, one a line
    bool
        reconciled; // the step ran, and predicted = executed in each count of each layer, and bytes
    char difference[200]; // the first count that differs; "": none does, or nothing ran
    const struct OnnxAssumption *assumed; // the caller's: what its file does not say
    int n_assumed;
    const char *uncounted[PROFILE_UNCOUNTED]; // the first ops without a cost, and those missing
    int n_uncounted;
    struct Generation *generation; // owned; NULL: nobody asked for it
    struct Trials *trials;         // owned; the same
} Profile;

// Makes the model anew for another batch, where shapes are written into it (onnx_load's): on the
// context's device, the caller's to free; NULL with an error pending. model_new NULL: the model
// itself takes any batch, or none but its own.
typedef struct ModelSource {
    Layer *(*model_new)(void *argument, int64_t batch);
    void *argument;
} ModelSource;

typedef struct ProfileOptions {
    int64_t warmup;         // steps before the first sample; 0: until steady, 10 to 200
    int64_t iterations;     // samples of each latency; 0: as many as fit in `seconds`, 3 to 200
    double seconds;         // of a measurement when iterations is 0. Without percentiles and
                            // most_seconds all of the profile ends in 20 times that, or, where a
                            // step takes longer than it, after seven steps (Profile.left_out)
    bool percentiles;       // as many samples of whole steps as p99.9 needs, whatever these limits
    double most_seconds;    // beyond it iterations and percentiles end, too; 0: no such limit
    LossFunction loss;      // of training; NULL: loss_cross_entropy
    const char *unit;       // what a step's rate counts, "images"; NULL: "samples"
    int64_t units;          // so many in a step; 0: the batch's samples
    const Machine *machine; // for verdicts; NULL: none. What was measured here is looked at again
                            // before and after (machine_look), unless
    bool ceilings_stay;     // it is to stay as it is
    int64_t accumulate;     // of training: batches of x in a step, each loss divided by their
                            // number (FitOptions.accumulate); 0: 1; at most
                            // PROFILE_MOST_BATCHES
    int64_t budget;         // bytes that a step's peak is to fit into, for the report; 0: none
    Loader *loader;         // endless; what a step would wait for its next batch. NULL: not asked
    double probe_seconds;   // at most, for each probe; 0: a tenth of the profile; below 0: none
    // Between steps; fraction: the share of all seconds that have gone. NULL: none
    void (*progress)(void *argument, double fraction);
    void *argument;
    ModelSource source; // for bytes per sample, and advice on the batch
    // Asked between steps: true ends the measurement with what there is, but not without a sample
    // (Profile.cut_short). NULL: never
    bool (*stop)(void);
    bool
        metronome; // beside each round it runs, too: times are to be compared with other processes'
} ProfileOptions;
ProfileOptions profile_defaults(void);

// Profile steps of `model` on one resident batch: x (batch, ...), labels as the loss wants them, by
// cross-entropy (batch). Weights and modes stay as they are (training goes at a learning rate of 0:
// the work is the same); gradients are overwritten. A training loss that is not finite is refused
// first. *profile is the caller's; free it with profile_free, also after a failure.
Status profile_training(Layer *model, OptimizerConfig optimizer, Tensor *x, Tensor *labels,
                        ProfileOptions options, Profile *profile);
Status profile_backward(Layer *model, Tensor *x, ProfileOptions options, Profile *profile);
Status profile_inference(Layer *model, Tensor *x, ProfileOptions options, Profile *profile);
void profile_free(Profile *profile);

// What a layer takes of a step: the medians of its forward, backward and optimizer phases, added.
// NaN on meta.
double profile_layer_seconds(const ProfileLayer *layer);
// A name that no other layer has: its path, "fc1"; of one that is called again also which call,
// "fc1#2".
enum { PROFILE_LAYER_NAME = 112 };
char *profile_layer_name(const Profile *profile, int layer, char name[PROFILE_LAYER_NAME]);
// Threads that are busy, by processor time, which includes spinning; all where others had the
// cores.
int profile_threads_enough(const Profile *profile);
double profile_intensity(OpCost cost); // FLOP per byte; NaN without bytes
// The inputs that verdicts are made from: a phase that took so many seconds; an op; and a whole
// step, whose batch is copied to a card.
RooflineInput profile_phase_input(const ProfilePhase *phase, double seconds);
RooflineInput profile_op_input(const ProfileOp *op);
RooflineInput profile_step_input(const Profile *profile);
TimeTerms profile_op_terms(const Profile *profile, const ProfileOp *op); // 0 without ceilings
// Of a forward, for each parameter and unit ("token"); NaN without parameters.
double profile_flops_per_parameter(const Profile *profile);

// What the times of run number `run` are divided by, from 0 on: the product of what computes, of
// what waits for memory the geometric mean of product and read. Seconds; NaN: it did not run. What
// computes has 4 FLOP per byte or more, whatever the machine: between the ridges of a core's own
// caches and that of memory.
double profile_beat(const Profile *profile, int64_t run, bool computes);
bool profile_computes(OpCost cost);
double profile_sharing(const Profile *profile, int64_t run); // 1: others had none; NaN: not known

// Of several processes what all of them say, else what this one does.
static inline const Latency *latency_whole(const Latency *latency) {
    return latency && latency->across ? latency->across : latency;
}
static inline double latency_median(const Latency *latency) {
    return latency && latency->count > 0 ? latency->statistics.median : (double)NAN;
}

RIDGEPOINT_API_END

#endif

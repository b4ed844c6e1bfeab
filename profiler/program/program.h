// program.h -- internal to the programs of profiler/, not in the library: the parts of profile_mlp
// and profile_model. They may print and show progress.
#ifndef PROFILER_PROGRAM_PROGRAM_H
#define PROFILER_PROGRAM_PROGRAM_H

#include "layers/files/corpus.h"
#include "layers/files/onnx.h"
#include "profiler/advice/budget.h"
#include "profiler/compare/threshold.h"
#include "profiler/files/profile_json.h"
#include "profiler/measure/generation.h"
#include "profiler/program/options.h"
#include "profiler/report/plots.h"

typedef struct Images {
    Dataset train, test;
    bool was_split; // the folder had only one set; its last fifth became the test set
} Images;

typedef struct Texts {
    Corpus train, held_out;
} Texts;

// The model to profile, and the input of its steps.
typedef struct Subject {
    char name[160]; // for the report: "resnet50 3x224x224"
    // profile_model sets one of three: a zoo network, a model's text, a model file.
    const struct ZooModel *network;
    const char *text, *file;
    bool is_onnx;             // the file is ONNX
    char remark[2800];        // printed before all numbers; "": nothing
    Shape sample;             // shape of one input sample
    int64_t vocabulary;       // the input is int64 ids below this; 0: float32
    int64_t classes;          // number of classes; 0: none, or not known beforehand
    int64_t batch;            // samples in a batch
    const char *unit;         // the unit that rates count: "images"
    int64_t units_per_sample; // number of units in a sample
} Subject;

typedef struct Program Program;

// The part that differs between the programs; they share the rest.
typedef struct ProgramKind {
    ProgramLine line;
    Status (*find)(Program *program); // fills its subject
    Layer *(*model_new)(const Program *program);
    void (*list)(void); // prints for --list; NULL: the program has no such flag
} ProgramKind;

struct Program {
    const ProgramKind *kind;
    const Options *options;
    Device *device;
    const char *command;    // as typed, for the JSON
    char **arguments;       // the typed words
    char **runs;            // results of the other processes, as JSON; or NULL
    int n_runs;             // number of `runs`
    bool report;            // print the report to standard output
    bool terminal;          // show progress on standard error
    int n_profiled;         // number of networks profiled so far, of several
    bool failed;            // a threshold or comparison failed: exit status 1
    bool runs_train;        // the started processes also train
    const char *executable; // program of the started processes; NULL: this one
    char progress[64];      // start of a progress line: "profiling"
    Subject subject;
    int64_t other_batch;    // batch to load an ONNX file for; 0: the given batch
    OnnxModel onnx;         // description in an ONNX file; else empty
    Images images;          // training data: images,
    Texts texts;            // or text; no training if both are empty
    Layer *model;           // the profiled model
    RecomputeChoice choice; // --recompute auto: the marked layers
    Tensor *x, *labels;     // the resident batch
    LossFunction loss;      // fits the model's output
    Machine machine;
    Profile profile;
    ProfileTraining training;
    ThresholdList thresholds; // from the options, judged
};

// The programs' main functions call only this; returns the exit status.
int program_main(int argc, char **argv, const ProgramKind *kind);

OptimizerConfig program_optimizer(const Options *options);
BudgetTask program_budget_task(const Program *program); // the step to predict
Layer *program_model_new(const Program *program);       // the same weights each time
Loader *program_loader_new(const Program *program);     // training data in batches
bool program_has_data(const Program *program);          // has data to train on
bool program_planes(const Program *program);            // true: images as (n, 1, h, w), not flat

// program_network.c: the network that profile_model's argument names, and its input.
Status program_find_network(Program *program);
Layer *program_network_new(const Program *program);
// Writes dims as in ZooModel.input: "3x224x224", "1,024 tokens".
enum { PROGRAM_INPUT_TEXT = 64 };
char *program_input_text(const struct ZooModel *network, const int64_t *dims,
                         char text[PROGRAM_INPUT_TEXT]);
// program_onnx.c: the same for an ONNX file.
Status program_find_onnx(Program *program);
Layer *program_onnx_new(const Program *program);
// STATUS_INVALID_ARGUMENT if data of an --input decides shapes, since it fits only one batch.
Status program_onnx_batches(const Program *program);
// A source that makes the model for another batch; model_new is NULL if the file fixes the batch.
ModelSource program_source(const Program *program);
Tensor *program_onnx_input_new(const Program *program);           // the first input, as given
void program_onnx_note(const OnnxModel *about, Profile *profile); // copies facts
// program_data.c: reads or generates images or text for a training, or records why there is none.
Status program_load(Program *program);
// program_text.c: the same for text; judges and prints what a model has learnt of it.
bool program_takes_text(const Subject *subject);
Status program_load_text(Program *program);
Status program_judge_text(Program *program, Layer *model);
Status program_print_text(const Program *program, Layer *model, const LossCurve *curve);
// program_batch.c: the resident batch, and the loss that fits the model's output.
Status program_batch_new(Program *program);
// program_profile.c: obtains ceilings, builds the model and the batch, profiles.
Status program_profile(Program *program);
Status program_check_memory(const Program *program); // fails if a step does not fit

// program_schedule.c: number of optimizer steps in this many batches.
int64_t program_steps(const Options *options, int64_t batches);
// The learning rates of a training whose epochs have this many batches. *said: the command line
// sets them; if not, those of a checkpoint apply.
Status program_schedule(const Options *options, int64_t batches, Schedule *schedule, bool *said);
// Fails if the learning rate becomes 0 before the last step.
Status program_check_schedule(const Options *options, const Schedule *schedule, int64_t batches);
void program_print_schedule(const Schedule *schedule);
// program_training.c: checks that training can begin or resume; trains a fresh model, and prints
// the results.
Status program_try_training(Program *program);
Status program_train(Program *program);
// program_compare.c: profiles several networks in turn, and prints a table of them.
Status program_compare(Program *program);
// program.c: the exit status, after one line with the reason for a failure.
int program_verdict(const Program *program);
// program_process.c: runs this command in a measure-only process, with `flags` ("--batch 256")
// after the typed ones. *document is its profile as JSON; the caller memory_frees it. Errors begin
// with `what`, the purpose. program_role tells whether this is such a process.
Status program_measure_again(const Program *program, const char *flags, const char *what,
                             char **document);
typedef enum ProgramRole {
    PROGRAM_WHOLE,
    PROGRAM_MEASURES,
    PROGRAM_MEASURES_AND_TRAINS
} ProgramRole;
ProgramRole program_role(void);
// program_stop.c: from this call on, SIGINT and SIGTERM end the work between two steps, and kill
// the awaited `process` (0: none) at once. program_is_stopped: one has come. The exit status is
// then 128 plus the signal's number.
void program_watch_signals(void);
void program_watch_helper(int process);
bool program_is_stopped(void);
int program_stop_code(int code);
// program_runs.c: --runs. Runs the other processes in turn, before a model here takes up memory;
// program_take_runs adds their results to the profile.
Status program_run_others(Program *program);
// Also runs more processes while a limit is undecided.
Status program_take_runs(Program *program);
// True if an undecided limit or difference may get as many runs again after `looks` looks; the
// first began at `begun` (clock_seconds).
bool program_looks_again(const Program *program, int looks, double begun);
void program_free_runs(Program *program);
// Shows on a terminal how many runs are done; after the first of many, prints the expected time.
enum { PROGRAM_LONG_SECONDS = 20 };
void program_show_runs(const Program *program, int64_t done, int64_t all, double begun);
// program_diff.c: the answer to --compare and --against. program_other_words: the words of another
// command, given as in --against ("resnet18 --batch=2"); they may point into *text. The caller
// memory_frees both. An error may be pending.
Status program_diff(Program *program);
char **program_other_words(const Options *options, const char *other, char *const typed[],
                           char **text);
// program_work.c: the command reduced to what it measures: without flags that only name files, with
// the options of a config file. program_work_new adds size and time of the program and of all files
// that it reads. The caller memory_frees the result.
char *program_work_new(const Program *program);
char *program_series_new(const Program *program);
// program_sweep.c: the answer to --sweep.
Status program_sweep(Program *program);

// program_threshold.c: judges, prints and writes the thresholds; a broken one is a failure.
Status program_judge(Program *program, const ThresholdSides *sides);
// program_generate.c: the answer to --generate.
Status program_generate(Program *program);
// program_try.c: the answer to --try.
Status program_try(Program *program);
// program_answers.c: answers to the questions asked instead of the report.
Status program_answer(Program *program);
Status program_shrink(const Program *program, Layer *model); // --shrink
Status program_check_files(const Options *options);          // fails if one cannot be written
Status program_check_outputs(const Program *program);        // same for an ONNX model's --output
Status program_trend(const Options *options);                // the answer to --trend
// A training step on the resident batch, or on a loader's batches, in scopes of its own.
Status program_step(const Program *program, Optimizer *optimizer, Loader *loader);
// --output: writes a model's output for the resident batch.
Status program_write_output(const Program *program, Layer *model);
Status program_write_files(Program *program, JsonWriter *json); // JSON last; frees `json`

// program_progress.c: a progress line on standard error, at most every 0.1 s.
typedef struct ProgressLine {
    const char *what;    // "profiling"; for program_show_progress
    double begun, shown; // clock_seconds at the start, and when last drawn
} ProgressLine;
bool progress_due(ProgressLine *line);
void progress_draw(const char *format, ...) __attribute__((format(printf, 1, 2)));
void program_show_progress(void *line, double fraction); // with the estimated time left
void progress_clear(const Program *program);
// Shows a long activity whose progress is unknown, until progress_clear.
void progress_say(const Program *program, const char *what);

#endif

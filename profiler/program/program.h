// program.h -- internal to the programs of profiler/, not in the library: what profile_mlp and
// profile_model do, in parts. These may print and show progress.
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
    bool was_split; // the folder had one set only; its last fifth became the test set
} Images;

typedef struct Texts {
    Corpus train, held_out;
} Texts;

// What is profiled, and what a step of it is given.
typedef struct Subject {
    char name[160]; // for the report: "resnet50 3x224x224"
    // Of profile_model, one of three: a network of the zoo; a model as text; a file of one.
    const struct ZooModel *network;
    const char *text, *file;
    bool is_onnx;             // the file
    char remark[2800];        // what must be known before any number; "": nothing
    Shape sample;             // one sample of its input
    int64_t vocabulary;       // the input is int64 ids below that; 0: it is float32
    int64_t classes;          // it tells apart; 0: none, or not known beforehand
    int64_t batch;            // samples in a step
    const char *unit;         // what a rate counts: "images"
    int64_t units_per_sample; // of it
} Subject;

typedef struct Program Program;

// What a program profiles; all the rest they share.
typedef struct ProgramKind {
    ProgramLine line;
    Status (*find)(Program *program); // fills its subject
    Layer *(*model_new)(const Program *program);
    void (*list)(void); // what --list prints; NULL: it is no flag of this program
} ProgramKind;

struct Program {
    const ProgramKind *kind;
    const Options *options;
    Device *device;
    const char *command;    // as typed, for the JSON
    char **arguments;       // the same in words
    char **runs;            // what others of them measured, as JSON; or NULL
    int n_runs;             // so many have
    bool report;            // to standard output
    bool terminal;          // progress on standard error is seen
    int n_profiled;         // of several networks
    bool failed;            // a threshold, or a comparison: exit status 1
    bool runs_train;        // the processes that it starts, too
    const char *executable; // what they run; NULL: this program
    char progress[64];      // what a line of progress begins with: "profiling"
    Subject subject;
    int64_t other_batch;    // an ONNX file is loaded for this batch; 0: for the one that was told
    OnnxModel onnx;         // what a file of that kind says of itself; else empty
    Images images;          // it is trained on these,
    Texts texts;            // or on these; or, where both are empty, not at all
    Layer *model;           // that was profiled
    RecomputeChoice choice; // --recompute auto: how it was marked
    Tensor *x, *labels;     // its resident batch
    LossFunction loss;      // that fits its output
    Machine machine;
    Profile profile;
    ProfileTraining training;
    ThresholdList thresholds; // the options', judged
};

// The whole of a main function.
int program_main(int argc, char **argv, const ProgramKind *kind);

OptimizerConfig program_optimizer(const Options *options);
BudgetTask program_budget_task(const Program *program); // its step, to be predicted
Layer *program_model_new(const Program *program);       // the same weights each time
Loader *program_loader_new(const Program *program);     // of what it is trained on, in batches
bool program_has_data(const Program *program);          // to train on
bool program_planes(const Program *program);            // images as (n, 1, h, w), not flat

// program_network.c: the network that profile_model's argument names, and what it takes.
Status program_find_network(Program *program);
Layer *program_network_new(const Program *program);
// "3x224x224", "1,024 tokens", of dims as ZooModel.input has them.
enum { PROGRAM_INPUT_TEXT = 64 };
char *program_input_text(const struct ZooModel *network, const int64_t *dims,
                         char text[PROGRAM_INPUT_TEXT]);
// program_onnx.c: the same of an ONNX file.
Status program_find_onnx(Program *program);
Layer *program_onnx_new(const Program *program);
// STATUS_INVALID_ARGUMENT where numbers of an --input decide shapes: they are for one batch.
Status program_onnx_batches(const Program *program);
// It makes the model for another batch, where the file leaves that open; else model_new is NULL.
ModelSource program_source(const Program *program);
Tensor *program_onnx_input_new(const Program *program); // the first, as told; NULL: nothing is said
void program_onnx_note(const OnnxModel *about, Profile *profile); // what it knows of the file
// program_data.c: reads or draws images or a text where there will be training; says why not.
Status program_load(Program *program);
// program_text.c: the part of it that is about texts; what a model has learnt of one.
bool program_takes_text(const Subject *subject);
Status program_load_text(Program *program);
Status program_judge_text(Program *program, Layer *model);
Status program_print_text(const Program *program, Layer *model, const LossCurve *curve);
// program_batch.c: a resident batch, and the loss that fits what the model makes of it.
Status program_batch_new(Program *program);
// program_profile.c: obtains ceilings, builds model and batch, profiles.
Status program_profile(Program *program);
Status program_check_memory(const Program *program); // has this machine enough for a step?

// program_schedule.c: the optimizer's steps that so many batches make.
int64_t program_steps(const Options *options, int64_t batches);
// The learning rates of a training in epochs of so many batches. *said: the
// command line has a word on them; else a checkpoint's hold.
Status program_schedule(const Options *options, int64_t batches, Schedule *schedule, bool *said);
// They shall move the weights to the end.
Status program_check_schedule(const Options *options, const Schedule *schedule, int64_t batches);
void program_print_schedule(const Schedule *schedule);
// program_training.c: whether training can begin, or go on from where --resume says; trains a fresh
// model, and tells.
Status program_try_training(Program *program);
Status program_train(Program *program);
// program_compare.c: several networks, one after the other, and a table of them.
Status program_compare(Program *program);
// program.c: an exit status, after one line on why; text between words, in lines of 80 columns.
int program_verdict(const Program *program);
// program_process.c: this command in a process of its own that only measures, with more flags
// ("--batch 256") behind those that were typed: its profile as JSON, yours to memory_free. Errors
// begin with `what` it was for. Is this such a process?
Status program_measure_again(const Program *program, const char *flags, const char *what,
                             char **document);
typedef enum ProgramRole {
    PROGRAM_WHOLE,
    PROGRAM_MEASURES,
    PROGRAM_MEASURES_AND_TRAINS
} ProgramRole;
ProgramRole program_role(void);
// program_stop.c: from here on SIGINT and SIGTERM end the work between two steps. Has one come?
// Then the exit status is 128 and its number. `process`, which is waited for, ends at once; 0: none
// is.
void program_watch_signals(void);
void program_watch_helper(int process);
bool program_is_stopped(void);
int program_stop_code(int code);
// program_runs.c: --runs. One process after the other, before there is a model here to take their
// memory; adds what they measured to the profile.
Status program_run_others(Program *program);
// And more of them, where a limit cannot be told.
Status program_take_runs(Program *program);
// After so many looks, the first at `begun`: does a limit or a difference that cannot be told get
// as many runs once more?
bool program_looks_again(const Program *program, int looks, double begun);
void program_free_runs(Program *program);
// On a terminal how far they are, and after the first of many how long the others take.
enum { PROGRAM_LONG_SECONDS = 20 };
void program_show_runs(const Program *program, int64_t done, int64_t all, double begun);
// program_diff.c: the answer to --compare and --against. The words of another command, typed as
// --against has them ("resnet18 --batch=2"), some of them in *text: both yours to memory_free. An
// error may be pending.
Status program_diff(Program *program);
char **program_other_words(const Options *options, const char *other, char *const typed[],
                           char **text);
// program_work.c: the command as what it measures, without what only names files, with what options
// a file of them had; the first also with the size and time of the files that it reads, and of the
// program itself. Yours to memory_free.
char *program_work_new(const Program *program);
char *program_series_new(const Program *program);
// program_sweep.c: the answer to --sweep.
Status program_sweep(Program *program);

// program_threshold.c: judges, tells and writes them; what does not hold is a failure.
Status program_judge(Program *program, const ThresholdSides *sides);
// program_generate.c: the answer to --generate.
Status program_generate(Program *program);
// program_try.c: the answer to --try.
Status program_try(Program *program);
// program_answers.c: what was asked instead of the report, and the files.
Status program_answer(Program *program);
Status program_shrink(const Program *program, Layer *model); // --shrink, of weights at hand
Status program_check_files(const Options *options);          // can they be written?
Status program_check_outputs(const Program *program); // the same of what --output writes of a file
Status program_trend(const Options *options);         // the answer to --trend
// A training step on the resident batch, or on those of a loader, in scopes of its own.
Status program_step(const Program *program, Optimizer *optimizer, Loader *loader);
// --output: what a model makes of the resident batch.
Status program_write_output(const Program *program, Layer *model);
Status program_write_files(Program *program, JsonWriter *json); // the JSON last; frees `json`

// program_progress.c: a line of progress on standard error, at most every 0.1 s.
typedef struct ProgressLine {
    const char *what;    // "profiling"; only where the line says it
    double begun, shown; // when; and when it was last drawn
} ProgressLine;
bool progress_due(ProgressLine *line);
void progress_draw(const char *format, ...) __attribute__((format(printf, 1, 2)));
void program_show_progress(void *line, double fraction); // with what is left, by the time gone
void progress_clear(const Program *program);
// What takes long, and does not tell how far it has come; until progress_clear.
void progress_say(const Program *program, const char *what);

#endif

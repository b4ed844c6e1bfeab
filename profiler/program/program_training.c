// program_training.c -- trains a fresh model on images or text, after the report.
#include <stdio.h>

#include "layers/files/checkpoint.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "profiler/report/report.h"
#include "profiler/report/weights.h"
#include "tensor/clock.h"

enum { TEST_BATCH = 500 };

typedef struct Training {
    Program *program;
    Checkpoint checkpoint; // the current model, optimizer and loader
    int64_t every;         // batches between checkpoints; 0: none are written
    ProgressLine line;
} Training;

static void show_progress(Training *training, const FitProgress *p) {
    int64_t done = p->step - training->checkpoint.step; // batches of this run
    if (!progress_due(&training->line) && p->step < p->steps) return;
    double left = p->seconds / (double)done * (double)(p->steps - p->step);
    char of[32] = "";
    if (p->epochs < LOADER_MOST_EPOCHS) snprintf(of, sizeof(of), "/%lld", (long long)p->epochs);
    progress_draw("training: epoch %lld%s, step %lld/%lld, loss %.4f, %s left", (long long)p->epoch,
                  of, (long long)program_steps(training->program->options, p->step),
                  (long long)program_steps(training->program->options, p->steps), p->loss,
                  text_duration(left).s);
}

// A write error stays pending and ends the training.
static void after_step(void *argument, const FitProgress *p) {
    Training *training = argument;
    if (training->program->terminal) show_progress(training, p);
    LossCurve *curve = &training->program->training.curve;
    int64_t step = program_steps(training->program->options, p->step);
    if (curve->last == 0)
        *curve =
            (LossCurve){.first = step, .last = program_steps(training->program->options, p->steps)};
    loss_curve_add(curve, step, p->loss);
    bool due = training->every > 0 && (p->step % training->every == 0 || p->last);
    if (!due) return;
    Checkpoint now = training->checkpoint;
    now.step = p->step;
    now.epoch = p->epoch;
    checkpoint_write(&now, training->program->options->checkpoint);
}

// A checkpoint holds no gradients, so that it must lie between two optimizer steps.
static Status check_place(const Options *options, const Checkpoint *from, int64_t batches) {
    int64_t each = options->accumulate, all = options->epochs * batches;
    if (options->steps > 0 && options->steps * each < all) all = options->steps * each;
    if (from->step % each == 0 || from->step >= all) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--accumulate %lld: %lld batches were done at %s, which is in the midst of a "
                     "step. HINT: the --accumulate of the training before",
                     (long long)each, (long long)from->step, options->resume);
}

// Finds the step to start from and the learning rates: the command line's if given, else the
// checkpoint's, else the defaults.
static Status begin(Program *program, Checkpoint *from) {
    const Options *options = program->options;
    int64_t batches = loader_batches(from->loader);
    Schedule wanted, kept;
    bool said;
    if (program_schedule(options, batches, &wanted, &said)) return error_status();
    from->schedule = &kept;
    if (options->resume && checkpoint_read(from, options->resume)) return error_status();
    if (check_place(options, from, batches)) return error_status();
    from->schedule = &program->training.schedule;
    *from->schedule = options->resume && !said ? kept : wanted;
    return program_check_schedule(options, from->schedule, batches);
}

// Reports a checkpoint of another model, data or optimizer before anything is measured.
Status program_try_training(Program *program) {
    const Options *options = program->options;
    if (program->training.absent || !program_has_data(program)) return STATUS_OK;
    Layer *model = options->resume ? program_model_new(program) : NULL;
    Optimizer *optimizer = model ? optimizer_new(model, program_optimizer(options)) : NULL;
    Loader *loader = error_pending() ? NULL : program_loader_new(program);
    Checkpoint from = {.model = model, .optimizer = optimizer, .loader = loader};
    Status status = loader ? begin(program, &from) : error_status();
    loader_free(loader);
    optimizer_free(optimizer);
    layer_free(model);
    return status;
}

static Status run_fit(Program *program, Training *training) {
    const Options *options = program->options;
    Checkpoint *from = &training->checkpoint;
    if (begin(program, from)) return error_status();
    FitOptions how = {.epochs = options->epochs,
                      .max_steps = options->steps * options->accumulate,
                      .steps_done = from->step,
                      .accumulate = options->accumulate,
                      .schedule = from->schedule,
                      .loss = program->loss,
                      .progress = after_step,
                      .argument = training,
                      .stop = program_is_stopped};
    training->line.shown = clock_seconds();
    int64_t epoch =
        program_steps(program->options, loader_batches(from->loader)); // steps in an epoch
    if (options->checkpoint)
        training->every = (options->every ? options->every : epoch) * options->accumulate;
    FitResult *fit = &program->training.fit;
    Status status = train_fit(from->model, from->optimizer, from->loader, how, fit);
    fit->steps = program_steps(program->options, fit->steps);
    return status;
}

static Status judge_images(Program *program, Layer *model) {
    LoaderOptions test = {.batch = TEST_BATCH, .scale = 1.0f, .planes = program_planes(program)};
    Loader *loader = loader_new(&program->images.test, test);
    Status status =
        loader ? train_accuracy(model, loader, &program->training.test_accuracy) : error_status();
    loader_free(loader);
    return status;
}

static bool has_text(const Program *program) { return program->texts.train.count > 0; }

static Status fit(Program *program, Training *training) {
    Checkpoint *all = &training->checkpoint;
    all->loader = program_loader_new(program);
    Status status = all->loader ? run_fit(program, training) : error_status();
    loader_free(all->loader);
    all->loader = NULL;
    progress_clear(program);
    if (status) return status;
    program->training.final_rate = (double)optimizer_config(all->optimizer).learning_rate;
    progress_say(program, "judging what was learnt");
    status = has_text(program) ? program_judge_text(program, all->model)
                               : judge_images(program, all->model);
    progress_clear(program);
    return status;
}

static Status print_training(const Program *program, Layer *model) {
    const ProfileTraining *training = &program->training;
    const LossCurve *curve = &training->curve;
    const Images *images = &program->images;
    const Texts *texts = &program->texts;
    const Subject *subject = &program->subject;
    const FitResult *f = &training->fit;
    bool text = has_text(program);
    char parts[REPORT_WIDTH];
    int width = snprintf(parts, sizeof(parts), ": %.32s%s for training, %.32s held out",
                         text_count(text ? texts->train.count : images->train.count).s,
                         text ? " characters" : "",
                         text_count(text ? texts->held_out.count : images->test.count).s);
    printf("\nTRAINING  %s%s%s\n", text_fit_middle(training->data, REPORT_WIDTH - 10 - width).s,
           parts, images->was_split ? "\n  (one set only: split)" : "");
    char batches[48] = "";
    if (program->options->accumulate > 1)
        snprintf(batches, sizeof(batches), " of %lld batches",
                 (long long)program->options->accumulate);
    double units = (double)(f->samples * subject->units_per_sample);
    if (f->samples == 0)
        printf("  nothing was left to do: all %s steps were done before\n", text_count(f->steps).s);
    else
        width = printf("  %lld epoch%s, %s steps%s in %s (%s %s/s):", (long long)f->epochs,
                       f->epochs == 1 ? "" : "s", text_count(f->steps).s, batches,
                       text_duration(f->seconds).s,
                       text_short_count((int64_t)(units / f->seconds)).s, subject->unit);
    if (f->samples > 0)
        printf(f->final_loss < 1e5 ? "%smean loss %.4f\n" : "%smean loss %.3e\n",
               batches[0] || width > 60 ? "\n    " : " ", f->final_loss);
    if (f->samples > 0) program_print_schedule(&training->schedule);
    if (f->cut_short)
        printf("  CUT SHORT, as was asked: %s of %s steps were done%s\n", text_count(f->steps).s,
               text_count(curve->last).s, program->options->checkpoint ? "; --resume goes on" : "");
    if (text) return program_print_text(program, model, curve);
    printf("  test accuracy %.2f%%\n", 100.0 * training->test_accuracy);
    return STATUS_OK;
}

Status program_train(Program *program) {
    const Options *options = program->options;
    Layer *model = program_model_new(program);
    Optimizer *optimizer = model ? optimizer_new(model, program_optimizer(options)) : NULL;
    Training training = {.program = program,
                         .checkpoint = {.model = model, .optimizer = optimizer}};
    Status status = optimizer ? fit(program, &training) : error_status();
    if (!status) {
        program->training.data =
            has_text(program) ? program->texts.train.name : program->images.train.name;
        if (program->report) status = print_training(program, model);
        if (!status && options->weights) status = weights_print(model, stdout);
        if (!status && options->shrink) status = program_shrink(program, model);
        if (!status) status = program_write_output(program, model);
    } else {
        program->training.absent = error_message();
    }
    optimizer_free(optimizer);
    layer_free(model);
    return status;
}

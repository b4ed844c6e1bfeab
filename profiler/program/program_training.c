// program_training.c -- trains the model on the images, after the report.
#include <stdio.h>

#include "profiler/program/program.h"
#include "profiler/report/text.h"
#include "profiler/report/weights.h"
#include "tensor/clock.h"

enum { TEST_BATCH = 500 };

static void show_progress(void *argument, const FitProgress *p) {
    if (!progress_due(argument) && p->step < p->steps) return;
    double left = p->seconds / (double)p->step * (double)(p->steps - p->step);
    fprintf(stderr, "\rtraining: epoch %lld/%lld, step %lld/%lld, loss %.4f, %s left\033[K",
            (long long)p->epoch, (long long)p->epochs, (long long)p->step, (long long)p->steps,
            p->loss, text_duration(left).s);
    fflush(stderr);
}

static Status fit(Program *program, Layer *model, Optimizer *optimizer) {
    const Options *options = program->options;
    ProfileTraining *training = &program->training;
    ProgressLine line = {.shown = clock_seconds()};
    FitOptions how = {.epochs = options->epochs,
                      .max_steps = options->steps,
                      .progress = program->terminal ? show_progress : NULL,
                      .argument = &line};
    Loader *loader = program_loader_new(program);
    Status status =
        loader ? train_fit(model, optimizer, loader, how, &training->fit) : error_status();
    loader_free(loader);
    progress_clear(program);
    if (status) return status;
    LoaderOptions test = {.batch = TEST_BATCH, .scale = 1.0f, .planes = program_planes(program)};
    loader = loader_new(&program->images.test, test);
    status = loader ? train_accuracy(model, loader, &training->test_accuracy) : error_status();
    loader_free(loader);
    return status;
}

static void print_training(const Program *program) {
    const ProfileTraining *training = &program->training;
    const Images *images = &program->images;
    const FitResult *f = &training->fit;
    printf("\nTRAINING  %s: %s for training, %s held out%s\n", images->train.name,
           text_count(images->train.count).s, text_count(images->test.count).s,
           images->was_split ? " (one set only: split)" : "");
    printf("  %lld epoch%s, %s steps in %s (%s %s/s): mean loss %.4f\n  test accuracy %.2f%%\n",
           (long long)f->epochs, f->epochs == 1 ? "" : "s", text_count(f->steps).s,
           text_duration(f->seconds).s,
           text_short_count((int64_t)((double)f->samples / f->seconds)).s, program->subject.unit,
           f->final_loss, 100.0 * training->test_accuracy);
}

Status program_train(Program *program) {
    const Options *options = program->options;
    Layer *model = program_model_new(program);
    Optimizer *optimizer = model ? optimizer_new(model, program_optimizer(options)) : NULL;
    Status status = optimizer ? fit(program, model, optimizer) : error_status();
    if (!status) {
        program->training.data = program->images.train.name;
        if (program->report) print_training(program);
        if (options->weights) status = weights_print(model, stdout);
    } else {
        program->training.absent = error_message();
    }
    optimizer_free(optimizer);
    layer_free(model);
    return status;
}

// fuzz_options.c -- command lines of the programs, typed and as a file of options, one word or line
// each: any input is accepted, with its sweeps and inputs, or refused.
#include <stdio.h>
#include <string.h>

#include "profiler/program/program_inputs.h"
#include "profiler/program/sweep_axes.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_WORDS = 64 };

static const char *network(int i) {
    static const char *const names[] = {"resnet18", "gpt2", NULL};
    return names[i];
}
static const ProgramLine lines[] = {
    {.name = "profile_mlp", .program = PROGRAM_MLP, .batch = 64, .epochs = 5},
    {.name = "profile_model",
     .program = PROGRAM_MODEL,
     .argument = "NAME|FILE ...",
     .network = network,
     .batch = 1}};

static void take_sweep_apart(const Options *options) {
    Sweep sweep = {0};
    Status status = sweep_axes_take(options, &sweep);
    for (int64_t i = 0; i < sweep.n && i < 8 && !status; i++) {
        char *words = sweep_point_words(options, &sweep, i);
        promise(words != NULL);
        memory_free(words);
    }
    if (status) promise_error(status);
    sweep_free(&sweep);
}

static void parse(int argc, char **argv, const ProgramLine *line) {
    Options options;
    if (options_parse(argc, argv, line, &options)) {
        promise(!error_pending());
        Inputs told;
        Status status = inputs_read(&options, &told);
        if (status) promise_error(status);
        inputs_free(&told);
        take_sweep_apart(&options);
        promise(options.batch >= 1 && options.n_models <= OPTIONS_MAX_MODELS);
    }
    options_free(&options);
    promise_clean();
}

// The first byte selects the program, and whether the rest is typed or a file.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) return 0;
    const ProgramLine *line = &lines[bytes[0] & 1];
    char name[] = "program", *argv[MOST_WORDS + 2] = {name}, *rest = NULL;
    int argc = 1;
    if (bytes[0] & 2) {
        char config[48];
        FuzzFile file = fuzz_file(bytes + 1, size - 1);
        snprintf(config, sizeof config, "--config=%s", file.path);
        argv[argc++] = config;
        parse(argc, argv, line);
        fuzz_file_end(&file);
        return 0;
    }
    char *text = fuzz_text(bytes + 1, size - 1);
    for (char *word = strtok_r(text, "\n", &rest); word && argc <= MOST_WORDS;
         word = strtok_r(NULL, "\n", &rest))
        argv[argc++] = word;
    parse(argc, argv, line);
    free(text);
    return 0;
}

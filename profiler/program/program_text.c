// program_text.c -- the text that a program trains on, and the results of a training on it: the
// loss on held-out text beside that of a table of pairs, the loss curve, a sample.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/models/zoo.h"
#include "layers/train/generate.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "tensor/memory.h"

enum { DRAWN_CHARACTERS = 200000, HELD_OUT_PART = 10, WIDTH = 76 };
static const double sample_temperature = 0.8; // default

// ---- the text ----------------------------------------------------------------------------------
bool program_takes_text(const Subject *subject) {
    return subject->vocabulary > 0 && subject->sample.ndim == 1;
}

static Status check_fit(const Subject *subject, const Corpus *text) {
    int64_t tokens = subject->sample.dims[0], held_out = text->count / HELD_OUT_PART;
    if (text->vocabulary > subject->vocabulary)
        return error_set(
            STATUS_FORMAT,
            "--data: %s has %d different characters, and %s knows %lld. HINT: char-gpt "
            "takes any",
            text->name, text->vocabulary, subject->name, (long long)subject->vocabulary);
    if (held_out > tokens) return STATUS_OK;
    return error_set(STATUS_FORMAT,
                     "--data: %s has %lld characters, so that the tenth held out is no longer than "
                     "the %lld tokens of a sample. HINT: a longer text, or fewer --tokens",
                     text->name, (long long)text->count, (long long)tokens);
}

// The model must know every character of the prompt.
static Status check_prompt(const char *prompt, const Corpus *text) {
    for (const char *at = prompt; at && *at; at++)
        if (corpus_id(text, (uint8_t)*at) < 0)
            return error_set(STATUS_INVALID_ARGUMENT,
                             "--prompt: its byte 0x%02x at place %d is nowhere in %s. HINT: only "
                             "what that text has can be read",
                             (unsigned char)*at, (int)(at - prompt), text->name);
    return STATUS_OK;
}

// A character network's vocabulary is that of the text.
static void take_vocabulary(Subject *subject, const Corpus *text) {
    if (!subject->network || !subject->network->of_characters) return;
    subject->vocabulary = text->vocabulary;
    size_t used = strlen(subject->name);
    snprintf(subject->name + used, sizeof(subject->name) - used, " of %d characters",
             text->vocabulary);
}

Status program_load_text(Program *program) {
    const Options *options = program->options;
    Texts *texts = &program->texts;
    if (program->training.absent && !options->data) return STATUS_OK;
    Status status = options->data
                        ? corpus_read(options->data, &texts->train)
                        : corpus_generate(DRAWN_CHARACTERS, (uint64_t)options->seed, &texts->train);
    if (status) return status;
    take_vocabulary(&program->subject, &texts->train);
    if (check_prompt(options->prompt, &texts->train)) return error_status();
    if (check_fit(&program->subject, &texts->train)) return error_status();
    return corpus_split(&texts->train, texts->train.count / HELD_OUT_PART, &texts->held_out);
}

// ---- what was learnt ---------------------------------------------------------------------------
Status program_judge_text(Program *program, Layer *model) {
    enum { TOKENS_AT_ONCE = 4096 };
    const Texts *texts = &program->texts;
    ProfileTraining *told = &program->training;
    int64_t tokens = program->subject.sample.dims[0];
    LoaderOptions all = {.batch = tokens < TOKENS_AT_ONCE ? TOKENS_AT_ONCE / tokens : 1};
    Loader *loader = corpus_loader_new(&texts->held_out, tokens, all);
    Status status = loader ? train_mean_loss(model, loader, program->loss, &told->held_out_loss)
                           : error_status();
    loader_free(loader);
    return status ? status
                  : corpus_bigram_loss(&texts->train, &texts->held_out, &told->bigram_loss);
}

static void print_losses(const Program *program, CorpusEntropy entropy) {
    const ProfileTraining *told = &program->training;
    double ours = told->held_out_loss, pairs = told->bigram_loss;
    printf(ours < 99.0 ? "  held out: %.3f" : "  held out: %.0e", ours); // within 80 columns
    printf(" nats a character, %s the %.3f of a table of its pairs\n",
           ours < pairs ? "below" : "not below", pairs);
    printf("  own entropy of the part trained on: %.3f by characters, %.3f by pairs\n\n",
           entropy.unigram, entropy.bigram);
}

// ---- a sample ----------------------------------------------------------------------------------
typedef struct Sampling {
    const Program *program;
    ProgressLine line;
} Sampling;

static int64_t sample_length(const Program *program) {
    enum { CHARACTERS = 200 }; // default
    return program->options->sample < 0 ? CHARACTERS : program->options->sample;
}

static void show_sampling(void *argument, int64_t made) {
    Sampling *sampling = argument;
    if (!progress_due(&sampling->line)) return;
    progress_draw("writing a sample: %lld of %lld characters", (long long)made,
                  (long long)sample_length(sampling->program));
}

// Wraps at the report's width, and replaces unprintable bytes.
static void print_characters(const char *text) {
    int column = 0;
    while (*text) {
        int bytes = text_printable_bytes(text), size = bytes > 0 ? bytes : 1;
        bool ends = *text == '\n';
        if (ends || column == WIDTH) putchar('\n');
        if (ends || column == WIDTH) column = 0;
        const char *shown = bytes > 0 ? text : *text == '\t' ? " " : "?";
        if (!ends && column++ == 0) printf("  ");
        if (!ends) printf("%.*s", size, shown);
        text += size;
    }
    printf("\n");
}

// Writes the first ids and returns their number: the prompt, which is part of the sample, or else a
// line end, or the first held-out id if the text has no line end, which is not part of it.
static int64_t begin_sample(const Program *program, int64_t *ids) {
    const Corpus *known = &program->texts.train;
    const char *prompt = program->options->prompt;
    int64_t given = prompt ? (int64_t)strlen(prompt) : 1;
    int line_end = corpus_id(known, '\n');
    ids[0] = line_end >= 0 ? line_end : program->texts.held_out.ids[0];
    for (int64_t i = 0; prompt && i < given; i++) ids[i] = corpus_id(known, (uint8_t)prompt[i]);
    return given;
}

// Converts ids to characters; 0x7f, printed as '?', for ids beyond the text's vocabulary.
static void spell(const Corpus *known, const int64_t *ids, int64_t count, char *text) {
    for (int64_t i = 0; i < count; i++)
        text[i] = ids[i] < known->vocabulary ? (char)known->symbols[ids[i]] : '\x7f';
}

static Status write_sample(const Program *program, Layer *model, int64_t *ids, char *text) {
    const Options *options = program->options;
    double said = options->temperature, temperature = isnan(said) ? sample_temperature : said;
    int64_t given = begin_sample(program, ids), count = given + sample_length(program);
    Sampling sampling = {.program = program};
    GenerateOptions how = {.window = program->subject.sample.dims[0],
                           .temperature = (float)temperature,
                           .progress = program->terminal ? show_sampling : NULL,
                           .argument = &sampling};
    Status status = generate_tokens(model, how, ids, given, count);
    progress_clear(program);
    if (status) return status;
    int64_t from = options->prompt ? 0 : given;
    spell(&program->texts.train, ids + from, count - from, text);
    printf("\nSAMPLE  at temperature %g\n", temperature);
    print_characters(text);
    return STATUS_OK;
}

static Status print_sample(const Program *program, Layer *model) {
    const char *prompt = program->options->prompt;
    size_t count = (size_t)sample_length(program) + (prompt ? strlen(prompt) : 1);
    if (sample_length(program) == 0) return STATUS_OK;
    int64_t *ids = memory_new(count * sizeof(int64_t));
    char *text = memory_new(count + 1);
    Status status = ids && text ? write_sample(program, model, ids, text) : error_status();
    memory_free(ids);
    memory_free(text);
    return status;
}

// ---- all of it ---------------------------------------------------------------------------------
Status program_print_text(const Program *program, Layer *model, const LossCurve *curve) {
    CorpusEntropy entropy;
    Status status = corpus_entropy(&program->texts.train, &entropy);
    if (status) return status;
    print_losses(program, entropy);
    loss_plot(curve, program->training.bigram_loss, "a table of pairs", stdout);
    return print_sample(program, model);
}

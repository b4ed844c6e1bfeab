// preset.c -- other tools' counts: the amount each tool counts for a kind of op. Each op's story
// tells its kind; only a new kind changes this table.
#include "profiler/report/preset.h"

#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "profiler/report/report.h"
#include "tensor/given.h"

// ---- rules of the tools ----------------------------------------------------------------------
typedef struct Rule {
    uint8_t macs, bias, inputs; // count per multiply-add, per output with a bias, per input
    uint8_t weighted_inputs;    // additional count per input if there is a weight
    uint8_t parameters;         // per weight and bias, for each sample
    uint8_t places;             // per weight and bias, for each sample and output position
    bool no_groups;             // counts a grouped convolution as if it had no groups
} Rule;

static const struct {
    Rule rules[KIND_COUNT];
    bool per_sample, backward;
    const char *unit, *rule, *beside; // beside: difference from our headline count
} presets[PRESET_COUNT] = {
    [PRESET_TORCH] = {.rules = {[KIND_LINEAR] = {.macs = 2},
                                [KIND_CONVOLUTION] = {.macs = 2},
                                [KIND_MATMUL] = {.macs = 2}},
                      .backward = true,
                      .unit = "FLOP of PyTorch's FlopCounterMode",
                      .rule = "2 per multiply-add, in backward too; all else is 0",
                      .beside = "PyTorch counts the same"},
    [PRESET_PAPER] = {.rules = {[KIND_LINEAR] = {.macs = 1},
                                [KIND_CONVOLUTION] = {.macs = 1},
                                [KIND_MATMUL] = {.macs = 1}},
                      .unit = "multiply-adds (MAC)",
                      .rule = "1 per multiply-add; all else is 0",
                      .beside = "papers count MAC"},
    [PRESET_TEXTBOOK] = {.rules = {[KIND_LINEAR] = {.macs = 2},
                                   [KIND_CONVOLUTION] = {.macs = 2},
                                   [KIND_MATMUL] = {.macs = 2},
                                   [KIND_RECTIFIER] = {.inputs = 1},
                                   [KIND_OTHER_ACTIVATION] = {.inputs = 1}},
                         .per_sample = true,
                         .unit = "FLOP of a textbook exercise",
                         .rule = "2 per multiply-add, 1 per value of an activation",
                         .beside = "textbooks add activations"},
    [PRESET_FVCORE] = {.rules = {[KIND_LINEAR] = {.macs = 1},
                                 [KIND_CONVOLUTION] = {.macs = 1},
                                 [KIND_MATMUL] = {.macs = 1},
                                 [KIND_ADAPTIVE_POOL] = {.inputs = 1},
                                 [KIND_NORM] = {.inputs = 4, .weighted_inputs = 1},
                                 [KIND_NORM_EVAL] = {.inputs = 1, .weighted_inputs = 1}},
                       .unit = "fvcore's flops, which are MAC",
                       .rule = "1 per MAC and value into adaptive pools; 1 to 5 into norms",
                       .beside = "fvcore counts MAC"},
    [PRESET_DEEPSPEED] = {.rules = {[KIND_LINEAR] = {.macs = 2},
                                    [KIND_CONVOLUTION] = {.macs = 2, .bias = 1},
                                    [KIND_MATMUL] = {.macs = 2},
                                    [KIND_RECTIFIER] = {.inputs = 1},
                                    [KIND_POOL] = {.inputs = 1},
                                    [KIND_ADAPTIVE_POOL] = {.inputs = 1},
                                    [KIND_NORM] = {.inputs = 4, .weighted_inputs = 1},
                                    [KIND_NORM_EVAL] = {.inputs = 1, .weighted_inputs = 1}},
                          .unit = "FLOP of DeepSpeed's profiler",
                          .rule = "2 per MAC, 1 per value of pools, relu and such, 1 to 5 of norms",
                          .beside = "DeepSpeed adds activations"},
    [PRESET_TORCHINFO] = {.rules = {[KIND_LINEAR] = {.macs = 1, .bias = 1},
                                    [KIND_CONVOLUTION] = {.places = 1},
                                    [KIND_RECTIFIER] = {.parameters = 1}, // PReLU's slopes
                                    [KIND_NORM] = {.parameters = 1},
                                    [KIND_RMS_NORM] = {.parameters = 1},
                                    [KIND_NORM_EVAL] = {.parameters = 1},
                                    [KIND_EMBEDDING] = {.parameters = 1}},
                          .unit = "torchinfo's mult-adds",
                          .rule = "1 per weight and bias each time it is used; norms: a sample",
                          .beside = "torchinfo counts MAC and bias"},
    [PRESET_TINYTORCH] = {.rules = {[KIND_LINEAR] = {.macs = 2},
                                    [KIND_CONVOLUTION] = {.macs = 2, .no_groups = true},
                                    [KIND_MATMUL] = {.macs = 2},
                                    [KIND_RECTIFIER] = {.inputs = 1},
                                    [KIND_OTHER_ACTIVATION] = {.inputs = 1},
                                    [KIND_POOL] = {.inputs = 1},
                                    [KIND_ADAPTIVE_POOL] = {.inputs = 1},
                                    [KIND_DROPOUT] = {.inputs = 1},
                                    [KIND_NORM] = {.inputs = 1},
                                    [KIND_RMS_NORM] = {.inputs = 1},
                                    [KIND_NORM_EVAL] = {.inputs = 1},
                                    [KIND_EMBEDDING] = {.inputs = 1}},
                          .per_sample = true,
                          .unit = "FLOP of TinyTorch's count_flops",
                          .rule = "2 per multiply-add, 1 per value into any other layer",
                          .beside = "TinyTorch adds other layers"},
};

static const char *const names[PRESET_COUNT] = {
#define PRESET_NAME(name, text) [PRESET_##name] = text,
    PRESET_LIST(PRESET_NAME)
#undef PRESET_NAME
};

const char *preset_name(Preset preset) {
    return (unsigned)preset < PRESET_COUNT ? names[preset] : "?";
}

const char *preset_rule(Preset preset) { return presets[preset].rule; }
bool preset_per_sample(Preset preset) { return presets[preset].per_sample; }

// ---- counting --------------------------------------------------------------------------------
static uint64_t elements(Shape shape) { return (uint64_t)shape_numel(shape); }

static OpKind kind_of(const Op *op) { return op && op->story ? op->story->kind : KIND_OTHER; }

// A fused linear counts as a product, then its activation: fusing changes no tool's count.
static uint64_t op_count(Preset preset, const OpRecord *record) {
    const Rule *of = presets[preset].rules, *rule = &of[kind_of(record->op)];
    uint64_t groups = rule->no_groups ? (uint64_t)record->params.window.groups : 1;
    uint64_t count = groups * rule->macs * record->cost.macs +
                     rule->bias * record->cost.bias_flops + rule->inputs * elements(record->in[0]);
    if (rule->weighted_inputs && record->in[1].ndim >= 0)
        count += rule->weighted_inputs * elements(record->in[0]);
    if (rule->parameters)
        count += rule->parameters * (uint64_t)record->out.dims[0] *
                 (elements(record->in[1]) + elements(record->in[2]));
    if (rule->places) // not for transposed ones, whose weights meet each input position
        count += rule->places * (uint64_t)record->out.dims[0] * (uint64_t)record->out.dims[2] *
                 (uint64_t)record->out.dims[3] *
                 (elements(record->in[1]) + elements(record->in[2]));
    return count + of[kind_of(record->params.activation)].inputs * elements(record->out);
}

typedef struct Question {
    const Profile *profile;
    Preset preset;
    int layer; // -1: all
    bool per_sample;
} Question;

// Work not divisible by the batch counts whole for each sample.
static uint64_t question_op(const Question *question, const OpRecord *record) {
    uint64_t count = op_count(question->preset, record);
    uint64_t batch = (uint64_t)question->profile->batch;
    return question->per_sample && batch > 0 && count % batch == 0 ? count / batch : count;
}

static PresetCount question_answer(Question question) {
    PresetCount answer = {.counts_backward = presets[question.preset].backward};
    for (int64_t i = 0; i < question.profile->n_ops; i++) {
        const ProfileOp *op = &question.profile->ops[i];
        if (question.layer >= 0 && op->layer != question.layer) continue;
        if (op->record.phase == PHASE_FORWARD)
            answer.forward += question_op(&question, &op->record);
        else if (op->record.phase != PHASE_OPTIMIZER && answer.counts_backward)
            answer.backward += question_op(&question, &op->record);
    }
    uint64_t batches = question.per_sample ? (uint64_t)question.profile->accumulate : 1;
    answer.forward /= batches;
    answer.backward /= batches;
    return answer;
}

PresetCount preset_count_layer(Preset preset, const Profile *profile, int layer) {
    if (!GIVEN(profile)) return (PresetCount){0};
    return question_answer(
        (Question){profile, preset, layer, .per_sample = preset_per_sample(preset)});
}

PresetCount preset_count(Preset preset, const Profile *profile) {
    if (!GIVEN(profile)) return (PresetCount){0};
    return preset_count_layer(preset, profile, -1);
}

// ---- the table -------------------------------------------------------------------------------
// True if the tool would see the layer, or counts something in it.
static bool has_row(const Profile *profile, Preset preset, int layer) {
    PresetCount count = preset_count_layer(preset, profile, layer);
    return profile->layers[layer].phase[REPORT_FORWARD].ops > 0 || count.forward > 0 ||
           count.backward > 0;
}

static void add_counts(const Table *table, const char *name, PresetCount count) {
    table_add(table, (TableCells){name, text_count((int64_t)count.forward).s,
                                  text_count((int64_t)count.backward).s});
}

// Prints "ours: 813,056 FLOP = 2 x 406,528 MAC a sample; fvcore counts MAC", wrapped if needed.
static void print_ours(Preset preset, int64_t macs, FILE *file) {
    char ours[REPORT_WIDTH + 1];
    const char *beside = presets[preset].beside;
    int length = snprintf(ours, sizeof(ours), "  ours: %s FLOP = 2 x %s MAC a sample;",
                          text_count(2 * macs).s, text_count(macs).s);
    bool fits = length + 1 + (int)strlen(beside) <= REPORT_WIDTH;
    fprintf(file, "%s%s%s\n", ours, fits ? " " : "\n  ", beside);
}

void preset_print(Preset preset, const Profile *profile, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return;
    Question a_sample = {profile, preset, .layer = -1, .per_sample = true};
    PresetCount total = preset_count(preset, profile);
    bool per_sample = preset_per_sample(preset);
    bool backward = total.counts_backward && profile->totals[REPORT_BACKWARD].ops > 0;
    int64_t samples = profile->batch * profile->accumulate;
    uint64_t most = total.forward > total.backward ? total.forward : total.backward;
    int width = 2 + text_width(text_count((int64_t)most).s);
    if (width < 14) width = 14;
    Table table = {.headings = {"layer", "forward", "backward"},
                   .widths = {8, width, backward ? width : 0},
                   .kinds = {TABLE_NAME},
                   .indent = 2};
    snprintf(table.title, sizeof(table.title), "FLOP CONVENTION %s  %s; %s%s", preset_name(preset),
             presets[preset].unit, per_sample ? "a sample" : "a batch of ",
             per_sample ? "" : text_short_count(samples).s);
    for (int i = 0; i < profile->n_layers; i++)
        if (has_row(profile, preset, i)) table_widen(&table, profile->layers[i].path, 24);
    table_begin(&table, file);
    for (int i = 0; i < profile->n_layers; i++)
        if (has_row(profile, preset, i))
            add_counts(&table, profile->layers[i].path, preset_count_layer(preset, profile, i));
    add_counts(&table, "total", total);
    if (!per_sample && samples > 1) add_counts(&table, "a sample", question_answer(a_sample));
    if (backward)
        fprintf(file, "  forward + backward: %s\n",
                text_count((int64_t)(total.forward + total.backward)).s);
    fprintf(file, "  rule: %s\n", preset_rule(preset));
    a_sample.preset = PRESET_PAPER;
    print_ours(preset, (int64_t)question_answer(a_sample).forward, file);
}

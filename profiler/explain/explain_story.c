// explain_story.c -- adapts an op's story to its place in a layer: z is the input of a fused
// activation, and backward ops use the names of the layer's product. This file knows no op by name.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profiler/explain/explain_parts.h"

static OpStory story_of(const OpRecord *record) {
    return op_story(record->op, &record->params, record->given);
}

const OpRecord *explain_product(const Profile *profile, int layer) {
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const OpRecord *record = &profile->ops[i].record;
        if (profile->ops[i].layer != layer || record->phase != PHASE_FORWARD) continue;
        const OpStory *story = record->op->story;
        bool owns = story && (story->kind == KIND_LINEAR || story->kind == KIND_CONVOLUTION);
        if (owns) return record;
    }
    return NULL;
}

// Copies `text` with renamed words: if `gradient`, dy becomes dz; else x becomes z and dx dz.
static void rename_words(char *to, size_t size, const char *text, bool gradient) {
    size_t used = 0;
    while (*text && used + 1 < size) {
        size_t n = 0;
        while (isalnum((unsigned char)text[n])) n++;
        bool x = n == 1 && text[0] == 'x', dx = n == 2 && strncmp(text, "dx", 2) == 0;
        bool dy = gradient && n == 2 && strncmp(text, "dy", 2) == 0;
        if (n == 0) n = 1;
        const char *word = dy || (dx && !gradient) ? "dz" : x && !gradient ? "z" : NULL;
        used +=
            (size_t)snprintf(to + used, size - used, "%.*s", word ? 2 : (int)n, word ? word : text);
        text += n;
    }
    if (used < size) to[used] = '\0';
}

static const char *renamed(const char *name, const char *from, const char *to) {
    return name && strcmp(name, from) == 0 ? to : name;
}

static void tell_fused(Told *told) {
    const Op *activation = told->story.activation;
    bool has = told->story.formula && told->story.formula[0];
    const char *formula = has ? told->story.formula : "y";
    snprintf(told->does, sizeof(told->does), "z%s, y = %s(z)", formula + 1, activation->name);
}

// The backward of the fused activation, first in the layer's backward; it gives dz.
static void tell_through(Told *told) {
    if (told->story.formula)
        rename_words(told->does, sizeof(told->does), told->story.formula, false);
    told->story.out = "dz";
    for (int i = 0; i < STORY_INPUTS; i++) told->story.in[i] = renamed(told->story.in[i], "x", "z");
}

static void tell_gradient(Told *told, const GradientStory *gradient, bool fused) {
    rename_words(told->does, sizeof(told->does), gradient->formula, true);
    if (!fused) snprintf(told->does, sizeof(told->does), "%s", gradient->formula);
    told->story.out = gradient->out;
    for (int i = 0; i < 2; i++)
        told->story.in[i] = fused ? renamed(gradient->in[i], "dy", "dz") : gradient->in[i];
}

// The input of the layer's product whose gradient a backward op computes; -1: none.
static int gradient_of(const OpRecord *record, const OpRecord *product) {
    if (record->phase == PHASE_BACKWARD_INPUT)
        return shape_equal(record->in[1], product->in[1]) ? 0 : -1;
    if (record->phase != PHASE_BACKWARD_WEIGHT) return -1;
    return shape_equal(record->out, product->in[1])   ? 1
           : shape_equal(record->out, product->in[2]) ? 2
                                                      : -1;
}

static Told tell(const Profile *profile, const ProfileOp *op) {
    const OpRecord *record = &op->record, *product = explain_product(profile, op->layer);
    Told told = {.story = story_of(record)};
    if (told.story.formula) snprintf(told.does, sizeof(told.does), "%s", told.story.formula);
    if (told.story.activation) tell_fused(&told);
    if (!product || record->phase == PHASE_FORWARD || record->op->flags & OP_VIEW) return told;
    bool fused = product->params.activation != NULL;
    int input = gradient_of(record, product);
    const GradientStory *gradient = input >= 0 ? &product->op->story->gradients[input] : NULL;
    if (gradient && gradient->formula)
        tell_gradient(&told, gradient, fused);
    else if (fused && told.story.out && strcmp(told.story.out, "dx") == 0)
        tell_through(&told);
    return told;
}

Told explain_story(const Profile *profile, const ProfileOp *op) {
    Told told = tell(profile, op);
    size_t used = strlen(told.does);
    if (used && op->record.given & GIVEN_SUM)
        snprintf(told.does + used, sizeof(told.does) - used, ", added to what is there");
    return told;
}

// profile_recompute.c -- describes the layers marked for recomputation in words. Not here: choosing
// them (budget_recompute.c) or running them (autograd/recompute.c).
#include <stdio.h>
#include <string.h>

#include "profiler/measure/profile_parts.h"

Status profile_unmark(Layer *model) {
    Status status = layer_recompute(model, false);
    for (int i = 0; i < model->n_children && !status; i++)
        status = profile_unmark(model->children[i]);
    return status;
}

// ---- in words ----------------------------------------------------------------------------------
typedef struct Words {
    char *text;
    size_t size, used;
    bool full;
    int64_t marked;
} Words;

static const char more[] = ", ...";

static void say(Words *words, const char *path) {
    const char *separator = words->used > 0 ? ", " : "";
    size_t length = strlen(separator) + strlen(path);
    if (words->full) return;
    words->full = words->used + length + sizeof(more) > words->size;
    const char *text = words->full ? "" : path;
    if (words->full) separator = words->used > 0 ? more : more + 2;
    int n = snprintf(words->text + words->used, words->size - words->used, "%s%s", separator, text);
    words->used += n > 0 ? (size_t)n : 0;
}

enum { PATH = 256, FEW = 3 }; // from FEW neighbours on, a range is written

// Names children from..to-1 of a layer, all marked.
static void say_run(Words *words, const Layer *layer, const char *around, int from, int to) {
    const char *dot = around[0] ? "." : "";
    char path[2 * PATH];
    if (from == 0 && to == layer->n_children && to > 1) {
        snprintf(path, sizeof(path), "%s%s*", around, dot);
        say(words, path);
        return;
    }
    bool one = to - from >= FEW;
    for (int i = from; i < to; i += one ? to - from : 1) {
        const char *first = layer->children[i]->name, *last = layer->children[to - 1]->name;
        snprintf(path, sizeof(path), "%s%s%s%s%s", around, dot, first, one ? "-" : "",
                 one ? last : "");
        say(words, path);
    }
}

static void say_below(Words *words, const Layer *layer, const char *around) {
    int n = layer->n_children, end;
    for (int i = 0; i < n; i = end + 1) { // the child at `end` is not marked
        for (end = i; end < n && layer->children[end]->recompute; end++) words->marked++;
        if (end > i) say_run(words, layer, around, i, end);
    }
    for (int i = 0; i < n; i++) {
        char path[PATH];
        snprintf(path, sizeof(path), "%s%s%s", around, around[0] ? "." : "",
                 layer->children[i]->name);
        say_below(words, layer->children[i], path);
    }
}

int64_t profile_marked(const Layer *model, char *paths, size_t size) {
    Words words = {.text = paths, .size = size, .marked = model->recompute};
    if (size > 0) paths[0] = '\0';
    if (model->recompute) say(&words, "(model)");
    say_below(&words, model, "");
    return words.marked;
}

// guesses.c -- reports which parameters are a guess because neither a record in the file nor a
// layer's own names tell: how they were classified, and what the count would be otherwise.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// ---- lists of values --------------------------------------------------------------------------
typedef struct Names {
    char text[200];  // the first names
    size_t used;     // characters in `text`
    int count;       // number of all names
    int64_t numbers; // elements of all values
} Names;

enum { MOST_NAMED = 3, LONGEST_NAME = 40 };

static void add_name(Names *names, const char *name, int64_t numbers) {
    names->numbers = onnx_sum(names->numbers, numbers);
    if (names->count++ >= MOST_NAMED) return;
    size_t n = strlen(name);
    const char *cut = n > LONGEST_NAME ? "~" : "";
    names->used += (size_t)snprintf(names->text + names->used, sizeof names->text - names->used,
                                    "%s%s%s", names->count > 1 ? ", " : "", cut,
                                    n > LONGEST_NAME ? name + n - LONGEST_NAME : name);
}

// Formats a number: "535,818".
static const char *counted(int64_t n, char text[32]) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), at = 0;
    for (int i = 0; i < length; i++) {
        text[at++] = digits[i];
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-') text[at++] = ',';
    }
    text[at] = '\0';
    return text;
}

// Formats "stored numbers a, b and 3 more".
static void title(const char *what, const Names *names, char text[320]) {
    int more = names->count - MOST_NAMED, n;
    n = snprintf(text, 320, "%s%s%s", what, names->used ? " " : "", names->text);
    if (more > 0) snprintf(text + n, 320 - (size_t)n, " and %d more", more);
}

// ---- classifying values -----------------------------------------------------------------------
typedef struct Use {
    bool weight; // a layer uses it as a weight, whatever its name
    bool read;   // by a step that leads to an output
    bool lost;   // by a step that does not
} Use;

static void note_uses(const Import *import, Use uses[]) {
    for (int i = 0; i < import->n_steps; i++) {
        const Step *step = import->steps[i];
        bool table = step_is(step, "Gather");
        for (int k = 0; k < step->n_in; k++) {
            if (step->in[k] < 0) continue;
            Use *use = &uses[step->in[k]];
            bool weight = import->values[step->in[k]]->role || (k == 0 && table);
            if (step->dead) use->lost = true;
            if (!step->dead) use->read = true;
            if (!step->dead && step->op->module && weight) use->weight = true;
        }
    }
}

typedef struct Guesses {
    bool torch;             // parameters have the names of PyTorch's layers
    Names learned, fixed;   // taken for parameters; taken for constants
    Names computed, unread; // computed from parameters by the exporter; not read
    Names merged, made;     // computed from several parameters; from one, maybe cut
    Names lost, nowhere;    // parameters that lead to no output; recorded, not stored
    Names nameless;         // parameters that the exporter computed, so that they lost a name
    Names second;           // a cell's second biases, which are all 0
    Names inputs;           // inputs with the names of a layer's parameters
    Names loose;            // what no record and no name of PyTorch's says: layers read it
    int64_t copies, shared; // elements stored once for several layers: counted apart; once
    int64_t equal;          // elements stored for each of several layers, which are equal
} Guesses;

// Weights of a quantised file are bytes, or other whole numbers that a node makes reals.
static bool is_quantised(const Value *value) {
    bool bytes = value->type == ONNX_INT8 || value->type == ONNX_UINT8;
    return bytes || (!onnx_is_float(value->type) && value->placed && value->moved);
}

// True for ones and zeros by which a norm scales or shifts: it may be new, or have no weights.
static bool is_new_norm(const Import *import, const Value *value) {
    return value->norms > 0 && value->initial && shape_numel(value->shape) > 1 &&
           !strstr(value->name, "/Constant") && !learned_is_made(import, value);
}

// True for every constant that a gradient reaches, but for the ones and zeros that are there
// because an operator requires the input, and for masks. A single number counts where it has a name
// of its own or a dimension, or stands for a bias and is not 0: scales and divisors, which have and
// do neither, are in every graph.
static bool could_be_learned(Import *import, Value *value, const Use *use) {
    bool runs = value->slot >= 0, path = onnx_name_is_path(value->name);
    int64_t n = shape_numel(value->shape);
    bool bias = n < 2 && value->placed && !value_is_all(import, value, 0.0f);
    bool named = path || (value->initial &&
                          (value->shape.ndim > 0 || bias || onnx_name_has_word(value->name)));
    if (value->fixed || (n < 2 && !named)) return false;
    if (is_new_norm(import, value)) return true;
    if (is_quantised(value)) return (value->placed || use->read) && n > 1;
    if (value->placed && !value->moved)
        return runs &&
               (n < 2 || !value_is_uniform(import, value) || onnx_name_has_word(value->name));
    return (value->placed || path || value->reaches || (runs && use->read)) &&
           !value_has_limits(import, value);
}

// True for the second bias of a recurrent cell if it is all 0 and the first is not: a cell with one
// bias, as Keras has it, is written so.
static bool is_filled_up(Import *import, const Value *value) {
    int64_t n = value->rows.gates * value->rows.each, begin = value->rows.begin;
    if (n == 0 || !value->role || strcmp(value->role, "bias_hh") != 0 || begin < n) return false;
    float *numbers = onnx_stored_new(import, value->stored, value->rows.stored);
    bool first = false, second = false;
    for (int64_t i = 0; i < n && numbers; i++) {
        first = first || numbers[begin - n + i] != 0.0f;
        second = second || numbers[begin + i] != 0.0f;
    }
    memory_free(numbers);
    return first && !second;
}

// True if the exporter made another parameter of the same one.
static bool is_made_again(const Import *import, const Value *value) {
    for (int i = 0; i < import->n_values; i++) {
        const Value *other = import->values[i];
        if (other != value && other->folded && other->path && other->twin < 0 &&
            other->kind == VALUE_PARAMETER && other->slot >= 0 &&
            strcmp(other->path, value->path) == 0)
            return true;
    }
    return false;
}

// True if its name is not by PyTorch, nor by its older exporter for a weight that it turned.
static bool is_nameless(const Value *value) {
    return value->initial && shape_numel(value->shape) > 1 && !onnx_name_is_path(value->name) &&
           strncmp(value->name, "onnx::", 6) != 0;
}

static void sort_value(Import *import, Value *value, const Use *use, Guesses *guesses) {
    int64_t n = shape_numel(value->shape);
    bool learned = value->kind == VALUE_PARAMETER && !value->is_state;
    bool runs = value->slot >= 0, lost = learned && use->lost && !use->read;
    if (lost) { // rows of stored numbers have no name of their own
        const char *stored = value->stored ? value->stored->name : "";
        add_name(&guesses->lost, value->name[0] ? value->name : stored, n);
        import->about->parameters_stored -= n;
    }
    if (value->unread) add_name(&guesses->unread, value->name, n);
    if (learned && !import->recorded && is_filled_up(import, value))
        add_name(&guesses->second, value->stored->name ? value->stored->name : "B", n);
    if (!value->stored || !value->name[0] || lost || value->unread || value->is_state ||
        !(onnx_is_float(value->type) || is_quantised(value)))
        return;
    if (value->folded && value->kind == VALUE_CONSTANT)
        add_name(&guesses->computed, value->path ? value->path : value->name, n);
    else if (value->folded && runs && !value->path)
        add_name(&guesses->merged, value->name, n);
    else if (value->folded && runs &&
             (!use->weight || value->cut || value->stored->n_dims == 1 ||
              is_made_again(import, value)))
        add_name(&guesses->made, value->path, n);
    bool result = value->initial && value->name[0] == '/' && !strstr(value->name, "/Constant");
    if (learned && runs && use->weight && (result || onnx_name_is_lost(value->name)))
        add_name(&guesses->nameless, value->name, n);
    if ((import->recorded && !is_quantised(value)) || value->twin >= 0) return;
    const char *path = value_path(value); // a buffer may have it, when used as a weight, too
    bool named = path && onnx_name_is_layers(path); // else it may be a mask that is moved
    bool odd = path
                   ? !named && (guesses->torch || (value->moved && value_is_formula(import, value)))
                   : learned_is_held(value);
    if (learned && runs && (odd || (!use->weight && !value->placed)))
        add_name(&guesses->learned, path ? path : value->name, n);
    else if (learned && runs && !import->recorded && is_nameless(value))
        add_name(&guesses->loose, value->name, n);
    else if (value->kind == VALUE_CONSTANT && could_be_learned(import, value, use))
        add_name(&guesses->fixed, value->name, value->norms > 1 ? n * value->norms : n);
}

// The older exporter makes inputs of all parameters with export_params=False.
static void note_inputs(const Import *import, Guesses *guesses) {
    for (size_t i = 0; i < import->graph->n_input; i++) {
        const char *name = import->graph->input[i]->name;
        const Value *value = import_value(import, import_find(import, name));
        if (value && value->kind == VALUE_RUN && strchr(name, '.') && onnx_name_is_layers(name))
            add_name(&guesses->inputs, name, shape_numel(value->shape));
    }
}

// ---- the report -------------------------------------------------------------------------------
// Says what was guessed, and the number of parameters if the guess is wrong.
static void say_guesses(Import *import, const Guesses *guesses) {
    int64_t all = import->about->parameters;
    const Names copies = {.count = guesses->copies > 0}, shared = {.count = guesses->shared > 0},
                equal = {.count = guesses->equal > 0};
    const struct {
        const Names *of;
        const char *what, *taken, *if_wrong;
        int64_t more; // parameters, if it is wrong
    } guessed[] = {
        {&guesses->learned, "the numbers of", "learned", "they are buffers",
         -guesses->learned.numbers},
        {&guesses->fixed, "the numbers of", "not learned", "they are", guesses->fixed.numbers},
        {&guesses->second, "the second biases, all 0, in", "learned", "a cell has one bias",
         -guesses->second.numbers},
        {&guesses->inputs, "the inputs", "not learned", "they are", guesses->inputs.numbers},
        {&equal, "whether layers for which equal numbers are stored share them", "each has its own",
         "they share them", -guesses->equal},
        {&copies, "whether layers share numbers that are stored once for them", "each has its own",
         "they share them", -guesses->copies},
        {&shared, "whether layers with equal numbers share them", "they share them",
         "each has its own", guesses->shared}};
    for (size_t i = 0; i < sizeof guessed / sizeof guessed[0]; i++) {
        char what[320], here[32], there[32];
        const Names *of = guessed[i].of;
        if (of->count == 0) continue;
        title(guessed[i].what, of, what);
        import_assume(import, what, "%s: %s parameters%s; %s if %s", guessed[i].taken,
                      counted(all, here), of->used ? " in all" : "",
                      counted(onnx_sum(all, guessed[i].more), there), guessed[i].if_wrong);
    }
}

static void say_certain(Import *import, const Guesses *guesses) {
    static const char made[] = "as they are stored; of how many they were made is not in the file";
    char what[320], here[32];
    const struct {
        const Names *of;
        const char *what, *taken, *how;
    } certain[] = {{&guesses->computed, "constants that the exporter computed from",
                    "no parameters", "not counted"},
                   {&guesses->merged,
                    "weights that the exporter computed from several:", "parameters", made},
                   {&guesses->nameless,
                    "weights that the exporter computed, mostly with a folded norm:", "parameters",
                    "as they are stored"},
                   {&guesses->made, "what the exporter made of", "parameters", made},
                   {&guesses->unread, "what is stored as", "read by nobody", "not counted"},
                   {&guesses->lost, "what is stored as", "it leads to no output", "not counted"}};
    if (guesses->loose.count > 0)
        import_assume(import, "which stored numbers are parameters",
                      "those that layers read as weights: %s; the file has no record of them, so "
                      "what a tool merged or folded may be miscounted",
                      counted(import->about->parameters, here));
    title("the recorded parameters", &guesses->nowhere, what);
    if (guesses->nowhere.count > 0)
        import_assume(import, what, "not in the file by name (unused, shared, folded): no sizes");
    for (size_t i = 0; i < sizeof certain / sizeof certain[0]; i++) {
        if (certain[i].of->count == 0) continue;
        title(certain[i].what, certain[i].of, what);
        import_assume(import, what, "%s: %s number%s, %s", certain[i].taken,
                      counted(certain[i].of->numbers, here), certain[i].of->numbers == 1 ? "" : "s",
                      certain[i].how);
    }
}

Status import_guesses(Import *import) {
    size_t n = (size_t)import->n_values + 1;
    Guesses *guesses = memory_new(sizeof *guesses);
    Use *uses = guesses ? memory_new(n * sizeof *uses) : NULL;
    if (uses) {
        note_uses(import, uses);
        guesses->torch = strncmp(import->about->producer, "pytorch", 7) == 0;
        for (int i = 0; i < import->n_values; i++)
            guesses->torch |=
                import->values[i]->initial && onnx_name_is_layers(import->values[i]->name);
        for (int i = 0; i < import->n_values; i++)
            sort_value(import, import->values[i], &uses[i], guesses);
        guesses->copies = onnx_copied_numbers(import);
        guesses->shared = onnx_shared_numbers(import);
        guesses->equal = onnx_equal_numbers(import);
        note_inputs(import, guesses);
        int at = 0;
        for (char *name; (name = told_unclaimed(import, &at)) != NULL; memory_free(name))
            add_name(&guesses->nowhere, name, 0);
        const Names *const parts[] = {&guesses->learned, &guesses->fixed, &guesses->loose,
                                      &guesses->merged,  &guesses->made,  &guesses->second,
                                      &guesses->inputs};
        int64_t guessed = onnx_sum(guesses->equal, onnx_sum(guesses->copies, guesses->shared));
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            guessed = onnx_sum(guessed, parts[i]->numbers);
        import->about->parameters_guessed = guessed;
        if (!error_pending()) say_guesses(import, guesses);
        if (!error_pending()) say_certain(import, guesses);
    }
    memory_free(uses);
    memory_free(guesses);
    return error_status();
}

// model_text_arguments.c -- the arguments of a layer: those that its line in the table lists, and
// those that a text gives.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/model_text_parts.h"

typedef enum ArgumentKind { WHOLE, REAL, FLAG, CHOICE, ACTIVATION } ArgumentKind;

typedef struct Argument {
    const char *name; // `length` bytes of it
    size_t length;
    ArgumentKind kind;
    bool needed;
    double value;        // default
    const char *choices; // points to "zeros|edge" and what follows
    int like;            // defaults to this earlier argument; -1: to `value`
} Argument;

typedef struct Arguments {
    Argument all[TEXT_ARGUMENTS];
    int n, places; // places: number of those that may be positional
} Arguments;

static bool is_flag(const char *word, double *value) {
    *value = strcmp(word, "true") == 0 || strcmp(word, "True") == 0;
    return *value != 0.0 || strcmp(word, "false") == 0 || strcmp(word, "False") == 0;
}

static bool is_activation(const char *word, double *value) {
    const Op *op;
    *value = -1.0;
    if (strcmp(word, "Identity") == 0) return true;
    for (int i = 0; (op = op_activation_at(i)); i++) {
        *value = i;
        if (strcmp(op->module, word) == 0) return true;
    }
    return false;
}

const Op *model_text_activation(double value) {
    return value >= 0.0 ? op_activation_at((int)value) : NULL;
}

// ---- the table's arguments ---------------------------------------------------------------------
static int find(const Arguments *arguments, const char *name, size_t length) {
    for (int i = 0; i < arguments->n; i++) {
        const Argument *one = &arguments->all[i];
        if (one->length == length && memcmp(one->name, name, length) == 0) return i;
    }
    return -1;
}

// Adds an argument's default: for "bias=true" the text after the =.
static void add_default(const Arguments *before, Argument *one, const char *text, size_t length) {
    char word[TEXT_WORD] = "";
    if (length < sizeof word) memcpy(word, text, length);
    one->needed = strcmp(word, "real") == 0;
    one->like = find(before, text, length);
    if (memchr(text, '|', length)) {
        one->kind = CHOICE;
        one->choices = text;
    } else if (is_flag(word, &one->value)) {
        one->kind = FLAG;
    } else if (isupper((unsigned char)word[0])) {
        one->kind = ACTIVATION;
        is_activation(word, &one->value);
    } else if (one->needed || (!isalpha((unsigned char)word[0]) && strpbrk(word, ".e"))) {
        one->kind = REAL;
        one->value = strtod(word, NULL);
    } else if (one->like >= 0) {
        one->kind = before->all[one->like].kind;
        one->choices = before->all[one->like].choices;
    } else {
        one->value = strtod(word, NULL);
    }
}

static Arguments arguments_of(const char *line) {
    Arguments arguments = {.places = -1};
    for (const char *at = line; *at && arguments.n < TEXT_ARGUMENTS;) {
        size_t length = strcspn(at, " ;"), name = strcspn(at, " ;=");
        if (length > 0) {
            Argument one = {.name = at, .length = name, .needed = name == length, .like = -1};
            if (!one.needed) add_default(&arguments, &one, at + name + 1, length - name - 1);
            arguments.all[arguments.n++] = one;
        }
        at += length;
        if (*at == ';') arguments.places = arguments.n;
        at += *at != '\0';
    }
    if (arguments.places < 0) arguments.places = arguments.n;
    return arguments;
}

// ---- a text's arguments ------------------------------------------------------------------------
static bool is_choice(const char *choices, const char *word, double *value) {
    size_t length = strlen(word);
    for (*value = 0.0;; ++*value, choices++) {
        size_t here = strcspn(choices, "| ;");
        if (here == length && memcmp(choices, word, length) == 0) return true;
        choices += here;
        if (*choices != '|') return false;
    }
}

static bool is_value(const Argument *argument, const char *word, double *value) {
    switch (argument->kind) {
    case FLAG:
        return is_flag(word, value);
    case CHOICE:
        return is_choice(argument->choices, word, value);
    case ACTIVATION:
        return is_activation(word, value);
    default:
        return word_is_number(word, argument->kind == WHOLE, value);
    }
}

// Reads one argument: "512" by position, or "bias=false" anywhere after those.
static Status read_argument(TextReader *reader, const Arguments *arguments, int *place,
                            unsigned *given, double *values) {
    char word[TEXT_WORD];
    Status status = reader_word(reader, word, "an argument is missing");
    if (status) return status;
    const char *begin = reader->word;
    int i = *place < arguments->places ? (*place)++ : -1;
    if (reader_take(reader, '=')) {
        i = find(arguments, word, strlen(word));
        *place = TEXT_ARGUMENTS; // from here on by name only
        status = reader_word(reader, word, "a value is missing");
        if (status) return status;
    }
    if (i < 0) return reader_malformed(reader, begin, "an argument that the layer does not take");
    if (*given & 1u << i)
        return reader_malformed(reader, begin, "an argument that was given before");
    *given |= 1u << i;
    return is_value(&arguments->all[i], word, &values[i])
               ? STATUS_OK
               : reader_malformed(reader, reader->word, "a value that does not fit");
}

// Fills in defaults; false: a required argument is missing.
static bool fill_in(const Arguments *arguments, unsigned given, double *values) {
    for (int i = 0; i < arguments->n; i++) {
        const Argument *one = &arguments->all[i];
        if (given & 1u << i) continue;
        if (one->needed) return false;
        values[i] = one->like >= 0 ? values[one->like] : one->value;
    }
    return true;
}

static Status read_arguments(TextReader *reader, const Arguments *arguments, char end,
                             double values[TEXT_ARGUMENTS]) {
    unsigned given = 0;
    int place = 0;
    memset(values, 0, TEXT_ARGUMENTS * sizeof *values);
    if (end && reader_peek(reader) != end) {
        do {
            Status status = read_argument(reader, arguments, &place, &given, values);
            if (status) return status;
        } while (reader_take(reader, ','));
    }
    if (end && !reader_take(reader, end))
        return reader_malformed(reader, reader->at,
                                end == ')' ? "a ) is missing" : "a ; is missing");
    if (fill_in(arguments, given, values)) return STATUS_OK;
    return reader_malformed(reader, reader->layer, "a layer that lacks a size");
}

Status reader_arguments(TextReader *reader, const ModelTextLayer *layer, char end,
                        double values[TEXT_ARGUMENTS]) {
    Arguments arguments = arguments_of(layer->arguments);
    return read_arguments(reader, &arguments, end, values);
}

// The arguments are the op's own numbers.
Layer *reader_activation(TextReader *reader, const Op *op) {
    Arguments arguments = {.n = 0};
    double values[TEXT_ARGUMENTS];
    float numbers[OP_MAX_VALUES] = {0};
    for (int i = 0; i < OP_MAX_VALUES && op->values[i].name; i++)
        arguments.all[arguments.n++] = (Argument){.name = op->values[i].name,
                                                  .length = strlen(op->values[i].name),
                                                  .kind = REAL,
                                                  .value = (double)op->values[i].value,
                                                  .like = -1};
    arguments.places = arguments.n;
    char end = (char)(reader_take(reader, '(') ? ')' : '\0');
    if (read_arguments(reader, &arguments, end, values)) return NULL;
    for (int i = 0; i < arguments.n; i++) numbers[i] = (float)values[i];
    return activation_new_with(op, numbers);
}

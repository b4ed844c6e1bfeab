// print.c -- tensor_print: prints a tensor as NumPy 2 does with its default options.
// Not here: files that keep tensors, and numbers for further computation.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/handle.h"
#include "tensor/memory.h"

enum {
    LINE_WIDTH = 75,
    SUMMARY_ABOVE = 1000, // elements; beyond this number, long dimensions show only their ends
    EDGE_ITEMS = 3,
    FRACTION_DIGITS = 8, // digits after the point, outside scientific notation
    WORD = 64,           // more than the longest element: 6 digits before the point, 12 after
};

typedef struct Printer {
    FILE *file;
    const Tensor *tensor;
    const char *data; // element 0, in host memory
    bool summary;
    float least, greatest; // of absolute finite values other than 0; greatest 0: none
    bool scientific;
    bool any_special, negative_infinity;
    int left, right;    // most characters before and after the point of any element
    int indent, limit;  // of the current row
    int column, blanks; // blanks: pending ones, dropped at the end of a line
} Printer;

// ---- one float -------------------------------------------------------------------------------

// The texts before and after the point; either may be empty.
typedef struct Word {
    char before[WORD], after[WORD];
} Word;

// Finds the fewest digits that read back as x, and its exponent; nine are always enough for a
// float32. (For 2^-96, 2^87 and 2^90 NumPy finds one less: it also tries the other neighbour.)
static int shortest_digits(float x, int *exponent) {
    char text[WORD];
    int digits = 0;
    do snprintf(text, sizeof text, "%.*e", digits++, (double)x);
    while (digits < 9 && strtof(text, NULL) != x);
    *exponent = atoi(strchr(text, 'e') + 1);
    return digits;
}

// Splits printf's text at the point, whose form depends on the locale.
static Word word_parted(const char *text) {
    Word word;
    size_t before = strspn(text, "-0123456789");
    snprintf(word.before, sizeof word.before, "%.*s", (int)before, text);
    text += before;
    snprintf(word.after, sizeof word.after, "%s", text + strcspn(text, "0123456789e"));
    return word;
}

// Pads with true digits of x, not with zeros, as NumPy does.
static Word word_scientific(float x, int least_fraction) {
    char text[WORD];
    int exponent, fraction = shortest_digits(x, &exponent) - 1;
    snprintf(text, sizeof text, "%.*e", fraction < least_fraction ? least_fraction : fraction,
             (double)x);
    return word_parted(text);
}

static Word word_positional(float x, int most_fraction) {
    char text[WORD];
    int exponent, digits = shortest_digits(x, &exponent), fraction = digits - 1 - exponent;
    fraction = fraction < 0 ? 0 : fraction > most_fraction ? most_fraction : fraction;
    snprintf(text, sizeof text, "%.*f", fraction, (double)x);
    Word word = word_parted(text);
    for (size_t n = strlen(word.after); n > 0 && word.after[n - 1] == '0'; n--)
        word.after[n - 1] = '\0';
    return word;
}

static Word word_of_float(const Printer *p, float x, int least_fraction) {
    return p->scientific ? word_scientific(x, least_fraction) : word_positional(x, FRACTION_DIGITS);
}

// ---- one element -----------------------------------------------------------------------------

static float float_at(const Printer *p, int64_t offset) {
    return ((const float *)(const void *)p->data)[offset];
}

static int64_t integer_at(const Printer *p, int64_t offset) {
    if (p->tensor->dtype == DTYPE_UINT8) return ((const uint8_t *)p->data)[offset];
    return ((const int64_t *)(const void *)p->data)[offset];
}

// Text of the element at `offset` (in elements, from data), padded to the common width.
static void element_text(const Printer *p, int64_t offset, char text[2 * WORD]) {
    if (p->tensor->dtype != DTYPE_FLOAT32) {
        snprintf(text, 2 * WORD, "%*" PRId64, p->left, integer_at(p, offset));
        return;
    }
    float x = float_at(p, offset);
    if (isfinite(x)) {
        Word word = word_of_float(p, x, p->right - 4); // 4: "e-05"
        snprintf(text, 2 * WORD, "%*s.%-*s", p->left, word.before, p->right, word.after);
    } else {
        const char *name = isnan(x) ? "nan" : x < 0.0f ? "-inf" : "inf";
        snprintf(text, 2 * WORD, "%*s", p->left + 1 + p->right, name);
    }
}

// A tensor without dimensions prints as a number in Python: all its digits, no padding.
static void print_scalar(const Printer *p) {
    if (p->tensor->dtype != DTYPE_FLOAT32) {
        fprintf(p->file, "%" PRId64, integer_at(p, 0));
        return;
    }
    float x = float_at(p, 0), magnitude = fabsf(x);
    bool scientific = magnitude != 0.0f && (magnitude < 1e-4f || magnitude >= 1e6f);
    if (!isfinite(x)) {
        fputs(isnan(x) ? "nan" : x < 0.0f ? "-inf" : "inf", p->file);
    } else if (scientific) {
        Word word = word_scientific(x, 0);
        fprintf(p->file, "%s%s%s", word.before, word.after[0] == 'e' ? "" : ".", word.after);
    } else {
        Word word = word_positional(x, WORD);
        fprintf(p->file, "%s.%s", word.before, word.after[0] ? word.after : "0");
    }
}

// ---- the common format: two passes over all elements that are shown --------------------------

// The index shown after i: in a summary a long dimension skips from its head to its tail.
static int64_t next_index(const Printer *p, int axis, int64_t i) {
    int64_t n = p->tensor->shape.dims[axis];
    bool jump = p->summary && n > 2 * EDGE_ITEMS && i == EDGE_ITEMS - 1;
    return jump ? n - EDGE_ITEMS : i + 1;
}

static void look_at(Printer *p, int axis, int64_t offset, void (*see)(Printer *, int64_t)) {
    const Tensor *t = p->tensor;
    if (axis == t->shape.ndim) {
        see(p, offset);
        return;
    }
    for (int64_t i = 0; i < t->shape.dims[axis]; i = next_index(p, axis, i))
        look_at(p, axis + 1, offset + i * t->stride[axis], see);
}

static void see_range(Printer *p, int64_t offset) {
    float x = float_at(p, offset), magnitude = fabsf(x);
    if (!isfinite(x)) {
        p->any_special = true;
        if (x < 0.0f) p->negative_infinity = true;
        return;
    }
    if (magnitude == 0.0f) return;
    if (p->greatest == 0.0f || magnitude < p->least) p->least = magnitude;
    if (magnitude > p->greatest) p->greatest = magnitude;
}

static void widen(int *width, size_t length) {
    if ((int)length > *width) *width = (int)length;
}

static void see_float(Printer *p, int64_t offset) {
    float x = float_at(p, offset);
    if (!isfinite(x)) return;
    Word word = word_of_float(p, x, 0);
    widen(&p->left, strlen(word.before));
    widen(&p->right, strlen(word.after));
}

static void see_integer(Printer *p, int64_t offset) {
    char text[WORD];
    widen(&p->left, (size_t)snprintf(text, sizeof text, "%" PRId64, integer_at(p, offset)));
}

static void choose_format(Printer *p) {
    if (p->tensor->dtype != DTYPE_FLOAT32) {
        look_at(p, 0, 0, see_integer);
        return;
    }
    look_at(p, 0, 0, see_range);
    p->scientific = p->greatest > 0.0f &&
                    (p->greatest >= 1e6f || p->least < 1e-4f || p->greatest / p->least > 1000.0f);
    look_at(p, 0, 0, see_float);
    int special = p->negative_infinity ? 4 : 3;
    if (p->any_special && p->left + 1 + p->right < special) p->left = special - 1 - p->right;
}

// ---- brackets, lines, columns ----------------------------------------------------------------

// Holds back blanks at the end of a word: a line must not end in blanks.
static void print_word(Printer *p, const char *word) {
    int length = (int)strlen(word), visible = length;
    while (visible > 0 && word[visible - 1] == ' ') visible--;
    if (p->column + length > p->limit && p->column > p->indent) {
        fputc('\n', p->file);
        p->column = p->blanks = p->indent;
    }
    fprintf(p->file, "%*s%.*s", p->blanks, "", visible, word);
    p->column += length;
    p->blanks = length - visible;
}

static void pass_blank(Printer *p) {
    p->column++;
    p->blanks++;
}

static void print_row(Printer *p, int axis, int64_t offset) {
    int64_t n = p->tensor->shape.dims[axis], next;
    p->column = p->indent = axis + 1;
    p->limit = LINE_WIDTH - axis - 1;
    p->blanks = 0;
    for (int64_t i = 0; i < n; i = next) {
        char text[2 * WORD];
        element_text(p, offset + i * p->tensor->stride[axis], text);
        print_word(p, text);
        next = next_index(p, axis, i);
        if (next < n) pass_blank(p);
        if (next > i + 1) {
            print_word(p, "...");
            pass_blank(p);
        }
    }
    fprintf(p->file, "%*s", p->blanks, "");
}

static void print_newlines(Printer *p, int count, int indent) {
    for (; count > 0; count--) fputc('\n', p->file);
    fprintf(p->file, "%*s", indent, "");
}

// Each row gets its own line; matrices are separated by a blank line, outer dimensions by more.
static void print_part(Printer *p, int axis, int64_t offset) {
    const Tensor *t = p->tensor;
    int inner = t->shape.ndim - 1 - axis;
    fputc('[', p->file);
    if (inner == 0 || axis == TENSOR_MAX_DIMS - 1) { // the latter bounds axis for the compiler
        print_row(p, axis, offset);
        fputc(']', p->file);
        return;
    }
    for (int64_t i = 0, next; i < t->shape.dims[axis]; i = next) {
        print_part(p, axis + 1, offset + i * t->stride[axis]);
        next = next_index(p, axis, i);
        if (next > i + 1) {
            print_newlines(p, inner, axis + 1);
            fputs("...", p->file);
        }
        if (next < t->shape.dims[axis]) print_newlines(p, inner, axis + 1);
    }
    fputc(']', p->file);
}

static void print_values(const Tensor *t, const char *data, FILE *file) {
    Printer printer = {.file = file, .tensor = t, .summary = t->numel > SUMMARY_ABOVE};
    printer.data = data + t->offset * dtype_size(t->dtype);
    if (t->shape.ndim == 0) {
        print_scalar(&printer);
    } else {
        choose_format(&printer);
        print_part(&printer, 0, 0);
    }
}

Status tensor_print(const Tensor *t, FILE *file) {
    if (error_pending()) return error_status();
    if (!t || !t->storage) return error_set(STATUS_STATE, "tensor_print: no tensor");
    if (!file) return error_set(STATUS_INVALID_ARGUMENT, "tensor_print: no file");
    char shape[SHAPE_TEXT];
    if (!t->device->has_data)
        return error_set(STATUS_DEVICE,
                         "tensor_print: a %s tensor of shape %s on %s has no values. HINT: make it "
                         "on device cpu",
                         dtype_name(t->dtype), shape_text(t->shape, shape), t->device->name);
    if (t->numel == 0) {
        fputs("[]", file);
    } else {
        char *copy = NULL;
        const char *data = storage_on_host(t->storage, &copy);
        if (data) print_values(t, data, file);
        memory_free(copy);
        if (!data) return error_status();
    }
    fputc('\n', file);
    return ferror(file) ? error_set(STATUS_IO, "tensor_print: the output cannot be written")
                        : STATUS_OK;
}

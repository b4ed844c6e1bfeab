// einsum.c -- Einstein summation: letters name dimensions, and those not in the result are summed
// over. No op of its own: it runs as views, sums and products of two operands, from the left.
#include <ctype.h>

#include "tensor/ops/elementwise.h"

// Labels: A to Z, a to z, then the dimensions of "...", aligned at its end.
enum { LETTERS = 52, LABELS = LETTERS + TENSOR_MAX_DIMS };

typedef struct Equation {
    const char *text;
    int64_t size[LABELS];            // -1: no operand has it
    int named[LABELS];               // number of operands' dimensions with the label
    int later[LABELS];               // as `named`, for operands not multiplied yet
    bool kept[LABELS];               // whether the result has it
    int out[TENSOR_MAX_DIMS], n_out; // labels of the result
    int dots;                        // most dimensions of any "..."
} Equation;

typedef struct Operand {
    Tensor *t;
    int label[TENSOR_MAX_DIMS]; // one for each dimension
} Operand;

static Status bad(const Equation *e, const char *what) {
    return error_set(STATUS_INVALID_ARGUMENT,
                     "einsum \"%.80s\": %s. HINT: as \"bij,bjk->bik\", a letter a dimension",
                     e->text, what);
}

// ---- the equation -------------------------------------------------------------------------------
static int label_of(char c) { return isupper((unsigned char)c) ? c - 'A' : 26 + c - 'a'; }
static bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
static bool ends_term(const char *at) {
    return *at == '\0' || *at == ',' || (at[0] == '-' && at[1] == '>');
}

// Counts the letters and "..." up to the term's end.
static Status count_term(const Equation *e, const char *at, int *letters, int *dots) {
    for (*letters = *dots = 0; !ends_term(at); at++) {
        if (is_letter(*at)) {
            ++*letters;
        } else if (at[0] == '.' && at[1] == '.' && at[2] == '.') {
            ++*dots;
            at += 2;
        } else if (*at != ' ') {
            return bad(e, "what is neither a letter nor \"...\"");
        }
    }
    return *dots > 1 ? bad(e, "\"...\" twice in one operand") : STATUS_OK;
}

// Reads the labels of a term of `rank` dimensions (-1: the result's); moves *at to its end.
static Status take_term(const Equation *e, const char **at, int rank, int label[], int *n) {
    int letters, dots;
    if (count_term(e, *at, &letters, &dots)) return error_status();
    int hidden = rank < 0 ? e->dots : rank - letters;
    if (rank >= 0 && (hidden < 0 || (hidden > 0 && !dots)))
        return error_set(STATUS_SHAPE,
                         "einsum \"%.80s\": an operand of %d dimensions has %d letters. HINT: one "
                         "for each; \"...\" stands for any number",
                         e->text, rank, letters);
    if (letters + (dots ? hidden : 0) > TENSOR_MAX_DIMS)
        return bad(e, "a result of more dimensions than a tensor has");
    for (*n = 0; !ends_term(*at); ++*at) {
        if (is_letter(**at)) label[(*n)++] = label_of(**at);
        if (**at != '.') continue;
        for (int i = 0; i < hidden; i++) label[(*n)++] = LABELS - hidden + i;
        *at += 2;
    }
    return STATUS_OK;
}

static Status unequal(const Equation *e, int label, int64_t one, int64_t other) {
    const char letter[] = {(char)(label < 26 ? 'A' + label : 'a' + label - 26), '\0'};
    return error_set(STATUS_SHAPE, "einsum \"%.80s\": %s is %lld and %lld. HINT: equal, or 1",
                     e->text, label < LETTERS ? letter : "...", (long long)one, (long long)other);
}

static Status note_sizes(Equation *e, const Operand *operand) {
    for (int i = 0; i < operand->t->shape.ndim; i++) {
        int l = operand->label[i];
        int64_t size = operand->t->shape.dims[i], *known = &e->size[l];
        e->named[l]++;
        e->later[l]++;
        if (l >= LETTERS && LABELS - l > e->dots) e->dots = LABELS - l;
        if (*known == size || (size == 1 && *known >= 0)) continue;
        if (*known >= 0 && *known != 1) return unequal(e, l, *known, size);
        *known = size;
    }
    return STATUS_OK;
}

// Reads the labels after "->"; without "->" takes the dimensions of "..." and the letters that
// occur once, in alphabetical order.
static Status take_result(Equation *e, const char *at) {
    if (*at == '-') {
        at += 2;
        if (take_term(e, &at, -1, e->out, &e->n_out)) return error_status();
        if (*at) return bad(e, "something behind the result");
    } else {
        for (int l = LABELS - e->dots; l < LABELS; l++) e->out[e->n_out++] = l;
        for (int l = 0; l < LETTERS; l++) {
            if (e->named[l] != 1) continue;
            if (e->n_out == TENSOR_MAX_DIMS)
                return bad(e, "a result of more dimensions than a tensor has");
            e->out[e->n_out++] = l;
        }
    }
    for (int i = 0; i < e->n_out; i++) {
        if (e->kept[e->out[i]]) return bad(e, "a letter twice in the result");
        if (e->size[e->out[i]] < 0) return bad(e, "a letter in the result that no operand has");
        e->kept[e->out[i]] = true;
    }
    return STATUS_OK;
}

static Status take_operand(Equation *e, const char **at, Tensor *t, int index, Operand *operand) {
    int n;
    if (!t)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "einsum: operand %d is NULL. HINT: all of them are needed", index);
    if (index > 0 && **at != ',') return bad(e, "fewer operands than there are");
    if (index > 0) ++*at;
    operand->t = t;
    if (take_term(e, at, t->shape.ndim, operand->label, &n)) return error_status();
    return note_sizes(e, operand);
}

// ---- one operand --------------------------------------------------------------------------------
static bool has(const Operand *operand, int label) {
    for (int i = 0; i < operand->t->shape.ndim; i++)
        if (operand->label[i] == label) return true;
    return false;
}

// The operand with its dimensions in the order of these labels, which are all that it has.
static Tensor *in_order(const Operand *operand, const int order[]) {
    int dims[TENSOR_MAX_DIMS], n = operand->t->shape.ndim;
    bool same = true;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            if (operand->label[k] == order[i]) dims[i] = k;
        same = same && dims[i] == i;
    }
    return same ? operand->t : tensor_permute(operand->t, dims);
}

// Takes the diagonal of dimensions p and q: moves both first, as one of d d, and steps by d + 1.
static Status take_diagonal(const Equation *e, Operand *operand, int p, int q) {
    Tensor *t = operand->t;
    int64_t d = t->shape.dims[p];
    int dims[TENSOR_MAX_DIMS] = {p, q}, n = 2;
    if (t->shape.dims[q] != d) return bad(e, "a letter twice in one operand, of different sizes");
    for (int i = 0; i < t->shape.ndim; i++)
        if (i != p && i != q) dims[n++] = i;
    Shape shape = {.ndim = 1, .dims = {d * d}};
    int label[TENSOR_MAX_DIMS] = {operand->label[p]};
    for (int i = 2; i < n; i++) {
        label[shape.ndim] = operand->label[dims[i]];
        shape.dims[shape.ndim++] = t->shape.dims[dims[i]];
    }
    if (p > 0 || q > 1) t = tensor_permute(t, dims);
    operand->t = tensor_slice(tensor_reshape(t, shape), 0, 0, d * d, d + 1);
    memcpy(operand->label, label, sizeof label);
    return error_status();
}

// Removes repeated letters, and dimensions of 1 that are longer in other operands.
static Status simplify(const Equation *e, Operand *operand) {
    for (int p = 0; p < operand->t->shape.ndim; p++)
        for (int q = p + 1; q < operand->t->shape.ndim; q++) {
            if (operand->label[p] != operand->label[q]) continue;
            if (take_diagonal(e, operand, p, q)) return error_status();
            p = 0, q = 0; // the others moved
        }
    Shape shape = {.ndim = 0};
    for (int i = 0; i < operand->t->shape.ndim; i++) {
        int64_t size = operand->t->shape.dims[i];
        operand->label[shape.ndim] = operand->label[i];
        if (size == e->size[operand->label[i]]) shape.dims[shape.ndim++] = size;
    }
    if (shape.ndim < operand->t->shape.ndim) operand->t = tensor_reshape(operand->t, shape);
    return error_status();
}

// Sums over labels that neither the result, nor later operands, nor `other` (or NULL) has.
static Status sum_alone(const Equation *e, Operand *operand, const Operand *other) {
    int dims[TENSOR_MAX_DIMS], n = 0, left = 0;
    for (int i = 0; i < operand->t->shape.ndim; i++) {
        int l = operand->label[i];
        if (e->kept[l] || e->later[l] > 0 || (other && has(other, l)))
            operand->label[left++] = l;
        else
            dims[n++] = i;
    }
    if (n > 0) operand->t = tensor_sum_dims(operand->t, dims, n, false);
    return error_status();
}

// ---- two operands -------------------------------------------------------------------------------
typedef struct Group { // labels, and the number of elements they span
    int label[TENSOR_MAX_DIMS], n;
    int64_t size;
} Group;

static void add_label(const Equation *e, Group *group, int label) {
    group->label[group->n++] = label;
    group->size *= e->size[label];
}

static int put(int order[], int n, const Group *group) {
    for (int i = 0; i < group->n; i++) order[n++] = group->label[i];
    return n;
}

// (batch, own, summed) as matrices; if the summed labels come first, a transposed view.
static Tensor *matrices(const Operand *operand, const Group *batch, const Group *own,
                        const Group *summed) {
    int order[TENSOR_MAX_DIMS], last = operand->label[operand->t->shape.ndim - 1];
    bool behind = false;
    for (int i = 0; i < summed->n; i++) behind = behind || summed->label[i] == last;
    const Group *rows = behind ? own : summed, *columns = behind ? summed : own;
    put(order, put(order, put(order, 0, batch), rows), columns);
    Tensor *t = in_order(operand, order);
    Shape shape =
        batch->n ? SHAPE(batch->size, rows->size, columns->size) : SHAPE(rows->size, columns->size);
    t = tensor_reshape(t, shape);
    return behind ? t : tensor_transpose(t, -1, -2);
}

// Its dimensions, and `absent` dimensions of 1 inserted at `at`.
static Tensor *spread(const Operand *operand, const int order[], int at, int absent) {
    Tensor *t = in_order(operand, order);
    if (!t || absent == 0) return t;
    Shape shape = {.ndim = 0};
    for (int i = 0; i <= t->shape.ndim; i++) {
        for (int k = 0; k < absent && i == at; k++) shape.dims[shape.ndim++] = 1;
        if (i < t->shape.ndim) shape.dims[shape.ndim++] = t->shape.dims[i];
    }
    return tensor_reshape(t, shape);
}

// Replaces a by the product of both, with labels (batch, left, right).
static Status multiply(const Equation *e, Operand *a, const Operand *b) {
    Group batch = {.size = 1}, left = {.size = 1}, right = {.size = 1}, summed = {.size = 1};
    for (int i = 0; i < a->t->shape.ndim; i++) {
        int l = a->label[i];
        bool stays = e->kept[l] || e->later[l] > 0;
        add_label(e, !has(b, l) ? &left : stays ? &batch : &summed, l);
    }
    for (int i = 0; i < b->t->shape.ndim; i++)
        if (!has(a, b->label[i])) add_label(e, &right, b->label[i]);
    if (batch.n + left.n + right.n > TENSOR_MAX_DIMS)
        return bad(e, "a product on the way has more dimensions than a tensor has");
    int order[TENSOR_MAX_DIMS], other[TENSOR_MAX_DIMS], n;
    n = put(order, put(order, 0, &batch), &left);
    put(other, put(other, 0, &batch), &right);
    Tensor *y;
    if (summed.n > 0) {
        Tensor *rows = matrices(a, &batch, &left, &summed);
        y = tensor_matmul(rows, tensor_transpose(matrices(b, &batch, &right, &summed), -1, -2));
    } else {
        Tensor *rows = spread(a, order, n, right.n);
        y = tensor_mul(rows, spread(b, other, batch.n, left.n));
    }
    n = put(order, n, &right);
    memcpy(a->label, order, sizeof order);
    Shape shape = {.ndim = n};
    for (int i = 0; i < n; i++) shape.dims[i] = e->size[order[i]];
    a->t = y && summed.n > 0 ? tensor_reshape(y, shape) : y;
    return error_status();
}

// ---- all of them --------------------------------------------------------------------------------
Tensor *tensor_einsum(const char *equation, Tensor *const operands[], int n_operands) {
    if (error_pending()) return NULL;
    if (!equation || !operands || n_operands < 1 || n_operands > EINSUM_MAX_OPERANDS) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "einsum: no equation, or %d operands. HINT: 1 to %d of them", n_operands,
                  EINSUM_MAX_OPERANDS);
        return NULL;
    }
    Equation e = {.text = equation};
    Operand of[EINSUM_MAX_OPERANDS];
    const char *at = equation;
    for (int l = 0; l < LABELS; l++) e.size[l] = -1;
    for (int k = 0; k < n_operands; k++)
        if (take_operand(&e, &at, operands[k], k, &of[k])) return NULL;
    if (*at == ',') bad(&e, "more operands than were given");
    if (error_pending() || take_result(&e, at)) return NULL;
    for (int k = 0; k < n_operands; k++) {
        for (int i = 0; i < of[k].t->shape.ndim; i++) e.later[of[k].label[i]]--;
        if (simplify(&e, &of[k]) || (k > 0 && sum_alone(&e, &of[k], &of[0]))) return NULL;
        if (sum_alone(&e, &of[0], k > 0 ? &of[k] : NULL)) return NULL;
        if (k > 0 && multiply(&e, &of[0], &of[k])) return NULL;
    }
    return in_order(&of[0], e.out);
}

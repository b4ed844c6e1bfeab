// 1_scalar.c -- gradients of single numbers, whole: a value remembers what it was computed from,
// and backward walks all values in reverse. The engine does the same with tensors.
#include <math.h>
#include <stdio.h>

typedef struct Value Value;
struct Value {
    double data, grad; // grad: d loss / d data
    Value *in[2];      // what it was computed from; NULL: nothing, it is a leaf
    double slope[2];   // d data / d in[i]
};

// Values in the order in which they were computed. Whatever reads a value stands behind it, so that
// in reverse its gradient is complete before it is passed on.
static Value tape[16];
static int n_tape;

static Value *record(double data, Value *a, double slope_a, Value *b, double slope_b) {
    tape[n_tape] = (Value){data, 0.0, {a, b}, {slope_a, slope_b}};
    return &tape[n_tape++];
}

static Value *leaf(double data) { return record(data, NULL, 0.0, NULL, 0.0); }
static Value *add(Value *a, Value *b) { return record(a->data + b->data, a, 1.0, b, 1.0); }
static Value *mul(Value *a, Value *b) { return record(a->data * b->data, a, b->data, b, a->data); }
static Value *squash(Value *a) {
    double y = tanh(a->data);
    return record(y, a, 1.0 - y * y, NULL, 0.0);
}

static void backward(void) {
    tape[n_tape - 1].grad = 1.0; // of the loss, which was computed last
    for (int v = n_tape - 1; v >= 0; v--)
        for (int i = 0; i < 2; i++)
            if (tape[v].in[i]) tape[v].in[i]->grad += tape[v].slope[i] * tape[v].grad;
}

int main(void) {
    double weight = -0.5, bias = 0.0, loss = 1.0; // a neuron that is to answer 0.8 to 1
    for (int step = 0; step < 50; step++) {
        n_tape = 0;
        Value *w = leaf(weight), *b = leaf(bias);
        Value *error = add(squash(add(mul(w, leaf(1.0)), b)), leaf(-0.8));
        loss = mul(error, error)->data;
        backward();
        if (step % 10 == 0) printf("step %2d: loss %.6f, d loss/d w %+.6f\n", step, loss, w->grad);
        weight -= 0.5 * w->grad;
        bias -= 0.5 * b->grad;
    }
    return loss < 1e-6 ? 0 : 1;
}

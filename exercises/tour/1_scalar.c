// 1_scalar.c -- gradients of single numbers, complete. Each value remembers which values it was
// computed from; backward visits all values, the last one first. The engine does this with tensors.
#include <math.h>
#include <stdio.h>

typedef struct Value Value;
struct Value {
    double data;     // the number itself
    double grad;     // d loss / d data, which backward fills in
    Value *in[2];    // what it was computed from; a leaf, such as a weight, has two NULLs
    double slope[2]; // d data / d in[i]
};

// The values of one step, in the order in which they were computed. Each stands behind the values
// it was computed from. So when backward, which goes from the end, reaches a value, all that use it
// have already added to its gradient: the gradient is complete and can be passed on.
static Value tape[16]; // the step below takes 9 places
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
    tape[n_tape - 1].grad = 1.0; // the last value is the loss, and d loss / d loss is 1
    for (int v = n_tape - 1; v >= 0; v--)
        for (int i = 0; i < 2; i++)
            if (tape[v].in[i]) tape[v].in[i]->grad += tape[v].slope[i] * tape[v].grad;
}

// Trains one neuron, y = tanh(w x + b), to answer y = 0.8 when x = 1. Its loss is (y - 0.8)^2.
int main(void) {
    double weight = -0.5, bias = 0.0, loss = 1.0;
    for (int step = 0; step < 50; step++) {
        n_tape = 0; // every step begins a new tape
        Value *w = leaf(weight), *b = leaf(bias);
        Value *error = add(squash(add(mul(w, leaf(1.0)), b)), leaf(-0.8));
        loss = mul(error, error)->data;
        backward();
        if (step % 10 == 0) printf("step %2d: loss %.6f, d loss/d w %+.6f\n", step, loss, w->grad);
        weight -= 0.5 * w->grad; // 0.5 is the learning rate
        bias -= 0.5 * b->grad;
    }
    return loss < 1e-6 ? 0 : 1;
}

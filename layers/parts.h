// parts.h -- internal to layers/: functions that layers' constructors and forward functions share.
#ifndef LAYERS_PARTS_H
#define LAYERS_PARTS_H

#include "layers/layer.h"

// Ends a _new function: returns the layer, or with an error pending frees it and gives NULL.
Layer *layer_finished(Layer *self);

// Ends as layer_finished, with a weight of the shape (out, in, ...) and, where wanted, a bias
// (out), both uniform in +-1/sqrt(fan in), as PyTorch's nn.Linear and nn.Conv2d: Kaiming's bound
// for a leaky ReLU of slope sqrt(5).
Layer *layer_finished_product(Layer *self, Shape weight, bool bias);

// As layer_finished_product, with a bias of any size; -1: none.
Layer *layer_finished_with(Layer *self, Shape weight, int64_t bias);

// Prints the text between PyTorch's parentheses for a convolution of 1 or 2 dims; with 1, only the
// widths of the (height, width) pairs.
void layer_print_convolution(FILE *file, const int64_t channels[2], const int64_t kernel[2],
                             const Conv2dOptions *options, const int64_t output_padding[2],
                             bool bias, int dims);
// Checks that a convolution can have these channels (in, out), kernel and groups.
Status layer_check_convolution(const char *name, const int64_t channels[2], const int64_t kernel[2],
                               int64_t groups);

// A new parameter of this shape: filled with one value, or normal with mean 0.
Tensor *layer_filled_new(Shape shape, float value);
Tensor *layer_normal_new(Shape shape, float deviation);
// An embedding whose table is normal; padding_idx NULL: no row of it is padding.
Layer *layer_embedding_new(int64_t count, int64_t features, float deviation,
                           const int64_t *padding_idx);

// layer_child_named finds the child with this name; NULL: none. layer_has_name: true if a
// parameter, buffer or child of the layer has the name.
Layer *layer_child_named(const Layer *self, const char *name, size_t length);
bool layer_has_name(const Layer *self, const char *name);
// Child i, or NULL where there are fewer: layer_forward refuses that. layer_run_child runs it on x.
Layer *layer_child(const Layer *self, int i);
Tensor *layer_run_child(const Layer *self, int i, Tensor *x);
// Runs the children in order, each on the output of the one before and on in[1] ... as they are.
Tensor *layer_run_in_order(Layer *self, Tensor *const in[], int n_in);

// ---- attention: heads of d features each --------------------------------------------------------
// A view of x (b, s, n d) as (b, n, s, d).
Tensor *layer_heads(Tensor *x, int64_t d);
// Splits the output of one product, (b, s, 3 n d), into queries, keys and values, each (b, n, s,
// d); views.
void layer_heads_each(Tensor *all, int64_t n, int64_t d, Tensor *heads[3]);
// Attention over these heads and what self's cache keeps, joined again: (b, s, n d). Releases the
// heads.
Tensor *layer_attend(const Layer *self, Tensor *heads[3], Tensor *mask, AttentionOptions options,
                     bool by_formula);
// Number of positions before those that self is given: 0 without a cache (kv_cache.h).
int64_t layer_past(const Layer *self);
// With a cache: stores the keys and values, and replaces both by those of all positions so far. A
// mask then hides later positions in place of *causal, where needed. Without a cache: does nothing.
Status layer_remember(const Layer *self, Tensor *heads[3], Tensor **mask, bool *causal);

// Check a norm's arguments; `who` begins the message.
Status layer_check_row(const char *who, Shape row, float epsilon);
Status layer_check_epsilon(const char *who, float epsilon);

// Runs forward itself, without recomputation: fills out, which has room for LAYER_MAX_OUTPUTS.
void layer_run(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);

Status layer_recompute_mark(Layer *self);
void layer_recompute_forget(Layer *self); // ends the marking by layer_recompute_mark
void layer_drop_state(Layer *self);       // frees its own parameters and buffers

// Ends a layer or a twin: it leaves its parent, and is freed with its children and all it owns.
void layer_dismantle(Layer *self);

#endif

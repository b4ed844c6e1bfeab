// parts.h -- internal to layers/: what the making and the end of layers share.
#ifndef LAYERS_PARTS_H
#define LAYERS_PARTS_H

#include "layers/layer.h"

// For the last line of a _new function: the layer; with an error pending NULL, and it is freed.
Layer *layer_finished(Layer *self);

// Ends as layer_finished, with a weight of the shape (out, in, ...) and, where wanted, a bias
// (out), both uniform in +-1/sqrt(fan in), as PyTorch's nn.Linear and nn.Conv2d: Kaiming's bound
// for a leaky ReLU of slope sqrt(5).
Layer *layer_finished_product(Layer *self, Shape weight, bool bias);

// The same with a bias of any size; -1: none.
Layer *layer_finished_with(Layer *self, Shape weight, int64_t bias);

// What PyTorch prints between the parentheses of a convolution, of 1 or 2 dims: of the pairs
// (height, width) the latter, or both.
void layer_print_convolution(FILE *file, const int64_t channels[2], const int64_t kernel[2],
                             const Conv2dOptions *options, const int64_t output_padding[2],
                             bool bias, int dims);
// Are channels (in, out), kernel and groups such as a convolution can have?
Status layer_check_convolution(const char *name, const int64_t channels[2], const int64_t kernel[2],
                               int64_t groups);

// A parameter of this shape: one number all over; normal, with a mean of 0.
Tensor *layer_filled_new(Shape shape, float value);
Tensor *layer_normal_new(Shape shape, float deviation);
// An embedding whose table is normal; padding_idx NULL: no row of it is padding.
Layer *layer_embedding_new(int64_t count, int64_t features, float deviation,
                           const int64_t *padding_idx);

// The child whose name is these letters; NULL: there is none. And whether anything that the layer
// holds has the name.
Layer *layer_child_named(const Layer *self, const char *name, size_t length);
bool layer_has_name(const Layer *self, const char *name);
// Child i; NULL, which layer_forward refuses, where there are fewer. And what it makes of x.
Layer *layer_child(const Layer *self, int i);
Tensor *layer_run_child(const Layer *self, int i, Tensor *x);
// The children one after the other, each on what the one before gave and on in[1] ... as they are.
Tensor *layer_run_in_order(Layer *self, Tensor *const in[], int n_in);

// ---- attention: heads of d features each --------------------------------------------------------
// x (b, s, n d) as (b, n, s, d), a view.
Tensor *layer_heads(Tensor *x, int64_t d);
// Queries, keys and values, each (b, n, s, d), of what one product gave side by side, (b, s, 3 n
// d); views.
void layer_heads_each(Tensor *all, int64_t n, int64_t d, Tensor *heads[3]);
// Their attention, of self and with what its cache keeps, joined again: (b, s, n d). The heads are
// released.
Tensor *layer_attend(const Layer *self, Tensor *heads[3], Tensor *mask, AttentionOptions options,
                     bool by_formula);
// How many positions were before those that self is given: 0 without a cache (kv_cache.h).
int64_t layer_past(const Layer *self);
// With a cache: it keeps the keys and values, which become those of all positions so far, and what
// hides later ones is a mask, or not needed. Without: nothing.
Status layer_remember(const Layer *self, Tensor *heads[3], Tensor **mask, bool *causal);

// What a norm is made with; `who` begins the message.
Status layer_check_row(const char *who, Shape row, float epsilon);
Status layer_check_epsilon(const char *who, float epsilon);

// What forward does without being recorded: fills out, LAYER_MAX_OUTPUTS of them.
void layer_run(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);

Status layer_recompute_mark(Layer *self);
void layer_recompute_forget(Layer *self); // it is not marked any more
void layer_drop_state(Layer *self);       // it has no parameters and buffers of its own any more

// The end of a layer, or of a twin: it leaves its parent and its children, and is freed with what
// it owns.
void layer_dismantle(Layer *self);

#endif

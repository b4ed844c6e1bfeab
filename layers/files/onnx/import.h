// import.h -- internal to the ONNX reader: the state of an import while a file becomes layers. The
// public interface is onnx.h.
#ifndef LAYERS_FILES_ONNX_IMPORT_H
#define LAYERS_FILES_ONNX_IMPORT_H

#include "layers/files/onnx/steps.h"
#include "tensor/context.h"

// ONNX's element types (TensorProto.DataType).
enum {
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_UINT16 = 4,
    ONNX_INT16 = 5,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11,
    ONNX_UINT32 = 12,
    ONNX_UINT64 = 13,
    ONNX_BFLOAT16 = 16
};
bool onnx_is_float(int type); // in any precision: all are float32 here
// The dtype in which its numbers are computed: integers as int64, the rest as float32, with truth
// values as 0 and 1.
DType onnx_dtype(int type);
// The bits of an integer type, its sign included; 0: not an integer type.
int onnx_bits(int type, bool *is_signed);
const char *onnx_type_name(int type); // "int32"
const char *onnx_numpy(int type);     // NumPy's name: "i4"; "f4" where it has none
bool onnx_is_known(int type);         // true if it is one of the above

// ---- values -----------------------------------------------------------------------------------
typedef enum ValueKind {
    VALUE_UNKNOWN,   // its node has not been reached, or does not exist
    VALUE_CONSTANT,  // known at import: stored in the file, or computed
    VALUE_PARAMETER, // stored in the file, and learned
    VALUE_RUN        // known when the model runs
} ValueKind;

// Rows of stored numbers that are a parameter by themselves: the gates of one direction of a
// recurrent cell, in PyTorch's order. gates 0: the value is all the stored numbers.
typedef struct GateRows {
    const int *order; // PyTorch's i-th gate is the file's order[i]-th
    int gates;
    int64_t begin, each, columns; // the first row, rows per gate, numbers per row
    int64_t stored;               // count of all stored numbers
    int layer;                    // layer of a stack, from 0
    bool reverse;                 // belongs to the second direction
} GateRows;

// The exporter's record of a name: a parameter, or something else (a buffer, a constant).
typedef enum Told { TOLD_NOTHING, TOLD_LEARNED, TOLD_FIXED } Told;

typedef struct Value {
    const char *name; // in the file
    char *path;       // owned: path of the one parameter it was made from; NULL: unknown
    ValueKind kind;
    int type; // ONNX_...
    Shape shape;
    Tensor *data;               // a constant's numbers, once asked for: on the host
    const Onnx__Tensor *stored; // in the file; NULL: the value was computed
    Onnx__Tensor listed;        // stands for a Constant node's list of floats
    int64_t count;              // length of that list
    Tensor *tensor;             // during the walk, on the meta device, for shapes
    int uses;                   // by nodes still to come, and the graph's outputs
    int readers;                // number of all uses
    int norms;                  // number of norms that scale or shift by it, if it is a constant
    const Tensor *given;        // numbers told for an input when the file was loaded; NULL: none
    bool decides;               // `given` determined a shape or the like
    int step;                   // the step that computes it; -1: none
    int alias;                  // the value that this is another name of; -1: none
    int twin;                   // a parameter with which it shares its numbers; -1: none
    bool maybe_tied;            // its numbers are another's, but all of them are equal
    bool flipped;               // a parameter (k, n) in the file, and (n, k) here as in PyTorch
    bool initial;               // an initializer, not a node's constant
    enum { UNIFORM_UNKNOWN, UNIFORM_NOT, UNIFORM } uniform; // whether all numbers are equal
    float all;                                              // that number
    bool held;                        // a step reads it: needed when the model runs
    bool is_state;                    // running statistics: no gradient
    bool fixed;                       // the record, or its use, says that it is no parameter
    bool folded;                      // the exporter computed it from recorded parameters
    bool cut;                         // from one, of which it may hold a part, or copies
    bool placed;                      // it reaches a place for weights, before anything that runs
    bool moved;                       // and through other nodes
    bool reaches;                     // it reaches numbers that are computed when the model runs
    bool tied;                        // the record says that layers share it
    bool unread;                      // no node reads it, and it is no output of the graph
    bool poisoned;                    // it depends on a missing operator
    const Onnx__TensorType *recorded; // the file's type of a node's result; NULL: none
    const char *role;                 // its first user's name for it: "weight"
    int role_step;                    // step of that user; -1: none
    int slot;                         // in the program; -1: nothing that runs reads it
    GateRows rows;
} Value;

// ---- the import -------------------------------------------------------------------------------
struct Import {
    const char *path;         // of the file
    const Onnx__Model *model; // in `arena`
    const Onnx__Graph *graph;
    struct Arena *arena;
    struct Inlined *inlined;    // the file's functions, expanded; NULL: it has none
    const OnnxOptions *options; // never NULL
    OnnxModel *about;           // never NULL
    int64_t opset;              // of ai.onnx, for the current node
    Onnx__Opset *const *opsets; // imported by the file, or by the node's function
    size_t n_opsets;
    Value **values;
    int n_values, value_room;
    int *buckets, n_buckets; // values by name
    int *chain;              // for each value: the next in its bucket
    struct Target *targets;  // the exporter's record of names, sorted by name
    int n_targets;
    bool recorded; // the record says which names are parameters
    bool stores;   // some initializer is at a place for weights
    Step **steps;
    int n_steps, step_room;
    Context *host;   // device: the CPU; computes constants
    bool computing;  // a constant is being computed, no step is built
    int64_t held;    // elements of constants in memory
    int64_t worked;  // elements of all constants computed so far
    int64_t copied;  // elements of parameters that the model copies
    OnnxSize *sizes; // the sizes that names stand for
    int n_sizes;
    bool missing;   // some operators are missing
    char text[256]; // "Conv /layer1/conv1/Conv", for messages
};

enum { VALUE_ABSENT = -1 };

// ---- reading the file (file.c, data.c) --------------------------------------------------------
Status onnx_file_read(Import *import); // from path to model and graph
void onnx_file_free(Import *import);
// Read the elements of stored numbers, as integers or as floats; out has room for `count`, the
// product of their dims.
Status onnx_stored_integers(const Import *import, const Onnx__Tensor *stored, int64_t count,
                            int64_t *out);
Status onnx_stored_floats(const Import *import, const Onnx__Tensor *stored, int64_t count,
                          float *out);
// Reads the floats into a new block that the caller frees; NULL with an error pending.
float *onnx_stored_new(const Import *import, const Onnx__Tensor *stored, int64_t count);
// Checks that `count` elements are stored, without reading them.
Status onnx_stored_check(const Import *import, const Onnx__Tensor *stored, int64_t count);
// The stored shape; an error where it has more dims than a tensor can have, or overflows.
Status onnx_stored_shape(const Onnx__Tensor *stored, Shape *shape);

// Expands the file's functions where they are called (functions.c): no calls stay in the graph.
Status import_inline(Import *import);
void import_node_scope(Import *import, size_t node); // makes that node's opsets current
void import_inline_free(Import *import);

// ---- values (values.c) ------------------------------------------------------------------------
int import_find(const Import *import, const char *name); // VALUE_ABSENT: there is none
int import_value_new(Import *import, const char *name);  // VALUE_ABSENT with an error pending
Value *import_value(const Import *import, int index);    // NULL for VALUE_ABSENT
// The numbers of a constant, made on first use: a dense tensor on the host, of onnx_dtype(its
// type). NULL with an error pending. The four accessors below need them: an element as a double or
// as an integer (rounded towards 0), or the block, to write a new constant.
const Tensor *value_data(Import *import, Value *value);
// False: it is not one number; `what` names it in the message.
bool value_is_one(Import *import, Value *value, const char *what);
double value_number(const Value *value, int64_t index);
int64_t value_integer(const Value *value, int64_t index);
int64_t *value_integers(const Value *value);
float *value_floats(const Value *value);
// Checks that `count` more numbers may be held; an error where the sum exceeds its bound.
Status import_room(Import *import, int64_t count);
// Counts numbers that are read or made on the way; an error where the sum exceeds its bound.
Status import_work(Import *import, int64_t count);
// Makes the value a constant of zeros. The shape's size is bounded.
Status value_make(Import *import, Value *value, int type, Shape shape);
// Makes the value a constant with these numbers, and owns them from then on.
Status value_set(Import *import, Value *value, int type, Tensor *data);
void value_drop(Import *import, Value *value); // frees its data, once no reader is to come
// Counts a copy of its numbers, whose sum is bounded.
Status import_copies(Import *import, const Value *value, int64_t count);
bool value_is_uniform(Import *import, Value *value); // true if all its stored numbers are equal
bool value_is_all(Import *import, Value *value, float number); // and that is `number`
// Makes room for one more element in a block that has `count`. (It doubles.)
Status import_grow(void **block, int count, size_t size);
void import_free(Import *import);

// The value of the node's input i, or NULL (absent, or an empty name).
Value *node_input(const Import *import, const Node *node, int i);
Value *node_output(const Import *import, const Node *node, int i); // NULL: it has no output i
int node_input_index(const Import *import, const Node *node, int i);
int64_t attribute_int(const Node *node, const char *name, int64_t otherwise);
float attribute_float(const Node *node, const char *name, float otherwise);
// Returns the number of integers; at most `room` are written. -1: there is no such attribute.
int attribute_ints(const Node *node, const char *name, int64_t *out, int room);
bool attribute_is(const Node *node, const char *name, const char *text, bool otherwise);
const Onnx__Attribute *attribute_find(const Node *node, const char *name);
// The newer exporter's record on the node ("pkg.torch.onnx.name_scopes"); NULL: nothing.
const char *onnx_recorded(const Node *node, const char *key);
const char *onnx_text_of(Onnx__Text *const entries[], size_t n, const char *key); // by key
// Integers from an attribute in old opsets and constant input i in new ones; returns as above. An
// error is pending where they are not known at import.
int import_ints(Import *import, const Node *node, const char *name, int i, int64_t *out, int room);
// The axis counted from 0; -1 with an error pending.
int import_axis(Import *import, int64_t axis, int ndim);
// Sets "onnx: Conv /conv1/Conv: ...", which names the node; without a HINT in `format` it adds the
// usual one.
Status import_error(const Import *import, Status status, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));
// Notes an assumption, for the reader, about something that the file leaves open: `what` is a noun,
// as "size \"batch\" of input \"x\"", `taken` its value. The same pair is noted once.
Status import_assume(Import *import, const char *what, const char *taken, ...)
    __attribute__((format(printf, 3, 4)));

// ---- the supported part of an operator's schema (schema.c) ------------------------------------
// Checks that all parts of a node are supported; the pending error names the part that is not. An
// operator that is not here at all is no error.
Status schema_check(const Import *import, const Node *node);
// Writes "com.microsoft.FusedConv": with its domain, unless that is ONNX's.
void schema_name(const Node *node, char *text, size_t room);
// Makes these opsets current for the nodes that follow.
void import_scope(Import *import, Onnx__Opset *const opsets[], size_t n);

// ---- the newer exporter's record (told.c) -------------------------------------------------------
Status told_read(Import *import); // reads which names are parameters
Told told_of(const Import *import, const char *name, size_t length);
// Notes that a value here is the parameter of that name.
void told_claim(Import *import, const char *name);
// Claims a recorded parameter directly in the node's layer that no value here is yet, and returns
// its path; ours to free. NULL: there is none.
char *told_sibling(Import *import, const Node *node);
// Notes that this node's layer has its parameter `role`, whatever the file calls the numbers.
void told_read_as(Import *import, const Node *node, const char *role);
char *told_unclaimed(const Import *import, int *at); // the next one that no value is; ours to free
// True if the exporter recorded both names, and `name` before `other`.
bool told_before(const Import *import, const char *name, const char *other);
// Decides which stored values that were folded from others are parameters, and their paths.
Status told_apply(Import *import);
const char *value_path(const Value *value); // of a parameter; NULL: it has none
// Values with all elements equal are stored once for several layers, under one's name. Tells whose
// they are where this node's layer calls them `role`. *own, ours to free: the path of the layer's
// own parameter for OWNER_ANOTHER; else NULL.
typedef enum Owner {
    OWNER_LAYER,   // that layer, as far as the record tells
    OWNER_TIED,    // several layers, this one among them
    OWNER_ANOTHER, // another layer; this one has such a parameter, too
    OWNER_NONE     // this layer has no parameter of that name
} Owner;
Owner told_owner(Import *import, Value *value, const Node *node, const char *role, char **own);
// Adds a bias of zeros that the exporter removed, as the newest step's input 2.
Status told_bias(Import *import, const Node *node, Step *step, int64_t count);

// ---- which values are parameters (learned.c, guesses.c) ---------------------------------------
// Adds to the count of numbers that the file stores as parameters. STATUS_FORMAT: the file claims
// to store more than can be counted.
Status learned_count(Import *import, int64_t numbers);
// Classifies an initializer by the record or its name.
Status learned_by_name(Import *import, Value *value);
// For all values: notes which are unread and which reach a place for weights. Those without a
// telling name that get there through other nodes become parameters.
Status learned_by_place(Import *import);
// True for a "/...Constant" node: from a module's code (torch.tensor, linspace), or frozen.
bool learned_is_held(const Value *value);
// True if the record, the name, or other stored parameters say that it is no parameter.
bool learned_is_made(const Import *import, const Value *value);
// After a Constant node's numbers are read: makes them a parameter if the same rule applies.
void learned_constant(Import *import, Value *value);
// Makes numbers that a layer computes with a parameter, whatever their name.
void learned_anew(Import *import, Value *value);
// True if the numbers follow a formula: a mask, a sequence, sines and cosines, rows that are
// multiples of one. Learned numbers do not.
bool value_is_formula(Import *import, const Value *value);
// True if a number is that of a mask: infinite, or next to the largest float.
bool value_has_limits(Import *import, const Value *value);
// Notes which classifications are guesses, with the counts for the alternatives.
Status import_guesses(Import *import);

// ---- constants (makers.c, compute.c) ------------------------------------------------------------
// Makes the constant that a node stands for: its own numbers, or those of a shape or a range.
typedef struct Maker {
    const char *name;
    Status (*make)(Import *import, const Node *node); // fills the outputs
    bool of_shape;                                    // it reads only its input's shape
} Maker;
const Maker *onnx_maker(const char *op_type);
// Computes a node's outputs from constant inputs with the run-time operator.
Status import_compute(Import *import, const Node *node, const Operator *op);
// Index i of an indices input, counted from 0; -1 with an error pending.
int64_t import_index(const Import *import, const Value *indices, int64_t i, int64_t size);

Status step_compute(Import *import, Step *step); // computes its results' numbers now
bool onnx_is_quick(const Operator *op);          // it may compute constants while a file loads

// ---- numbers of inputs that are told (given.c) --------------------------------------------------
// Takes the numbers told for an input, which must match the file's type and shape.
Status import_give(Import *import, Value *value, const Tensor *numbers);
// value_data for a VALUE_RUN: computes it from the inputs that were told. An error names those that
// were not.
Status import_given_data(Import *import, Value *value);
// Whether value_data would give numbers of the value.
typedef enum Known { KNOWN, KNOWN_IF_TOLD, KNOWN_NEVER } Known;
Known import_known(Import *import, Value *value);
void import_blame_given(const Import *import); // for a pending error, if told numbers decide

// ---- operators that are missing (missing.c) -----------------------------------------------------
Status missing_note(Import *import, const Node *node); // counts one more of that name
Status missing_report(const Import *import);           // sets the error that names them
// With `partial`, adds a stand-in step where the result's shape is known; otherwise poisons the
// values that depend on it.
Status import_missing(Import *import, const Node *node);

// ---- shapes, by a node's attributes and constant inputs (shapes.c) ----------------------------
// Each fails with an error pending.
// Also Squeeze, Unsqueeze, Flatten.
Status shape_reshape(Import *import, const Node *node, Shape in, Shape *out);
bool shape_reshapes(const char *op_type); // true for those operators
Status shape_expand(Import *import, const Node *node, Shape in, Shape *out);
Status shape_broadcast(Import *import, Shape a, Shape b, Shape *out);
Status shape_slice(Import *import, const Node *node, Shape in, SliceParams *out);
Status shape_permutation(Import *import, const Node *node, Shape in, int out[]);
// The dimensions that a reduction goes over.
Status shape_reduce(Import *import, const Node *node, Shape in, ReduceParams *out);
// Split: sizes of its parts along *axis.
Status shape_split(Import *import, const Node *node, Shape in, int *axis, int64_t sizes[]);

// ---- more dimensions than a tensor has here (wide.c) --------------------------------------------
// Builds a Reshape to that many dimensions, which a Transpose and a Reshape must follow.
Status wide_reshape(Import *import, const Node *node, Shape in, Step *step);
const WideParams *wide_of(const Import *import, int value); // its step's; NULL: none
Status wide_transpose(Import *import, const Node *node, const WideParams *of, Step *step);

// ---- windows (sides.c) ------------------------------------------------------------------------
// Windows in one dimension use [1], the width; [0], the height, keeps its neutral values.
typedef struct Sides {
    int64_t kernel[2], stride[2], dilation[2], before[2], after[2];
} Sides;
// The options of a sequence: those along the width.
Conv1dOptions conv_options_flat(const Conv2dOptions *options);
Pool1dOptions pool_options_flat(const Pool2dOptions *options);
Conv2dOptions onnx_conv_options(const Sides *sides, int64_t groups);
Pool2dOptions onnx_pool_options(const Node *node, const Sides *sides);
// For three dimensions after the channels (op_volumes.c): set params and the step's operator.
Status volume_conv(Import *import, const Node *node, Step *step, Shape in, Shape weight);
Status pool_refuse_dilation(const Import *import); // of an average
Status volume_pool(Import *import, const Node *node, Step *step, Shape in);
// Reads the attributes for inputs with one or two dimensions after the channels, and their kernel.
Status sides_read(Import *import, const Node *node, Shape in, const int64_t kernel[], Sides *sides);
// auto_pad SAME: pads for ceil(size / stride) outputs; an odd element goes after (SAME_UPPER) or
// before (SAME_LOWER). Otherwise does nothing.
void sides_same(const Node *node, Shape in, int dims, Sides *sides);

// ---- sequences of their own lengths (lengths.c) -------------------------------------------------
typedef struct Lengths {
    Tensor *rows, *last;  // row indices: (steps batch), (batch)
    Tensor *inside, *any; // 1 inside a sequence, else 0: (steps, batch, 1); 1 if it has a row
} Lengths;
Status lengths_of(Tensor *lengths, int64_t steps, int64_t batch, Lengths *out);
Tensor *lengths_turn(const Lengths *lengths, Tensor *x); // each sequence reversed by itself
Tensor *lengths_last(const Lengths *lengths,
                     Tensor *x); // each one's last row, or zeros: (1, batch, n)

// ---- run-time operators (op_*.c) --------------------------------------------------------------
const Operator *onnx_operator(const char *op_type); // NULL: it is missing
// The tables that onnx_operator searches, each ended by an empty entry.
extern const Operator onnx_elements[], onnx_activations[], onnx_moves[], onnx_picks[],
    onnx_places[], onnx_products[], onnx_images[], onnx_norms[], onnx_reductions[],
    onnx_recurrent[], onnx_attention[], onnx_random[], onnx_classic[];
extern const Operator onnx_stochastic_depth;              // join.c makes it: no file has it
Status step_input(Import *import, Step *step, int value); // VALUE_ABSENT: none
// Adds the node's first n inputs.
Status step_inputs(Import *import, const Node *node, Step *step, int n);
// Adds the first n inputs; the role of the i-th, if stored, is roles[i] (NULL: it stays what it
// is). It becomes a parameter if the operator is a layer or its name says so.
Status step_weights(Import *import, const Node *node, Step *step, int n, const char *const roles[]);
Status step_weight(Import *import, const Node *node, Step *step, int i, const char *role); // one
// Makes input i, if stored, running statistics with this role: a copy where the stored numbers are
// a weight, too, or belong to another layer.
Status step_state(Import *import, const Node *node, Step *step, int i, const char *role);
Status step_build_one(Import *import, const Node *node, Step *step); // takes the first input only
// Makes a step of a node, with inputs and outputs, and passes it to `take` (a long split as
// several). While a constant is computed the step is freed after that, else the import owns it.
Status step_build(Import *import, const Node *node, const Operator *op,
                  Status (*take)(Import *import, Step *step));
int step_type(const Step *step, int i);                               // ONNX's type of result i
Step *step_new(Import *import, const Node *node, const Operator *op); // without inputs and outputs
// Passes a step with its inputs and outputs to `take`, unless an error is pending.
Status step_hand_over(Import *import, Step *step, Status (*take)(Import *import, Step *step));
Status step_add(Import *import, Step *step); // a `take`: adds it to the model's
void step_free(Step *step);                  // NULL is fine
// Runs the step's operator; results get the types that the graph says.
Status step_run(const Step *step, bool training, Tensor *const in[], Tensor *out[]);
// x in the numbers that its operator computes with: integers, or floats.
Tensor *step_number(const Step *step, Tensor *x);
void value_flatten(Value *value); // one number per channel becomes PyTorch's vector
// Adds a new parameter, rows of the numbers that `whole` stores, as the newest step's next input,
// with this role. The stored numbers count as learned.
Status step_rows(Import *import, Step *step, int whole, Shape shape, GateRows rows,
                 const char *role);
int import_constant(Import *import, int type, Shape shape); // new, zeros, without a name
// The values of x as float32, or as int64 indices.
Tensor *onnx_as_float(Tensor *x);
Tensor *onnx_as_index(Tensor *x);

// ---- the walk (walk.c), joining (join.c), names (names.c), ties (ties.c) ------------------------
Status import_walk(Import *import);
Status import_inputs(Import *import); // inputs.c: the graph's, and their sizes
// The size of a dimension by the file, or by its name's size; -1: unknown.
int64_t import_size(const Import *import, const Onnx__Dimension *dim);
Status import_node(Import *import, const Node *node); // node.c
// Joins the newest step with earlier ones where fewer steps give the same result.
void import_join(Import *import);
void import_join_norms(Import *import, Step *step);  // the same for norms (join_norms.c)
Step *step_of(const Import *import, int value);      // the step that computes a value; NULL: none
bool step_is(const Step *step, const char *name);    // its operator has that name; false for NULL
void step_moves(Import *import, Step *from, int to); // step `to` gives its result from now on
void import_finish(Import *import);                  // drops steps whose results nobody needs
bool onnx_paths_are_copies(const char *a, const char *b); // differ in numbers only
bool onnx_is_placed(const Node *node);              // true if the exporter recorded where it ran
bool onnx_same_layer(const Node *a, const Node *b); // by the exporter's record
bool onnx_copied_layer(const Node *a, const Node *b);
char *onnx_part(const char *text, size_t length); // first characters; ours to free
char *onnx_path_checked(char *path);       // returns it; if it is no path, frees it and gives NULL
char *onnx_path_of_node(const Node *node); // ours to free; "" without a record
// Moves path `of` from the layer of `from` to that of `to`: "a.0.fc.weight" in "a.0" becomes
// "a.1.fc.weight" in "a.1". NULL: not below it, or an error is pending.
char *onnx_path_moved(const char *of, const Node *from, const Node *to);
bool onnx_name_is_path(const char *name);   // a parameter's name, as PyTorch gives it
bool onnx_name_is_layers(const char *name); // "fc.weight": what PyTorch's layers call parameters
bool onnx_name_has_word(const char *name);  // "dense/bias": it may be a parameter's
bool onnx_name_ends_as_weight(const char *name); // "net/ln/gamma"
bool onnx_name_is_lost(const char *name);        // "onnx::Conv_193": of what an exporter computed
bool onnx_name_is_turned(const char *name);      // of all numbers in another shape: "permute_1"
bool onnx_name_is_moved(const char *name);       // of rows that an operator picked: "embedding_1"
bool onnx_name_is_computed(const char *name);    // of computed, not learned, numbers: "arange_2"
Status import_paths(Import *import);             // sets the paths of steps
Status import_tie(Import *import);               // ties parameters with equal numbers
// Number of elements that parameters have in excess of those stored. A parameter with its own name
// in the file is no guess, unless a repeated call of a function made it; one that the exporter
// named is a guess, unless all its numbers are equal.
int64_t onnx_copied_numbers(Import *import);
// Number of elements that parameters would have in addition if each layer had its own: of those
// that are tied because their numbers are equal. A record leaves no doubt: 0.
int64_t onnx_shared_numbers(Import *import);
int64_t onnx_sum(int64_t a, int64_t b); // of two claimed sizes, at most the largest int64_t
// Elements that are stored for a layer and equal another's, one of which has no name of its own:
// each is counted. 0 with a record.
int64_t onnx_equal_numbers(Import *import);
// True if two stored values of one shape have equal numbers.
bool onnx_same_numbers(Import *import, const Value *a, const Value *b);

#endif

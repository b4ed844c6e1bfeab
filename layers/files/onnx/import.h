// import.h -- internal to the ONNX reader: what is known of a file while it becomes layers.
// What programs see is onnx.h.
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
bool onnx_is_float(int type); // in one of its precisions: all are float32 here
// In what its numbers are computed: integers as int64, the rest as float32, truth values as 0
// and 1.
DType onnx_dtype(int type);
// The bits of an integer type, its sign included; 0: it is no integer.
int onnx_bits(int type, bool *is_signed);
const char *onnx_type_name(int type); // "int32"
const char *onnx_numpy(int type);     // NumPy's name: "i4"; "f4" where it has none
bool onnx_is_known(int type);         // is it one of the above?

// ---- values -----------------------------------------------------------------------------------
typedef enum ValueKind {
    VALUE_UNKNOWN,   // its node has not been reached, or there is none
    VALUE_CONSTANT,  // known at import: stored in the file, or computed
    VALUE_PARAMETER, // stored in the file, and learned
    VALUE_RUN        // known when the model runs
} ValueKind;

// Rows of what the file stores that are a parameter by themselves: the gates of one direction of a
// recurrent cell, in PyTorch's order. gates 0: the value is all that is stored, as it is.
typedef struct GateRows {
    const int *order; // PyTorch's i-th gate is the file's order[i]-th
    int gates;
    int64_t begin, each, columns; // the first row of them, rows of a gate, numbers of a row
    int64_t stored;               // numbers, in all
    int layer;                    // of a stack, from 0
    bool reverse;                 // of the second direction
} GateRows;

// What the exporter recorded of a name: a parameter, or what is none (a buffer, a constant).
typedef enum Told { TOLD_NOTHING, TOLD_LEARNED, TOLD_FIXED } Told;

typedef struct Value {
    const char *name; // the file's
    char *path;       // ours: of the one parameter that it was made from; NULL: it is not known
    ValueKind kind;
    int type; // ONNX_
    Shape shape;
    Tensor *data;               // of a constant, once somebody has asked: on the host
    const Onnx__Tensor *stored; // in the file; NULL: it was computed
    Onnx__Tensor listed;        // of a Constant that lists its floats: those, and
    int64_t count;              // how many
    Tensor *tensor;             // during the walk, on the meta device, for shapes
    int uses;                   // by nodes still to come, and the graph's outputs
    int readers;                // all of them
    const Tensor
        *given;   // of an input: its numbers, told when the file was loaded; NULL: nobody did
    bool decides; // and a shape, or the like, was made by them
    int step;     // whose result it is; -1: none
    int alias;    // the value that it is, with another name; -1: none
    int twin;     // a parameter whose numbers it shares; -1: none
    bool flipped; // a parameter (k, n) in the file, and (n, k) here: as PyTorch has it
    bool initial; // among the initialisers: not a node's constant
    enum { UNIFORM_UNKNOWN, UNIFORM_NOT, UNIFORM } uniform; // are its numbers all alike?
    float all;                                              // which number they are then
    bool held;     // by a step: it is needed when the model runs
    bool is_state; // running statistics: no gradient
    bool fixed;    // it is no parameter, as the exporter recorded, or as it is used
    bool folded;   // it recorded parameters that this was computed from
    bool placed;   // it reaches where operators have weights, and nothing else runs on its way
    bool moved;    // and other nodes are on that way
    bool reaches;  // it reaches numbers that are computed when the model runs
    bool tied;     // the record says that layers share it
    bool unread;   // by any node, and no output of the graph
    bool poisoned; // behind an operator that is missing
    const Onnx__TensorType *recorded; // what the file says of a node's result; NULL: nothing
    const char *role;                 // what its first user calls it: "weight"
    int role_step;                    // and that user; -1: none
    int slot;                         // in the program; -1: nothing that runs reads it
    GateRows rows;
} Value;

// ---- the import -------------------------------------------------------------------------------
struct Import {
    const char *path;         // of the file
    const Onnx__Model *model; // in `arena`
    const Onnx__Graph *graph;
    struct Arena *arena;
    struct Inlined *inlined;    // the file's functions, where they are called; NULL: it has none
    const OnnxOptions *options; // never NULL
    OnnxModel *about;           // never NULL
    int64_t opset;              // of ai.onnx, for the node at hand
    Onnx__Opset *const *opsets; // that the file imports, or the node's function
    size_t n_opsets;
    Value **values;
    int n_values, value_room;
    int *buckets, n_buckets; // values by name
    int *chain;              // of a value: the next in its bucket
    struct Target *targets;  // what the exporter recorded of names, sorted by them
    int n_targets;
    bool recorded; // it recorded which names are parameters
    bool stores;   // initializers are weights
    Step **steps;
    int n_steps, step_room;
    Context *host;   // whose device is the CPU: constants are computed there
    bool computing;  // a constant, and no step of the model
    int64_t held;    // elements of constants now held
    int64_t worked;  // of all that were computed
    int64_t copied;  // of parameters that the file holds once, and the model more often
    OnnxSize *sizes; // what the names of sizes stand for
    int n_sizes;
    bool missing;   // operators are
    char text[256]; // "Conv /layer1/conv1/Conv", for messages
};

enum { VALUE_ABSENT = -1 };

// ---- reading the file (file.c, data.c) --------------------------------------------------------
Status onnx_file_read(Import *import); // path to model and graph
void onnx_file_free(Import *import);
// The elements of what the file stores, as integers or as floats; out has room for `count`, which
// is what its dims come to.
Status onnx_stored_integers(const Import *import, const Onnx__Tensor *stored, int64_t count,
                            int64_t *out);
Status onnx_stored_floats(const Import *import, const Onnx__Tensor *stored, int64_t count,
                          float *out);
// Reads those floats into a block that the caller frees; NULL with an error pending.
float *onnx_stored_new(const Import *import, const Onnx__Tensor *stored, int64_t count);
// Are so many there? Nothing is read.
Status onnx_stored_check(const Import *import, const Onnx__Tensor *stored, int64_t count);
// Its shape; an error where there are more dims than a tensor has here, or they overflow.
Status onnx_stored_shape(const Onnx__Tensor *stored, Shape *shape);

// The file's functions written out where they are called (functions.c): its graph has no calls.
Status import_inline(Import *import);
void import_node_scope(Import *import, size_t node); // that node's opsets are at hand
void import_inline_free(Import *import);

// ---- values (values.c) ------------------------------------------------------------------------
int import_find(const Import *import, const char *name); // VALUE_ABSENT: there is none
int import_value_new(Import *import, const char *name);  // VALUE_ABSENT with an error pending
Value *import_value(const Import *import, int index);    // NULL for VALUE_ABSENT
// The numbers of a constant, once asked for: a dense tensor of the host, of onnx_dtype(its type).
// NULL with an error pending. What value_data has given the next ones read: as a double, as a whole
// number (towards 0), or, of a new constant, where to write.
const Tensor *value_data(Import *import, Value *value);
bool value_is_one(Import *import, Value *value, const char *what); // the same of a single number,
                                                                   // which a message calls so
double value_number(const Value *value, int64_t index);
int64_t value_integer(const Value *value, int64_t index);
int64_t *value_integers(const Value *value);
float *value_floats(const Value *value);
// Is there room for so many numbers more? An error where all come to more than is bounded.
Status import_room(Import *import, int64_t count);
// So many numbers are read or made on the way: an error where all come to more than is bounded.
Status import_work(Import *import, int64_t count);
// The value becomes a constant of zeros. The shape may not be larger than what is bounded.
Status value_make(Import *import, Value *value, int type, Shape shape);
// The same with numbers of one's own, which are the value's from then on.
Status value_set(Import *import, Value *value, int type, Tensor *data);
void value_drop(Import *import, Value *value); // its data, when nobody is still to come
Status import_copies(Import *import, const Value *value, int64_t count); // of its numbers once
                                                                         // more: bounded
bool value_is_uniform(Import *import, Value *value); // are a stored one's numbers all alike?
bool value_is_all(Import *import, Value *value, float number); // that one
// Room in a block of `count` for one more. (It doubles.)
Status import_grow(void **block, int count, size_t size);
void import_free(Import *import);

// Of a node: which value is its input i, or NULL (absent, or empty).
Value *node_input(const Import *import, const Node *node, int i);
Value *node_output(const Import *import, const Node *node, int i); // NULL: it has no such
int node_input_index(const Import *import, const Node *node, int i);
int64_t attribute_int(const Node *node, const char *name, int64_t otherwise);
float attribute_float(const Node *node, const char *name, float otherwise);
// How many; at most `room` are written. -1: there is no such attribute.
int attribute_ints(const Node *node, const char *name, int64_t *out, int room);
bool attribute_is(const Node *node, const char *name, const char *text, bool otherwise);
const Onnx__Attribute *attribute_find(const Node *node, const char *name);
// What the newer exporter recorded of the node ("pkg.torch.onnx.name_scopes"); NULL: nothing.
const char *onnx_recorded(const Node *node, const char *key);
const char *onnx_text_of(Onnx__Text *const entries[], size_t n, const char *key); // the same
// Integers that an attribute gave in old opsets and constant input i gives in new ones; as above.
// An error is pending where they are not known at import.
int import_ints(Import *import, const Node *node, const char *name, int i, int64_t *out, int room);
// A dimension, counted from 0; -1 with an error pending.
int import_axis(Import *import, int64_t axis, int ndim);
// "onnx: Conv /conv1/Conv: ...", with what the node is; and where it says not what to do, the
// usual.
Status import_error(const Import *import, Status status, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));
// Notes for the reader what the file does not say, and what was taken for it: `what` is a noun, as
// "size \"batch\" of input \"x\"", and `taken` its value. The same pair is noted once.
Status import_assume(Import *import, const char *what, const char *taken, ...)
    __attribute__((format(printf, 3, 4)));

// ---- what is read of an operator (schema.c) ---------------------------------------------------
// Is all that the node says read here? An error is pending where it is not: it names what is not.
// An operator that is not here at all is no error.
Status schema_check(const Import *import, const Node *node);
// "com.microsoft.FusedConv": with its domain, where that is not ONNX's.
void schema_name(const Node *node, char *text, size_t room);
// From here on nodes are of these opsets.
void import_scope(Import *import, Onnx__Opset *const opsets[], size_t n);

// ---- what the newer exporter recorded (told.c) --------------------------------------------------
Status told_read(Import *import); // which names are parameters
Told told_of(const Import *import, const char *name, size_t length);
// That name's parameter is one of the values here.
void told_claim(Import *import, const char *name);
// A recorded parameter of the node's layer itself that is none of the values yet, claimed now; ours
// to free. NULL: there is none.
char *told_sibling(Import *import, const Node *node);
// That node's layer has numbers that it calls so, under whatever name.
void told_read_as(Import *import, const Node *node, const char *role);
char *told_unclaimed(const Import *import, int *at); // one that none of them is; as above
// Is the first one before the other in the order in which the exporter recorded both?
bool told_before(const Import *import, const char *name, const char *other);
// Of stored values that were folded from others: which are parameters, and what their paths are.
Status told_apply(Import *import);
const char *value_path(const Value *value); // of a parameter; NULL: it has none
// Numbers that are all alike are stored once for several layers, under the name of one: of which
// are they here, where this node's layer calls them `role`? *own, ours to free: the path of what is
// its own, of OWNER_ANOTHER; else NULL.
typedef enum Owner {
    OWNER_LAYER,   // that layer, as far as is known
    OWNER_TIED,    // several, this one among them
    OWNER_ANOTHER, // another; this one has such a parameter, too
    OWNER_NONE     // this one has no parameter of that name
} Owner;
Owner told_owner(Import *import, Value *value, const Node *node, const char *role, char **own);
// In place of a bias of zeros that the exporter took away, one for the newest step's input 2.
Status told_bias(Import *import, const Node *node, Step *step, int64_t count);

// ---- which are parameters (learned.c, guesses.c) ----------------------------------------------
// So many numbers more that the file stores as parameters. STATUS_FORMAT: what it claims to store
// all together cannot be counted.
Status learned_count(Import *import, int64_t numbers);
// Of an initializer: what the record or its name makes it.
Status learned_by_name(Import *import, Value *value);
// Of all values: which are read by nobody, which reach a place of weights; and those of them that
// have no telling name are parameters from now on, where they get there through other nodes.
Status learned_by_place(Import *import);
// A node /...Constant's: of a module's own code (torch.tensor, linspace), or all of a frozen one.
bool learned_is_held(const Value *value);
// Does the record, the name, or that others are stored as parameters say that it is none?
bool learned_is_made(const Import *import, const Value *value);
// A Constant node's numbers have been read: are they among those?
void learned_constant(Import *import, Value *value);
// Numbers that a layer computes with are a parameter, whatever they are called.
void learned_anew(Import *import, Value *value);
// Do the numbers follow a formula: a mask, a sequence, sines and cosines, rows that are multiples
// of one? None that was learned do.
bool value_is_formula(Import *import, const Value *value);
// Notes what of all that was a guess, with the numbers that it might be instead.
Status import_guesses(Import *import);

// ---- constants (makers.c, compute.c) ------------------------------------------------------------
// A constant that a node makes: written out in it, or of a shape, a range. NULL: it makes none.
typedef struct Maker {
    const char *name;
    Status (*make)(Import *import, const Node *node); // fills the outputs
    bool of_shape;                                    // the shape of its input is all that it reads
} Maker;
const Maker *onnx_maker(const char *op_type);
// A node's outputs, all inputs being constants, by the operator that would run.
Status import_compute(Import *import, const Node *node, const Operator *op);
// Index i of an indices input, counted from 0; -1 with an error pending.
int64_t import_index(const Import *import, const Value *indices, int64_t i, int64_t size);

Status step_compute(Import *import, Step *step); // its results' numbers, now
bool onnx_is_quick(const Operator *op);          // are constants computed by it while a file loads?

// ---- numbers of inputs that are told (given.c) --------------------------------------------------
// An input's, which must be what the file says of it.
Status import_give(Import *import, Value *value, const Tensor *numbers);
// Of what runs, value_data's: computed from the inputs that were told. An error names those that
// were not.
Status import_given_data(Import *import, Value *value);
// Would value_data give numbers of it?
typedef enum Known { KNOWN, KNOWN_IF_TOLD, KNOWN_NEVER } Known;
Known import_known(Import *import, Value *value);
void import_blame_given(const Import *import); // for the error that is pending, if any decide

// ---- operators that are missing (missing.c) -----------------------------------------------------
Status missing_note(Import *import, const Node *node); // there is one more of that name
Status missing_report(const Import *import);           // the error that names them
// With `partial`, a step in its place where it is known what shape it gives; else what is behind it
// is poisoned.
Status import_missing(Import *import, const Node *node);

// ---- shapes, by a node's attributes and constant inputs (shapes.c) ----------------------------
// Each fails with an error pending.
Status shape_reshape(Import *import, const Node *node, Shape in, Shape *out); // also Squeeze,
                                                                              // Unsqueeze, Flatten
bool shape_reshapes(const char *op_type);                                     // is it one of them?
Status shape_expand(Import *import, const Node *node, Shape in, Shape *out);
Status shape_broadcast(Import *import, Shape a, Shape b, Shape *out);
Status shape_slice(Import *import, const Node *node, Shape in, SliceParams *out);
Status shape_permutation(Import *import, const Node *node, Shape in, int out[]);
// Which dimensions a reduction goes over.
Status shape_reduce(Import *import, const Node *node, Shape in, ReduceParams *out);
// Split's: sizes of its parts along *axis.
Status shape_split(Import *import, const Node *node, Shape in, int *axis, int64_t sizes[]);

// ---- more dimensions than a tensor has here (wide.c) --------------------------------------------
// Of a Reshape to so many, behind which a Transpose and a Reshape follow.
Status wide_reshape(Import *import, const Node *node, Shape in, Step *step);
const WideParams *wide_of(const Import *import, int value); // such a step's; NULL: it is none's
Status wide_transpose(Import *import, const Node *node, const WideParams *of, Step *step);

// ---- windows (sides.c) ------------------------------------------------------------------------
// Of one dimension numbers stand at [1], along the width; those along the height are as if absent.
typedef struct Sides {
    int64_t kernel[2], stride[2], dilation[2], before[2], after[2];
} Sides;
// Of sequences, what is along the width.
Conv1dOptions conv_options_flat(const Conv2dOptions *options);
Pool1dOptions pool_options_flat(const Pool2dOptions *options);
Conv2dOptions onnx_conv_options(const Sides *sides, int64_t groups);
Pool2dOptions onnx_pool_options(const Node *node, const Sides *sides);
// Nodes of three dimensions behind the channels (op_volumes.c): params and the step's operator.
Status volume_conv(Import *import, const Node *node, Step *step, Shape in, Shape weight);
Status volume_pool(Import *import, const Node *node, Step *step, Shape in);
// Of an input of one or two dimensions behind the channels, and a kernel of as many.
Status sides_read(Import *import, const Node *node, Shape in, const int64_t kernel[], Sides *sides);
// With auto_pad SAME as many outputs as strides fit in; what is odd of the padding goes behind, or
// before. Otherwise nothing.
void sides_same(const Node *node, Shape in, int dims, Sides *sides);

// ---- sequences of their own lengths (lengths.c) -------------------------------------------------
typedef struct Lengths {
    Tensor *rows, *last, *inside; // (steps batch) and (batch) of rows; 1 in them, 0 behind
} Lengths;
Status lengths_of(Tensor *lengths, int64_t steps, int64_t batch, Lengths *out);
Tensor *lengths_turn(const Lengths *lengths, Tensor *x); // (steps, batch, n), each by itself
Tensor *lengths_last(const Lengths *lengths, Tensor *x); // (1, batch, n)

// ---- run-time operators (op_*.c) --------------------------------------------------------------
const Operator *onnx_operator(const char *op_type); // NULL: it is missing
// The tables that it looks through, each ended by an empty entry.
extern const Operator onnx_elements[], onnx_activations[], onnx_moves[], onnx_picks[],
    onnx_places[], onnx_products[], onnx_images[], onnx_norms[], onnx_reductions[],
    onnx_recurrent[], onnx_attention[], onnx_random[], onnx_classic[];
extern const Operator onnx_stochastic_depth;              // no file has it as such
Status step_input(Import *import, Step *step, int value); // VALUE_ABSENT: none
// The node's first n inputs.
Status step_inputs(Import *import, const Node *node, Step *step, int n);
// The same, the i-th of which, where the file stores it, is called roles[i] (NULL: it stays what it
// is): a parameter, if the operator is a layer, or its name says so.
Status step_weights(Import *import, const Node *node, Step *step, int n, const char *const roles[]);
Status step_weight(Import *import, const Node *node, Step *step, int i, const char *role); // one
// The step's input i, where the file stores it, is running statistics, called `role`: its own,
// where what is stored once is a weight, too, or another layer's.
Status step_state(Import *import, const Node *node, Step *step, int i, const char *role);
Status step_build_one(Import *import, const Node *node, Step *step); // takes the first input
// A node as a step, with what it reads and gives: `take` gets it (a long split as several). While a
// constant is computed the step ends then, else it is one of the import's.
Status step_build(Import *import, const Node *node, const Operator *op,
                  Status (*take)(Import *import, Step *step));
int step_type(const Step *step, int i);                               // ONNX's, of result i
Step *step_new(Import *import, const Node *node, const Operator *op); // without inputs and outputs
// What it reads and gives is there: `take` gets it, unless an error is pending.
Status step_hand_over(Import *import, Step *step, Status (*take)(Import *import, Step *step));
Status step_add(Import *import, Step *step); // a `take`: it is one of the model's
void step_free(Step *step);                  // NULL is fine
// Runs its operator: what it gives is of the type that the graph says.
Status step_run(const Step *step, bool training, Tensor *const in[], Tensor *out[]);
// x as its operator computes it: as integers, or as floats.
Tensor *step_number(const Step *step, Tensor *x);
void value_flatten(Value *value); // a parameter with a number for each channel: PyTorch's shape
// Another parameter, of numbers that `whole` stores, for the newest step, which calls it `role`:
// takes it. What the file stores counts as learned.
Status step_rows(Import *import, Step *step, int whole, Shape shape, GateRows rows,
                 const char *role);
int import_constant(Import *import, int type, Shape shape); // a new one of zeros, without a name
// A float tensor of the same values: what integers are computed as.
Tensor *onnx_as_float(Tensor *x);
Tensor *onnx_as_index(Tensor *x);

// ---- the walk (walk.c), joining (join.c), names (names.c), ties (ties.c) ------------------------
Status import_walk(Import *import);
Status import_inputs(Import *import); // inputs.c: the graph's, and their sizes
// How large a dimension is, by the file or by what its name stands for; -1: nobody knows.
int64_t import_size(const Import *import, const Onnx__Dimension *dim);
Status import_node(Import *import, const Node *node); // node.c
// What is known of the newest step and those before it: fewer steps of the same result.
void import_join(Import *import);
void import_join_norms(Import *import, Step *step);       // those of norms (join_norms.c)
Step *step_of(const Import *import, int value);           // whose result it is; NULL: no step's
bool step_is(const Step *step, const char *name);         // of that operator; no step is none
void step_moves(Import *import, Step *from, int to);      // its result is that one's from now on
void import_finish(Import *import);                       // drops steps whose results nobody needs
bool onnx_paths_are_copies(const char *a, const char *b); // of a block: numbers differ, no more
bool onnx_is_placed(const Node *node);                    // is it recorded where it ran?
bool onnx_same_layer(const Node *a, const Node *b);       // by what the exporter recorded
bool onnx_copied_layer(const Node *a, const Node *b);
char *onnx_part(const char *text, size_t length); // its first characters; ours to free
char *onnx_path_checked(char *path);       // the same; NULL, and it is freed, where it is none
char *onnx_path_of_node(const Node *node); // ours to free; "" where nothing is recorded
// The path of what `of` is to `from`'s layer, in `to`'s: "a.0.fc.weight" of "a.0" is
// "a.1.fc.weight" of "a.1". NULL: it is not below it, or an error is pending.
char *onnx_path_moved(const char *of, const Node *from, const Node *to);
bool onnx_name_is_path(const char *name);     // of a parameter, as PyTorch gives it
bool onnx_name_is_moved(const char *name);    // of rows that were picked: "embedding_1"
bool onnx_name_is_computed(const char *name); // of numbers that nobody learned: "arange_2"
Status import_paths(Import *import);          // of steps
Status import_tie(Import *import);            // parameters of equal numbers
// Of two that the file stores, of one shape: are their numbers equal?
bool onnx_same_numbers(Import *import, const Value *a, const Value *b);

#endif

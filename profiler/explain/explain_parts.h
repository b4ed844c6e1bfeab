// explain_parts.h -- internal to profiler/: shared by the parts of --explain: counts derived again
// from shapes, and the text about one op.
#ifndef PROFILER_EXPLAIN_EXPLAIN_PARTS_H
#define PROFILER_EXPLAIN_EXPLAIN_PARTS_H

#include "profiler/base/flow.h"
#include "profiler/base/text.h"
#include "profiler/explain/explain.h"
#include "profiler/measure/profile_fields.h"

// ---- explain_story.c: an op's formula and operands -------------------------------------------
typedef struct Told {
    OpStory story;  // with operand names specific to this op of the layer
    char does[160]; // "z = x . weight^T + bias, y = relu(z)"; "" if the op has no story
} Told;
Told explain_story(const Profile *profile, const ProfileOp *op);
// The layer's forward matrix product with its own weight; NULL: none.
const OpRecord *explain_product(const Profile *profile, int layer);

// ---- explain_derive.c: counts from shapes ----------------------------------------------------
typedef struct Derivation { // a formula with its numbers and its value
    int factors;            // number of factors; 1: nothing to derive
    uint64_t value;
    char text[256]; // "64 x 784 x 512"; six sizes of 64 bits fit
    char why[48];   // reason in words: "1 per output element"
} Derivation;
Derivation derive_rule(const Profile *profile, const OpRecord *record, OpRule rule);
Derivation derive_products(const Profile *profile, const OpRecord *record, const OpStory *story);

// Prints "label  64 x 784 = 50,176 FLOP (why)"; without the formula if its value is not `count`;
// nothing if `count` is 0.
void derive_print(FILE *file, const char *label, const Derivation *derivation, uint64_t count,
                  const char *unit);

enum { OPERANDS_MOST = 8 };
typedef struct Operand {
    const char *name;
    uint64_t read, written; // bytes
} Operand;
// Fills `operands` with each operand's bytes and returns their number; 0 if they do not add up to
// the op's cost: more operands than the record holds, broadcast ones, one tensor twice.
int derive_operands(const Profile *profile, const ProfileOp *op, Operand operands[OPERANDS_MOST]);

// Fills `terms` with the bytes that the layer's ops newly keep for backward, and returns their
// number; 0 if the sum is not layer->saved_bytes.
int derive_kept(const Profile *profile, int layer, Term terms[OPERANDS_MOST]);

// ---- explain_op.c ----------------------------------------------------------------------------
void explain_op(const Profile *profile, const ProfileOp *op, FILE *file);
enum { COST_KINDS = 4 };
void explain_kinds(const OpCost *cost, Term terms[COST_KINDS]); // FLOPs of each kind
// Prints the sentence of roofline_evidence; nothing without ceilings.
void explain_evidence(const Profile *profile, const RooflineInput *input, FILE *file);
void explain_verdict(const Profile *profile, const ProfilePhase *phase, double seconds, FILE *file);
uint64_t explain_nanoseconds(double seconds); // rounded to integers, which add up exactly

// ---- explain_layer.c -------------------------------------------------------------------------
void explain_layer(const Profile *profile, int layer, FILE *file); // with all its ops
void explain_layer_briefly(const Profile *profile, int layer, FILE *file);

// ---- explain_totals.c ------------------------------------------------------------------------
void explain_totals(const Profile *profile, FILE *file);

#endif

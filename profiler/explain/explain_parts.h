// explain_parts.h -- internal to profiler/: what the parts of --explain share: counts derived
// once more from shapes, and how one op is told.
#ifndef PROFILER_EXPLAIN_EXPLAIN_PARTS_H
#define PROFILER_EXPLAIN_EXPLAIN_PARTS_H

#include "profiler/base/flow.h"
#include "profiler/base/text.h"
#include "profiler/explain/explain.h"

// ---- explain_story.c: what an op computed here, of which operands ----------------------------
typedef struct Told {
    OpStory story;  // names of operands are those of the place
    char does[160]; // "z = x . weight^T + bias, y = relu(z)"; "" where the op tells nothing
} Told;
Told explain_story(const Profile *profile, const ProfileOp *op);
// The layer's forward product with a weight of its own; NULL: it has none.
const OpRecord *explain_product(const Profile *profile, int layer);

// ---- explain_derive.c: counts from shapes ----------------------------------------------------
typedef struct Derivation { // a formula with its numbers, and what it comes to
    bool known;
    int factors; // 1: there is nothing to derive
    uint64_t value;
    char text[256]; // "64 x 784 x 512"; six sizes of 64 bits fit
    char why[48];   // in words: "1 per output element"
} Derivation;
Derivation derive_rule(const Profile *profile, const OpRecord *record, OpRule rule);
Derivation derive_products(const OpRecord *record, const OpStory *story);

// "label  64 x 784 = 50,176 FLOP (why)"; without the formula where it does not come to `count`;
// nothing where that is 0.
void derive_print(FILE *file, const char *label, const Derivation *derivation, uint64_t count,
                  const char *unit);

enum { OPERANDS_MOST = 8 };
typedef struct Operand {
    const char *name;
    uint64_t read, written; // bytes
} Operand;
// Every operand's bytes, into `operands`; 0 where they do not add up to the op's cost: more of them
// than the record holds, broadcast ones, one tensor twice.
int derive_operands(const Profile *profile, const ProfileOp *op, Operand operands[OPERANDS_MOST]);

// What the layer's ops keep for backward and no op before them did, into terms; 0 when it does not
// come to layer->saved_bytes.
int derive_kept(const Profile *profile, int layer, Term terms[OPERANDS_MOST]);

// ---- explain_op.c ----------------------------------------------------------------------------
void explain_op(const Profile *profile, const ProfileOp *op, FILE *file);
// The sentence of roofline_evidence; nothing without ceilings.
void explain_evidence(const Profile *profile, const RooflineInput *input, FILE *file);
void explain_verdict(const Profile *profile, const ProfilePhase *phase, double seconds, FILE *file);
uint64_t explain_nanoseconds(double seconds); // whole ones: they add up exactly

// ---- explain_layer.c -------------------------------------------------------------------------
void explain_layer(const Profile *profile, int layer, FILE *file); // and all its ops
void explain_layer_briefly(const Profile *profile, int layer, FILE *file);

// ---- explain_totals.c ------------------------------------------------------------------------
void explain_totals(const Profile *profile, FILE *file);

#endif

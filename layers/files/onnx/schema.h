// schema.h -- internal to the ONNX reader: which part of each operator's schema is read here. A
// node that has more is refused before anything is made of it (schema.c).
#ifndef LAYERS_FILES_ONNX_SCHEMA_H
#define LAYERS_FILES_ONNX_SCHEMA_H

#include <stdbool.h>

enum { SCHEMA_ANY = 1 << 30 }; // as many inputs or outputs as there are

typedef struct Schema {
    const char *name;
    int first, last;     // opsets of the domain in which it is read; last 0: up to the newest known
    int least;           // inputs that a node of each of these opsets has
    int inputs, outputs; // the most that are read, and computed
    // The attributes that are read, with the letter of their type
    // (tests/fixtures/onnx_schemas.txt), a ! where a node must have them, their values where only
    // some are read, and the opset that took them away: "axis:i! mode:s=constant|edge axes:I<13".
    // NULL: none.
    const char *attributes;
    // The attributes that change no value, and why: "seed:i other numbers, as likely; NAME:TYPE
    // ...".
    const char *idle;
} Schema;

typedef struct SchemaDomain {
    const char *name;        // "ai.onnx", which is also written ""
    int oldest, newest;      // opsets that are known here
    const Schema *operators; // by name, ended by one without
    int n_operators;
} SchemaDomain;
extern const SchemaDomain onnx_domains[]; // ended by one without a name

const SchemaDomain *schema_domain(const char *name); // NULL: none of it is read
const Schema *schema_find(const char *domain, const char *op_type);
// Reads the attribute at *at in either of a schema's texts, and moves *at on; false at the end.
typedef struct SchemaAttribute {
    const char *name;
    int length; // of the name
    char type;
    const char *values; // "0|1"; NULL: any
    int values_length;
    bool required;
    int before; // the first opset without it; 0: all have it
} SchemaAttribute;
bool schema_next(const char **at, bool idle, SchemaAttribute *out);

#endif

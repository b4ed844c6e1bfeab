// schema.h -- internal to the ONNX reader: the part of each operator's schema that is supported
// here. schema.c refuses a node with anything more before it is imported.
#ifndef LAYERS_FILES_ONNX_SCHEMA_H
#define LAYERS_FILES_ONNX_SCHEMA_H

#include <stdbool.h>

enum { SCHEMA_ANY = 1 << 30 }; // as many inputs or outputs as there are

typedef struct Schema {
    const char *name;
    int first, last;     // opsets of its domain that are supported; last 0: no limit
    int least;           // inputs that a node of each of these opsets has
    int inputs, outputs; // the most inputs that are read, and outputs computed
    // The attributes that are read: name, letter of the type (tests/fixtures/onnx_schemas.txt), !
    // if required, the values if only some are supported, and the opset that removed it: "axis:i!
    // mode:s=constant|edge axes:I<13". NULL: none.
    const char *attributes;
    // The attributes that change no value, with the reason: "seed:i other numbers, as likely;
    // NAME:TYPE ...".
    const char *idle;
} Schema;

typedef struct SchemaDomain {
    const char *name;        // "ai.onnx", which files also write as ""
    int oldest, newest;      // opsets that are known here
    const Schema *operators; // sorted by name; the last has none
    int n_operators;
} SchemaDomain;
extern const SchemaDomain onnx_domains[]; // ended by one without a name

const SchemaDomain *schema_domain(const char *name); // NULL: nothing of it is supported
const Schema *schema_find(const char *domain, const char *op_type);
// Reads the attribute at *at in either of a schema's texts and advances *at; false at the end.
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

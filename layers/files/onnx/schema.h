// schema.h -- internal to the ONNX reader: of each operator, what of its schema is read here. A
// node that says more is refused before anything is made of it (schema.c), whoever would have.
#ifndef LAYERS_FILES_ONNX_SCHEMA_H
#define LAYERS_FILES_ONNX_SCHEMA_H

#include <stdbool.h>

enum { SCHEMA_ANY = 1 << 30 }; // as many inputs or outputs as there are

typedef struct Schema {
    const char *name;
    int first, last;     // opsets of the domain in which it is read; last 0: up to the newest known
    int inputs, outputs; // that are read, and computed, at most
    // Those that are read, with the letter of their type (as in tests/fixtures/onnx_schemas.txt),
    // their values where only some are, and the opset that took them away: "axis:i
    // mode:s=constant|edge axes:I<13". NULL: none.
    const char *attributes;
    // Those that change no value, and why: "seed:i other numbers, as likely; NAME:TYPE ...".
    const char *idle;
} Schema;

typedef struct SchemaDomain {
    const char *name;        // "ai.onnx", which is also written ""
    int oldest, newest;      // opsets that are known here
    const Schema *operators; // ended by one without a name
} SchemaDomain;
extern const SchemaDomain onnx_domains[]; // ended by one without a name

const SchemaDomain *schema_domain(const char *name); // NULL: none of it is read
const Schema *schema_find(const char *domain, const char *op_type);
// A list of attributes, in either of a schema's texts: from *at, which moves on. false: at its end.
typedef struct SchemaAttribute {
    const char *name;
    int length; // of the name
    char type;
    const char *values; // "0|1"; NULL: any
    int values_length;
    int before; // the opset that has it no more; 0: all have it
} SchemaAttribute;
bool schema_next(const char **at, bool idle, SchemaAttribute *out);

#endif

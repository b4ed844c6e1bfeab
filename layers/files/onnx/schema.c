// schema.c -- refuses a node with more than the supported part of its operator (schema_table.c):
// its domain, opset, inputs, outputs and attributes. It interprets nothing else.
#include "layers/files/onnx/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/import.h"

// ---- domains and operators --------------------------------------------------------------------
static const char *domain_name(const char *domain) {
    return domain && domain[0] ? domain : onnx_domains[0].name;
}

void schema_name(const Node *node, char *text, size_t room) {
    bool plain = schema_domain(node->domain) == &onnx_domains[0];
    snprintf(text, room, "%s%s%s", plain ? "" : node->domain, plain ? "" : ".", node->op_type);
}

// The opset of that domain; 0: it is not in the list.
static int64_t opset_among(Onnx__Opset *const opsets[], size_t n, const char *domain) {
    int64_t version = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(domain_name(opsets[i]->domain), domain) == 0) version = opsets[i]->version;
    return version;
}

static int64_t opset_of(const Import *import, const char *domain) {
    return opset_among(import->opsets, import->n_opsets, domain);
}

void import_scope(Import *import, Onnx__Opset *const opsets[], size_t n) {
    import->opsets = opsets;
    import->n_opsets = n;
    import->opset = opset_of(import, onnx_domains[0].name);
}

// Some operators changed their meaning with an opset but kept their attributes. If a function's
// opset is before the change and the file's after it, readers of ONNX differ.
static Status check_function(const Import *import, const Node *node) {
    static const struct {
        const char *name;
        int64_t since;
    } changed[] = {{"Softmax", 13}, {"LogSoftmax", 13}, {"Resize", 11}, {"Dropout", 12}};
    const Onnx__Model *model = import->model;
    int64_t file = opset_among(model->opset_import, model->n_opset_import, onnx_domains[0].name);
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++)
        if (strcmp(changed[i].name, node->op_type) == 0 &&
            (file < changed[i].since) != (import->opset < changed[i].since))
            return import_error(import, STATUS_NOT_IMPLEMENTED,
                                "its function is of opset %lld and the file of %lld, between which "
                                "the operator has changed. HINT: one opset for both",
                                (long long)import->opset, (long long)file);
    return STATUS_OK;
}

static Status check_opset(const Import *import, const SchemaDomain *domain, const Schema *schema) {
    long long opset = opset_of(import, domain->name);
    if (opset == 0)
        return import_error(
            import, STATUS_FORMAT,
            "the file, or the function, does not say of which opset of %s it is. HINT: "
            "onnx.helper.make_model(graph, opset_imports=...)",
            domain->name);
    if (opset < domain->oldest || opset > domain->newest)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "it is of opset %lld of %s, and those from %d to %d are known here. "
                            "HINT: onnx.version_converter.convert_version(model, %d)",
                            opset, domain->name, domain->oldest, domain->newest, domain->newest);
    if (opset < schema->first || (schema->last && opset > schema->last))
        return import_error(import, STATUS_FORMAT,
                            "the file is of opset %lld, and %s has the operator %s opset %d. HINT: "
                            "onnx.checker.check_model names what else does not fit",
                            opset, domain->name, opset < schema->first ? "since" : "up to",
                            opset < schema->first ? schema->first : schema->last);
    return STATUS_OK;
}

// ---- attributes -------------------------------------------------------------------------------
static bool find(const char *text, bool idle, const char *name, SchemaAttribute *out) {
    while (schema_next(&text, idle, out))
        if ((int)strlen(name) == out->length && memcmp(out->name, name, strlen(name)) == 0)
            return true;
    return false;
}

// True if the attribute's value is one of a list like "0|1".
static bool has_value(const SchemaAttribute *schema, const Onnx__Attribute *attribute) {
    const char *value = schema->values, *end = value + schema->values_length;
    while (value < end) {
        const char *bar = memchr(value, '|', (size_t)(end - value));
        size_t length = (size_t)((bar ? bar : end) - value);
        if (schema->type == 's'
                ? attribute->s.len == length && memcmp(attribute->s.data, value, length) == 0
            : schema->type == 'i' ? strtoll(value, NULL, 10) == (long long)attribute->i
                                  : strtof(value, NULL) == attribute->f)
            return true;
        value += length + 1;
    }
    return false;
}

static Status refuse_value(const Import *import, const SchemaAttribute *schema,
                           const Onnx__Attribute *attribute) {
    char text[80];
    if (schema->type == 's')
        snprintf(text, sizeof text, "\"%.*s\"", attribute->s.len < 60 ? (int)attribute->s.len : 60,
                 attribute->s.data ? (const char *)attribute->s.data : "");
    else if (schema->type == 'i')
        snprintf(text, sizeof text, "%lld", (long long)attribute->i);
    else
        snprintf(text, sizeof text, "%g", (double)attribute->f);
    return import_error(import, STATUS_NOT_IMPLEMENTED,
                        "its attribute %s is %s, and %.*s is what is read. HINT: export the model "
                        "without it",
                        attribute->name, text, schema->values_length, schema->values);
}

// The letters of AttributeProto.AttributeType, from 1 on.
static const char letters[] = "?fistgFIST";

static Status check_attribute(const Import *import, const char *domain, const Schema *schema,
                              const Onnx__Attribute *attribute) {
    SchemaAttribute found;
    const char *name = attribute->name;
    if (attribute->ref_attr_name[0])
        return import_error(import, STATUS_FORMAT,
                            "its attribute %s is \"%s\" of a function, and it is in none", name,
                            attribute->ref_attr_name);
    bool idle = find(schema->idle, true, name, &found);
    if (!idle && !find(schema->attributes, false, name, &found))
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its attribute \"%s\" is not read. HINT: export the model without it",
                            name);
    if (found.before && opset_of(import, domain) >= found.before)
        return import_error(
            import, STATUS_FORMAT,
            "its attribute %s is of opsets before %d, and the file is of %lld. HINT: "
            "onnx.checker.check_model says what took its place",
            name, found.before, (long long)opset_of(import, domain));
    if (attribute->has_type && attribute->type > 0 &&
        ((size_t)attribute->type >= sizeof letters - 1 || letters[attribute->type] != found.type))
        return import_error(import, STATUS_FORMAT,
                            "its attribute %s is of type %d, which it cannot have. HINT: "
                            "onnx.checker.check_model says which",
                            name, attribute->type);
    return idle || !found.values || has_value(&found, attribute)
               ? STATUS_OK
               : refuse_value(import, &found, attribute);
}

// Refuses a node without a required attribute, whose meaning readers of ONNX do not agree on.
static Status check_required(const Import *import, const char *domain, const Schema *schema,
                             const Node *node) {
    const char *text = schema->attributes;
    SchemaAttribute each;
    while (schema_next(&text, false, &each)) {
        char name[40];
        bool gone = each.before && opset_of(import, domain) >= each.before;
        snprintf(name, sizeof name, "%.*s", each.length, each.name);
        if (each.required && !gone && !attribute_find(node, name))
            return import_error(import, STATUS_FORMAT,
                                "it must have the attribute %s, and has none. HINT: "
                                "onnx.checker.check_model names what else is missing",
                                name);
    }
    return STATUS_OK;
}

// ---- a node -----------------------------------------------------------------------------------
static Status check_ports(const Import *import, const Schema *schema, const Node *node) {
    for (int i = 0; i < schema->least; i++)
        if (!node_input(import, node, i))
            return import_error(import, STATUS_FORMAT, "it has no input %d", i);
    for (int i = schema->inputs; i < (int)node->n_input; i++)
        if (node->input[i][0])
            return import_error(import, STATUS_NOT_IMPLEMENTED,
                                "its input %d, \"%s\", is not read. HINT: export the model "
                                "without it",
                                i, node->input[i]);
    for (int i = schema->outputs; i < (int)node->n_output; i++) {
        const Value *value = node_output(import, node, i);
        if (value && value->readers > 0)
            return import_error(import, STATUS_NOT_IMPLEMENTED,
                                "its output %d, \"%s\", is read and not computed here. HINT: "
                                "export the model without it",
                                i, node->output[i]);
    }
    return STATUS_OK;
}

Status schema_check(const Import *import, const Node *node) {
    const SchemaDomain *domain = schema_domain(node->domain);
    const Schema *schema = schema_find(node->domain, node->op_type);
    if (!schema) return STATUS_OK;
    if (check_opset(import, domain, schema) || check_ports(import, schema, node) ||
        check_function(import, node))
        return error_status();
    for (size_t i = 0; i < node->n_attribute && !error_pending(); i++)
        check_attribute(import, domain->name, schema, node->attribute[i]);
    return error_pending() ? error_status() : check_required(import, domain->name, schema, node);
}

// test_onnx_schemas.c -- compares the table of the parts that are read of each ONNX operator with
// ONNX's own definitions of all its versions: tests/fixtures/make_onnx_schemas.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/schema.h"
#include "tests/helpers/harness.h"

enum { MOST_LINES = 1000, MOST_LENGTH = 600 };
static char lines[MOST_LINES][MOST_LENGTH];
static int n_lines;

static void read_lines(void) {
    FILE *file = fopen("tests/fixtures/onnx_schemas.txt", "r");
    ck_assert_ptr_nonnull(file);
    for (n_lines = 0; fgets(lines[n_lines], MOST_LENGTH, file); n_lines++) {
        ck_assert(n_lines + 1 < MOST_LINES);
        char *end = strchr(lines[n_lines], '\n');
        ck_assert_ptr_nonnull(end);
        *end = '\0';
    }
    fclose(file);
}

// ---- a line -----------------------------------------------------------------------------------
// Versions of an operator with equal definitions: their opsets, and the definition.
typedef struct Line {
    char domain[16], name[40];
    int since[32], n_since;
    int least;           // number of inputs, at least
    int inputs, outputs; // number at most
    bool deprecated;
    const char *attributes;
} Line;

static int at_most(const char *range) {
    const char *most = strstr(range, "..") + 2;
    return most[0] == '*' ? SCHEMA_ANY : atoi(most);
}

static bool read_line(const char *text, Line *line) {
    char since[80], in[16], out[16];
    int length = 0;
    *line = (Line){.n_since = 0};
    if (text[0] == '#' || strncmp(text, "newest ", 7) == 0) return false;
    ck_assert_int_eq(sscanf(text, "%15s %39s %79s in %15s out %15s%n", line->domain, line->name,
                            since, in, out, &length),
                     5);
    for (char *each = strtok(since, ","); each; each = strtok(NULL, ","))
        line->since[line->n_since++] = atoi(each);
    line->least = atoi(in);
    line->inputs = at_most(in);
    line->outputs = at_most(out);
    line->attributes = text + length;
    line->deprecated = strncmp(line->attributes, " deprecated", 11) == 0;
    if (line->deprecated) line->attributes += 11;
    return true;
}

static bool is_of(const Line *line, const char *domain, const char *name) {
    return strcmp(line->domain, domain) == 0 && strcmp(line->name, name) == 0;
}

// The first opset, after version `since`, that defines the operator differently.
static int until(const char *domain, const char *name, int since) {
    int end = SCHEMA_ANY;
    Line line;
    for (int i = 0; i < n_lines; i++)
        for (int k = 0; read_line(lines[i], &line) && k < line.n_since; k++)
            if (is_of(&line, domain, name) && line.since[k] > since && line.since[k] < end)
                end = line.since[k];
    return end;
}

// True if the line has an attribute, such as "axis:i=0", of that name and type; gives its default.
static bool has_attribute(const Line *line, const SchemaAttribute *wanted, char *otherwise) {
    char word[300];
    int length;
    for (const char *at = line->attributes; sscanf(at, " %299s%n", word, &length) == 1;
         at += length) {
        char *colon = strchr(word, ':');
        if (colon - word != wanted->length || memcmp(word, wanted->name, (size_t)wanted->length))
            continue;
        ck_assert_msg(colon[1] == wanted->type, "%s is of another type", word);
        snprintf(otherwise, 300, "%s", colon[2] == '=' ? colon + 3 : "");
        return true;
    }
    return false;
}

static bool find_attribute(const char *text, bool idle, const char *name, size_t length,
                           SchemaAttribute *found) {
    while (schema_next(&text, idle, found))
        if ((size_t)found->length == length && memcmp(found->name, name, length) == 0) return true;
    return false;
}

static bool is_among(const char *value, const char *values, int length) {
    char all[300], one[310];
    snprintf(all, sizeof all, "|%.*s|", length, values);
    snprintf(one, sizeof one, "|%s|", value);
    return strstr(all, one) != NULL;
}

// ---- the table ----------------------------------------------------------------------------------
// The table reads every attribute of a version, or marks it as idle, or leaves it out to refuse it.
// The table marks the attributes that a node must have. Constant and pools check theirs themselves:
// newer versions of Constant have one of several, and pools share their attributes with Conv. Where
// an attribute has a default, the table reads that value, since a node without the attribute has
// it; and the table reads an attribute up to the opset that takes it away.
static void hold_version(const Schema *schema, const Line *line, int since) {
    char word[300];
    int length;
    for (const char *at = line->attributes; sscanf(at, " %299s%n", word, &length) == 1;
         at += length) {
        SchemaAttribute found;
        size_t name = (size_t)(strchr(word, ':') - word);
        const char *otherwise = strchr(word, '=');
        bool read = find_attribute(schema->attributes, false, word, name, &found);
        if (read && found.values && otherwise)
            ck_assert_msg(is_among(otherwise + 1, found.values, found.values_length),
                          "%s %d: %s is not read as what it is by default", schema->name, since,
                          word);
        bool idle = !read && find_attribute(schema->idle, true, word, name, &found);
        ck_assert_msg(read || idle || !otherwise,
                      "%s %d: %s is refused, even as what it is by default", schema->name, since,
                      word);
        bool required = word[name + 2] == '!',
             own = strcmp(schema->name, "Constant") == 0 || strstr(schema->name, "Pool") != NULL;
        ck_assert_msg(!required || (read && (found.required || own)), "%s %d: %s must be there",
                      schema->name, since, word);
        ck_assert_msg(required || !read || !found.required, "%s %d: %s need not be there",
                      schema->name, since, word);
        if (!read && !idle) continue;
        ck_assert_msg(found.type == word[name + 1], "%s %d: the type of %s", schema->name, since,
                      word);
        ck_assert_msg(found.before == 0 || since < found.before,
                      "%s %d still has %s, which the table ends at %d", schema->name, since, word,
                      found.before);
    }
}

// The table has no attribute that no version has, and gives the opset that removed an attribute.
static void hold_attributes(const SchemaDomain *domain, const Schema *schema, const char *text,
                            bool idle) {
    SchemaAttribute attribute;
    while (schema_next(&text, idle, &attribute)) {
        int last = 0;
        char otherwise[300];
        Line line;
        for (int i = 0; i < n_lines; i++)
            if (read_line(lines[i], &line) && is_of(&line, domain->name, schema->name) &&
                has_attribute(&line, &attribute, otherwise))
                for (int k = 0; k < line.n_since; k++)
                    if (line.since[k] > last) last = line.since[k];
        ck_assert_msg(last > 0, "no version of %s has %.*s", schema->name, attribute.length,
                      attribute.name);
        int end = until(domain->name, schema->name, last);
        int gone = end > domain->newest || (schema->last && end > schema->last) ? 0 : end;
        ck_assert_msg(attribute.before == gone, "%s has %.*s up to opset %d, the table %d",
                      schema->name, attribute.length, attribute.name, gone, attribute.before);
    }
}

START_TEST(what_is_read_is_what_onnx_defines) {
    read_lines();
    int rows = 0;
    for (const SchemaDomain *domain = onnx_domains; domain->name; domain++)
        for (const Schema *schema = domain->operators; schema->name; schema++, rows++) {
            int first = SCHEMA_ANY, least = SCHEMA_ANY, inputs = 0, outputs = 0;
            Line line;
            for (int i = 0; i < n_lines; i++) {
                if (!read_line(lines[i], &line) || !is_of(&line, domain->name, schema->name))
                    continue;
                for (int k = 0; k < line.n_since; k++) {
                    int end = until(domain->name, schema->name, line.since[k]);
                    if (line.since[k] < first) first = line.since[k];
                    bool seen =
                        end > schema->first && (schema->last == 0 || line.since[k] <= schema->last);
                    if (seen) hold_version(schema, &line, line.since[k]);
                    if (seen && line.least < least) least = line.least;
                    if (seen && line.inputs > inputs) inputs = line.inputs;
                    if (seen && line.outputs > outputs) outputs = line.outputs;
                    if (line.deprecated && end == SCHEMA_ANY) // removed
                        ck_assert_msg(schema->last == line.since[k] - 1, "%s ends", schema->name);
                }
            }
            ck_assert_msg(first < SCHEMA_ANY, "ONNX has no %s", schema->name);
            // onnxruntime writes this one into files of any opset, with the meaning of 17.
            bool early = strcmp(schema->name, "LayerNormalization") == 0;
            ck_assert_msg(early ||
                              schema->first == (first > domain->oldest ? first : domain->oldest),
                          "%s is there since %d", schema->name, first);
            ck_assert_msg(schema->inputs <= inputs && schema->outputs <= outputs,
                          "%s has no such inputs or outputs", schema->name);
            ck_assert_msg(schema->least == least, "%s has %d inputs at least", schema->name, least);
            hold_attributes(domain, schema, schema->attributes, false);
            hold_attributes(domain, schema, schema->idle, true);
        }
    ck_assert_int_ge(rows, 120);
}
END_TEST

START_TEST(opsets_are_known_up_to_the_newest_one_defined) {
    read_lines();
    int found = 0;
    for (int i = 0; i < n_lines; i++) {
        char name[20];
        int version;
        if (sscanf(lines[i], "newest %19s %d", name, &version) != 2) continue;
        ck_assert_ptr_nonnull(schema_domain(name));
        ck_assert_int_eq(schema_domain(name)->newest, version);
        found++;
    }
    ck_assert_int_eq(found, 2);
}
END_TEST

// Order keeps anybody from adding a row twice.
START_TEST(rows_are_in_order) {
    for (const SchemaDomain *domain = onnx_domains; domain->name; domain++)
        for (const Schema *row = domain->operators; row[1].name; row++)
            ck_assert_msg(strcmp(row[0].name, row[1].name) < 0, "%s is not in order", row[1].name);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{what_is_read_is_what_onnx_defines, 0},
                                 {opsets_are_known_up_to_the_newest_one_defined, 0},
                                 {rows_are_in_order, 0},
                                 {NULL, 0}};
    return harness_main("onnx_schemas", tests);
}

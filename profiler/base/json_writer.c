// json_writer.c -- layout and escaping of a JSON stream; whole_file.c handles files and errors.
#include "profiler/base/json_writer.h"

#include "tensor/memory.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_COLUMNS = 100 };

typedef enum Kind { KIND_DOCUMENT, KIND_OBJECT, KIND_ARRAY } Kind;

typedef struct Level {
    Kind kind;
    bool one_line; // a record, or inside one
    bool filled;   // has a member
    bool broken;   // a member has its own line, so the closing bracket has one, too
    bool packed;   // an array of only numbers, booleans and nulls so far
} Level;

struct JsonWriter {
    WholeFile *file;
    int column; // position in the current line, in bytes
    bool after_key;
    int depth; // levels[depth] is the innermost container
    Level levels[JSON_WRITER_DEPTH + 1];
};

// ---- Layout

static void put(JsonWriter *json, const char *text, size_t length) {
    whole_file_write(json->file, text, length);
    json->column += (int)length;
}

static void new_line(JsonWriter *json) {
    put(json, "\n", 1);
    json->column = 0;
    for (int i = 0; i < json->depth; i++) put(json, "  ", 2);
}

// Writes the comma, space or line break before the container's next member.
static void separate(JsonWriter *json, bool short_value, size_t length) {
    Level *top = &json->levels[json->depth];
    assert(top->kind != KIND_DOCUMENT || !top->filled); // a document is one value
    if (top->filled) put(json, ",", 1);
    bool fits = json->column + 2 + (int)length <= LINE_COLUMNS;
    top->packed = top->packed && short_value;
    if (top->one_line || (top->packed && fits)) {
        if (top->filled) put(json, " ", 1);
    } else if (top->kind != KIND_DOCUMENT) {
        new_line(json);
        top->broken = true;
    }
    top->filled = true;
}

static void before_value(JsonWriter *json, bool short_value, size_t length) {
    assert(json->after_key == (json->levels[json->depth].kind == KIND_OBJECT));
    if (!json->after_key) separate(json, short_value, length);
    json->after_key = false;
}

static void put_short(JsonWriter *json, const char *text) {
    size_t length = strlen(text);
    before_value(json, true, length);
    put(json, text, length);
}

static void begin(JsonWriter *json, Kind kind, bool one_line) {
    before_value(json, false, 0);
    put(json, kind == KIND_OBJECT ? "{" : "[", 1);
    one_line = one_line || json->levels[json->depth].one_line;
    assert(json->depth < JSON_WRITER_DEPTH);
    json->depth++;
    json->levels[json->depth] =
        (Level){.kind = kind, .one_line = one_line, .packed = kind == KIND_ARRAY};
}

static void end(JsonWriter *json, Kind kind) {
    Level closed = json->levels[json->depth];
    assert(closed.kind == kind && !json->after_key);
    json->depth--;
    if (closed.broken) new_line(json);
    put(json, kind == KIND_OBJECT ? "}" : "]", 1);
}

void json_writer_begin_object(JsonWriter *json) { begin(json, KIND_OBJECT, false); }

void json_writer_begin_record(JsonWriter *json) { begin(json, KIND_OBJECT, true); }

void json_writer_end_object(JsonWriter *json) { end(json, KIND_OBJECT); }

void json_writer_begin_array(JsonWriter *json) { begin(json, KIND_ARRAY, false); }

void json_writer_end_array(JsonWriter *json) { end(json, KIND_ARRAY); }

// ---- Values

// Bytes of the UTF-8 sequence at `s`, or 0 if it is invalid: a stray or missing continuation byte
// (the closing NUL counts as missing), an overlong form, a surrogate, beyond U+10FFFF.
static size_t utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC0 || s[0] > 0xF7) return 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < least[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

static bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte != 0x7F && byte != '"' && byte != '\\';
}

// Writes the escape sequence of the byte, a control character, '"' or '\'.
static void put_escape(JsonWriter *json, unsigned char byte) {
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; // characters, each with its letter
    for (const char *pair = named; *pair != '\0'; pair += 2) {
        if ((unsigned char)pair[0] == byte) {
            put(json, (const char[]){'\\', pair[1]}, 2);
            return;
        }
    }
    char escape[8];
    snprintf(escape, sizeof escape, "\\u%04x", byte);
    put(json, escape, 6);
}

static void put_quoted(JsonWriter *json, const char *text) {
    put(json, "\"", 1);
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
        size_t run = 0; // bytes written unchanged
        while (is_plain(s[run]) && utf8_length(s + run) > 0) run += utf8_length(s + run);
        put(json, (const char *)s, run);
        s += run;
        if (*s == '\0') break;
        if (*s < 0x80) {
            put_escape(json, *s);
        } else {
            put(json, "\\ufffd", 6);
        }
        s++;
    }
    put(json, "\"", 1);
}

JsonWriter *json_writer_key(JsonWriter *json, const char *key) {
    assert(json->levels[json->depth].kind == KIND_OBJECT && !json->after_key);
    separate(json, false, 0);
    put_quoted(json, key);
    put(json, ": ", 2);
    json->after_key = true;
    return json;
}

void json_writer_string(JsonWriter *json, const char *text) {
    if (text == NULL) {
        json_writer_null(json);
        return;
    }
    before_value(json, false, 0);
    put_quoted(json, text);
}

void json_writer_int64(JsonWriter *json, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_short(json, text);
}

void json_writer_uint64(JsonWriter *json, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put_short(json, text);
}

void json_writer_decimal(JsonWriter *json, int64_t value, int decimals) {
    assert(decimals >= 0 && decimals <= 18);
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
    for (int i = 0; i < decimals; i++) unit *= 10;
    char text[32] = "";
    int length = snprintf(text, sizeof text, "%s%" PRIu64, value < 0 ? "-" : "", magnitude / unit);
    if (decimals > 0) text[length++] = '.';
    for (unit /= 10; unit > 0; unit /= 10) text[length++] = (char)('0' + magnitude / unit % 10);
    text[length] = '\0';
    put_short(json, text);
}

// Writes the fewest digits that read back as `value`. Any decimal of up to 15 digits survives a
// round trip through a normal double, so %.15g already finds it; subnormals have fewer digits.
static void shortest(double value, char *text, size_t size) {
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void json_writer_double(JsonWriter *json, double value) {
    if (!isfinite(value)) {
        json_writer_null(json);
        return;
    }
    char printed[48];
    char text[48];
    size_t length = 0;
    shortest(value, printed, sizeof printed);
    // printf and strtod take the decimal point of the program's locale; JSON's is '.'.
    for (const char *p = printed; *p != '\0'; p++) {
        bool point = strchr("0123456789+-e", *p) == NULL;
        if (!point) text[length++] = *p;
        if (point && (length == 0 || text[length - 1] != '.')) text[length++] = '.';
    }
    text[length] = '\0';
    if (strpbrk(text, ".e") == NULL) memcpy(text + length, ".0", sizeof ".0");
    put_short(json, text);
}

void json_writer_bool(JsonWriter *json, bool value) { put_short(json, value ? "true" : "false"); }

void json_writer_null(JsonWriter *json) { put_short(json, "null"); }

// ---- Files

static JsonWriter *writer_on(WholeFile *file) {
    JsonWriter *json = file ? memory_new(sizeof *json) : NULL;
    if (json)
        json->file = file;
    else
        whole_file_discard(file);
    return json;
}

JsonWriter *json_writer_new(FILE *file, const char *name) {
    return writer_on(whole_file_on(file, name));
}

JsonWriter *json_file_open(const char *path) { return writer_on(whole_file_open(path)); }

Status json_writer_close(JsonWriter *json) {
    assert(json->depth == 0 && json->levels[0].filled && !json->after_key);
    put(json, "\n", 1);
    Status status = whole_file_close(json->file);
    memory_free(json);
    return status;
}

void json_writer_discard(JsonWriter *json) {
    if (json == NULL) return;
    whole_file_discard(json->file);
    memory_free(json);
}

void member_absent(JsonWriter *json, const char *key, const char *reason) {
    char name[48];
    snprintf(name, sizeof(name), "%s_reason", key);
    member_null(json, key);
    member_text(json, name, reason);
}

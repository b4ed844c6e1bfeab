// explained.c -- unwraps, parses and checks the output of --explain.
#include "tests/profiler/explain/explained.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/nets.h"

enum { TEXT_AT = 18, LABEL_AT = 2 };

// ---- arithmetic ------------------------------------------------------------------------------
typedef struct Token {
    char kind; // 'n'umber, '+', '-', '*', '(', ')', '/', 'r' (a rate or a fraction), 0: the end
    uint64_t value;
} Token;

// Reads "1,234", or a number with a point, which does not count; *at moves past it.
static Token number_at(const char **at) {
    Token token = {.kind = 'n'};
    const char *c = *at;
    for (; isdigit((unsigned char)*c) || (*c == ',' && isdigit((unsigned char)c[1])); c++)
        if (*c != ',') token.value = 10 * token.value + (uint64_t)(*c - '0');
    if (*c == '.' && isdigit((unsigned char)c[1])) token.kind = 'r';
    while (isalnum((unsigned char)*c) || *c == '.') c++;
    *at = c;
    return token;
}

// Extracts the numbers and operators of text[0, size); words are names and units. x multiplies
// between two numbers, and is a name elsewhere.
static int tokens_of(const char *text, size_t size, Token tokens[64]) {
    int n = 0;
    for (const char *c = text; c < text + size && n < 63;) {
        bool after = n > 0 && (tokens[n - 1].kind == 'n' || tokens[n - 1].kind == ')');
        bool before = isdigit((unsigned char)c[2]) || c[2] == '(';
        if (isdigit((unsigned char)*c))
            tokens[n++] = number_at(&c);
        else if (strncmp(c, "x ", 2) == 0 && after && before && c > text && c[-1] == ' ')
            tokens[n++].kind = '*', c++;
        else if (isalpha((unsigned char)*c))
            c += strcspn(c, " ,;:()");
        else if (strchr("+-/", *c) && c[1] == ' ')
            tokens[n++].kind = *c++;
        else if (*c == ')' && n > 0 && tokens[n - 1].kind == '(')
            n--, c++; // parentheses around words alone
        else if (strchr("()", *c))
            tokens[n++].kind = *c++;
        else
            c++;
    }
    tokens[n].kind = 0;
    return n;
}

static uint64_t sum_of(const Token **at, bool *valid);
static uint64_t product_of(const Token **at, bool *valid) {
    uint64_t value = 1;
    for (;; (*at)++) {
        if ((*at)->kind == '(') {
            (*at)++;
            value *= sum_of(at, valid);
            *valid = *valid && (*at)->kind == ')';
        } else {
            *valid = *valid && (*at)->kind == 'n';
            value *= (*at)->value;
        }
        (*at)++;
        if ((*at)->kind != '*') return value;
    }
}
static uint64_t sum_of(const Token **at, bool *valid) {
    uint64_t value = product_of(at, valid);
    while (*valid && ((*at)->kind == '+' || (*at)->kind == '-')) {
        bool plus = (*at)->kind == '+';
        (*at)++;
        uint64_t more = product_of(at, valid);
        value += plus ? more : 0 - more;
    }
    return value;
}

bool explained_sum(const char *text, uint64_t *value) {
    Token tokens[64];
    const Token *at = tokens;
    bool valid = tokens_of(text, strlen(text), tokens) > 0;
    *value = valid ? sum_of(&at, &valid) : 0;
    return valid && at->kind == 0;
}

// The start of the equation that ends at text[end]: after a clause.
static size_t clause_before(const char *text, size_t end) {
    size_t i = end;
    while (i > 0 && !strchr(";:=", text[i - 1]) &&
           !(text[i - 1] == ' ' && i > 1 && text[i - 2] == ','))
        i--;
    return i;
}

// Quotients are FLOP per byte, rounded; everything else is exact.
static bool holds(const char *left, size_t size, const char *right, bool *counted) {
    Token tokens[64];
    const char *end = right;
    int n = tokens_of(left, size, tokens);
    if (n == 0 || !isdigit((unsigned char)*right)) return true; // not numbers
    if (n == 3 && tokens[1].kind == '/' && tokens[0].kind == 'n' && tokens[2].kind == 'n') {
        Text quotient = text_number((double)tokens[0].value / (double)tokens[2].value);
        *counted = strstr(right, "FLOP/B") != NULL;
        return !*counted || strncmp(right, quotient.s, strlen(quotient.s)) == 0;
    }
    for (int i = 0; i < n; i++)
        if (tokens[i].kind == '/' || tokens[i].kind == 'r') return true; // times and rates
    const Token *at = tokens;
    bool valid = true;
    uint64_t value = sum_of(&at, &valid);
    *counted = true;
    return valid && n > 1 && at->kind == 0 && number_at(&end).value == value;
}

static int check_equations(const ExplainedLine *line) {
    static const char *const of_words[] = {"computes", "verdict", "time", "memory", "arithmetic"};
    for (size_t i = 0; i < sizeof of_words / sizeof *of_words; i++)
        if (strcmp(line->label, of_words[i]) == 0) return 0;
    int n = 0;
    for (const char *at = line->text; (at = strstr(at, " = ")); at += 3) {
        size_t end = (size_t)(at - line->text), begin = clause_before(line->text, end);
        bool counted = false;
        ck_assert_msg(holds(line->text + begin, end - begin, at + 3, &counted), "%s: %s",
                      line->label, line->text);
        n += counted;
    }
    return n;
}

// ---- lines -----------------------------------------------------------------------------------
static char *joined(char *text, const char *more) { // frees text
    char *whole = malloc((text ? strlen(text) + 1 : 0) + strlen(more) + 1);
    sprintf(whole, "%s%s%s", text ? text : "", text ? " " : "", more);
    free(text);
    return whole;
}

static bool indented(const char *line, size_t columns) {
    return strlen(line) > columns && strspn(line, " ") >= columns;
}

static void take_line(Explained *explained, const char *line, bool opens) {
    ExplainedBlock *block =
        explained->n_blocks ? &explained->blocks[explained->n_blocks - 1] : NULL;
    if (opens || !block) {
        explained->blocks =
            realloc(explained->blocks, sizeof(*block) * (size_t)(++explained->n_blocks));
        explained->blocks[explained->n_blocks - 1] = (ExplainedBlock){.title = joined(NULL, line)};
        return;
    }
    ExplainedLine *last = block->n_lines ? &block->lines[block->n_lines - 1] : NULL;
    if (indented(line, TEXT_AT) && last) {
        last->text = joined(last->text, line + TEXT_AT);
        return;
    }
    bool labelled =
        indented(line, LABEL_AT) && (int)strlen(line) > TEXT_AT && line[TEXT_AT - 1] == ' ';
    if (!labelled) {
        block->title = joined(block->title, line + strspn(line, " "));
        return;
    }
    block->lines = realloc(block->lines, sizeof(*last) * (size_t)(++block->n_lines));
    last = &block->lines[block->n_lines - 1];
    *last = (ExplainedLine){.text = joined(NULL, line + TEXT_AT)};
    memcpy(last->label, line + LABEL_AT, TEXT_AT - LABEL_AT);
    for (size_t i = strlen(last->label); i > 0 && last->label[i - 1] == ' '; i--)
        last->label[i - 1] = '\0';
}

static void check_line(const char *line) {
    size_t size = strlen(line);
    ck_assert_msg(size <= 80, "%zu columns:\n%s", size, line);
    ck_assert_msg(size == 0 || line[size - 1] != ' ', "a space ends\n%s|", line);
    ck_assert_msg(!strstr(line, "nan") && !strstr(line, "(null)"), "%s", line);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(line[i] >= ' ' && line[i] < 127, "byte %d in\n%s", line[i], line);
}

Explained explained_new(const Profile *profile, const char *pattern, int *equations) {
    Explained explained = {0};
    size_t size;
    int n = 0;
    FILE *file = open_memstream(&explained.printed, &size);
    Status status = explain_print(profile, pattern, file);
    fclose(file);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    char *copy = strdup(explained.printed), *rest = copy;
    bool opens = true;
    for (char *line; (line = strsep(&rest, "\n"));) {
        check_line(line);
        if (line[0]) take_line(&explained, line, opens);
        opens = !line[0];
    }
    free(copy);
    for (int b = 0; b < explained.n_blocks; b++)
        for (int i = 0; i < explained.blocks[b].n_lines; i++)
            n += check_equations(&explained.blocks[b].lines[i]);
    if (equations) *equations = n;
    return explained;
}

void explained_free(Explained *explained) {
    for (int b = 0; b < explained->n_blocks; b++) {
        ExplainedBlock *block = &explained->blocks[b];
        for (int i = 0; i < block->n_lines; i++) free(block->lines[i].text);
        free(block->lines);
        free(block->title);
    }
    free(explained->blocks);
    free(explained->printed);
    *explained = (Explained){0};
}

const char *explained_text(const ExplainedBlock *block, const char *label) {
    for (int i = 0; i < block->n_lines; i++)
        if (strcmp(block->lines[i].label, label) == 0) return block->lines[i].text;
    return NULL;
}

const ExplainedBlock *explained_block(const Explained *explained, const char *title) {
    for (int b = 0; b < explained->n_blocks; b++)
        if (strncmp(explained->blocks[b].title, title, strlen(title)) == 0)
            return &explained->blocks[b];
    return NULL;
}

uint64_t explained_count(const ExplainedBlock *block, const char *label) {
    const char *text = explained_text(block, label), *at = text;
    if (!text) return 0;
    for (const char *next = text; (next = strstr(next, " = ")); next += 3) at = next + 3;
    if (at == text) // the first number that is not part of a name
        while (*at && !(isdigit((unsigned char)*at) && (at == text || at[-1] == ' '))) at++;
    return number_at(&at).value;
}

// ---- profiles --------------------------------------------------------------------------------
Profile explained_profile(int seed, ProfileKind kind) {
    Profile profile;
    Machine machine;
    Net net = net_random(seed);
    NetTask task = net_task_new(&net);
    ck_assert_int_eq(machine_read("tests/fixtures/peaks.json", &machine), STATUS_OK);
    ProfileOptions options = {.warmup = 2, .iterations = 3, .machine = &machine};
    OptimizerConfig config = optimizer_defaults(net.optimizer);
    Status status =
        kind == PROFILE_TRAINING
            ? profile_training(task.model, config, task.x, task.labels, options, &profile)
        : kind == PROFILE_BACKWARD ? profile_backward(task.model, task.x, options, &profile)
                                   : profile_inference(task.model, task.x, options, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    net_task_free(&task);
    return profile;
}

// key.c -- keys of students, by HMAC-SHA256.
#include "exercises/course/key.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/sha256.h"

enum { CHECK = 4, DIGITS = KEY_TOKEN - 1 + CHECK };

static void put_digits(const uint8_t *bytes, int digits, char *text) {
    for (int i = 0; i < digits / 2; i++) snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
}

// Makes "Ada" and "ada" one student, because people type a name in many places.
static void lower(char *text) {
    for (; *text; text++) *text = (char)tolower((unsigned char)*text);
}

static void name_of(const char *student, char name[KEY_STUDENT]) {
    snprintf(name, KEY_STUDENT, "%s", student);
    lower(name);
}

void key_token(const char *secret, const char *student, char token[KEY_TOKEN]) {
    char name[KEY_STUDENT], message[KEY_STUDENT + 8];
    uint8_t digest[SHA256_BYTES];
    name_of(student, name);
    int length = snprintf(message, sizeof message, "key %s", name); // draws begin with a digit
    hmac_sha256(secret, strlen(secret), message, (size_t)length, digest);
    put_digits(digest, KEY_TOKEN - 1, token);
}

static void check_of(const char *student, const char *token, char check[CHECK + 1]) {
    char name[KEY_STUDENT], message[KEY_STUDENT + KEY_TOKEN + 8];
    uint8_t digest[SHA256_BYTES];
    name_of(student, name);
    int length = snprintf(message, sizeof message, "check %s %s", token, name);
    sha256(message, (size_t)length, digest);
    put_digits(digest, CHECK, check);
}

void key_write(const char *student, const char *token, char text[KEY_TEXT]) {
    char check[CHECK + 1];
    check_of(student, token, check);
    snprintf(text, KEY_TEXT, "%.63s-%s%s", student, token, check);
}

bool key_read(const char *text, char student[KEY_STUDENT], char token[KEY_TOKEN]) {
    char digits[DIGITS + 1], check[CHECK + 1];
    const char *dash = strrchr(text, '-');
    if (!dash || dash == text || dash - text >= KEY_STUDENT) return false;
    if (strlen(dash + 1) != DIGITS) return false;
    snprintf(digits, sizeof digits, "%s", dash + 1);
    lower(digits);
    snprintf(student, KEY_STUDENT, "%.*s", (int)(dash - text), text);
    snprintf(token, KEY_TOKEN, "%.*s", KEY_TOKEN - 1, digits);
    check_of(student, token, check);
    return strcmp(check, digits + KEY_TOKEN - 1) == 0;
}

bool key_is_of(const char *text, const char *secret, const char *student) {
    char name[KEY_STUDENT], token[KEY_TOKEN], wanted[KEY_TOKEN], wanted_name[KEY_STUDENT];
    if (!key_read(text, name, token)) return false;
    key_token(secret, student, wanted);
    name_of(student, wanted_name);
    lower(name);
    return strcmp(name, wanted_name) == 0 && strcmp(token, wanted) == 0;
}

void key_seal(const char *token, const void *bytes, size_t count, char seal[KEY_SEAL]) {
    uint8_t digest[SHA256_BYTES];
    hmac_sha256(token, strlen(token), bytes, count, digest);
    put_digits(digest, KEY_SEAL - 1, seal);
}

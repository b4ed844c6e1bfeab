// key.h -- the key that a course hands out to a student; it decides the numbers that questions by
// hand ask for. A key holds the student's name, a token made from the name and the course's secret,
// and a check against typos that needs no secret:
//
//     ada-7f3a2c91b04d55e1        "ada", 12 digits of the token, 4 of the check
//
// A key does not prove who typed it: the grader makes the token anew, from the name under which the
// submission came.
#ifndef EXERCISES_COURSE_KEY_H
#define EXERCISES_COURSE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Sizes in bytes, including the zero at the end. Only the first bytes of a longer name count.
enum { KEY_STUDENT = 64, KEY_TOKEN = 13, KEY_TEXT = KEY_STUDENT + 17 };

// Makes the token of a name (letter case does not matter) and a secret; "" stands for no secret.
void key_token(const char *secret, const char *student, char token[KEY_TOKEN]);
void key_write(const char *student, const char *token, char text[KEY_TEXT]);
// False: `text` is not a key, or was mistyped.
bool key_read(const char *text, char student[KEY_STUDENT], char token[KEY_TOKEN]);
// True if the key in `text` belongs to that name and secret.
bool key_is_of(const char *text, const char *secret, const char *student);

// Sixteen digits that prove to the holder of the token that the bytes are unchanged.
enum { KEY_SEAL = 17 };
void key_seal(const char *token, const void *bytes, size_t count, char seal[KEY_SEAL]);

#endif

// key.h -- the key that a course hands out to a student: whose numbers are asked by hand. It is
// the student's name, a token made of it with the course's secret, and a check against typos that
// needs no secret:
//
//     ada-7f3a2c91b04d55e1        "ada", 12 digits of the token, 4 of the check
//
// It proves nothing about who types it: who grades makes the token anew, of the name that the
// submission came under.
#ifndef EXERCISES_COURSE_KEY_H
#define EXERCISES_COURSE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// With the zero at the end. Of a longer name the first bytes count.
enum { KEY_STUDENT = 64, KEY_TOKEN = 13, KEY_TEXT = KEY_STUDENT + 17 };

// Of a name, with any capitals, and a secret; "" is the course that has none.
void key_token(const char *secret, const char *student, char token[KEY_TOKEN]);
void key_write(const char *student, const char *token, char text[KEY_TEXT]);
// False: `text` is no key, or a mistyped one.
bool key_read(const char *text, char student[KEY_STUDENT], char token[KEY_TOKEN]);
// Whether the key in `text` is the one of that name and secret.
bool key_is_of(const char *text, const char *secret, const char *student);

// Sixteen digits that say, to who has the token, that these bytes are as they were.
enum { KEY_SEAL = 17 };
void key_seal(const char *token, const void *bytes, size_t count, char seal[KEY_SEAL]);

#endif

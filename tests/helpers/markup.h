// markup.h -- checks that browsers and XML readers accept a text without repairing it.
#ifndef TESTS_HELPERS_MARKUP_H
#define TESTS_HELPERS_MARKUP_H

// Fails the test unless elements are closed in order (HTML's empty ones need not be), attributes
// are quoted and occur once, special characters are escaped, ids are unique, and every "#name" that
// a link or a label names is an id.
void markup_check(const char *text);

int markup_count(const char *text, const char *part); // number of times part occurs in text

#endif

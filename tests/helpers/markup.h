// markup.h -- is a text what a browser, and a reader of XML, take without repairing it?
#ifndef TESTS_HELPERS_MARKUP_H
#define TESTS_HELPERS_MARKUP_H

// Fails the test unless elements are closed in turn (HTML's empty ones need not be), attributes are
// quoted and there once, characters that mean something are escaped, ids are there once, and every
// "#name" that a link or a label names is one.
void markup_check(const char *text);

int markup_count(const char *text, const char *part); // how often it is there

#endif

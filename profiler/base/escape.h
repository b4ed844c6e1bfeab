// escape.h -- text within CSV and XML (also SVG and HTML): whatever it holds, a reader takes it for
// that text. Bytes that are not printable become question marks.
#ifndef PROFILER_BASE_ESCAPE_H
#define PROFILER_BASE_ESCAPE_H

#include "layers/files/whole_file.h"

// Text of an element, or an attribute's value: also "]]>" has no meaning after this, and a line end
// in an attribute stays one.
void escape_xml(WholeFile *file, const char *text);
void escape_attribute(WholeFile *file, const char *name, const char *value); // ' name="value"'

// A cell of a CSV file (RFC 4180), without the comma: quoted where it has to be; after an
// apostrophe where a spreadsheet would take it for a formula (= + - @).
void escape_csv(WholeFile *file, const char *text);

#endif

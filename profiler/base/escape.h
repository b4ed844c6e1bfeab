// escape.h -- escapes text for CSV and XML (also SVG and HTML), so that a reader gets any text back
// as text. Non-printable bytes become question marks.
#ifndef PROFILER_BASE_ESCAPE_H
#define PROFILER_BASE_ESCAPE_H

#include "layers/files/whole_file.h"

// Writes an element's text, or an attribute's value. "]]>" is escaped, too, and a line end within
// an attribute stays a line end.
void escape_xml(WholeFile *file, const char *text);
void escape_attribute(WholeFile *file, const char *name, const char *value); // ' name="value"'

// Writes one cell of a CSV file (RFC 4180), without the comma. The cell is quoted if necessary, and
// gets a leading apostrophe if a spreadsheet would read it as a formula (= + - @).
void escape_csv(WholeFile *file, const char *text);

#endif

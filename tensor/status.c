// status.c -- names of statuses, and the one pending error of the current context.
#include "tensor/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/given.h"

static const struct {
    const char *name, *text;
} statuses[] = {
#define STATUS_ENTRY(name, text) {"STATUS_" #name, text},
    STATUS_LIST(STATUS_ENTRY)
#undef STATUS_ENTRY
};

enum { PATH_TEXT = 96 }; // length of a layer's path before a message
enum { STATUS_COUNT = sizeof(statuses) / sizeof(statuses[0]) };

const char *status_name(Status status) {
    return (unsigned)status < STATUS_COUNT ? statuses[status].name : "STATUS_?";
}

const char *status_text(Status status) {
    return (unsigned)status < STATUS_COUNT ? statuses[status].text : "unknown status";
}

Status error_set(Status status, const char *format, ...) {
    Context *context = context_current();
    if (context->error.status) return status; // the first message wins
    context->error.status = status;
    char *text = context->error.message;
    size_t size = sizeof(context->error.message), used = 0;
    if (context->site >= 0) { // "encoder.fc1: "; the model itself has no name
        site_path(context, context->site, text, PATH_TEXT);
        used = text[0] == '(' ? 0 : strlen(text);
        if (used > 0) used += (size_t)snprintf(text + used, size - used, ": ");
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format ? format : "an error without a message", arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) // quoted text may contain anything
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    const char *stop = getenv("RIDGEPOINT_ABORT_ON_ERROR"); // for a debugger, never in production
    if (stop && stop[0] == '1') abort();
    return status;
}

bool error_pending(void) { return context_current()->error.status != STATUS_OK; }
Status error_status(void) { return context_current()->error.status; }
const char *error_message(void) { return context_current()->error.message; }

void error_clear(void) {
    Context *context = context_current();
    context->error.status = STATUS_OK;
    context->error.message[0] = '\0';
}

bool given_refuse(const char *function, const char *pointer) {
    error_set(STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, pointer);
    return false;
}

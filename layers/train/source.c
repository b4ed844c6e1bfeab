// source.c -- borrowers of data that others own, and their notification when it goes. Each thread
// has a list of its own, because a loader and its data belong to one thread.
#include "layers/train/source.h"

static _Thread_local Borrower *borrowers;

void borrower_add(Borrower *self) {
    self->next = borrowers;
    self->link = &borrowers;
    if (self->next) self->next->link = &self->next;
    borrowers = self;
}

void borrower_remove(Borrower *self) {
    if (!self->link) return;
    *self->link = self->next;
    if (self->next) self->next->link = self->link;
    self->link = NULL;
}

void source_bytes_go(const void *bytes) {
    for (Borrower *b = borrowers, *next; b && bytes; b = next) {
        next = b->next;
        if (b->bytes != bytes) continue;
        borrower_remove(b);
        b->gone(b);
    }
}

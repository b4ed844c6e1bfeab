// source.c -- who reads bytes that are not theirs, and is told when these go. Threads: a list each,
// because a loader and its data belong to one.
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

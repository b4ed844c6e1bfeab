// room.h -- a private folder for what is built and run: made here, held by a descriptor, removed
// through it, entry by entry. Nothing that was not made here is ever removed.
#ifndef EXERCISES_GRADER_ROOM_H
#define EXERCISES_GRADER_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

// "ridgepoint-" and six letters in TMPDIR, or /tmp; nobody else can enter it. In it lies `inside`,
// which a program of another account may use when it is started there (confine.h): it never needs
// to find its way from outside.
typedef struct Room {
    char path[512]; // of the folder inside
    int outside;    // descriptors; -1: there is none
    int descriptor; // of the folder inside
} Room;

// STATUS_IO: no folder, or less than ROOM_BYTES free. Close it in any case; one of zeroes is none.
enum { ROOM_BYTES = 64 << 20 };
Status room_open(Room *room);
void room_close(Room *room);
bool room_is_full(const Room *room); // the disk has no room left: not a student's fault

// A file of the room, new, readable by all; STATUS_IO.
Status room_write(const Room *room, const char *name, const void *bytes, size_t count);
Status room_copy(const Room *room, const char *from, const char *name);
// All files below a folder, with their folders, which nobody may then change.
Status room_copy_tree(const Room *room, const char *from, const char *name);
// A file that was made in the room: opened without following a link; -1.
int room_read(const Room *room, const char *name);

#endif

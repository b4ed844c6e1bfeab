// room.h -- a private folder for building and running: made here, held by a descriptor, and removed
// through it, entry by entry. Nothing that was not made here is ever removed.
#ifndef EXERCISES_GRADER_ROOM_H
#define EXERCISES_GRADER_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

// A folder "ridgepoint-" and six letters in TMPDIR, or /tmp, which nobody else can enter. It
// contains the folder `inside`, which a program of another account can use because it starts there
// (confine.h), and so does not need access to the outer folder.
typedef struct Room {
    char path[512]; // path of the folder `inside`
    int outside;    // descriptor of the outer folder; -1: none
    int descriptor; // descriptor of the folder `inside`; -1: none
} Room;

// STATUS_IO: no folder, or less than ROOM_BYTES free. Close it in any case; all zero means no room.
enum { ROOM_BYTES = 64 << 20 };
Status room_open(Room *room);
void room_close(Room *room);
bool room_is_full(const Room *room); // the disk has no room left: not a student's fault

// Make a new file in the room, readable by all. STATUS_IO.
Status room_write(const Room *room, const char *name, const void *bytes, size_t count);
Status room_copy(const Room *room, const char *from, const char *name);
// Copies all files below a folder, with their folders, which nobody may then change.
Status room_copy_tree(const Room *room, const char *from, const char *name);
// Opens a file that was made in the room, without following a link; -1: failed.
int room_read(const Room *room, const char *name);

#endif

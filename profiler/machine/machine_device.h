// machine_device.h -- the ceilings of a device that is not the host: a card with a memory, and
// maybe a time, of its own. All of it through ops and the device's table, as a model uses them.
// Where it is kept, and the host's ceilings: machine.c.
#ifndef PROFILER_MACHINE_MACHINE_DEVICE_H
#define PROFILER_MACHINE_MACHINE_DEVICE_H

#include "profiler/machine/machine.h"

// Of the current context's device, in about two seconds:
//   peak      op matmul of n x n, n doubling from 256 while time and memory allow; 2 n^3 FLOPs
//   levels    op add, y = a + b, which reads 8 bytes an element and writes 4: "L2" where the device
//             says how large its cache is, with half of it as working set; "DRAM" with 16 times as
//             much, 64 MB to 1 GB
//   dispatch  op relu on one element, behind each other in one long queue; and the host's part
//   copies    through the device's from_host and to_host, from and to pageable memory
// Takes at most half of the memory that is free, and gives it back with the context's ledger.
// STATUS_OUT_OF_MEMORY where that is too little to leave the cache.
Status machine_measure_device(MachineProgress progress, void *argument, Machine *machine);

#endif

// machine_known.c -- a table of published ceilings. Peaks are dense ones (half of those "with
// sparsity"), of all units at their boost clock; bandwidths are those of the memory's pins. No
// program reaches either, so times based on them are bounds. (A GeForce may clock a tenth higher
// than advertised.)
#include "profiler/machine/machine_known.h"

#include <stdio.h>
#include <string.h>

#define GB 1000000000
#define MiB (1 << 20)

// L2: bytes per clock times the clock, 5,120 B (A100) and 2,048 B (V100), "NVIDIA A100 Tensor Core
// GPU Architecture", whitepaper, 2020; not published for later cards.
#define A100_L2 (5120 * 1.410e9)
#define V100_L2 (2048 * 1.530e9)
#define A100_SOURCE "NVIDIA A100 datasheet, 1758950-r4"
#define H100_SOURCE "NVIDIA H100 datasheet; its \"with sparsity\" halved"
#define H200_SOURCE "NVIDIA H200 datasheet; its \"with sparsity\" halved"
#define V100_SOURCE "NVIDIA V100 datasheet"
#define L40S_SOURCE "NVIDIA L40S datasheet"
#define L4_SOURCE "NVIDIA L4 datasheet; its \"with sparsity\" halved"
#define A10_SOURCE "NVIDIA A10 datasheet"
#define T4_SOURCE "NVIDIA T4 datasheet, 951643 (320 GB/s: its product brief)"
#define GA102_SOURCE "NVIDIA Ampere GA102 GPU Architecture, whitepaper"
#define ADA_SOURCE "NVIDIA Ada GPU Architecture, whitepaper"
#define RTX50_SOURCE "NVIDIA RTX Blackwell GPU Architecture, whitepaper"
#define MI300X_SOURCE "AMD Instinct MI300X data sheet; AMD CDNA 3 whitepaper (Infinity Cache)"

#define FP32 PRECISION_FLOAT32
#define BF16 PRECISION_BFLOAT16
#define FP16 PRECISION_FLOAT16
static const KnownMachine machines[] = {
    {"v100-fp32", "NVIDIA V100 SXM2 32 GB", true, FP32, 15.7e12, 900e9, 6 * MiB, V100_L2, 32ll * GB,
     V100_SOURCE},
    {"v100-fp16", "NVIDIA V100 SXM2 32 GB", true, FP16, 125e12, 900e9, 6 * MiB, V100_L2, 32ll * GB,
     V100_SOURCE},
    {"t4-fp32", "NVIDIA T4", true, FP32, 8.1e12, 320e9, 4 * MiB, 0, 16ll * GB, T4_SOURCE},
    {"t4-fp16", "NVIDIA T4", true, FP16, 65e12, 320e9, 4 * MiB, 0, 16ll * GB, T4_SOURCE},
    {"a10-fp32", "NVIDIA A10", true, FP32, 31.2e12, 600e9, 6 * MiB, 0, 24ll * GB, A10_SOURCE},
    {"a10-bf16", "NVIDIA A10", true, BF16, 125e12, 600e9, 6 * MiB, 0, 24ll * GB, A10_SOURCE},
    {"a100-fp32", "NVIDIA A100 SXM4 40 GB", true, FP32, 19.5e12, 1555e9, 40 * MiB, A100_L2,
     40ll * GB, A100_SOURCE},
    {"a100-bf16", "NVIDIA A100 SXM4 40 GB", true, BF16, 312e12, 1555e9, 40 * MiB, A100_L2,
     40ll * GB, A100_SOURCE},
    {"a100-80gb-fp32", "NVIDIA A100 SXM4 80 GB", true, FP32, 19.5e12, 2039e9, 40 * MiB, A100_L2,
     80ll * GB, A100_SOURCE},
    {"a100-80gb-bf16", "NVIDIA A100 SXM4 80 GB", true, BF16, 312e12, 2039e9, 40 * MiB, A100_L2,
     80ll * GB, A100_SOURCE},
    {"h100-fp32", "NVIDIA H100 SXM5", true, FP32, 67e12, 3350e9, 50 * MiB, 0, 80ll * GB,
     H100_SOURCE},
    {"h100-bf16", "NVIDIA H100 SXM5", true, BF16, 989.5e12, 3350e9, 50 * MiB, 0, 80ll * GB,
     H100_SOURCE},
    {"h100-pcie-fp32", "NVIDIA H100 PCIe", true, FP32, 51e12, 2000e9, 50 * MiB, 0, 80ll * GB,
     H100_SOURCE},
    {"h100-pcie-bf16", "NVIDIA H100 PCIe", true, BF16, 756.5e12, 2000e9, 50 * MiB, 0, 80ll * GB,
     H100_SOURCE},
    {"h200-fp32", "NVIDIA H200 SXM", true, FP32, 67e12, 4800e9, 50 * MiB, 0, 141ll * GB,
     H200_SOURCE},
    {"h200-bf16", "NVIDIA H200 SXM", true, BF16, 989.5e12, 4800e9, 50 * MiB, 0, 141ll * GB,
     H200_SOURCE},
    {"l4-fp32", "NVIDIA L4", true, FP32, 30.3e12, 300e9, 48 * MiB, 0, 24ll * GB, L4_SOURCE},
    {"l4-bf16", "NVIDIA L4", true, BF16, 121e12, 300e9, 48 * MiB, 0, 24ll * GB, L4_SOURCE},
    {"l40s-fp32", "NVIDIA L40S", true, FP32, 91.6e12, 864e9, 96 * MiB, 0, 48ll * GB, L40S_SOURCE},
    {"l40s-bf16", "NVIDIA L40S", true, BF16, 362e12, 864e9, 96 * MiB, 0, 48ll * GB, L40S_SOURCE},
    {"rtx3090-fp32", "NVIDIA GeForce RTX 3090", true, FP32, 35.6e12, 936e9, 6 * MiB, 0, 24ll * GB,
     GA102_SOURCE},
    {"rtx3090-bf16", "NVIDIA GeForce RTX 3090", true, BF16, 71e12, 936e9, 6 * MiB, 0, 24ll * GB,
     GA102_SOURCE},
    {"rtx4090-fp32", "NVIDIA GeForce RTX 4090", true, FP32, 82.6e12, 1008e9, 72 * MiB, 0, 24ll * GB,
     ADA_SOURCE},
    {"rtx4090-bf16", "NVIDIA GeForce RTX 4090", true, BF16, 165.2e12, 1008e9, 72 * MiB, 0,
     24ll * GB, ADA_SOURCE},
    {"rtx5090-fp32", "NVIDIA GeForce RTX 5090", true, FP32, 104.8e12, 1792e9, 96 * MiB, 0,
     32ll * GB, RTX50_SOURCE},
    {"rtx5090-bf16", "NVIDIA GeForce RTX 5090", true, BF16, 209.5e12, 1792e9, 96 * MiB, 0,
     32ll * GB, RTX50_SOURCE},
    {"mi300x-fp32", "AMD Instinct MI300X", true, FP32, 163.4e12, 5300e9, 256 * MiB, 17.2e12,
     192ll * GB, MI300X_SOURCE},
    {"mi300x-bf16", "AMD Instinct MI300X", true, BF16, 1307.4e12, 5300e9, 256 * MiB, 17.2e12,
     192ll * GB, MI300X_SOURCE},
    // Cores x GHz x 2 FLOP x 8 or 16 lanes x 2 units; channels x MT/s x 8 bytes.
    {"xeon-8380-fp32", "Intel Xeon Platinum 8380", false, FP32, 40 * 3.4e9 * 64, 8 * 3200e6 * 8,
     60 * MiB, 0, 0, "Intel product page: 40 cores, 3.4 GHz, 2 AVX-512 FMA units, 8 x DDR4-3200"},
    {"xeon-8480-fp32", "Intel Xeon Platinum 8480+", false, FP32, 56 * 3.8e9 * 64, 8 * 4800e6 * 8,
     105 * MiB, 0, 0, "Intel product page: 56 cores, 3.8 GHz, 2 AVX-512 FMA units, 8 x DDR5-4800"},
    {"epyc-7763-fp32", "AMD EPYC 7763", false, FP32, 64 * 3.5e9 * 32, 8 * 3200e6 * 8, 256 * MiB, 0,
     0, "AMD product page: 64 cores, 3.5 GHz, 2 256-bit FMA units, 8 x DDR4-3200"},
    {"epyc-9654-fp32", "AMD EPYC 9654", false, FP32, 96 * 3.7e9 * 32, 12 * 4800e6 * 8, 384 * MiB, 0,
     0, "AMD product page: 96 cores, 3.7 GHz, 2 256-bit FMA units, 12 x DDR5-4800"},
    {"ryzen-7950x-fp32", "AMD Ryzen 9 7950X", false, FP32, 16 * 5.7e9 * 32, 2 * 5200e6 * 8,
     64 * MiB, 0, 0, "AMD product page: 16 cores, 5.7 GHz, 2 256-bit FMA units, 2 x DDR5-5200"},
};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

const KnownMachine *machine_known_at(int i) { return i >= 0 && i < MACHINES ? &machines[i] : NULL; }

const KnownMachine *machine_known(const char *name) {
    for (int i = 0; i < MACHINES && name; i++)
        if (strcmp(machines[i].name, name) == 0) return &machines[i];
    return NULL;
}

void machine_of_known(const KnownMachine *known, Machine *machine) {
    const double no_time = 1e21; // B/s of a cache that takes no time
    double cache = known->cache_bytes_per_second;
    *machine = (Machine){.peak_flops_per_second = known->peak_flops_per_second,
                         .memory_bytes = known->memory_bytes,
                         .n_levels = 2};
    snprintf(machine->fingerprint, sizeof(machine->fingerprint), "%s", known->model);
    if (known->card) snprintf(machine->device, sizeof(machine->device), "%s", known->model);
    machine->levels[0] = (MachineLevel){.bytes = known->cache_bytes,
                                        .bytes_per_second = cache > 0.0 ? cache : no_time};
    machine->levels[1] =
        (MachineLevel){.bytes = INT64_MAX, .bytes_per_second = known->bytes_per_second};
    snprintf(machine->levels[0].name, sizeof(machine->levels[0].name), known->card ? "L2" : "L3");
    snprintf(machine->levels[1].name, sizeof(machine->levels[1].name), "DRAM");
}

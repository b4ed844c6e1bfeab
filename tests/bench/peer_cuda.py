"""peer_cuda.py -- PyTorch on a GPU, on the training step of bench_cuda. Not a test of anything.

Reads lines "<seconds> <threads> mlp <sizes> <batch> eager|compiled" and answers each with the
seconds that one step took, in about as many seconds of steps; "nan" for what it cannot do. Float32
without TF32, as the engine; the fused optimizer.
"""
import resource
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(1)
if not torch.cuda.is_available():
    sys.exit(1)


def timed(run, times):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times


def step(sizes, batch, compiled):
    layers = []
    for i, o in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(i, o), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1]).cuda()
    x = torch.rand(batch, sizes[0], device="cuda")
    labels = torch.arange(batch, device="cuda") % sizes[-1]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-7, fused=True)

    def loss():
        return F.cross_entropy(model(x), labels)
    if compiled:
        loss = torch.compile(loss, mode="reduce-overhead")  # that is: with CUDA graphs

    def run():
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()
    return run


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"ready {torch.__version__} {resident:.0f}", flush=True)
    key, run, estimate = None, None, 0.0
    for line in sys.stdin:
        seconds, _, _, sizes, batch, how = line.split()
        try:
            if key != (sizes, batch, how):
                key = (sizes, batch, how)
                run = step([int(n) for n in sizes.split("-")], int(batch), how == "compiled")
                timed(run, 10)
                estimate = timed(run, 10)
            estimate = timed(run, max(1, int(float(seconds) / estimate)))
            print(f"{estimate:.9f}", flush=True)
        except Exception as error:  # a compiler that is missing is no failure of the benchmark
            print(f"{how}: {error}", file=sys.stderr)
            key = None
            print("nan", flush=True)


if __name__ == "__main__":
    main()

"""Loops of torch.compile as CUDA graphs."""


def replayed(torch, all_steps, device, warm_up):
    """A call of all steps of a compiled loop: on a GPU as one CUDA graph, replayed."""
    if device == "host":
        return all_steps
    for _ in range(3):
        warm_up()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        end = all_steps()

    def call():
        graph.replay()
        return end

    return call

"""Names of devices."""


def gpus_of(device):
    """The number of GPUs in a name such as cuda:0-3 or cuda:0,2."""
    ranges = [part.split("-") for part in device.split(":")[1].split(",")]
    return sum(int(each[-1]) - int(each[0]) + 1 for each in ranges)

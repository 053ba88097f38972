"""Names of devices."""


def gpus_of(device):
    """How many a name like cuda:0-3 or cuda:0,2 has."""
    ranges = [part.split("-") for part in device.split(":")[1].split(",")]
    return sum(int(each[-1]) - int(each[0]) + 1 for each in ranges)

"""The air between beacons and a scanner, played with numpy: no formula, and no code that Pharos has as well.

Times are in milliseconds. Every advertiser has a row of event starts; everything else follows from sorting them.
"""
from typing import NamedTuple

import numpy

JITTER = 10.0


class Value(NamedTuple):
    """A mean over independent repetitions, with its standard error."""

    mean: float
    error: float


def airtime(payload: int) -> float:
    """Preamble, access address, header, address, payload and check of an advertising packet: a bit a microsecond."""
    return (1 + 4 + 2 + 6 + payload + 3) * 8 / 1000


def starts(random, count: int, interval: float, duration: float) -> numpy.ndarray:
    """Event starts, a row for each advertiser, over at least 0...duration. They have long been running at 0: the rows
    begin some hundred periods earlier, at random."""
    before = 30 * (interval + JITTER)
    events = int((duration + before) / interval) + 2
    gaps = interval + random.uniform(0, JITTER, (count, events))
    gaps[:, 0] = random.uniform(-before - interval - JITTER / 2, -before, count)
    times = numpy.cumsum(gaps, axis=1)
    return times[:, times.max(axis=0) > -2 * (interval + JITTER)]


def clear(times: numpy.ndarray, length: float, strangers=None, their_length: float = 0) -> numpy.ndarray:
    """Which packets overlap with no other of their channel. `times` in any shape; strangers only disturb."""
    own = times.ravel()
    every, lengths = own, numpy.full(own.size, length)
    if strangers is not None:
        every = numpy.concatenate([own, strangers])
        lengths = numpy.concatenate([lengths, numpy.full(strangers.size, their_length)])
    order = numpy.argsort(every, kind="stable")
    begin, end = every[order], (every + lengths)[order]
    alone = numpy.ones(begin.size, bool)
    alone[1:] &= numpy.maximum.accumulate(end)[:-1] <= begin[1:]
    alone[:-1] &= begin[1:] >= end[:-1]
    result = numpy.empty(begin.size, bool)
    result[order] = alone
    return result[: own.size].reshape(times.shape)


def summary(values) -> Value:
    values = numpy.asarray(values, float)
    return Value(values.mean(), values.std(ddof=1) / numpy.sqrt(values.size))


class Collisions(NamedTuple):
    clear: Value
    #: Of the packets whose predecessor was lost, the share that are lost as well; None where nothing is lost.
    loss_after_loss: Value | None
    arrivals_per_second: Value


def collisions(count: int, interval: float, payload: int = 31, *, busy: float = 0, their_payload: int | None = None,
               repetitions: int = 40, packets: int = 60_000, seed: int = 1) -> Collisions:
    """One channel that one receiver listens to without a pause."""
    length = airtime(payload)
    their_length = airtime(payload if their_payload is None else their_payload)
    duration = max(20 * interval, packets / count * interval)
    # Starts at random; a channel that is `busy` is free of them at an instant with probability 1 - busy.
    rate = -numpy.log(1 - busy) / their_length
    if busy:
        duration = min(duration, 2 * packets / rate)
    shares, again, arrivals = [], [], []
    for random in numpy.random.default_rng(seed).spawn(repetitions):
        times = starts(random, count, interval, duration)
        strangers = None
        if busy:
            span = times.max() - times.min() + 2 * their_length
            strangers = times.min() - their_length + random.uniform(0, span, random.poisson(rate * span))
        alone = clear(times, length, strangers, their_length)
        inside = (times >= 0) & (times < duration)
        shares.append(alone[inside].mean())
        arrivals.append((alone & inside).sum() / count / duration * 1000)
        pairs = inside[:, 1:] & inside[:, :-1] & ~alone[:, :-1]
        if pairs.any():
            again.append((~alone[:, 1:])[pairs].mean())
    return Collisions(summary(shares), summary(again) if len(again) > 1 else None, summary(arrivals))


def any_of_three(count: int, interval: float, spacing: tuple[float, float], payload: int = 31, *,
                 repetitions: int = 60, packets: int = 30_000, seed: int = 1) -> Value:
    """The share of events with a clear copy on at least one channel; each device has its own spacing of copies."""
    length = airtime(payload)
    duration = max(20 * interval, packets / count * interval)
    shares = []
    for random in numpy.random.default_rng(seed).spawn(repetitions):
        times = starts(random, count, interval, duration)
        offsets = random.uniform(*spacing, (count, 1))
        alone = numpy.zeros(times.shape, bool)
        for channel in range(3):
            alone |= clear(times + channel * offsets, length)
        inside = (times >= 0) & (times < duration)
        shares.append(alone[inside].mean())
    return summary(shares)


class Scanner(NamedTuple):
    window: float
    interval: float
    channels: int = 3

    def hears(self, times: numpy.ndarray, length: float, channel: int, phase: float) -> numpy.ndarray:
        """Which copies lie wholly inside a window on their channel."""
        if self.channels == 1 and self.window == self.interval:
            return numpy.full(times.shape, channel == 0)
        turn, since = numpy.divmod(times - phase, self.interval)
        return (since + length <= self.window) & (turn % self.channels == channel)


class Latency(NamedTuple):
    #: In seconds, by percent.
    percentiles: dict[int, Value]
    #: The share that is not received within so many seconds.
    undiscovered: dict[float, Value]
    #: In seconds; infinite where some are not received within the horizon.
    mean: Value


def latency(count: int, interval: float, scanner: Scanner, payload: int = 31, *, horizon: float, after=(),
            copy_spacing: float = 1.0, repetitions: int = 400, instants: int = 20, groups: int = 20,
            seed: int = 1) -> Latency:
    """From a random instant to the start of the first event, after it, of which a copy is received. `horizon` in
    seconds: what takes longer counts as never. Each repetition has its own phase of the scanner; those of a group share
    their percentiles, and the groups' scatter gives the error."""
    return told(waits(count, interval, scanner, payload, horizon=horizon, copy_spacing=copy_spacing,
                      repetitions=repetitions, instants=instants, groups=groups, seed=seed), after)


def mixed_latency(count: int, interval: float, scanners: dict[Scanner, float], *, horizon: float, after=(),
                  repetitions: int = 400, instants: int = 20, groups: int = 20, seed: int = 1) -> Latency:
    """The latency of visitors who each have one scanner: of so many in each group as its weight says."""
    found = [[] for _ in range(groups)]
    whole = sum(scanners.values())
    for number, (scanner, weight) in enumerate(scanners.items()):
        each = repetitions * weight / whole / groups
        assert each == int(each) > 0, "give so many repetitions that each group has all scanners by their weights"
        own = waits(count, interval, scanner, horizon=horizon, repetitions=int(each) * groups, instants=instants,
                    groups=groups, seed=seed + 1000 * number)
        for group, more in zip(found, own, strict=True):
            group.append(more)
    return told([numpy.concatenate(group) for group in found], after)


def waits(count: int, interval: float, scanner: Scanner, payload: int = 31, *, horizon: float,
          copy_spacing: float = 1.0, repetitions: int, instants: int, groups: int, seed: int) -> list[numpy.ndarray]:
    """The waits of each group in ms; infinite beyond the horizon."""
    length = airtime(payload)
    horizon *= 1000
    duration = 3 * horizon if count == 1 else horizon * 1.5
    waits = [[] for _ in range(groups)]
    for number, random in enumerate(numpy.random.default_rng(seed).spawn(repetitions)):
        times = starts(random, count, interval, duration)
        phase = random.uniform(0, scanner.channels * scanner.interval)
        received = numpy.zeros(times.shape, bool)
        for channel in range(scanner.channels):
            copies = times + channel * copy_spacing
            heard = scanner.hears(copies, length, channel, phase)
            received |= heard if count == 1 else heard & clear(copies, length)
        for row, kept in zip(times, received, strict=True):
            begin = random.uniform(0, duration - horizon, instants)
            found = numpy.append(row[kept], numpy.inf)
            waits[number % groups].append(found[numpy.searchsorted(found, begin)] - begin)
    waits = [numpy.concatenate(group) for group in waits]
    return [numpy.where(group > horizon, numpy.inf, group) for group in waits]


#: Of each PHY of extended advertising: the rates of its primary and of its secondary packets.
PHYS = {"1M": ("1M", "1M"), "2M": ("1M", "2M"), "coded": ("S8", "S8"), "coded-s2": ("S2", "S2"),
        "coded-s8": ("S8", "S8")}


def packet(rate: str, payload: int) -> float:
    """A packet of extended advertising, symbol by symbol, in ms. The access address, the coding indicator and the first
    end of a coded packet always have eight symbols for a bit."""
    bits = 8 * (2 + payload + 3)
    if rate in ("1M", "2M"):
        octet = {"1M": 8, "2M": 4}[rate]
        return ({"1M": 1, "2M": 2}[rate] * octet + 4 * octet + bits * octet / 8) / 1000
    symbols = {"S2": 2, "S8": 8}[rate]
    return (80 + 8 * (32 + 2 + 3) + symbols * (bits + 3)) / 1000


def auxiliary(rate: str, octets: int) -> list[float]:
    """AUX_ADV_IND and its chain: an address in the first packet only, a pointer in all but the last."""
    lengths, head = [], 1 + 1 + 6 + 2
    while octets > 255 - head:
        lengths.append(packet(rate, 255))
        octets -= 255 - head - 3
        head = 1 + 1 + 2
    return [*lengths, packet(rate, head + octets)]


def all_alone(begin: numpy.ndarray, length: numpy.ndarray, channel: numpy.ndarray) -> numpy.ndarray:
    """Which packets of any lengths overlap with no other of their channel."""
    result = numpy.empty(begin.size, bool)
    for each in range(37):
        own = numpy.flatnonzero(channel == each)
        own = own[numpy.argsort(begin[own], kind="stable")]
        start, end = begin[own], begin[own] + length[own]
        alone = numpy.ones(own.size, bool)
        alone[1:] &= numpy.maximum.accumulate(end)[:-1] <= start[1:]
        alone[:-1] &= start[1:] >= end[:-1]
        result[own] = alone
    return result


def auxiliary_clear(random, times: numpy.ndarray, phy: str, octets: int, copy_spacing: float) -> numpy.ndarray:
    """Of which events all auxiliary packets are clear, each on a channel of its own choice."""
    primary, secondary = PHYS[phy]
    length = packet(primary, 7)
    begin = 2 * max(copy_spacing, length) + length + 0.3
    starts_, lengths = [], auxiliary(secondary, octets)
    for each in lengths:
        starts_.append(times + begin)
        begin += each + 0.3
    every = numpy.stack(starts_)
    sizes = numpy.broadcast_to(numpy.array(lengths)[:, None, None], every.shape)
    alone = all_alone(every.ravel(), sizes.ravel(), random.integers(0, 37, every.size))
    return alone.reshape(every.shape).all(axis=0)


def extended_collisions(count: int, interval: float, phy: str, octets: int, *, repetitions: int = 40,
                        packets: int = 40_000, seed: int = 1) -> Value:
    """The share of events that a receiver of one primary channel finds: ADV_EXT_IND clear, and all packets after it."""
    length = packet(PHYS[phy][0], 7)
    duration = max(20 * interval, packets / count * interval)
    shares = []
    for random in numpy.random.default_rng(seed).spawn(repetitions):
        times = starts(random, count, interval, duration)
        found = clear(times, length) & auxiliary_clear(random, times, phy, octets, 1.0)
        shares.append(found[(times >= 0) & (times < duration)].mean())
    return summary(shares)


def extended_capture(count: int, interval: float, phy: str, octets: int, threshold: float, shadowing: float, *,
                     repetitions: int = 600, events: int = 150, seed: int = 1) -> Value:
    """The share of one beacon's events that survive if each packet is lost only to an overlap with a beacon whose level
    is less than `threshold` dB below its own. Levels are drawn once in each repetition."""
    length, duration = packet(PHYS[phy][0], 7), events * (interval + JITTER / 2)
    shares = []
    for random in numpy.random.default_rng(seed).spawn(repetitions):
        levels = random.normal(0, shadowing, count)
        harmful = int((levels[0] - levels[1:] < threshold).sum())
        times = starts(random, 1 + harmful, interval, duration)
        found = clear(times, length) & auxiliary_clear(random, times, phy, octets, 1.0)
        shares.append(found[0][(times[0] >= 0) & (times[0] < duration)].mean())
    return summary(shares)


def extended_loss_after_loss(count: int, interval: float, phy: str, octets: int, *, repetitions: int = 40,
                             packets: int = 40_000, seed: int = 1) -> Value:
    """Of the events whose predecessor was not received, the share that is not received either."""
    length = packet(PHYS[phy][0], 7)
    duration = max(20 * interval, packets / count * interval)
    shares = []
    for random in numpy.random.default_rng(seed).spawn(repetitions):
        times = starts(random, count, interval, duration)
        lost = ~(clear(times, length) & auxiliary_clear(random, times, phy, octets, 1.0))
        inside = (times >= 0) & (times < duration)
        pairs = inside[:, 1:] & inside[:, :-1] & lost[:, :-1]
        shares.append(lost[:, 1:][pairs].mean())
    return summary(shares)


def extended_latency(count: int, interval: float, scanner: Scanner, phy: str, octets: int, *, horizon: float,
                     repetitions: int = 400, instants: int = 20, groups: int = 20, seed: int = 1) -> Latency:
    """As `latency`, of extended advertising: the scanner then follows the pointer, wherever its window ends."""
    length = packet(PHYS[phy][0], 7)
    spacing = max(1.0, length)
    horizon *= 1000
    duration = horizon * 1.5
    waits = [[] for _ in range(groups)]
    for number, random in enumerate(numpy.random.default_rng(seed).spawn(repetitions)):
        times = starts(random, count, interval, duration)
        phase = random.uniform(0, scanner.channels * scanner.interval)
        received = numpy.zeros(times.shape, bool)
        for channel in range(scanner.channels):
            copies = times + channel * spacing
            received |= scanner.hears(copies, length, channel, phase) & clear(copies, length)
        received &= auxiliary_clear(random, times, phy, octets, spacing)
        for row, kept in zip(times, received, strict=True):
            begin = random.uniform(0, duration - horizon, instants)
            found = numpy.append(row[kept], numpy.inf)
            waits[number % groups].append(found[numpy.searchsorted(found, begin)] - begin)
    waits = [numpy.concatenate(group) for group in waits]
    return told([numpy.where(group > horizon, numpy.inf, group) for group in waits], ())


def told(waits: list[numpy.ndarray], after) -> Latency:
    percentiles = {
        percent: summary([numpy.quantile(group, percent / 100, method="higher") / 1000 for group in waits])
        for percent in (50, 90, 95, 99)
        if all(numpy.isfinite(group).mean() > percent / 100 + 0.002 for group in waits)}
    undiscovered = {limit: summary([(group > limit * 1000).mean() for group in waits]) for limit in after}
    means = [group.mean() / 1000 for group in waits]
    finite = all(numpy.isfinite(means))
    return Latency(percentiles, undiscovered, summary(means) if finite else Value(numpy.inf, numpy.inf))

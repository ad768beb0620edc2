extension PageScript {
    /// From the controls to the numbers, and back when the page is reset.
    static let controls = #"""
        const plan = JSON.parse(byId("plan").textContent), form = byId("controls");
        const sliders = {
          beacons: { low: 1, high: 5000, isLogarithmic: true, fit: Math.round },
          intervalMs: { low: FASTEST, high: SLOWEST, isLogarithmic: true, fit: inUnits },
          payloadOctets: { low: 0, high: 31, isLogarithmic: false, fit: Math.round },
        };
        function slide(name) {
          const { low, high, isLogarithmic } = sliders[name], slider = byId(name + "Slider");
          const value = Math.min(high, Math.max(low, Number(byId(name).value)));
          const part = isLogarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
          slider.value = Math.round(1000 * part);
          slider.setAttribute("aria-valuetext", byId(name).value);
        }

        // The settings as they stand; null where a field holds nothing that can be computed.
        function settings() {
          if (!form.checkValidity()) return null;
          const s = { ...plan };
          for (const name in sliders) s[name] = Number(byId(name).value);
          s.beacons = Math.round(s.beacons);
          s.payloadOctets = Math.round(s.payloadOctets);
          s.captureDecibels = byId("captureDecibels").value === "" ? null : Number(byId("captureDecibels").value);
          s.scanner = plan.scanners.find(scanner => scanner.name === byId("scanner").value);
          return s;
        }

        let running = 0;
        function update() {
          const s = settings(), turn = ++running;
          for (const name in sliders) byId(name).setAttribute("aria-invalid", String(!byId(name).checkValidity()));
          if (!s) {
            byId("sentence").textContent = "One of the fields holds a value that no controller can send with.";
            return;
          }
          const p = clear(s, s.intervalMs), E = s.intervalMs + J / 2, tau = airtime(s.payloadOctets);
          const best = bestIntervals(s), load = s.beacons * tau / E + s.backgroundLoad;
          show("collisionFreeProbability", p, percent(p));
          show("arrivalsPerSecondPerBeacon", 1000 * p / E, digits(1000 * p / E));
          const again = lossAfterLoss(s);
          show("lossAfterLossProbability", again, percent(again));
          show("channelLoad", load, percent(load));
          show("airtimeMicroseconds", 1000 * tau, digits(1000 * tau, 4) + " µs");
          show("bestThroughputIntervalMs", best.throughput, milliseconds(best.throughput));
          show("bestLatencyIntervalMs", best.latency, milliseconds(best.latency));
          const band = s.captureDecibels === null ? {} : captureBand(s, s.intervalMs);
          show("captureLow", band.low, percent(band.low));
          show("captureHigh", band.high, percent(band.high));
          for (const id of ["captureLow", "captureHigh"]) byId(id).closest("div").hidden = s.captureDecibels === null;
          drawIntervals(s, best);
          if (s.scanner) follow(s, p, best, turn); else say(s, p, best, null);
        }

        // The latency takes longer than a frame: it goes on between frames, and shows what it has on its way.
        function follow(s, p, best, turn) {
          const steps = latencyOf(s, s.scanner), area = byId("latencyNumbers");
          area.setAttribute("aria-busy", "true");
          const proceed = () => {
            if (turn !== running) return;
            const until = performance.now() + 24;
            let result = null;
            do {
              const step = steps.next();
              if (step.done) break;
              result = step.value || result;
            } while (performance.now() < until && !(result && result.isFinal));
            if (result) {
              for (const name in SHARES) {
                const value = result.percentiles[name];
                const shown = isNumber(value) ? duration(value) : `over ${duration(s.horizonS)}`;
                show(name, value, (result.isRough ? "about " : "") + shown);
              }
              drawDiscovery(result, s.horizonS);
            }
            if (result && result.isFinal) {
              area.setAttribute("aria-busy", "false");
              say(s, p, best, result);
            } else {
              setTimeout(proceed, 0);
            }
          };
          proceed();
        }

        function say(s, p, best, result) {
          const clearly = p > 0.995 ? "nearly all packets arrive clear" : p >= 0.01
            ? `${digits(100 * p, 2)} of 100 packets arrive clear` : `only ${digits(1000000 * p, 2)} packets of a million arrive clear`;
          const fleet = s.beacons === 1 ? "A single beacon" : `${s.beacons} beacons`;
          let text = `${fleet} at ${milliseconds(s.intervalMs)}: ${clearly}.`;
          if (result) {
            const { latencyP50: half, latencyP99: most } = result.percentiles;
            text += isNumber(half) ? ` Half of all receivers have seen a given beacon after ${duration(half)}` + (isNumber(most)
              ? `, 99 of 100 after ${duration(most)}.` : `, but not 99 of 100 within ${duration(s.horizonS)}.`)
              : ` Not even half of all receivers see a given beacon within ${duration(s.horizonS)}.`;
          }
          if (s.intervalMs + J / 2 < 0.98 * (best.throughput + J / 2)) {
            text += ` Too many packets: ${milliseconds(best.throughput)} would let more of them through.`;
          }
          byId("sentence").textContent = text;
          form.dataset.state = "done";
        }

        for (const name in sliders) {
          byId(name + "Slider").addEventListener("input", event => {
            const { low, high, isLogarithmic, fit } = sliders[name], part = Number(event.target.value) / 1000;
            const value = fit(isLogarithmic ? low * (high / low) ** part : low + (high - low) * part);
            byId(name).value = Math.min(high, Math.max(low, value));
            event.target.setAttribute("aria-valuetext", byId(name).value);
            changed();
          });
          byId(name).addEventListener("input", () => { slide(name); changed(); });
        }
        let isAsked = false;
        function changed() {
          form.dataset.state = "busy";
          if (isAsked) return;
          isAsked = true;
          requestAnimationFrame(() => { isAsked = false; update(); });
        }
        form.addEventListener("change", changed);
        form.addEventListener("submit", event => event.preventDefault());
        // The fields get their first values back only after this event.
        form.addEventListener("reset", () => {
          form.dataset.state = "busy";
          setTimeout(() => { Object.keys(sliders).forEach(slide); changed(); }, 0);
        });
        Object.keys(sliders).forEach(slide);
        form.dataset.state = "busy";
        update();
        """#
}

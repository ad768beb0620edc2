"use strict";

// Numbers as text, exactly as the program writes them (NumberFormat).
const texts = (() => {
  const NONE = "–";
  const isNumber = x => typeof x === "number" && Number.isFinite(x);

  // A number with at most `decimals` decimals, without zeros at the end.
  function fixed(x, decimals) {
    const scale = 10 ** decimals, scaled = Math.round(Math.abs(x) * scale);
    const whole = Math.floor(scaled / scale), fraction = String(scaled - whole * scale).padStart(decimals, "0");
    const text = decimals > 0 ? `${whole}.${fraction}`.replace(/\.?0+$/, "") : String(whole);
    return (x < 0 && scaled > 0 ? "-" : "") + text;
  }

  function scientific(x, n) {
    let mantissa = Math.abs(x), exponent = 0;
    for (; mantissa < 1; exponent--) mantissa *= 10;
    // A mantissa that rounds up to 10 has one more digit.
    for (; mantissa >= 10 - 5 / 10 ** n; exponent++) mantissa /= 10;
    return `${x < 0 ? "-" : ""}${fixed(mantissa, n - 1)}e${exponent}`;
  }

  // `n` significant digits. Whole numbers keep all of their digits, and tiny numbers are not written as 0.
  function digits(x, n = 3) {
    if (!isNumber(x)) return NONE;
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size < 1e-4 || size >= 1e15) return scientific(x, n);
    let decimals = 0;
    while (size * 10 ** decimals < 10 ** (n - 1) && decimals < 12) decimals++;
    return fixed(x, decimals);
  }

  function percent(share) {
    if (!isNumber(share)) return NONE;
    // Shares below 1e-9 are rounding errors.
    if (share > 0 && share < 1e-9) return "< 1e-7 %";
    let nines = 0;
    // 99.97 % must not become 100 %.
    for (let rest = 1 - share; share > 0.99 && share < 1 && rest < 0.1 && nines < 6; rest *= 10) nines++;
    return `${digits(share * 100, nines ? 2 + nines : 3)} %`;
  }

  // Seconds in a suitable unit.
  function duration(s) {
    if (!isNumber(s) || s < 0) return NONE;
    if (s < 1) return `${digits(s * 1000)} ms`;
    if (s < 600) return `${digits(s)} s`;
    return s < 7200 ? `${digits(s / 60)} min` : `${digits(s / 3600)} h`;
  }

  const milliseconds = x => isNumber(x) ? `${digits(x, 7)} ms` : NONE;

  // A sentence with no-break spaces between numbers and their units.
  const sentence = text => text.replace(/(\d) (%|ms|s|µs|min|h|m|m²|m\/s|µJ|µC)(?=[\s.,;:)]|$)/g, "$1\u00a0$2");

  return { isNumber, digits, percent, duration, milliseconds, sentence };
})();

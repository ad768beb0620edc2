"use strict";

// The positions of names in a drawing, in pixels. A name without room is left out.
const labels = (() => {
  // The size of a letter, the height of a line, and the distance of a name from its place.
  const LETTER = 7, LINE = 14, DISTANCE = 10;

  // The places of a name around a circle: the distance from the middle of the circle to the middle of the name's base
  // line, across in widths of the name, then across and down in pixels.
  const AROUND = [[0, 0, -DISTANCE], [0, 0, DISTANCE + LINE - 3], [0.5, DISTANCE, 5], [-0.5, -DISTANCE, 5]];
  // The places of a name in an area: in the middle, or one line higher or lower.
  const WITHIN = [[0, 0, 5], [0, 0, 5 + LINE], [0, 0, 5 - LINE]];

  const meets = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const boxOf = ([x, y], wide, high) => ({ left: x - wide / 2, right: x + wide / 2, top: y - high, bottom: y });
  const widthOf = text => text.length * LETTER;

  // Returns the names that have room, each with the middle of its base line. Names are placed in order, so earlier
  // names get room first.
  //  names: { text, at, isWithin, room, isSure }: `at` is the place in pixels; isWithin is true for a name within an
  //    area of `room` pixels in width instead of next to a circle; isSure is true for a name that is always shown.
  //  circles: { at, radius } that no name covers.
  function arrange(names, circles) {
    const taken = circles.map(({ at: [x, y], radius }) => boxOf([x, y + radius], 2 * radius, 2 * radius)), result = [];
    for (const name of names) {
      const wide = widthOf(name.text), offsets = name.isWithin ? WITHIN : AROUND;
      if (name.isWithin && wide > name.room && !name.isSure) continue;
      const places = offsets.map(([share, dx, dy]) => [name.at[0] + share * wide + dx, name.at[1] + dy]);
      const isFree = place => !taken.some(box => meets(box, boxOf(place, wide, LINE)));
      const found = places.find(isFree) ?? (name.isSure ? places[0] : null);
      if (!found) continue;
      taken.push(boxOf(found, wide, LINE));
      result.push({ ...name, at: found });
    }
    return result;
  }

  return { arrange };
})();

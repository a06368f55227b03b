/** Colours of values from low to high: viridis, which is perceptually uniform and safe for the colour-blind. */

const VIRIDIS = [
  [68, 1, 84], [72, 26, 108], [71, 47, 125], [65, 68, 135], [57, 86, 140], [49, 104, 142], [42, 120, 142],
  [35, 136, 142], [31, 152, 139], [34, 168, 132], [53, 183, 121], [84, 197, 104], [122, 209, 81], [165, 219, 54],
  [210, 226, 27], [253, 231, 37],
];

/**
 * The colour at `share` (0 to 1). High values stand out from the background: bright on dark, dark on light.
 * @param {number} share
 * @param {boolean} dark
 * @returns {number[]}
 */
export function rampColour(share, dark) {
  const place = (dark ? 0.22 + 0.78 * share : 0.86 * (1 - share)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(place));
  return VIRIDIS[low].map((from, k) => Math.round(from + (VIRIDIS[low + 1][k] - from) * (place - low)));
}

/** @param {number[]} colour */
export const cssColour = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

/**
 * A colour as the pixels of an image have it, without its opacity.
 * @param {number[]} colour
 */
export const packed = ([red, green, blue]) => (blue << 16) | (green << 8) | red;

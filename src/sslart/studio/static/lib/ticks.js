// Round values along an axis.

/**
 * The multiples of a round step from `from` to `to`, about `most` of them: the step is one of `steps` times a power of ten.
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @returns {number[]}
 */
export function ticksOf(from, to, most, steps = [1, 2, 5, 10]) {
  const rough = (to - from) / most || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = steps.map((one) => one * unit).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + 1e-9 * step; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

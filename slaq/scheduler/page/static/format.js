// Numbers and times for people.

export const cores = (value) => (value === 0 ? "0" : value >= 10 ? value.toFixed(0) : value.toFixed(value % 1 ? 2 : 0));
export const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(share > 0.995 ? 1 : 0)} %`);
export const count = (value) => value.toLocaleString("en");

export function loss(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(5)));
}

export function seconds(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  if (value < 60) return `${value.toFixed(value < 10 ? 1 : 0)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  if (value < 86400) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  return `${(value / 86400).toFixed(1)} d`;
}

export const coreTime = (value) => (value < 3600 ? `${count(Math.round(value))} core-s` : `${(value / 3600).toFixed(1)} core-h`);
export const clock = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");

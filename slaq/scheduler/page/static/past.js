// Decisions of the past as the charts take them.

export const drawable = (samples, titles) => samples.map(([at, granted, held]) =>
  [at, null, granted, 0, null, held.map(([id, given]) => [id, titles[id]?.name ?? id, given])]);

// A job's forecast, drawn from what the scheduler says of it: how far it has come, the iterations to its milestones,
// and the spread of the work until each.

const SHARES = [0.9, 0.95, 1.0];

export function forecast(detail) {
  const points = detail.losses.filter(([, , loss]) => loss !== null);
  const x = points.map(([, iteration]) => iteration);
  const measured = points.map(([, , loss]) => loss);
  const none = { x, measured, expected: x.map(() => null), early: x.map(() => null), late: x.map(() => null), end: null };
  const standing = detail.prediction?.standing;
  const { first_loss: first, loss, ended_at: ended } = detail.job;
  if (!standing || ended !== null || points.length < 3 || standing[0] <= 0.01 || standing[0] >= 1 || first <= loss) return none;
  const whole = (first - loss) / standing[0];
  const now = x.at(-1);
  const spread = new Map((detail.explanation?.ahead ?? []).map(([share, core_s, least, most]) =>
    [share, core_s > 0 ? [least / core_s, most / core_s] : [1, 1]]));
  const ways = [[[now, loss]], [[now, loss]], [[now, loss]]];
  SHARES.forEach((share, place) => {
    const ahead = standing[place + 1];
    if (share <= standing[0] || !(ahead > 0)) return;
    const [fast, slow] = spread.get(share) ?? [1, 1];
    [1, Math.min(fast, 1), Math.max(slow, 1)].forEach((factor, way) => {
      const at = Math.max(now + ahead * factor, ways[way].at(-1)[0] + 1e-6);
      ways[way].push([at, first - share * whole]);
    });
  });
  if (ways[0].length < 2) return none;
  // A very long tail would squeeze the curve: the forecast is drawn as far again as the job has come, three times over.
  const most = now + Math.max(3 * (now - x[0]), 10);
  const last = Math.min(Math.max(...ways.map((way) => way.at(-1)[0])), most);
  const further = Array.from({ length: 60 }, (_, step) => now + ((last - now) * (step + 1)) / 60);
  const past = x.slice(0, -1).map(() => null);
  const along = (way) => [...past, loss, ...further.map((at) => between(way, at))];
  return {
    x: [...x, ...further],
    measured: [...measured, ...further.map(() => null)],
    expected: along(ways[0]), early: along(ways[1]), late: along(ways[2]),
    end: first - whole,
  };
}

function between(way, at) {
  const next = way.findIndex(([x]) => x >= at);
  if (next === -1) return way.at(-1)[1];
  if (next === 0) return way[0][1];
  const [[x0, y0], [x1, y1]] = [way[next - 1], way[next]];
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}

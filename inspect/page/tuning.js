// The tuner's landscape: all configs of a key by their figure.

function landscape(tuning) {
  const ranked = tuning.configs.filter((config) => config.figure !== null);
  const width = 1100, height = 200, left = 60;
  const most = Math.max(...ranked.map((config) => config.figure), 1e-9);
  const x = (i) => left + (width - left - 20) * (ranked.length > 1 ? i / (ranked.length - 1) : 0.5);
  const y = (figure) => (height - 20) * (1 - figure / most) + 8;
  const readout = element('div', {class: 'readout', role: 'status'});
  const say = (config) => { readout.textContent = `${number(config.figure)} ${tuning.unit}: ${config.config}, ${config.vgpr} VGPRs, ${bytes(config.lds)} LDS, ${config.occupancy} waves a SIMD`; };
  const chart = drawing('svg', {viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': `${ranked.length} configs, the best ${ranked.length ? number(ranked[0].figure) : ''} ${tuning.unit}`});
  for (const value of ticks(most))
    chart.append(drawing('line', {class: 'grid', x1: left, x2: width, y1: y(value), y2: y(value)}),
                 drawing('text', {class: 'soft', x: left - 6, y: y(value) + 4, 'text-anchor': 'end', 'font-size': 11}, number(value)));
  ranked.forEach((config, i) => chart.append(drawing('circle', {cx: x(i), cy: y(config.figure), r: config.winner ? 7 : 5, fill: config.winner ? 'var(--mfma)' : 'var(--accent)',
    onmouseenter: () => say(config)}, drawing('title', {}, config.config))));
  return element('div', {}, element('h3', {}, `${tuning.kernel} ${tuning.key} on ${tuning.device}`),
    element('p', {class: 'explain'}, `${tuning.ranking}${tuning.caches ? `, caches ${tuning.caches}` : ''}, in ${tuning.unit || 'no unit'}: less is better. ` + (tuning.configs.length === 1
      ? 'The table has the winner alone: nereid tune --table keeps every config that it tries.'
      : `${ranked.length} of ${tuning.configs.length} configs are ranked, the others rejected; the winner is orange.`)),
    ranked.length > 1 ? chart : null, readout,
    element('details', {open: tuning.configs.length === 1}, element('summary', {}, 'All configs'), element('div', {class: 'scroll'}, table([tuning.unit || 'figure', 'config', 'VGPRs', 'LDS bytes', 'waves a SIMD', 'launches', 'rejected because'],
      tuning.configs.map((config) => [config.figure === null ? '' : config.figure, (config.winner ? '★ ' : '') + config.config, config.vgpr, config.lds, config.occupancy, config.launches, config.rejected])))));
}

function tuning() {
  if (!report.tuning.length) return null;
  const holder = element('div', {}, landscape(report.tuning[0]));
  const chooser = element('select', {'aria-label': 'Key', onchange: () => holder.replaceChildren(landscape(report.tuning[chooser.value]))},
                          report.tuning.map((entry, i) => element('option', {value: i}, `${entry.kernel} ${entry.key}`)));
  return section('tuning', "The tuner's landscape", 'Every config that a tuning table has for a key.', report.tuning.length > 1 ? chooser : null, holder);
}

// What stands at the top: figures, the hot loop, occupancy, registers along the code.

function cards() {
  const run = report.run, r = report.resources;
  const list = [];
  const add = (value, text, title) => list.push(element('div', {class: 'card', title}, element('b', {}, value), element('span', {}, text)));
  if (run) {
    add(`${number(run.us)} µs`, `simulated, limited by ${run.limit}`, 'The time of one launch by the timing model; not measured');
    add(number(run.cycles_per_workgroup), 'clocks a workgroup', 'From its first to its last instruction');
  }
  add(String(report.occupancy.waves), 'waves a SIMD');
  add(String(r.vgpr - r.agpr) + (r.agpr ? ` + ${r.agpr}` : ''), r.agpr ? 'VGPRs + AGPRs' : 'vector registers');
  add(String(r.sgpr), 'scalar registers');
  add(number(r.lds), 'bytes of LDS a workgroup');
  if (r.spills || r.scratch) add(String(r.spills), `spills, ${r.scratch} bytes scratch`);
  add(number(report.code.length), 'instructions');
  return element('div', {class: 'cards'}, list);
}

function configText() {
  return Object.entries(report.config).map(([key, value]) => `${key}=${value}`).join(', ');
}

function hotLoop() {
  if (report.hot_loop === null) return section('loop', 'Hot loop', 'No loop executes a noteworthy part of the instructions.');
  const loop = report.loops[report.hot_loop];
  const parts = Object.keys(kindTitles).filter((kind) => loop.mix[kind])
    .map((kind) => ({name: kindTitles[kind], value: loop.mix[kind], colour: variable(kind)}));
  const first = report.code[loop.first], last = report.code[loop.last];
  const place = report.code.slice(loop.first, loop.last + 1).find((instruction) => instruction.file !== undefined);
  const children = [
    element('p', {}, `${loop.last - loop.first + 1} instructions from ${hex(first.address)} to ${hex(last.address)}` +
      (place ? `, about ${placeText(place)}` : '') + (loop.iterations ? `; a wave runs ${number(loop.iterations)} iterations. ` : '. '),
      element('button', {type: 'button', onclick: () => { select({instruction: loop.first}); document.getElementById('code').scrollIntoView(); }}, 'Show it')),
    stackedBar('Instructions of an iteration', parts),
    legend(parts.map((part) => [part.colour, `${part.name} ${part.value}`]))];
  if (report.run) {
    const stalls = {};
    let issue = 0;
    for (const instruction of report.code.slice(loop.first, loop.last + 1)) {
      issue += instruction.issue_clocks || 0;
      for (const [reason, clocks] of Object.entries(instruction.stalls || {})) stalls[reason] = (stalls[reason] || 0) + clocks;
    }
    const times = Math.max(1, loop.iterations);
    const spent = [{name: 'issuing', value: issue / times, colour: variable('accent')}, ...Object.entries(stalls)
      .sort((a, b) => b[1] - a[1]).map(([reason, clocks]) => ({name: `waiting: ${reason}`, value: clocks / times, colour: variable(reasonColour(reason))}))];
    children.push(element('h3', {}, 'Clocks of a wave in an iteration'), stackedBar('Clocks of an iteration', spent),
                  legend(spent.map((part) => [part.colour, `${part.name} ${number(part.value)}`])));
  }
  return section('loop', 'Hot loop', 'The loop that executes most of the instructions: what an iteration is made of, and what its waves wait for.', ...children);
}

function occupancy() {
  const o = report.occupancy;
  const limiting = o.limits.filter((limit) => limit.waves === o.limits[0].waves).map((limit) => limit.what).join(' and ');
  const rows = o.limits.map((limit) => [limit.what, limit.waves, limit.detail, limit.remedy]);
  return section('occupancy', 'Occupancy and registers',
    `${o.waves} waves a SIMD (8 at most), workgroups of ${o.waves_of_workgroup} waves; ` + (o.waves === 8 ? 'nothing takes more than its share.' : `what limits them: ${limiting}.`),
    table(['resource', 'allows waves', 'use', 'for more'], rows), element('h3', {}, 'Live registers along the code'),
    element('p', {class: 'explain'}, 'Registers whose value is read later, before each instruction. The shaded part is the hot loop; a click shows the instruction.'),
    pressure());
}

function pressure() {
  const width = 1200, height = 170, left = 44, bottom = 18;
  const size = report.code.length;
  const most = Math.max(8, ...report.code.map((instruction) => Math.max(...instruction.live)));
  const x = (i) => left + (width - left) * i / Math.max(1, size - 1);
  const y = (value) => (height - bottom) * (1 - value / most) + 4;
  const chart = drawing('svg', {viewBox: `0 0 ${width} ${height + 8}`, width: '100%', role: 'img', id: 'pressure',
    'aria-label': `Live registers along the code, at most ${Math.max(...report.code.map((i) => i.live[0]))} vector registers`});
  if (report.hot_loop !== null) {
    const loop = report.loops[report.hot_loop];
    chart.append(drawing('rect', {x: x(loop.first), y: 4, width: Math.max(2, x(loop.last) - x(loop.first)), height: height - bottom, fill: 'var(--loop)', opacity: .13}));
  }
  for (const value of ticks(most)) {
    chart.append(drawing('line', {class: 'grid', x1: left, x2: width, y1: y(value), y2: y(value)}),
                 drawing('text', {class: 'soft', x: left - 6, y: y(value) + 4, 'text-anchor': 'end', 'font-size': 11}, String(value)));
  }
  const limit = report.occupancy.limits.find((each) => each.what === 'vector registers');
  // Both kinds of vector registers count; the chart has them apart.
  const next = limit && limit.next && !report.resources.agpr && limit.next <= most ? limit : null;
  if (next)
    chart.append(drawing('line', {id: 'pressure-limit', x1: left, x2: width, y1: y(next.next), y2: y(next.next), stroke: 'var(--warn)', 'stroke-dasharray': '6 4'},
                         drawing('title', {}, next.remedy)));
  const names = ['VGPRs', 'AGPRs', 'SGPRs'], colours = ['valu', 'mfma', 'salu'];
  const used = [0, 1, 2].filter((which) => report.code.some((instruction) => instruction.live[which]));
  for (const which of used)
    chart.append(drawing('polyline', {fill: 'none', stroke: variable(colours[which]), 'stroke-width': 1.8,
      points: report.code.map((instruction, i) => `${x(i).toFixed(1)},${y(instruction.live[which]).toFixed(1)}`).join(' ')}));
  chart.addEventListener('click', (event) => {
    const box = chart.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width * width - left) / (width - left);
    select({instruction: Math.max(0, Math.min(size - 1, Math.round(at * (size - 1))))});
  });
  return element('div', {}, chart, legend(used.map((which) => [variable(colours[which]), `${names[which]}, at most ${Math.max(...report.code.map((i) => i.live[which]))}`]).concat(next ? [['var(--warn)', `dashed: ${next.remedy}`]] : [])));
}

function stalls() {
  const rows = report.code.map((instruction, index) => ({instruction, index, clocks: sum(instruction.stalls)}))
    .filter((row) => row.clocks >= 1).sort((a, b) => b.clocks - a.clocks).slice(0, 15);
  const shares = Object.entries(report.run.stalls).filter((entry) => entry[1] >= 0.001).sort((a, b) => b[1] - a[1])
    .map(([reason, share]) => ({name: reason, value: 100 * share, colour: variable(reasonColour(reason))}));
  return section('stalls', 'Where the clocks go', 'The waves\' time by reason, and the instructions before which a wave waits longest (clocks of a wave over the whole launch). ' +
    'A wait stands at the instruction that needs the result: s_waitcnt, mostly.',
    stackedBar('Percent of the waves\' time', shares), legend(shares.map((part) => [part.colour, `${part.name} ${number(part.value)} %`])),
    rows.length ? element('div', {class: 'scroll'}, table(['instruction', 'source', 'clocks', 'executed', 'waits for'], rows.map((row) => [
      element('button', {type: 'button', class: 'mono', onclick: () => { select({instruction: row.index}); document.getElementById('code').scrollIntoView(); }}, `${hex(row.instruction.address)} ${row.instruction.text}`),
      placeText(row.instruction), row.clocks, row.instruction.executed || 0,
      Object.entries(row.instruction.stalls).sort((a, b) => b[1] - a[1]).map(([reason, clocks]) => `${reason} ${number(clocks)}`).join(', ')]))) : null);
}

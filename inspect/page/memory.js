// Memory: traffic of the launch, coalescing of each access, the LDS and its banks.

function traffic() {
  const levels = report.run.traffic.filter((level) => level.bytes > 0);
  const most = Math.max(...levels.map((level) => level.us), 1e-9);
  return element('div', {}, element('h3', {}, 'Traffic of the launch'),
    element('p', {class: 'explain'}, `The length is the time that the bytes take at the peak rate of the level; the launch takes ${number(report.run.us)} µs in all.`),
    levels.map((level) => element('div', {class: 'hbar'}, element('span', {}, {LDS: 'LDS', L2: 'L2 and compute units', MALL: 'MALL and L2', HBM: 'HBM'}[level.level] || level.level),
      element('div', {}, element('i', {style: `width:${100 * level.us / most}%`})), element('span', {class: 'soft'}, `${bytes(level.bytes)}, ${level.us.toFixed(2)} µs`))));
}

function coalescing() {
  const rows = report.code.map((instruction, index) => ({instruction, index})).filter((row) => row.instruction.global);
  if (!rows.length) return null;
  return element('div', {}, element('h3', {}, 'Coalescing of global accesses'),
    element('p', {class: 'explain'}, 'Lines of 128 bytes that an instruction of a wave touches, and the share of them that its bytes would need at least: 100 % is fully coalesced.'),
    element('div', {class: 'scroll'}, table(['instruction', 'source', 'executed', 'bytes each', 'lines each', 'coalesced'], rows.map(({instruction, index}) => {
      const g = instruction.global;
      return [element('button', {type: 'button', class: 'mono', onclick: () => select({instruction: index})}, `${hex(instruction.address)} ${instruction.text.split(' ')[0]}`),
              placeText(instruction), g.executed, g.bytes / Math.max(1, g.executed), g.lines / Math.max(1, g.executed),
              element('span', {class: g.coalescing < 0.5 ? 'n note bad' : 'n'}, `${Math.round(100 * g.coalescing)} %`)];
    }))));
}

/// Where the first execution of an LDS instruction finds the words of each lane: a column a bank.
function bankGrid(lds) {
  const banks = lds.banks, cell = 17, left = 64;
  const cells = new Map();
  lds.lanes.forEach((address, lane) => {
    if (address < 0) return;
    for (let word = Math.floor(address / 4); word <= Math.floor((address + lds.lane_bytes - 1) / 4); ++word) {
      if (!cells.has(word)) cells.set(word, []);
      cells.get(word).push(lane);
    }
  });
  const rows = [...new Set([...cells.keys()].map((word) => Math.floor(word / banks)))].sort((a, b) => a - b);
  const shown = rows.slice(0, 40);
  const chart = drawing('svg', {class: 'tile', width: left + banks * cell + 4, height: 22 + shown.length * cell + 4, role: 'img',
    'aria-label': `${lds.writes ? 'Write' : 'Read'} of ${lds.lane_bytes} bytes a lane over ${rows.length} rows of ${banks} banks`});
  for (let bank = 0; bank < banks; bank += 4) chart.append(drawing('text', {class: 'head', x: left + bank * cell + cell / 2, y: 14}, String(bank)));
  shown.forEach((row, r) => {
    chart.append(drawing('text', {class: 'head', x: left - 6, y: 22 + r * cell + 12, style: 'text-anchor:end'}, String(row * banks * 4)));
    for (let bank = 0; bank < banks; ++bank) {
      const lanes = cells.get(row * banks + bank);
      const x = left + bank * cell, y = 20 + r * cell;
      chart.append(drawing('rect', {x, y, width: cell, height: cell, fill: lanes ? laneColour(lanes[0]) : 'var(--tint)'},
        drawing('title', {}, lanes ? `byte ${(row * banks + bank) * 4}, bank ${bank}: lane ${lanes.join(', ')}` : `bank ${bank}: no lane`)));
      if (lanes) chart.append(drawing('text', {x: x + cell / 2, y: y + 12, style: 'fill:#111'}, lanes.length > 1 ? lanes[0] + '+' : String(lanes[0])));
    }
  });
  return element('div', {class: 'scroll'}, chart, rows.length > shown.length ? element('p', {class: 'soft'}, `${rows.length - shown.length} more rows`) : null);
}
const laneColour = (lane) => `hsl(${Math.round(lane * 360 / 64 + (lane % 2) * 12) % 360} 62% ${lane % 2 ? 72 : 80}%)`;

function ldsMap() {
  const rows = report.code.map((instruction, index) => ({instruction, index})).filter((row) => row.instruction.lds);
  if (!rows.length) return null;
  const size = Math.max(report.resources.lds, ...rows.map((row) => row.instruction.lds.end), 1);
  const grid = element('div', {id: 'banks'});
  const conflicts = rows.reduce((all, row) => all + row.instruction.lds.conflict_clocks, 0);
  const clocks = rows.reduce((all, row) => all + row.instruction.lds.clocks, 0);
  const draw = (row) => {
    const lds = row.instruction.lds;
    grid.replaceChildren(element('h3', {}, 'Banks: ', element('span', {class: 'mono'}, `${hex(row.instruction.address)} ${row.instruction.text}`)),
      element('p', {class: 'explain'}, `Its first execution: a column is one of the ${lds.banks} banks of 4 bytes that serve it, a row ${4 * lds.banks} bytes, a number the lane whose ${lds.lane_bytes} bytes lie there. ` +
        `${number(lds.clocks / lds.executed)} clocks of the banks each, ${number(lds.conflict_clocks / lds.executed)} of them for conflicts.`), bankGrid(lds));
  };
  const show = (row) => {
    draw(row);
    select({instruction: row.index});
  };
  const worst = rows.reduce((a, b) => (b.instruction.lds.conflict_clocks > a.instruction.lds.conflict_clocks ? b : a));
  const body = rows.map((row) => {
    const lds = row.instruction.lds;
    const bar = drawing('svg', {viewBox: '0 0 300 14', width: '100%', height: 14, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
      drawing('rect', {x: 0, y: 5, width: 300, height: 4, fill: 'var(--line)'}),
      drawing('rect', {x: 300 * lds.first / size, y: 1, width: Math.max(2, 300 * (lds.end - lds.first) / size), height: 12, fill: lds.writes ? 'var(--vmem_store)' : 'var(--lds)'}));
    return [element('button', {type: 'button', class: 'mono', onclick: () => show(row)}, `${hex(row.instruction.address)} ${row.instruction.text.split(' ')[0]}`), placeText(row.instruction),
            lds.writes ? 'writes' : 'reads', element('div', {style: 'min-width:220px'}, bar), `${lds.first} to ${lds.end}`, lds.clocks / lds.executed,
            element('span', {class: lds.conflict_clocks ? 'n note bad' : 'n'}, number(lds.conflict_clocks / lds.executed))];
  });
  const node = element('div', {}, element('h3', {}, 'The LDS: who touches which bytes'),
    element('p', {class: 'explain'}, `${number(report.resources.lds)} bytes a workgroup. Of ${number(clocks)} clocks of the banks in a workgroup ${number(conflicts)} are for conflicts. Choose an instruction to see its banks.`),
    element('div', {class: 'scroll'}, table(['instruction', 'source', '', 'where', 'bytes', 'clocks each', 'conflicts each'], body)), grid);
  draw(worst);
  return node;
}

function memory() {
  const parts = [traffic(), coalescing(), ldsMap()].filter(Boolean);
  return section('memory', 'Memory', 'What the simulated launch moves, and how well each access does.', ...parts);
}

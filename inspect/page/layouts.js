// Layouts: which register of which lane of which wave holds an element.

/// element index (row-major) -> positions that hold it
function holders(layout) {
  const rank = layout.shape.length;
  const odd = (space) => layout.repeats.filter((repeat) => repeat.space === space);
  const powers = layout.shape.map((size) => { let power = 1; while (size % (power * 2) === 0) power *= 2; return power; });
  const place = (space, position) => {
    const at = new Array(rank).fill(0);
    const bits = layout[space].length;
    layout[space].forEach((basis, bit) => { if (position >> bit & 1) basis.forEach((value, d) => { at[d] ^= value; }); });
    let rest = position >> bits;
    for (const repeat of odd(space)) {
      if (repeat.dim >= 0) at[repeat.dim] += rest % repeat.count * powers[repeat.dim];
      rest = Math.floor(rest / repeat.count);
    }
    return at;
  };
  const count = (space) => (1 << layout[space].length) * odd(space).reduce((all, repeat) => all * repeat.count, 1);
  const spaces = ['register', 'lane', 'wave'].map((space) => Array.from({length: count(space)}, (_, i) => place(space, i)));
  const low = (value, d) => value & (powers[d] - 1);
  const map = new Map();
  spaces[2].forEach((w, wave) => spaces[1].forEach((l, lane) => spaces[0].forEach((r, register) => {
    let index = 0;
    for (let d = 0; d < rank; ++d) {
      const odd = (w[d] - low(w[d], d)) + (r[d] - low(r[d], d));
      index = index * layout.shape[d] + ((low(w[d], d) ^ low(l[d], d) ^ low(r[d], d)) + odd);
    }
    if (!map.has(index)) map.set(index, []);
    map.get(index).push({wave, lane, register});
  })));
  return map;
}

function layoutDrawing(layout, colouring) {
  const rank = layout.shape.length;
  const columns = rank ? layout.shape[rank - 1] : 1;
  const rows = layout.shape.slice(0, -1).reduce((all, size) => all * size, 1);
  const most = 4096;
  const shownRows = Math.min(rows, Math.max(64, Math.floor(most / columns))), shownColumns = Math.min(columns, Math.max(64, Math.floor(most / shownRows)));
  const waves = 1 << layout.wave.length, registers = 1 << layout.register.length;
  const cell = {w: 46, h: 24}, left = 34, top = 18;
  const map = holders(layout);
  const colour = {lane: (p) => laneColour(p.lane), register: (p) => `hsl(${p.register * 300 / Math.max(1, registers)} 60% 78%)`, wave: (p) => `hsl(${p.wave * 330 / Math.max(1, waves) + 20} 65% 78%)`}[colouring];
  const chart = drawing('svg', {class: 'tile', width: left + shownColumns * cell.w + 4, height: top + shownRows * cell.h + 4, role: 'img', 'aria-label': `${layout.name} ${layout.type}: ${layout.text}`});
  for (let column = 0; column < shownColumns; ++column) chart.append(drawing('text', {class: 'head', x: left + (column + .5) * cell.w, y: 12}, String(column)));
  for (let row = 0; row < shownRows; ++row) {
    chart.append(drawing('text', {class: 'head', x: left - 5, y: top + row * cell.h + 16, style: 'text-anchor:end'}, String(row)));
    for (let column = 0; column < shownColumns; ++column) {
      const held = map.get(row * columns + column) || [];
      const first = held[0];
      const x = left + column * cell.w, y = top + row * cell.h;
      const words = held.map((p) => `${waves > 1 ? `wave ${p.wave}, ` : ''}lane ${p.lane}, register ${p.register}`);
      const rect = drawing('rect', {x, y, width: cell.w, height: cell.h, fill: first ? colour(first) : 'var(--tint)'},
                           drawing('title', {}, `[${row}, ${column}]\n${words.slice(0, 12).join('\n') || 'nobody'}${words.length > 12 ? `\nand ${words.length - 12} more` : ''}`));
      if (first) { rect.dataset.lanes = held.map((p) => p.lane).join(' '); }
      chart.append(rect);
      if (first) chart.append(drawing('text', {x: x + cell.w / 2, y: y + 10, style: 'fill:#111'}, `${waves > 1 ? `w${first.wave} ` : ''}l${first.lane}`),
                              drawing('text', {x: x + cell.w / 2, y: y + 20, style: 'fill:#333'}, `r${first.register}${held.length > 1 ? ` ×${held.length}` : ''}`));
    }
  }
  const cut = rows > shownRows || columns > shownColumns ? element('p', {class: 'soft'}, `The first ${shownRows} rows and ${shownColumns} columns of ${rows} x ${columns}${rank > 2 ? ' (outer dimensions side by side as rows)' : ''}.`) : null;
  return element('div', {}, element('div', {class: 'scroll'}, chart), cut);
}

function layouts() {
  if (!report.layouts.length && !report.dots.length) return null;
  const choices = report.layouts.map((layout) => ({label: `${layout.name} ${layout.type}  ${placeText(layout)}`, layouts: [layout]}));
  report.dots.forEach((dot) => choices.unshift({label: `operands of ${dot.instruction.split(' ')[0]} MFMA (${placeText(dot)})`, layouts: dot.operands, dot}));
  const holder = element('div', {class: 'operands', id: 'layout-drawing'});
  const chooser = element('select', {id: 'layout-choice', 'aria-label': 'Which layout', onchange: () => show()}, choices.map((choice, i) => element('option', {value: i}, choice.label)));
  const colouring = element('select', {'aria-label': 'Colour by', onchange: () => show()}, ['lane', 'register', 'wave'].map((name) => element('option', {value: name}, name)));
  const lane = element('input', {type: 'number', min: 0, max: 63, id: 'layout-lane', style: 'width:76px', 'aria-label': 'Mark a lane', placeholder: 'none', oninput: () => mark()});
  const mark = () => {
    for (const rect of holder.querySelectorAll('rect'))
      rect.classList.toggle('chosen', lane.value !== '' && (rect.dataset.lanes || '').split(' ').includes(String(Number(lane.value))));
  };
  const show = () => {
    const choice = choices[chooser.value || 0];
    holder.replaceChildren(...choice.layouts.map((layout) => element('div', {}, element('h3', {}, `${layout.name} ${layout.type}`), element('p', {class: 'mono soft'}, layout.text), layoutDrawing(layout, colouring.value))));
    if (choice.dot) holder.prepend(element('p', {class: 'explain', style: 'flex-basis:100%'}, `${choice.dot.text} runs on ${choice.dot.instruction}. One instruction's operands, in values whatever their width:`));
    mark();
  };
  show();
  return section('layouts', 'Layouts', 'Which lane (l) and register (r), of which wave (w), holds each element of a tile; ×n: so many positions hold it. Registers count elements. Hover over an element to see all that hold it.',
    element('div', {class: 'controls'}, element('label', {}, 'Layout ', chooser), element('label', {}, 'Colour by ', colouring), element('label', {}, 'Mark lane ', lane)), holder);
}

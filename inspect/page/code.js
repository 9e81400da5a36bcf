// Source, tile IR and LLVM IR on the left, machine code on the right; a click on a line of one shows it in all.

/// A list of lines that can be moved through with the keyboard. rows[i].things: what selecting row i selects.
class CodeRows {
  constructor(id, label, kind, rows, matches) {
    this.rows = rows;
    this.matches = matches;
    this.active = 0;
    this.box = element('div', {class: 'rows ' + kind, id, tabindex: 0, role: 'listbox', 'aria-label': label}, rows.map((row) => row.node));
    rows.forEach((row, i) => {
      row.node.id = `${id}-${i}`;
      row.node.setAttribute('role', 'option');
      row.node.setAttribute('aria-selected', 'false');
    });
    this.box.addEventListener('click', (event) => {
      const node = event.target.closest('.row');
      if (node) this.choose(Number(node.id.slice(id.length + 1)));
    });
    this.box.addEventListener('keydown', (event) => this.key(event));
  }
  choose(index) {
    this.active = index;
    this.box.setAttribute('aria-activedescendant', this.rows[index].node.id);
    if (this.rows[index].selection) select({...this.rows[index].selection, from: this});
  }
  key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 25, PageUp: -25}[event.key];
    const linked = {n: 1, p: -1}[event.key];
    if (step) this.choose(Math.max(0, Math.min(this.rows.length - 1, this.active + step)));
    else if (event.key === 'Home') this.choose(0);
    else if (event.key === 'End') this.choose(this.rows.length - 1);
    else if (linked) this.toLinked(linked);
    else return;
    event.preventDefault();
    this.reveal(this.active);
  }
  /// To the next line that belongs to the selection.
  toLinked(direction) {
    for (let i = this.active + direction; i >= 0 && i < this.rows.length; i += direction)
      if (this.rows[i].node.classList.contains('linked')) {
        this.rows.forEach((row, at) => row.node.classList.toggle('current', at === i));
        this.active = i;
        this.box.setAttribute('aria-activedescendant', this.rows[i].node.id);
        return;
      }
  }
  reveal(index) {
    const node = this.rows[index].node;
    const top = node.offsetTop - this.box.offsetTop;
    if (top < this.box.scrollTop + 20 || top > this.box.scrollTop + this.box.clientHeight - 40)
      this.box.scrollTop = top - this.box.clientHeight / 3;
  }
  show(selection) {
    let first = -1;
    let count = 0;
    this.rows.forEach((row, i) => {
      const linked = this.matches(row, selection);
      if (linked && first < 0) first = i;
      count += linked ? 1 : 0;
      const current = selection.from === this ? i === this.active : row.index !== undefined && row.index === selection.instruction;
      row.node.classList.toggle('linked', linked);
      row.node.classList.toggle('current', current);
      row.node.setAttribute('aria-selected', String(linked || current));
    });
    const shown = this.rows.findIndex((row) => row.index !== undefined && row.index === selection.instruction);
    if (selection.from !== this && (shown >= 0 || first >= 0)) {
      this.active = shown >= 0 ? shown : first;
      this.reveal(this.active);
    }
    return count;
  }
}

const samePlace = (a, b) => a.file !== undefined && a.file === b.file && a.line === b.line;
/// What belongs to a selection: the same operation where both name one, else the same source line.
const belongs = (row, selection) => row.operation && selection.operation ? row.operation === selection.operation : samePlace(row, selection);

function textRow(lineNumber, text, thing, mapped) {
  return {...thing, selection: mapped ? thing : null,
          node: element('div', {class: mapped ? 'row mapped' : 'row'}, element('span', {}, String(lineNumber)), element('span', {}, text))};
}

function leftPanes() {
  const mapped = new Set(report.code.filter((i) => i.file !== undefined).map((i) => `${i.file}:${i.line}`));
  const panes = report.files.map((file, f) => {
    const lines = file.lines.length ? file.lines : null;
    const numbers = lines ? lines.map((_, i) => i + 1) : [...mapped].filter((key) => key.startsWith(f + ':')).map((key) => Number(key.split(':')[1])).sort((a, b) => a - b);
    const rows = numbers.map((line) => textRow(line, lines ? lines[line - 1] : '(the file is not here)', {file: f, line}, mapped.has(`${f}:${line}`)));
    return {title: baseName(file.path), hint: file.path, rows: new CodeRows(`source-${f}`, `Source ${file.path}`, 'text', rows, (row, s) => samePlace(row, s)), file: f};
  });
  for (const [id, title, lines] of [['tile-ir', 'Tile IR', report.tile_ir], ['llvm-ir', 'LLVM IR', report.llvm_ir]]) {
    if (!lines.length) continue;
    const rows = lines.map((line, i) => textRow(i + 1, line.text, {file: line.file, line: line.line, operation: line.operation}, Boolean(line.operation)));
    panes.push({title, hint: title, rows: new CodeRows(id, title, 'text', rows, belongs)});
  }
  return panes;
}

/// How well an instruction accesses memory, in few words.
function accessOf(instruction) {
  const {global, lds} = instruction;
  if (global) {
    const each = number(global.lines / Math.max(1, global.executed)), share = Math.round(100 * global.coalescing);
    return {text: `${each} lines ${share} %`, bad: share < 50, title: `touches ${each} lines of 128 bytes, ${share} % of which its bytes need`};
  }
  if (!lds) return {text: ''};
  const clocks = number(lds.clocks / lds.executed), conflicts = lds.conflict_clocks / lds.executed;
  return {text: conflicts ? `${clocks} clk, ${number(conflicts)} lost` : `${clocks} clk`, bad: conflicts > 0,
          title: `takes the banks of the LDS for ${clocks} clocks, ${number(conflicts)} of them for conflicts`};
}

function instructionRow(instruction, index, most) {
  const hot = report.hot_loop !== null && index >= report.loops[report.hot_loop].first && index <= report.loops[report.hot_loop].last;
  const [name, ...rest] = instruction.text.split(' ');
  const live = instruction.live[0] + instruction.live[1];
  const clocks = sum(instruction.stalls);
  const reasons = Object.entries(instruction.stalls || {}).map(([reason, value]) => `${reason} ${number(value)}`).join(', ');
  const access = accessOf(instruction);
  const node = element('div', {class: `row${instruction.file !== undefined ? ' mapped' : ''}${hot ? ' hot' : ''}`,
                               title: [placeText(instruction), reasons && 'waits for ' + reasons, access.title].filter(Boolean).join('\n')},
    element('span', {}), element('span', {class: 'addr'}, hex(instruction.address)),
    element('span', {class: 'meter reg'}, element('i', {style: `width:${62 * live / most.live}%`}), instruction.live[1] ? `${instruction.live[0]}+${instruction.live[1]}` : String(live)),
    report.run ? [element('span', {class: 'meter count'}, instruction.executed ? number(instruction.executed) : ''),
      element('span', {class: 'meter stall'}, clocks >= 0.5 ? element('i', {style: `width:${Math.max(2, 62 * clocks / most.clocks)}%`}) : null, clocks >= 0.5 ? number(clocks) : ''),
      element('span', {class: access.bad ? 'access note bad' : 'access note'}, access.text)] : null,
    element('span', {}, element('span', {class: 'kind', style: `color:${variable(instruction.kind)}`}, name), rest.length ? ' ' + rest.join(' ') : '',
      instruction.target === undefined ? null : element('span', {class: 'note'}, '   → ' + hex(report.code[instruction.target].address))));
  const place = {file: instruction.file, line: instruction.line, operation: instruction.operation};
  return {...place, index, node, selection: {...place, instruction: index}};
}

function code() {
  const panes = leftPanes();
  const most = {live: Math.max(1, ...report.code.map((i) => i.live[0] + i.live[1])), clocks: Math.max(1, ...report.code.map((i) => sum(i.stalls)))};
  const isa = new CodeRows('isa', 'Machine code', report.run ? 'isa' : 'isa alone', report.code.map((instruction, i) => instructionRow(instruction, i, most)), belongs);
  const tabs = element('div', {class: 'controls', role: 'tablist', 'aria-label': 'Left pane'});
  const holder = element('div', {role: 'tabpanel', id: 'left-pane', 'aria-label': 'Source, tile IR or LLVM IR'});
  const status = element('p', {class: 'explain', role: 'status', id: 'selection'}, 'Nothing is selected.');
  const open = (pane) => {
    holder.replaceChildren(pane.rows.box);
    for (const other of panes) other.tab.setAttribute('aria-selected', String(other === pane));
  };
  for (const pane of panes) {
    pane.tab = element('button', {type: 'button', role: 'tab', 'aria-controls': 'left-pane', title: pane.hint, onclick: () => { open(pane); pane.rows.show(last); }}, pane.title);
    tabs.append(pane.tab);
  }
  let last = {};
  views.push((selection) => {
    // An instruction that something else names stands for its operation and line.
    const row = selection.instruction !== undefined && selection.line === undefined ? isa.rows[selection.instruction].selection : {};
    last = {...selection, ...row};
    const fromLeft = panes.some((pane) => pane.rows === last.from);
    const home = panes.find((pane) => pane.file === last.file && pane.file !== undefined);
    const isOpen = (pane) => pane.tab.getAttribute('aria-selected') === 'true';
    if (!fromLeft && home && panes.some((pane) => pane.file !== undefined && isOpen(pane)) && !isOpen(home)) open(home);
    for (const pane of panes) pane.rows.show(last);
    const count = isa.show(last);
    const what = last.file !== undefined ? placeText(last) : last.instruction !== undefined ? hex(report.code[last.instruction].address) : 'nothing';
    status.textContent = `${what}: ${count} instruction${count === 1 ? '' : 's'}${last.operation ? ` of operation ${last.operation} of the tile IR` : ''}. n and p go to the next and previous one.`;
  });
  if (panes.length) {
    const busiest = report.files.map((_, f) => report.code.filter((i) => i.file === f).length);
    open(panes[busiest.length ? busiest.indexOf(Math.max(...busiest)) : 0]);
  }
  const head = element('div', {class: report.run ? 'isa-head' : 'isa-head alone', 'aria-hidden': 'true'}, ['', 'address', 'live VGPRs', ...(report.run ? ['executed', 'waits, clocks', 'access'] : []), 'instruction'].map((text) => element('span', {}, text)));
  const left = panes.length ? element('div', {}, tabs, holder) : element('p', {class: 'soft'}, 'The code object has no debug information: no source lines are known. Compile it with -g.');
  return section('code', 'Code', 'Click a line, or move with the arrow keys: what belongs to it lights up on the other side. The bar at the left of an instruction marks the hot loop.',
    status, element('div', {class: 'panes'}, left, element('div', {}, element('div', {class: 'controls'}, element('span', {class: 'soft'}, `Machine code of ${report.kernel}`)), head, isa.box)));
}

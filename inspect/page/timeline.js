// The timeline: what each wave of a workgroup issues and waits for, in core clocks. Zoom with the wheel, the buttons or
// + and -, move by dragging or with the arrow keys; a click chooses an instruction.

class Timeline {
  constructor() {
    const run = report.run;
    this.events = run.timeline.map(([instruction, wave, ready, issue, end, done, reason]) =>
      ({instruction, wave, ready, issue, end, done, reason: run.reasons[reason]}));
    this.waves = Math.max(...this.events.map((event) => event.wave)) + 1;
    this.byWave = Array.from({length: this.waves}, (_, wave) => this.events.filter((event) => event.wave === wave));
    this.end = Math.max(...this.events.map((event) => event.end));
    this.lane = this.waves > 8 ? 30 : 44;
    this.left = 62;
    this.top = 22;
    this.height = this.top + this.waves * this.lane + 6;
    this.canvas = element('canvas', {id: 'timeline-canvas', tabindex: 0, role: 'application',
      'aria-label': `Timeline of ${this.waves} waves over ${this.end} clocks. Arrow keys move, plus and minus zoom, comma and full stop step through the instructions of a wave, page keys change the wave.`,
      style: `height:${this.height}px`});
    this.readout = element('div', {class: 'readout', role: 'status', id: 'timeline-readout'});
    this.range = element('span', {class: 'soft', id: 'timeline-range'});
    this.chosen = null;
    this.wave = 0;
    this.from = 0;
    this.to = this.end;
    this.listen();
    views.push((selection) => { this.instruction = selection.instruction; this.operation = selection.operation; this.draw(); });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }
  get width() { return Math.max(100, this.canvas.clientWidth - this.left - 8); }
  clockAt(x) { return this.from + (x - this.left) / this.width * (this.to - this.from); }
  xOf(clock) { return this.left + (clock - this.from) / (this.to - this.from) * this.width; }
  view(from, to) {
    const span = Math.max(40, Math.min(this.end, to - from));
    this.from = Math.max(0, Math.min(this.end - span, from));
    this.to = this.from + span;
    this.draw();
  }
  zoom(factor, about = (this.from + this.to) / 2) {
    this.view(about - (about - this.from) * factor, about + (this.to - about) * factor);
  }
  /// The clocks of an iteration in the middle of what wave 0 does.
  oneIteration() {
    if (report.hot_loop === null) return;
    const first = report.loops[report.hot_loop].first;
    const starts = this.byWave[0].filter((event) => event.instruction === first && event.end !== event.issue).map((event) => event.issue);
    if (starts.length < 2) return;
    const middle = Math.floor((starts.length - 1) / 2);
    const span = starts[middle + 1] - starts[middle];
    this.view(starts[middle] - 0.05 * span, starts[middle + 1] + 0.05 * span);
  }
  find(x, y) {
    const wave = Math.floor((y - this.top) / this.lane), clock = this.clockAt(x);
    if (wave < 0 || wave >= this.waves || x < this.left) return null;
    return this.byWave[wave].find((event) => event.ready <= clock && clock < Math.max(event.end, event.issue + 1)) || null;
  }
  describe(event) {
    if (!event) return '';
    const instruction = report.code[event.instruction];
    const wait = event.issue > event.ready ? `, waited ${event.issue - event.ready} clocks: ${event.reason}` : '';
    const done = event.done ? `, complete ${event.done - event.issue} clocks later` : '';
    return `wave ${event.wave}, clock ${event.issue}: ${instruction.text}${wait}${done}${instruction.file === undefined ? '' : '  ' + placeText(instruction)}`;
  }
  choose(event) {
    this.chosen = event;
    this.wave = event.wave;
    if (event.issue < this.from || event.issue > this.to) this.view(event.issue - (this.to - this.from) / 2, event.issue + (this.to - this.from) / 2);
    this.readout.textContent = this.describe(event);
    select({instruction: event.instruction});
  }
  listen() {
    let drag = null;
    const canvas = this.canvas;
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const shift = event.deltaX / this.width * (this.to - this.from);
        this.view(this.from + shift, this.to + shift);
      } else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.clockAt(event.offsetX));
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => { drag = {x: event.offsetX, from: this.from, to: this.to, moved: false}; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) { this.readout.textContent = this.describe(this.find(event.offsetX, event.offsetY) || this.chosen); return; }
      if (Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
      const shift = (event.offsetX - drag.x) / this.width * (drag.to - drag.from);
      if (drag.moved) this.view(drag.from - shift, drag.to - shift);
    });
    canvas.addEventListener('pointerup', (event) => {
      const found = drag && !drag.moved && this.find(event.offsetX, event.offsetY);
      drag = null;
      if (found) this.choose(found);
    });
    canvas.addEventListener('keydown', (event) => {
      const span = this.to - this.from;
      const actions = {'+': () => this.zoom(0.6), '=': () => this.zoom(0.6), '-': () => this.zoom(1.6), 'Home': () => this.view(0, this.end),
                       'ArrowLeft': () => this.view(this.from - span / 5, this.to - span / 5), 'ArrowRight': () => this.view(this.from + span / 5, this.to + span / 5),
                       '.': () => this.step(1), ',': () => this.step(-1), 'PageDown': () => this.changeWave(1), 'PageUp': () => this.changeWave(-1)};
      if (!actions[event.key]) return;
      actions[event.key]();
      event.preventDefault();
    });
  }
  step(direction) {
    const list = this.byWave[this.wave];
    const at = this.chosen && this.chosen.wave === this.wave ? list.indexOf(this.chosen) + direction : list.findIndex((event) => event.issue >= this.from);
    if (list[at]) this.choose(list[at]);
  }
  changeWave(direction) {
    this.wave = Math.max(0, Math.min(this.waves - 1, this.wave + direction));
    const clock = this.chosen ? this.chosen.issue : this.from;
    const next = this.byWave[this.wave].find((event) => event.end > clock);
    if (next) this.choose(next);
  }
  draw() {
    const canvas = this.canvas, scale = devicePixelRatio || 1, full = canvas.clientWidth;
    if (!full) return;
    canvas.width = full * scale;
    canvas.height = this.height * scale;
    const c = canvas.getContext('2d');
    c.scale(scale, scale);
    const colours = Object.fromEntries([...Object.keys(kindTitles), 'ink', 'soft', 'line', 'tint', 'accent', 'loop'].map((name) => [name, colourOf(name)]));
    c.clearRect(0, 0, full, this.height);
    c.font = '11px ' + getComputedStyle(document.body).fontFamily;
    this.ticks(c, colours);
    const hot = report.hot_loop === null ? -1 : report.loops[report.hot_loop].first;
    for (let wave = 0; wave < this.waves; ++wave) {
      const y = this.top + wave * this.lane, box = this.lane - 14;
      c.fillStyle = colours.ink;
      c.fillText(`wave ${wave}`, 6, y + box / 2 + 4);
      c.fillStyle = colours.tint;
      c.fillRect(this.left, y, this.width, box);
      for (const event of this.byWave[wave]) {
        if (Math.max(event.end, event.done) < this.from || event.ready > this.to) continue;
        this.drawEvent(c, colours, event, y, box);
        if (event.instruction === hot && event.end !== event.issue) {
          c.fillStyle = colours.loop;
          c.fillRect(this.xOf(event.issue), y - 3, 1.5, box + 6);
        }
      }
    }
    c.clearRect(0, this.top, this.left - 1, 0);
    this.range.textContent = `clocks ${number(Math.round(this.from))} to ${number(Math.round(this.to))} of ${number(this.end)}`;
    canvas.dataset.from = this.from;
    canvas.dataset.to = this.to;
  }
  drawEvent(c, colours, event, y, box) {
    const kind = report.code[event.instruction].kind;
    const clip = (x) => Math.max(this.left, Math.min(this.left + this.width, x));
    const x0 = clip(this.xOf(event.ready)), x1 = clip(this.xOf(event.issue)), x2 = clip(this.xOf(event.end));
    if (event.issue > event.ready) {
      c.globalAlpha = 0.38;
      c.fillStyle = colours[reasonColour(event.reason)] || colours.other;
      c.fillRect(x0, y + box * 0.32, Math.max(0.5, x1 - x0), box * 0.36);
      c.globalAlpha = 1;
    }
    if (x2 > x1) {
      c.fillStyle = colours[kind];
      const gap = x2 - x1 > 4 ? 1 : 0;
      c.fillRect(x1, y + 2, Math.max(0.6, x2 - x1 - gap), box - 4);
    }
    if (event.done) {
      c.globalAlpha = 0.5;
      c.fillStyle = colours[kind];
      c.fillRect(x1, y + box + 2, Math.max(0.5, clip(this.xOf(event.done)) - x1), 3);
      c.globalAlpha = 1;
    }
    if (x2 - x1 > 70) {
      c.fillStyle = colourOf('panel');
      c.fillText(report.code[event.instruction].text.split(' ')[0], x1 + 4, y + box / 2 + 4, x2 - x1 - 8);
    }
    const same = event.instruction === this.instruction || (this.operation && report.code[event.instruction].operation === this.operation);
    if (event === this.chosen || (same && x2 > x1)) {
      c.strokeStyle = colours.ink;
      c.lineWidth = event === this.chosen ? 2.5 : 1;
      c.strokeRect(x1, y + 1, Math.max(1.5, x2 - x1), box - 2);
    }
  }
  ticks(c, colours) {
    const rough = (this.to - this.from) / Math.max(4, this.width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, power * [1, 2, 5, 10].find((factor) => factor * power >= rough));
    for (let clock = Math.ceil(this.from / step) * step; clock <= this.to; clock += step) {
      const x = this.xOf(clock);
      c.fillStyle = colours.line;
      c.fillRect(x, this.top - 6, 1, this.height);
      c.fillStyle = colours.soft;
      c.fillText(number(clock), x + 3, 12);
    }
  }
}

function timeline() {
  if (!report.run.timeline.length) return null;
  const view = new Timeline();
  const button = (text, action, id) => element('button', {type: 'button', id, onclick: action}, text);
  const used = [...new Set(view.events.map((event) => report.code[event.instruction].kind))];
  const reasons = [...new Set(view.events.filter((event) => event.issue > event.ready).map((event) => event.reason))];
  queueMicrotask(() => requestAnimationFrame(() => { view.draw(); view.oneIteration(); view.zoom(3); }));
  return section('timeline', 'Timeline of a workgroup',
    'Core clocks by the timing model. Tall boxes are instructions while they occupy their wave, low ones the wait before them; the thin strip below a wave is memory accesses in flight, ' +
    'and a line through a wave is where an iteration of the hot loop begins.' + (report.run.timeline_is_cut ? ' The end of the launch is left out.' : ''),
    element('div', {class: 'controls'}, button('Zoom in', () => view.zoom(0.5), 'zoom-in'), button('Zoom out', () => view.zoom(2), 'zoom-out'),
      button('One iteration', () => view.oneIteration(), 'zoom-iteration'), button('All', () => view.view(0, view.end), 'zoom-all'), view.range),
    view.canvas, view.readout,
    legend([...used.map((kind) => [variable(kind), kindTitles[kind]]), ...reasons.map((reason) => [`color-mix(in srgb, ${variable(reasonColour(reason))} 40%, transparent)`, `waits: ${reason}`])]));
}

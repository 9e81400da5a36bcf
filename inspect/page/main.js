// Puts the page together.

function glossary() {
  const words = {
    'wave': '64 lanes that execute an instruction together.',
    'workgroup': 'Waves that share LDS and barriers; a program of Nereid.',
    'SIMD, compute unit': 'A SIMD issues the instructions of its waves, 8 at most; a compute unit has four of them, with one LDS and one first cache.',
    'VGPR, AGPR, SGPR': 'Vector register (a word a lane), accumulation register (the same, for matrix instructions), scalar register (a word a wave).',
    'occupancy': 'Waves that a SIMD holds at once: the more, the more latency they hide for each other.',
    'MFMA': 'A matrix instruction: D = A B + D on tiles that lie over the lanes of a wave.',
    'VALU, SALU': 'Vector and scalar arithmetic.',
    'stall': 'Clocks in which a wave cannot issue its next instruction, by what it waits for.',
    'LDS bank': 'One of 64 columns of the LDS (writes, and reads of three words, see 32). Lanes that want different rows of a bank at once are served one after the other: a conflict.',
    'coalescing': 'Lanes that touch few lines of 128 bytes together. Every line costs, however much of it is used.',
    'L2, MALL, HBM': 'The cache of an XCD (32 compute units), the cache of the device, its memory.',
    'clock': 'A core clock by the timing model. All times here are simulated, not measured.'};
  return section('words', 'Words', null, element('dl', {}, Object.entries(words).flatMap(([word, meaning]) => [element('dt', {}, word), element('dd', {}, meaning)])));
}

function themeButton() {
  const button = element('button', {type: 'button', id: 'theme', onclick: () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    select({});
  }}, 'Dark or light');
  return button;
}

function plan() {
  if (!report.plan) return null;
  const remarks = report.remarks.map((remark) => element('li', {}, element('b', {}, remark.kind + ': '), remark.message, remark.remedy ? element('i', {}, ' ' + remark.remedy) : null,
    remark.file === undefined ? null : element('span', {class: 'soft'}, ' ', element('button', {type: 'button', onclick: () => { select({file: remark.file, line: remark.line}); document.getElementById('code').scrollIntoView(); }}, placeText(remark)))));
  return section('plan', 'Plan', 'What the compiler decides before it emits code, and what it did not do, or not as asked.', remarks.length ? element('ul', {}, remarks) : element('p', {class: 'soft'}, 'There are no remarks.'),
    element('details', {}, element('summary', {}, 'The plan as text'), element('pre', {}, report.plan)));
}

function reportPage() {
  const run = report.run;
  const about = [configText(), report.compiler && `compiled by ${report.compiler}`, run && `grid ${run.grid.join(' × ')}, block ${run.block.join(' × ')}, caches ${run.caches}` + (run.operands ? `, operands: ${run.operands}` : '')].filter(Boolean);
  const parts = [code(), hotLoop(), run ? stalls() : null, run ? timeline() : null, occupancy(), run ? memory() : null, layouts(), plan(), tuning(), glossary()].filter(Boolean);
  const nav = element('nav', {'aria-label': 'Sections'}, parts.map((part) => element('a', {href: '#' + part.id}, part.querySelector('h2').textContent)), themeButton());
  return [element('header', {}, element('h1', {}, report.kernel), about.map((text) => element('p', {class: 'soft'}, text)), report.notes.map((text) => element('p', {class: 'note bad'}, text)), cards()), nav, ...parts];
}

document.getElementById('page').append(...(report.figures ? [element('nav', {'aria-label': 'Page'}, themeButton()), ...comparison()] : reportPage()));
// The page opens at the hot loop.
if (!report.figures && report.hot_loop !== null) {
  const loop = report.loops[report.hot_loop];
  const product = report.code.findIndex((instruction, i) => i >= loop.first && i <= loop.last && instruction.kind === 'mfma');
  select({instruction: product < 0 ? loop.first : product});
}

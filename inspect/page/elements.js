'use strict';
// Small helpers: elements, numbers, colours, and the line that is selected.

const report = JSON.parse(document.getElementById('report').textContent);

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
function drawing(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(node, attributes);
  node.append(...children.flat());
  return node;
}
function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
}
function section(id, title, explanation, ...children) {
  return element('section', {id, 'aria-labelledby': id + '-title'}, element('h2', {id: id + '-title'}, title),
                 explanation ? element('p', {class: 'explain'}, explanation) : null, ...children);
}
/// Rows of cells; a cell that is a number, or an element of class n, stands to the right.
function table(headings, rows) {
  const numeric = headings.map((_, i) => rows.some((row) => isNumeric(row[i])) && rows.every((row) => row[i] === '' || isNumeric(row[i])));
  const cell = (tag) => (content, i) =>
    element(tag, {class: numeric[i] ? 'n' : null}, typeof content === 'number' ? number(content) : content);
  return element('table', {}, element('thead', {}, element('tr', {}, headings.map(cell('th')))),
                 element('tbody', {}, rows.map((row) => element('tr', {}, row.map(cell('td'))))));
}
const isNumeric = (content) => typeof content === 'number' || (content instanceof Element && content.classList.contains('n'));
/// Round numbers from 0 to `most` for the lines of a chart.
function ticks(most) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  return Array.from({length: Math.floor(most / step + 0.001) + 1}, (_, i) => i * step);
}
function number(value) {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 1 : 3;
  return value.toLocaleString('en', {maximumFractionDigits: digits});
}
function bytes(value) {
  for (const [unit, size] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]])
    if (value >= size) return (value / size).toFixed(value >= 10 * size ? 0 : 1) + ' ' + unit;
  return number(value) + ' bytes';
}
const hex = (address) => address.toString(16).padStart(6, '0');
const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);
const sum = (object) => Object.values(object || {}).reduce((total, value) => total + value, 0);

const kindTitles = {mfma: 'MFMA', valu: 'VALU', salu: 'SALU', lds: 'LDS', vmem_load: 'loads', vmem_store: 'stores',
                    vmem_atomic: 'atomics', smem: 'scalar loads', waitcnt: 'waits', barrier: 'barriers',
                    branch: 'branches', other: 'other'};
const reasonColours = {'mfma': 'mfma', 'issue': 'valu', 'lds': 'lds', 'vector memory': 'vmem_load',
                       'scalar memory': 'smem', 'barrier': 'barrier'};
const colourOf = (kind) => getComputedStyle(document.documentElement).getPropertyValue('--' + kind).trim();
const variable = (kind) => `var(--${kind})`;
const reasonColour = (reason) => reasonColours[reason] || 'other';
function legend(entries) {
  return element('div', {class: 'legend'}, entries.map(([colour, text]) =>
    element('span', {}, element('i', {style: `background:${colour}`}), text)));
}
function stackedBar(label, parts) {
  const total = parts.reduce((all, part) => all + part.value, 0) || 1;
  const words = parts.map((part) => `${part.name} ${number(part.value)}`).join(', ');
  return element('div', {class: 'bar', role: 'img', 'aria-label': `${label}: ${words}`}, parts.map((part) =>
    element('span', {style: `width:${100 * part.value / total}%;background:${part.colour}`,
                     title: `${part.name}: ${number(part.value)}`})));
}

// What is selected: a source line, an operation of the tile IR or an instruction. Views register a function that
// shows it; whoever selects calls select().
const views = [];
function select(selection) {
  for (const show of views) show(selection);
}
function placeText(thing) {
  return thing.file === undefined ? '' : `${baseName(report.files[thing.file].path)}:${thing.line}`;
}

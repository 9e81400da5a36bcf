// Two reports side by side.

/// Rows of all lines; of long stretches that are alike, all but the ends are folded away.
function foldedRows(lines, row) {
  const rows = [], kept = 4, alike = ([i, j]) => i >= 0 && j >= 0;
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (end < lines.length && alike(lines[end]) === alike(lines[at])) ++end;
    const part = lines.slice(at, end);
    if (alike(lines[at]) && part.length > 4 * kept)
      rows.push(...part.slice(0, kept).map(row), element('details', {}, element('summary', {class: 'soft'}, `${part.length - 2 * kept} instructions alike`), part.slice(kept, -kept).map(row)), ...part.slice(-kept).map(row));
    else rows.push(...part.map(row));
    at = end;
  }
  return rows;
}

function comparison() {
  const {a, b, figures, code: lines} = report;
  const groups = [...new Set(figures.map((figure) => figure.group))];
  const change = (figure) => {
    if (figure.a === figure.b) return '';
    const ratio = figure.a ? figure.b / figure.a : Infinity;
    const less = figure.name !== 'occupancy' && figure.group !== 'hot loop';
    const text = Number.isFinite(ratio) ? `${ratio >= 1 ? '+' : '−'}${Math.abs(100 * (ratio - 1)).toFixed(1)} %` : 'new';
    return element('span', {class: figure.group === 'hot loop' || figure.name === 'instructions' ? '' : (ratio < 1) === less ? 'better' : 'worse'}, text);
  };
  const nameOf = (figure) => (figure.group === 'hot loop' && kindTitles[figure.name] || figure.name) + (figure.unit ? `, ${figure.unit.replace('us', 'µs')}` : '');
  const config = (r) => Object.entries(r.config).map(([key, value]) => `${key}=${value}`).join(', ');
  const differing = Object.keys({...a.config, ...b.config}).filter((key) => a.config[key] !== b.config[key]);
  const row = ([i, j]) => element('div', {class: j < 0 ? 'a' : i < 0 ? 'b' : 'both'},
    element('span', {}, i < 0 ? '' : `${hex(a.code[i].address)}  ${a.code[i].text}`), element('span', {}, j < 0 ? '' : `${hex(b.code[j].address)}  ${b.code[j].text}`));
  const rows = foldedRows(lines, row);
  const counts = [lines.filter(([, j]) => j < 0).length, lines.filter(([i]) => i < 0).length];
  return [element('header', {}, element('h1', {}, `${a.kernel} and ${b.kernel}`), element('p', {}, `a: ${config(a) || a.origin}`), element('p', {}, `b: ${config(b) || b.origin}`),
      differing.length ? element('p', {}, 'They differ in ' + differing.map((key) => `${key}: ${a.config[key]} → ${b.config[key]}`).join(', ') + '.') : null),
    section('figures', 'Figures', 'Times, stalls and traffic are of simulated launches.', table(['', 'a', 'b', 'change'], groups.flatMap((group) => [
      [element('b', {}, group), '', '', ''], ...figures.filter((figure) => figure.group === group).map((figure) => [nameOf(figure), element('span', {class: 'mono'}, number(figure.a)), element('span', {class: 'mono'}, number(figure.b)), change(figure)])]))),
    section('code', 'Code', `Instructions of both in order; equal operations stand side by side, whichever registers they use. Only in a: ${counts[0]}, only in b: ${counts[1]}.`,
      element('div', {class: 'scroll diff', tabindex: 0, role: 'region', 'aria-label': 'Code of both', style: 'max-height:720px'}, rows))];
}

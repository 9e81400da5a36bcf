// Two reports side by side.

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
  const config = (r) => Object.entries(r.config).map(([key, value]) => `${key}=${value}`).join(', ');
  const differing = Object.keys({...a.config, ...b.config}).filter((key) => a.config[key] !== b.config[key]);
  const rows = lines.map(([i, j]) => element('div', {class: j < 0 ? 'a' : i < 0 ? 'b' : 'both'},
    element('span', {}, i < 0 ? '' : `${hex(a.code[i].address)}  ${a.code[i].text}`), element('span', {}, j < 0 ? '' : `${hex(b.code[j].address)}  ${b.code[j].text}`)));
  const counts = [lines.filter(([, j]) => j < 0).length, lines.filter(([i]) => i < 0).length];
  return [element('header', {}, element('h1', {}, `${a.kernel} and ${b.kernel}`), element('p', {}, `a: ${config(a) || a.origin}`), element('p', {}, `b: ${config(b) || b.origin}`),
      differing.length ? element('p', {}, 'They differ in ' + differing.map((key) => `${key}: ${a.config[key]} → ${b.config[key]}`).join(', ') + '.') : null),
    section('figures', 'Figures', 'Times, stalls and traffic are of simulated launches.', table(['', 'a', 'b', 'change'], groups.flatMap((group) => [
      [element('b', {}, group), '', '', ''], ...figures.filter((figure) => figure.group === group).map((figure) => [figure.unit ? `${figure.name}, ${figure.unit}` : figure.name, number(figure.a), number(figure.b), change(figure)])]))),
    section('code', 'Code', `Instructions of both in order; equal operations stand side by side, whichever registers they use. Only in a: ${counts[0]}, only in b: ${counts[1]}.`,
      element('div', {class: 'scroll diff', tabindex: 0, role: 'region', 'aria-label': 'Code of both', style: 'max-height:720px'}, rows))];
}

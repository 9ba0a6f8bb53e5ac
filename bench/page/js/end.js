function draw_page() {
  const main = document.getElementById('main');
  const parts = [];  // {id, name, node}
  const add = (id, name, node) => {
    if (!node) return;
    node.id = id;
    main.append(node);
    parts.push({id, name});
  };
  draw_header();
  add('summary', 'Summary', summary_section());
  if (page.sweep) add('curves', 'Curves', sweep_section(page.sweep));
  cuts.forEach((cut, index) => add(`cut-${index}`, cut.cut, cut_section(cut, index)));
  if (result.lanes) add('score', 'Score', score_section());
  add('made', 'How it was made', made_section());
  draw_contents(parts);
}
draw_page();
})();

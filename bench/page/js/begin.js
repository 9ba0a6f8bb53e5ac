(function () {
'use strict';
// What the page shows: the document of html_page.h.
const page = JSON.parse(document.getElementById('document').textContent);
const result = page.result || {};
// A sweep's points have all but their configurations in common.
const first_point = page.sweep && page.sweep.points[0] && page.sweep.points[0].result.context;
const context = result.context || (first_point && {...first_point, configurations: {}}) || {};
const cuts = result.cuts || [];
const LANES = ['reference', 'cuda', 'd5005', 'spatial'];
const CATEGORIES = [
  ['weight_stream', 'weight stream'], ['kv_stream', 'KV stream'], ['compute', 'compute'],
  ['movement', 'data movement'], ['synchronisation', 'synchronisation'], ['idle', 'idle'],
];

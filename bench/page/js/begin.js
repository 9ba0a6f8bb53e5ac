(function () {
'use strict';
// What the page shows: the document of html_page.h.
const page = JSON.parse(document.getElementById('document').textContent);
const result = page.result || {};
const context = result.context || {};
const cuts = result.cuts || [];
const LANES = ['reference', 'cuda', 'd5005', 'spatial'];
const CATEGORIES = [
  ['weight_stream', 'weight stream'], ['kv_stream', 'KV stream'], ['compute', 'compute'],
  ['movement', 'data movement'], ['synchronisation', 'synchronisation'], ['idle', 'idle'],
];

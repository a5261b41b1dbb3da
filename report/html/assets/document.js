// The result document, unpacked the first time somebody asks for it.
let unpacked = null;

async function text() {
  const packed = atob(one('document').textContent.trim());
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser cannot unpack the document');
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function result() {
  if (!unpacked) unpacked = text().then(JSON.parse);
  return unpacked;
}

async function save() {
  try {
    const link = make('a');
    link.href = URL.createObjectURL(new Blob([await text()], { type: 'application/json' }));
    link.download = one('save').dataset.name;
    document.body.append(link);
    link.click();
    link.remove();
    status('The document was handed to the browser to be saved.');
  } catch (e) {
    status('The document could not be unpacked: ' + e.message);
  }
}

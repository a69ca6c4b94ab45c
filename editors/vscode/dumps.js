// Which files are dumps, by their first bytes.
"use strict";
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");

const head = 64 << 10; // bytes of a file that are read

// mayBeDump reports whether the name of a file is one that dumps have.
function mayBeDump(file) {
  return /^core(\.\d+)?(\.(gz|zst))?$|\.(dmp|mdmp|hdmp|core)(\.(gz|zst))?$|\.tar\.zst$/i.test(path.basename(file));
}

// isDump reports whether a file is a dump: a core of ELF or Mach-O, a minidump or a pack of sosgo, also compressed. Where the editor can't read
// Zstandard, the name counts.
async function isDump(file) {
  try {
    const b = await first(fs.createReadStream(file, { end: 19 }));
    const gzip = b.length > 2 && b.readUInt16BE(0) === 0x1f8b, zstd = b.length > 4 && b.readUInt32BE(0) === 0x28b52ffd;
    if (!gzip && !zstd) {
      return isPlain(b);
    }
    if (zstd && !zlib.createZstdDecompress) {
      return !/\.tar\.zst$/i.test(file);
    }
    return isPlain(await first(fs.createReadStream(file, { end: head - 1 }), gzip ? zlib.createGunzip() : zlib.createZstdDecompress()));
  } catch {
    return false;
  }
}

// first returns the beginning of what a stream gives, through a decompressor if there is one.
function first(file, through) {
  return new Promise((done, fail) => {
    const from = through ? file.pipe(through) : file;
    const end = (b) => { file.destroy(); from.destroy(); done(b); };
    file.on("error", fail);
    from.on("error", fail);
    from.once("data", end);
    from.once("end", () => end(Buffer.alloc(0)));
  });
}

function isPlain(b) {
  if (b.length < 20) {
    return false;
  }
  switch (b.readUInt32BE(0)) {
    case 0x7f454c46: // ELF; e_type 4 is a core
      return (b[5] === 2 ? b.readUInt16BE(16) : b.readUInt16LE(16)) === 4;
    case 0x4d444d50: // MDMP
      return true;
    case 0xcffaedfe: // Mach-O of 64 bits; filetype 4 is a core
      return b.readUInt32LE(12) === 4;
  }
  return b.toString("latin1", 0, 11) === "sosgo-pack\0"; // the first file of a pack
}

module.exports = { isDump, mayBeDump };

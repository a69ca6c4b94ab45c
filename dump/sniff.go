package dump

import (
	"bytes"
	"unicode/utf8"

	"github.com/sosgo/sosgo/target"
)

// A signature identifies a kind of file that sosgo does not read.
type signature struct {
	off   int
	magic string
	what  string
}

// The signatures of files that resemble dumps, or that contain dumps.
var signatures = [...]signature{
	{0, "PAGEDU64", "a Windows kernel dump (64-bit): sosgo reads dumps of processes"},
	{0, "PAGEDUMP", "a Windows kernel dump (32-bit): sosgo reads dumps of processes"},
	{0, "Nettrace", "an EventPipe trace (.nettrace), not a dump: it holds no memory"},
	{4, "!FastSerialization", "a heap snapshot (.gcdump) or a trace, not a dump: it holds no memory"},
	{0, "JAVA PROFILE", "a Java heap dump"},
	{0, "go1.", "a Go heap dump"},
	{0, "KDUMP   ", "a Linux kernel dump: sosgo reads dumps of processes"},
	{0, "PMDM", "a minidump of a big-endian machine"},
	{0, "MZ", "a Windows program or library, not a dump"},
	{0, "BSJB", "a portable PDB file, not a dump"},
	{0, "Microsoft C/C++ MSF", "a Windows PDB file, not a dump"},
	{0, "PK\x03\x04", "a zip archive: unpack it first"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"},
	{0, "\xfd7zXZ\x00", "compressed with xz: unpack it first"},
	{0, "BZh", "compressed with bzip2: unpack it first"},
	{0, "\x04\x22\x4d\x18", "compressed with lz4: unpack it first"},
	{0, "Rar!", "a RAR archive: unpack it first"},
	{0, "MSCF", "a cabinet file: unpack it first"},
	{0, "\x1f\x8b", "compressed with gzip again: unpack it first"},
	{0, "\x28\xb5\x2f\xfd", "compressed with zstd again: unpack it first"},
	{0, "\xce\xfa\xed\xfe", "a 32-bit Mach-O file"},
	{0, "\xca\xfe\xba\xbe", "a Mach-O universal binary or a Java class, not a dump"},
}

// notADump returns an error that describes a file of an unknown container.
func notADump(head []byte, size int64) error {
	switch {
	case size == 0:
		return target.Corruptf("the file is empty")
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return target.Unsupportedf("an ELF program or library, not a core")
	case bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return target.Unsupportedf("a Mach-O program or library, not a core")
	case len(bytes.Trim(head, "\x00")) == 0:
		return target.Corruptf("the file begins with %d zero bytes: the dump was not written, or not copied, completely", len(head))
	}
	for _, s := range &signatures {
		if len(head) > s.off && bytes.HasPrefix(head[s.off:], []byte(s.magic)) {
			return target.Unsupportedf("not a dump that sosgo reads: %s", s.what)
		}
	}
	if isText(head) {
		return target.Unsupportedf("not a dump: a text file") // whose words may be nobody's business
	}
	return target.Unsupportedf("not a dump: neither an ELF core, a Mach-O core nor a Windows minidump (it begins with % x)", head[:min(8, len(head))])
}

// isText reports whether head looks like UTF-8 text without control characters.
func isText(head []byte) bool {
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 {
			return len(head)-i < utf8.UTFMax && len(head) == headSize // the end of head may split a character
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		i += n
	}
	return true
}

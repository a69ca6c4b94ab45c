package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

const (
	fixedInfoMagic = 0xfeef04bd // VS_FIXEDFILEINFO.dwSignature
	fixedInfoSize  = 52
	// The runtime's build puts this constant into every native library (sccsid of
	// eng/native/version: @(#)Version 8.0.23.53103 @Commit: …).
	sccsPrefix = "@(#)Version "
	sccsMax    = 512
	// sccsScan bounds the search in bytes. The runtime's library has 8 MB.
	sccsScan   = 64 << 20
	sccsPiece  = 64 << 10 // read at once: reading single pages would double the time
	versionMax = 64 << 10
)

// VersionInfo is the version resource of a PE image.
type VersionInfo struct {
	File, Product  [4]uint16
	FileVersion    string // text of the resource in the first language
	ProductVersion string
}

// VersionInfo reads the version resource (VS_VERSIONINFO, winver.h).
func (im *Image) VersionInfo() (VersionInfo, error) {
	var v VersionInfo
	b, err := im.Resource(ResourceVersion, "#1")
	if err != nil {
		return v, err
	}
	if len(b) > versionMax {
		return v, target.Corruptf("version resource of %d bytes", len(b))
	}
	magic := binary.LittleEndian.AppendUint32(nil, fixedInfoMagic)
	i := bytes.Index(b, magic)
	if i < 0 || len(b)-i < fixedInfoSize {
		return v, target.Corruptf("version resource without VS_FIXEDFILEINFO")
	}
	v.File = versionNumbers(b[i+8:])
	v.Product = versionNumbers(b[i+16:])
	v.FileVersion = versionValue(b, "FileVersion")
	v.ProductVersion = versionValue(b, "ProductVersion")
	return v, nil
}

// versionNumbers decodes four words, stored as two doublewords with the high word first.
func versionNumbers(b []byte) [4]uint16 {
	return [4]uint16{le16(b, 2), le16(b, 0), le16(b, 6), le16(b, 4)}
}

// versionValue returns the value of a String structure, or "". The structure has three words
// (length in bytes, length of the value in characters, type), the key with its NUL, padding to four
// bytes, and the value.
func versionValue(b []byte, key string) string {
	k := make([]byte, 0, 2*len(key)+2)
	for i := range len(key) {
		k = append(k, key[i], 0)
	}
	i := bytes.Index(b, append(k, 0, 0))
	if i < 6 {
		return ""
	}
	n := 2 * int(le16(b, i-4))
	at := (i + len(k) + 2 + 3) &^ 3
	if at > len(b) || n > len(b)-at {
		return ""
	}
	s, _, _ := strings.Cut(utf16text.String(b[at:at+n]), "\x00")
	return strings.TrimSpace(s)
}

// VersionString returns the version in the image, such as "10.0.1426.52326 @Commit: 0427b9ab…":
// FileVersion of the version resource of a PE image, or the @(#)Version constant of another image
// of the runtime. The error is target.ErrUnsupported if the image has no version, and
// target.ErrNotInDump if missing parts may hold it.
func (im *Image) VersionString() (string, error) {
	if im == nil {
		return "", target.Unsupportedf("no image")
	}
	if im.kind == KindPE {
		v, err := im.VersionInfo()
		if err != nil {
			return "", err
		}
		return dottedVersion(v.FileVersion), nil
	}
	// In most builds the constant is in .data, which more dumps hold.
	complete, budget := true, uint64(sccsScan)
	for _, writable := range []bool{true, false} {
		for _, e := range im.extents {
			if e.writable != writable {
				continue
			}
			e.n = min(e.n, budget)
			budget -= e.n
			s, whole := scanVersion(im.rvas, e)
			if s != "" {
				return s, nil
			}
			complete = complete && whole
		}
	}
	if !complete {
		return "", fmt.Errorf("version string: %w", target.ErrNotInDump)
	}
	return "", target.Unsupportedf("the image has no version string")
}

// dottedVersion replaces the commas in the resource compiler's number, "10,0,1426,52326 @Commit:
// …", with dots.
func dottedVersion(s string) string {
	number, rest, _ := strings.Cut(s, " ")
	s = strings.ReplaceAll(number, ",", ".")
	if rest != "" {
		s += " " + rest
	}
	return s
}

// scanVersion searches the stored bytes of an extent. whole is false if bytes were missing.
func scanVersion(mem target.Memory, e extent) (s string, whole bool) {
	whole, mem = true, target.Searching(mem)
	buf := make([]byte, 0, sccsPiece+sccsMax)
	for a := e.rva; a < e.rva+e.n; {
		k := int(min(sccsPiece, e.rva+e.n-a))
		n := len(buf)
		got, _ := mem.ReadMemory(buf[n:n+k], target.Addr(a))
		buf = buf[:n+got]
		if s := versionIn(buf); s != "" {
			return s, true
		}
		if got < k {
			whole, buf = false, buf[:0]
			next, ok := target.NextStored(mem, target.Addr(a)+target.Addr(got))
			if !ok || uint64(next) <= a {
				return "", false
			}
			a = uint64(next)
			continue
		}
		// Keep enough for a string that crosses into the next piece.
		tail := min(len(buf), sccsMax)
		buf = buf[:copy(buf[:tail], buf[len(buf)-tail:])]
		a += uint64(k)
	}
	return "", whole
}

// versionIn finds a complete version constant in b.
func versionIn(b []byte) string {
	for {
		i := bytes.Index(b, []byte(sccsPrefix))
		if i < 0 {
			return ""
		}
		b = b[i+len(sccsPrefix):]
		n := bytes.IndexByte(b[:min(len(b), sccsMax)], 0)
		if n < 0 {
			continue
		}
		// The library also has format strings with this prefix.
		if s := string(b[:n]); n > 0 && s[0] >= '0' && s[0] <= '9' {
			return s
		}
	}
}

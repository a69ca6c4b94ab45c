package dac

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/sosgo/sosgo/target"
)

// nativeVersion returns the version of the runtime in a NativeAOT program. It comes from the crash record, the
// constant for that record, or the version of the core library, which is only major and minor.
func (i *Instance) nativeVersion() string {
	if b, err := i.CrashRecord(); err == nil {
		var record struct {
			Version string `json:"runtime_version"`
		}
		if json.Unmarshal(b, &record) == nil && record.Version != "" {
			return record.Version
		}
	}
	for _, h := range i.nativeImage().headers {
		meta, err := i.nativeMetadata(h)
		if err != nil {
			continue
		}
		for _, s := range meta.Scopes() {
			if s.Name != coreLibrary {
				continue
			}
			v := fmt.Sprintf("%d.%d", s.Major, s.Minor)
			if whole := i.versionConstant(v); whole != "" {
				return whole
			}
			return v
		}
	}
	return ""
}

// versionConstant returns the only zero-delimited text in the program's constants that is a release of the
// version v, or "".
func (i *Instance) versionConstant(v string) string {
	constant := regexp.MustCompile(`\x00(` + regexp.QuoteMeta(v) + `\.\d{1,3})\x00`)
	found := ""
	for _, s := range i.Image.Sections() {
		start, err := i.Image.Address(s.RVA)
		if err != nil || s.Prot&(target.ProtWrite|target.ProtExec) != 0 {
			continue
		}
		const piece, overlap = 1 << 20, 32
		for off := uint64(0); off < s.Size; off += piece - overlap {
			for _, b := range i.storedBytes(start+target.Addr(off), min(piece, s.Size-off)) {
				for _, m := range constant.FindAllSubmatch(b, -1) {
					if found != "" && found != string(m[1]) {
						return ""
					}
					found = string(m[1])
				}
			}
		}
	}
	return found
}

// storedBytes returns the bytes of the n at a that are in the dump, in pieces without holes.
func (i *Instance) storedBytes(a target.Addr, n uint64) [][]byte {
	var out [][]byte
	for end := a + target.Addr(n); a < end; {
		b := target.UpTo(i.mem, a, int(end-a))
		if len(b) == 0 {
			next, ok := target.NextStored(i.tgt, a+1)
			if !ok {
				break
			}
			a = next
			continue
		}
		out, a = append(out, b), a+target.Addr(len(b))
	}
	return out
}

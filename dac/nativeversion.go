package dac

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// nativeVersion returns the version of the runtime that is linked into a NativeAOT program. Its sources are the crash
// record, the constant for that record, and the version of the core library, which is only major and minor.
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

// versionConstant returns the only zero-delimited text in the program's constants that is a release of the version v, or "".
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
			for _, b := range i.stored(start+target.Addr(off), min(piece, s.Size-off)) {
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

// stored returns the bytes of n from a on that the dump has, in pieces without holes.
func (i *Instance) stored(a target.Addr, n uint64) [][]byte {
	var out [][]byte
	for end := a + target.Addr(n); a < end; {
		b := i.mem.Span(a)
		if len(b) == 0 {
			next, ok := target.NextStored(i.tgt, a+1)
			if !ok {
				break
			}
			a = next
			continue
		}
		b = b[:min(uint64(len(b)), uint64(end-a))]
		out, a = append(out, b), a+target.Addr(len(b))
	}
	return out
}

// CrashRecord returns the JSON that a NativeAOT program wrote about its crash. It returns target.ErrUnsupported for a
// program that did not crash.
func (i *Instance) CrashRecord() ([]byte, error) {
	if i.aotHeader == 0 {
		return nil, target.Unsupportedf("only NativeAOT programs have a record of a crash")
	}
	globals, err := target.Pointer(i.mem, i.aotHeader+debugVariables)
	if err != nil {
		return nil, fmt.Errorf("debug header: %w", err)
	}
	names, err := i.debugGlobals(globals)
	if err != nil {
		return nil, err
	}
	for n, name := range names {
		if name != "g_CrashInfoBuffer" {
			continue
		}
		at, err := target.Pointer(i.mem, globals+target.Addr(debugGlobalSize*n+debugGlobalValue))
		if err != nil {
			return nil, fmt.Errorf("debug header: %w", err)
		}
		return i.record(at)
	}
	return nil, target.Unsupportedf("the debug header lacks the address of the crash record")
}

// record reads JSON up to the closing zero.
func (i *Instance) record(at target.Addr) ([]byte, error) {
	var out []byte
	for len(out) < limits.CrashRecord {
		b := i.mem.Span(at + target.Addr(len(out)))
		if len(b) == 0 {
			_, err := target.Uint8(i.mem, at+target.Addr(len(out)))
			return nil, fmt.Errorf("record of a crash: %w", err)
		}
		b = b[:min(len(b), limits.CrashRecord-len(out))]
		if end := bytes.IndexByte(b, 0); end >= 0 {
			if out = append(out, b[:end]...); len(out) == 0 {
				return nil, target.Unsupportedf("the program has written no record of a crash")
			}
			return out, nil
		}
		out = append(out, b...)
	}
	return nil, target.Corruptf("a record of more than %d bytes", limits.CrashRecord)
}

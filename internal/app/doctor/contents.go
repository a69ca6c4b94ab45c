package doctor

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/target"
)

// auxNames names the entries of the auxiliary vector, without AT_ (linux/auxvec.h and the processors' asm/auxvec.h).
var auxNames = map[uint64]string{
	2: "EXECFD", 3: "PHDR", 4: "PHENT", 5: "PHNUM", 6: "PAGESZ", 7: "BASE", 8: "FLAGS", 9: "ENTRY", 10: "NOTELF", 11: "UID", 12: "EUID", 13: "GID", 14: "EGID",
	15: "PLATFORM", 16: "HWCAP", 17: "CLKTCK", 23: "SECURE", 24: "BASE_PLATFORM", 25: "RANDOM", 26: "HWCAP2", 27: "RSEQ_FEATURE_SIZE", 28: "RSEQ_ALIGN",
	31: "EXECFN", 32: "SYSINFO", 33: "SYSINFO_EHDR", 51: "MINSIGSTKSZ",
}

// Contents lists what a dump holds besides memory, threads and modules. file is nil for a process without a file.
func Contents(file *dump.File) *answer.DumpContents {
	out := &answer.DumpContents{}
	if file == nil {
		return out
	}
	linux := file.Platform().OS == target.OSLinux
	for _, e := range file.Auxv() {
		entry := answer.AuxEntry{Tag: e.Tag, Value: target.Addr(e.Value)}
		if linux {
			entry.Name = auxNames[e.Tag]
		}
		out.Auxv = append(out.Auxv, entry)
	}
	for _, v := range file.Environment() {
		name, value, _ := strings.Cut(v, "=")
		if upper := strings.ToUpper(name); !strings.HasPrefix(upper, "DOTNET_") && !strings.HasPrefix(upper, "COMPLUS_") {
			value = ""
		}
		out.Environment = append(out.Environment, answer.EnvVariable{Name: name, Value: value})
	}
	for _, m := range file.UnloadedModules() {
		out.Unloaded = append(out.Unloaded, answer.OldModule{Base: m.Base, Size: uint64(m.Size), Path: m.Path})
	}
	for r := range file.Regions() {
		out.Regions = append(out.Regions, answer.MemoryRegion{Start: r.Start, Size: r.Size, Stored: r.Stored, Access: r.Prot.String(), Kind: r.Kind, Path: r.Path, Offset: r.Offset})
	}
	return out
}

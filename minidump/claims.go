package minidump

import "github.com/sosgo/sosgo/target"

// withFullMemory is MiniDumpWithFullMemory (minidumpapiset.h).
const withFullMemory = 2

// Claims returns the memory that the process had: stored ranges, modules, and committed memory in
// the MemoryInfoList. With such a list, or if all memory is stored, there was no other.
func (f *File) Claims() *target.Claims { return f.claims.get(f.loadClaims) }

func (f *File) loadClaims(*notes) *target.Claims {
	infos := f.MemoryInfos()
	listed := f.storedRuns()
	for i := range infos {
		if s := infos[i].State; s != memFree && s != memReserve {
			listed = append(listed, target.Range{Start: infos[i].Start, End: infos[i].end()})
		}
	}
	for _, m := range f.Modules() {
		if end := m.Base + target.Addr(m.Size); end > m.Base {
			listed = append(listed, target.Range{Start: m.Base, End: end})
		}
	}
	whole := len(infos) > 0 && len(f.infos.notes.list) == 0 ||
		f.header.flags&withFullMemory != 0 && len(f.notes.list) == 0
	return target.NewClaims(f.platform.Arch, listed, whole)
}

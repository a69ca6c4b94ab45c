package heap

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
)

// Version describes the version of a runtime and the kind of its GC. h may be nil if the heap is not in the dump; err is then the reason.
func Version(inst *dac.Instance, h *Heap, err error) *answer.EEVersion {
	v := &answer.EEVersion{Version: inst.Version(), Text: inst.VersionText(), Core3: inst.IsCore3()}
	if h == nil {
		v.Note(err)
		v.NoGC.Err = err
		return v
	}
	server := h.Server()
	v.Server, v.Heaps, v.InGC = &server, len(h.SubHeaps()), h.InGC()
	if mode, ok := h.DATAS(); ok && server {
		v.DATAS = &mode
	}
	return v
}

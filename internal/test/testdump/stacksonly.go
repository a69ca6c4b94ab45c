package testdump

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// stackBytes is how many bytes of a thread's stack Breakpad's writer for Linux keeps
// (linux_dumper.h, kDefaultStackToCapture).
const stackBytes = 32 << 10

// StacksOnly rewrites a dump of a Linux x64 process in Breakpad's form: threads with their stacks,
// modules with their build ids, /proc/PID/maps, and no other memory.
func StacksOnly(d *sosgo.Dump) []byte {
	t := d.Target()
	m := synth.NewMinidump()
	m.ForeignSystem(9, synth.MinidumpLinux, "Linux 6.8.0 x86_64")
	var maps strings.Builder
	var ends []target.Range
	var modules, generated []synth.MinidumpModule
	for r := range t.Regions() {
		end := r.Start + target.Addr(r.Size)
		if r.Path == "" && r.Prot == target.ProtRead|target.ProtExec { // createdump does not name the file
			r.Path = "/memfd:doublemapper (deleted)"
			generated = append(generated, synth.MinidumpModule{Base: uint64(r.Start), Size: uint32(r.Size), Path: r.Path})
		}
		fmt.Fprintf(&maps, "%x-%x %sp %08x 00:00 0 %s\n", uint64(r.Start), uint64(end), r.Prot, r.Offset, r.Path)
		ends = append(ends, target.Range{Start: r.Start, End: end})
	}
	var threads []synth.MinidumpThread
	var memory []synth.MinidumpRange
	for _, th := range t.Threads() {
		var integer [16]uint64
		for n := range integer {
			integer[n], _ = th.Registers.Get(target.Reg(n))
		}
		ip, _ := th.Registers.IP()
		sp, _ := th.Registers.SP()
		stack := synth.MinidumpRange{Addr: uint64(sp)}
		for _, r := range ends {
			if r.Contains(sp) {
				stack.Data, _ = target.Bytes(t, sp, int(min(uint64(r.End-sp), stackBytes)))
			}
		}
		threads = append(threads, synth.MinidumpThread{ID: th.ID, StackStart: stack.Addr, StackSize: uint32(len(stack.Data)),
			Context: synth.AMD64Context(0x10001f, integer, uint64(ip), 0x246)})
		if len(stack.Data) > 0 {
			memory = append(memory, stack)
		}
	}
	m.Threads(threads...)
	for _, mod := range t.Modules() {
		entry := synth.MinidumpModule{Base: uint64(mod.Base), Size: uint32(mod.Size), Path: mod.Path}
		if id := image.IdentityOf(d.Memory(), &mod); len(id.BuildID) > 0 {
			entry.CodeView = append([]byte("LEpB"), id.BuildID...)
		}
		modules = append(modules, entry)
	}
	m.Modules(append(modules, generated...)...)
	m.Memory(memory...)
	m.Stream(0x47670009, []byte(maps.String()))
	return m.Bytes()
}

package synth

import "testing"

// TestMinidumpSizes compares the builder with the sizes of structures in minidumpapiset.h and
// winnt.h.
func TestMinidumpSizes(t *testing.T) {
	m := NewMinidump()
	last := func() uint32 { return m.entries[len(m.entries)-1][1] }
	for _, c := range []struct {
		name string
		add  func()
		want uint32
	}{
		{"SYSTEM_INFO", func() { m.SystemInfo(MinidumpAMD64) }, 56},
		{"THREAD", func() { m.Threads(MinidumpThread{}) }, 4 + 48},
		{"MODULE", func() { m.Modules(MinidumpModule{Version: [4]uint16{1}}) }, 4 + 108},
		{"MEMORY_DESCRIPTOR", func() { m.Memory(MinidumpRange{}) }, 4 + 16},
		{"MEMORY_DESCRIPTOR64", func() { m.Memory64(MinidumpRange{}) }, 16 + 16},
		{"MEMORY_INFO", func() { m.MemoryInfo(MinidumpInfo{}) }, 16 + 48},
		{"THREAD_INFO", func() { m.ThreadInfo(MinidumpThreadInfo{}) }, 12 + 64},
		{"THREAD_NAME", func() { m.ThreadName(1, "x") }, 4 + 12},
		{"EXCEPTION_STREAM", func() { m.Exception(1, 2, 3, nil, nil) }, 168},
		{"MISC_INFO_5", func() { m.MiscInfo(5, 1, 2) }, 1364},
		{"HANDLE_DESCRIPTOR_2", func() { m.Handles(MinidumpHandle{}) }, 16 + 40},
		{"UNLOADED_MODULE", func() { m.UnloadedModule(0, 0, 0, 0, "") }, 12 + 24},
	} {
		if c.add(); last() != c.want {
			t.Errorf("%s: stream of %d bytes, want %d", c.name, last(), c.want)
		}
	}
	if n := len(AMD64Context(0, [16]uint64{}, 0, 0)); n != 1232 {
		t.Errorf("AMD64 CONTEXT of %d bytes", n)
	}
	if n := len(ARM64Context(0, 0, [33]uint64{})); n != 912 {
		t.Errorf("ARM64 CONTEXT of %d bytes", n)
	}
}

package codeinfo

import "github.com/sosgo/sosgo/target"

// The unwind information of code precedes its GC info. On ARM64 only it records the length of a
// function (learn.microsoft.com, "x64 exception handling" and "ARM64 exception handling"). Package
// unwind does the unwinding.

// UnwindInfoSize returns the size in bytes of the unwind information at an address, including the
// handler after it.
func UnwindInfoSize(mem target.Memory, arch target.Arch, at target.Addr) (int, error) {
	switch arch {
	case target.ArchAMD64:
		return unwindSizeAMD64(mem, at)
	case target.ArchARM64:
		return unwindSizeARM64(mem, at)
	}
	return 0, target.Unsupportedf("unwind information of %v", arch)
}

// unwindSizeAMD64 returns the size of an UNWIND_INFO with a handler: four bytes, an even number of
// two-byte codes, and the handler's RVA.
func unwindSizeAMD64(mem target.Memory, at target.Addr) (int, error) {
	const header, count, code, handler = 4, 2, 2, 4
	n, err := target.Uint8(mem, at+count)
	if err != nil {
		return 0, err
	}
	return header + code*((int(n)+1)&^1) + handler, nil
}

// UnwindInfoEnd is UnwindInfoSize for an image with code without handlers, such as a NativeAOT
// program. On x64 the codes there are not padded, and no handler's RVA follows.
func UnwindInfoEnd(mem target.Memory, arch target.Arch, at target.Addr) (int, error) {
	const flags, handlers = 3, 3 // shift of the flags after the version; UNW_FLAG_EHANDLER and UNW_FLAG_UHANDLER
	if arch != target.ArchAMD64 {
		return UnwindInfoSize(mem, arch, at)
	}
	b, err := target.Bytes(mem, at, 3)
	if err != nil {
		return 0, err
	}
	if b[0]>>flags&handlers != 0 {
		return unwindSizeAMD64(mem, at)
	}
	return 4 + 2*int(b[2]), nil
}

// unwindSizeARM64 returns the size of an .xdata record: a word, a second one if the first has no
// counts, a word for each described epilogue, the codes, and the handler's RVA if there is one.
func unwindSizeARM64(mem target.Memory, at target.Addr) (int, error) {
	w, err := target.Uint32(mem, at)
	if err != nil {
		return 0, err
	}
	words, epilogs, codes := 1, int(w>>22&31), int(w>>27)
	if epilogs == 0 && codes == 0 {
		more, err := target.Uint32(mem, at+4)
		if err != nil {
			return 0, err
		}
		words, epilogs, codes = 2, int(more&0xffff), int(more>>16&0xff)
	}
	const handler, single = 1 << 20, 1 << 21
	if w&single == 0 {
		words += epilogs
	}
	if w&handler != 0 {
		words++
	}
	return 4 * (words + codes), nil
}

// FunctionLength returns the length in bytes of the function that the unwind information at an
// address describes. It is target.ErrUnsupported for a processor whose unwind information does not
// record it.
func FunctionLength(mem target.Memory, arch target.Arch, at target.Addr) (uint32, error) {
	if arch != target.ArchARM64 {
		return 0, target.Unsupportedf("unwind information of %v does not record the length of a function", arch)
	}
	w, err := target.Uint32(mem, at)
	return 4 * (w & (1<<18 - 1)), err
}

package scrub

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

var le = binary.LittleEndian

// Parts of an ELF64 file to copy (elf.h). The reader of cores has verified them.
const (
	elfHeader, elfProgram, elfSection = 64, 56, 64

	programLoad, programNote = 1, 4
	countInSection           = 0xffff // PN_XNUM
)

// Notes of cores (elf.h), by their types.
const (
	noteStatus     = 1
	noteFloat      = 2
	noteProcess    = 3
	noteAuxv       = 6
	noteFiles      = 0x46494c45
	noteSignal     = 0x53494749
	noteXState     = 0x202
	noteXLayout    = 0x205
	noteSignatures = 0x406
	noteHead       = 12
)

func readELF(src target.Source) (*container, error) {
	e := &container{src: src}
	e.edits = e.readNotes
	head, err := corefile.ReadAt(src, 0, elfHeader)
	if err != nil {
		return nil, err
	}
	at, n := le.Uint64(head[32:]), uint64(le.Uint16(head[56:]))
	e.structures = append(e.structures, span{size: elfHeader})
	if n == countInSection {
		section := le.Uint64(head[40:])
		b, err := corefile.ReadAt(src, section, elfSection)
		if err != nil {
			return nil, err
		}
		n = uint64(le.Uint32(b[44:]))
		e.structures = append(e.structures, span{off: int64(section), size: elfSection})
	}
	if n > uint64(src.Size())/elfProgram {
		return nil, target.Corruptf("%d program headers in a file of %d bytes", n, src.Size())
	}
	programs, err := corefile.ReadAt(src, at, n*elfProgram)
	if err != nil {
		return nil, err
	}
	e.structures = append(e.structures, span{off: int64(at), size: int64(len(programs))})
	for p := range slices.Chunk(programs, elfProgram) {
		off, size := le.Uint64(p[8:]), le.Uint64(p[32:])
		switch le.Uint32(p) {
		case programLoad:
			e.ranges = append(e.ranges, memmap.Range{Addr: target.Addr(le.Uint64(p[16:])), Size: min(size, le.Uint64(p[40:])), Offset: int64(off)})
		case programNote:
			if off < uint64(src.Size()) {
				e.notes = append(e.notes, span{off: int64(off), size: int64(min(size, uint64(src.Size())-off, limits.NoteBytes))})
			}
		}
	}
	return e, nil
}

// readNotes copies the notes and returns replacements for their data.
func (e *container) readNotes(j *job) (edits []edit, err error) {
	for _, s := range e.notes {
		b, err := corefile.ReadAt(e.src, uint64(s.off), uint64(s.size))
		if err != nil {
			return nil, err
		}
		for at := 0; at+noteHead <= len(b); {
			name, data := uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
			start := uint64(at) + noteHead + (name+3)&^3
			if start > uint64(len(b)) || data > uint64(len(b))-start {
				break // the reader has reported it
			}
			e.structures = append(e.structures, span{off: s.off + int64(at), size: int64(start+data) - int64(at)})
			owner := string(bytes.TrimRight(b[at+noteHead:uint64(at)+noteHead+name], "\x00"))
			fresh := j.note(owner, le.Uint32(b[at+8:]), b[start:start+data])
			if !bytes.Equal(fresh, b[start:start+data]) {
				edits = append(edits, edit{s.off + int64(start), fresh})
			}
			at = int(min((start+data+3)&^3, uint64(len(b))))
		}
	}
	return edits, nil
}

// Offsets in an elf_prstatus and in an elf_prpsinfo (linux/elfcore.h), and the size of the part of a siginfo_t
// that the reader uses.
const (
	statusRegisters              = 112
	processName                  = 40
	processArguments, processEnd = 56, 136
	signalHead                   = 32
)

// note returns the data of a note without values that the process computed.
func (j *job) note(owner string, kind uint32, data []byte) []byte {
	b := slices.Clone(data)
	if owner != "CORE" && owner != "LINUX" {
		j.zero(b, &j.counts.Notes)
		return b
	}
	switch kind {
	case noteStatus:
		j.registers(b[min(statusRegisters, len(b)):])
	case noteFloat, noteXState:
		j.zero(b, &j.counts.Notes)
	case noteProcess:
		if len(b) >= processEnd {
			j.processName(b[processName:processArguments], b[processArguments:processEnd])
			j.arguments(b[processArguments:processEnd])
		}
	case noteSignal:
		j.zero(b[min(len(b), signalHead):], &j.counts.Notes)
	case noteAuxv, noteFiles, noteXLayout, noteSignatures:
	default:
		j.registers(b)
	}
	return b
}

// isSmall reports whether a number, of 32 bits or 64, may stay in a register: it is too close to zero for text.
func isSmall(v uint64) bool {
	const most = 1 << 22
	return v < most || ^v < most || v>>32 == 0 && uint64(^uint32(v)) < most
}

// registers clears registers that are not pointers. Registers that control a thread stay.
func (j *job) registers(b []byte) {
	for i := 0; i < len(b); i += wordSize {
		w := b[i:min(i+wordSize, len(b))]
		if len(w) < wordSize {
			j.zero(w, &j.counts.Notes)
		} else if v := le.Uint64(w); !isSmall(v) && !j.isPointer(v) && !j.control[v] {
			j.zero(w, &j.counts.Notes)
		}
	}
}

// processName replaces the name of the first thread, which names the process, unless it is the program's name.
func (j *job) processName(name, arguments []byte) {
	name = cutNUL(name)
	program, _, _ := strings.Cut(string(cutNUL(arguments)), " ")
	if !strings.HasPrefix(target.BaseName(program), string(name)) && !strings.HasPrefix(string(name), runtimeThread) {
		j.argument(name)
	}
}

func cutNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// arguments replaces the arguments of a command line in place. The program stays.
func (j *job) arguments(b []byte) {
	used := cutNUL(b)
	j.zero(b[len(used):], &j.counts.Texts)
	b = used
	first := true
	for len(b) > 0 {
		n := bytes.IndexByte(b, ' ')
		if n < 0 {
			n = len(b)
		}
		if !first {
			j.argument(b[:n])
		}
		first = false
		b = b[min(n+1, len(b)):]
	}
}

// argument replaces one argument.
func (j *job) argument(b []byte) {
	if len(b) > 0 {
		j.disguise.replace(b, false)
		j.counts.Texts.Add(uint64(len(b)))
	}
}

// auxName is the tag of the program's name in the auxiliary vector (AT_EXECFN). The kernel puts the arguments
// and the environment before it.
const auxName = 31

// mostTexts is the largest size in bytes of arguments and variables to replace.
const mostTexts = 8 << 20

// firstStack replaces the arguments and the environment on the first stack.
func (j *job) firstStack(t target.Target, name target.Addr, stored []memmap.Range) (edits []edit) {
	r := j.areas.at(name)
	start := max(r.Start, name-min(name, mostTexts))
	b := make([]byte, name-start)
	for len(b) > 0 {
		n, _ := t.ReadMemory(b, start)
		if n == len(b) {
			break
		}
		next, ok := target.NextStored(t, start+target.Addr(n)+1)
		if !ok || next >= name {
			return nil
		}
		b, start = b[next-start:], next
	}
	if text, err := target.CString(t, name, limits.PathBytes); err == nil {
		j.marks.add(name, len(text)+1)
	}
	end, variables := len(b), true
	for end > 0 && b[end-1] == 0 {
		from := bytes.LastIndexByte(b[:end-1], 0) + 1
		text := b[from : end-1]
		if !isText(text) || from == 0 {
			break
		}
		fresh := slices.Clone(text)
		equals := bytes.IndexByte(text, '=')
		if variables = variables && equals > 0; variables {
			if !isKnob(text[:equals], text[equals+1:]) {
				j.argument(fresh[equals+1:])
			}
		} else if before := bytes.LastIndexByte(b[:max(from-1, 0)], 0) + 1; from > 0 && isText(b[before:max(from-1, 0)]) {
			j.argument(fresh) // all except the first, which is the program
		}
		edits = append(edits, place(stored, start+target.Addr(from), append(fresh, 0))...)
		end = from
	}
	return edits
}

// isText reports whether b is the text of an argument or a variable: not empty, and without control characters
// other than those in text.
func isText(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return !printable(c) && c < 0x80 })
}

// isKnob reports whether a variable is a number for the runtime.
func isKnob(name, value []byte) bool {
	n := strings.ToUpper(string(name))
	return (strings.HasPrefix(n, "DOTNET_") || strings.HasPrefix(n, "COMPLUS_")) && len(value) <= 16 &&
		!slices.ContainsFunc(value, func(c byte) bool { return !strings.ContainsRune("0123456789abcdefABCDEFxX", rune(c)) })
}

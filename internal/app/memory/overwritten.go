package memory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// flagBits are the bits of a word with a MethodTable in which a collector keeps its marks (gcpriv.h).
const flagBits = 7

// FaultingObject concludes which object of the heap has, in place of its MethodTable, the word that the runtime followed when it accessed a: a
// collection reads the flags and sizes of a MethodTable, which come first, and DOTNET_HeapVerify its class, too. It returns nil if no object is
// found, or if a may be an address.
func FaultingObject(ctx context.Context, p *process.Process, a target.Addr) []answer.Verdict {
	return concludeOverwritten(ctx, p, func(h *heap.Heap) (target.Addr, bool) {
		size, err := h.Runtime().Layout().Size("MethodTable")
		if err != nil {
			return 0, false
		}
		return seek(ctx, h, p.Memory(), func(w target.Addr) bool { return a-w&^flagBits < target.Addr(size) })
	})
}

// OverwrittenObject describes the first object without a MethodTable that faults of the heap lead to. It returns nil if there is no
// such object.
func OverwrittenObject(ctx context.Context, p *process.Process, faults []answer.Fault) []answer.Verdict {
	return concludeOverwritten(ctx, p, func(h *heap.Heap) (target.Addr, bool) {
		var list []target.Addr
		for i := range faults {
			f := &faults[i]
			switch f.Kind {
			case heap.FaultMethodTable.String():
				list = append(list, f.Object)
			case heap.FaultReference.String():
				if a, err := target.Pointer(p.Memory(), f.Object+target.Addr(f.Offset)); err == nil {
					list = append(list, a)
				}
			}
		}
		slices.Sort(list)
		for _, a := range slices.Compact(list) {
			if near := h.Near(a); near != nil && begins(near, a) {
				return a, true
			}
		}
		return 0, false
	})
}

// begins reports whether an object begins at a, where the one before ends, and can't be walked.
func begins(near *heap.Neighbours, a target.Addr) bool {
	return near.Before != nil && near.Current == nil && near.Before.Next() == a && !near.Gap.Contains(a)
}

// concludeOverwritten describes the object that find returns.
func concludeOverwritten(ctx context.Context, p *process.Process, find func(*heap.Heap) (target.Addr, bool)) []answer.Verdict {
	out, err := process.Answer(ctx, p, func(ctx context.Context, c *process.Call) ([]answer.Verdict, error) {
		h, err := c.Heap()
		if err != nil {
			return nil, err
		}
		object, ok := find(h)
		if !ok {
			return nil, nil
		}
		word, err := target.Pointer(c.Memory(), object)
		if err != nil {
			return nil, err
		}
		if _, _, err := h.Runtime().MethodTableAt(word &^ flagBits); err == nil || !wrong(err) {
			return nil, err
		}
		before := h.Near(object).Before
		name, err := h.Runtime().TypeName(before.Type.Addr, dac.NameManaged)
		if err != nil {
			return nil, err
		}
		has := answer.Conclude(answer.FindingHeap, words.Overwritten.Of(words.ShortObject(object), words.Address(word), wordText(word)), answer.StrengthRecorded)
		by := answer.Conclude(answer.FindingHeap, words.EndsBefore.Of(words.ObjectOfType.Of(words.Type(name), words.ShortObject(before.Addr)), words.Bytes(before.Size), keptSo(ctx, p, before.Addr)),
			answer.StrengthPossible)
		if same := alike(c.Memory(), object, word); same {
			by.Strength = answer.StrengthLikely
			by.Because(words.EndsAlike.Of())
		}
		has.Show, by.Show = []string{"listnearobj " + address(object)}, []string{"dumpobj " + address(before.Addr)}
		return []answer.Verdict{has, by}, nil
	})
	if err != nil {
		return nil
	}
	return out
}

// wrong reports whether an error says that an address is no MethodTable, and not that this can't be read.
func wrong(err error) bool {
	return errors.As(err, new(*target.AddressError)) || errors.Is(err, target.ErrCorrupt)
}

// keptSo names what keeps an object alive, a stack only if nothing else does. It returns the zero Statement if that is not known.
func keptSo(ctx context.Context, p *process.Process, object target.Addr) answer.Statement {
	for _, without := range []bool{true, false} {
		paths, err := GCRoot(ctx, p, object, graph.HoldOptions{Limit: 1, NoStacks: without})
		if err == nil && len(paths.Paths) > 0 {
			return words.KeptBy.Of(words.Text(paths.Paths[0].Root.Words()))
		}
	}
	return answer.Statement{}
}

// address returns an address as commands take it.
func address(a target.Addr) string { return fmt.Sprintf("%016x", uint64(a)) }

// alike reports whether the bytes before an object are of the same kind as the word at its start: the same words, or text. The object's header is among
// them: it is 0 in nearly all objects.
func alike(mem target.Memory, object, word target.Addr) bool {
	for _, at := range []target.Addr{object - 8, object - 16} {
		w, err := target.Pointer(mem, at)
		if err != nil || w&^flagBits != word&^flagBits && (!printable(w) || !printable(word&^1)) {
			return false
		}
	}
	return true
}

// printable reports whether all bytes of a word are printable ASCII.
func printable(w target.Addr) bool {
	b := binary.LittleEndian.AppendUint64(nil, uint64(w))
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

// wordText returns the text of a word that is text, without the byte in which the collector keeps its marks.
func wordText(w target.Addr) answer.Statement {
	if !printable(w &^ 1) {
		return answer.Statement{}
	}
	text := string(binary.LittleEndian.AppendUint64(nil, uint64(w))[1:])
	return words.AsText.Of(words.Value(answer.Arg{Type: answer.ArgText, Value: text}, strconv.Quote(text)))
}

// seek returns the first place on the heap where an object begins and the word there is wanted.
func seek(ctx context.Context, h *heap.Heap, mem target.Memory, wanted func(target.Addr) bool) (target.Addr, bool) {
	left := uint64(limits.SoughtBytes)
	buffer := make([]byte, 64<<10)
	for _, s := range h.Segments() {
		for at := s.Objects.Start; at < s.Objects.End && left > 0 && ctx.Err() == nil; {
			n, _ := mem.ReadMemory(buffer[:min(uint64(len(buffer)), s.Objects.Size(), uint64(s.Objects.End-at))], at)
			next := at + target.Addr(max(n&^7, 8))
			for i := 0; i+8 <= n; i += 8 {
				if !wanted(target.Addr(binary.LittleEndian.Uint64(buffer[i:]))) {
					continue
				}
				a := at + target.Addr(i)
				near := h.Near(a)
				if near == nil || near.Before == nil || near.Current != nil {
					continue
				}
				if begins(near, a) {
					return a, true
				}
				if end := near.Before.Next(); end > a { // a is in an object
					next = end
					break
				}
			}
			left -= min(left, uint64(next-at))
			at = next
		}
	}
	return 0, false
}

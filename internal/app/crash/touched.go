package crash

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// nullRange is the distance from 0 within which .NET reports an access as a null reference (NULL_AREA_SIZE, frames.h).
const nullRange = 64 << 10

// touch describes the accessed memory. by is the record that has the address, or words.ByInstruction for an address
// that was derived from the code.
func (d *describer) touch(a target.Addr, access string, by *words.Sentence) {
	t := &answer.Touched{Address: a, Access: access, By: by.Of()}
	switch {
	case d.hidden && a == 0:
		t.Is = words.AddressHidden.Of()
	case a < nullRange:
		t.Is = words.AddressNearZero.Of()
	case a == ^target.Addr(0):
		t.Is = words.AddressOfWindows.Of()
	case by == words.ByInstruction || !canonical(d.p.Target().Platform(), a):
		t.Is = words.AddressNotCanonical.Of()
	case d.ctx != nil:
		is := resolve.Address(d.ctx, d.p, a)
		t.Is, d.mapped = whatIs(is), mappedFile(is)
	}
	t.What, t.Source = t.Is.Text, t.By.Text
	d.out.Touched = t
}

// reportedZero reports whether an address was reported as 0, which also stands for non-canonical addresses.
func reportedZero(t *answer.Touched) bool { return t.Is.Says == words.AddressHidden.Kind() }

// canonical reports whether a can be an address of a process, with any kind of paging.
func canonical(p target.Platform, a target.Addr) bool {
	return p.Arch.PointerSize() < 8 || a < 1<<56
}

// reportedAsZero reports whether an access to a may have been reported as 0. With 4-level paging, addresses from 2^47
// on are not canonical. A processor with 5-level paging accepts addresses up to 2^56 and reports them unchanged.
func reportedAsZero(a target.Addr) bool { return a >= 1<<47 }

// whatIs describes an answer.Address.
func whatIs(a *answer.Address) answer.Statement {
	var name, offset answer.Statement
	if !a.Name.IsZero() {
		name = words.BehindName.Of(words.Text(a.Name.String()))
	}
	if a.Start != 0 && a.Start < a.Address {
		n := uint64(a.Address - a.Start)
		offset = words.PlusOffset.Of(words.Value(answer.Arg{Type: answer.ArgBytes, Number: &n}, fmt.Sprintf("%#x", n)))
	}
	if a.Kind == answer.AddressUnknown {
		return words.AddressNotInDump.Of(name, offset)
	}
	return words.AddressIn.Of(words.Text(string(a.Kind)), name, offset)
}

// argument returns the exception that was passed to FailFast. The runtime makes it the inner exception of its own.
func (d *describer) argument(a target.Addr) target.Addr {
	e, err := d.rt.Exception(a)
	d.out.Note(err)
	return e.Inner
}

// touchedEvidence describes how an address explains an exception.
func touchedEvidence(t *answer.Touched) answer.Statement {
	explained := words.AboveNullLimit
	if reportedZero(t) {
		explained = words.NullOrDamaged
	} else if t.Address < nullRange {
		explained = words.BelowNullLimit
	}
	text := readAsText(t.Address)
	if t.Access != "" {
		return words.AccessOf.Of(words.Text(t.Access), words.Address(t.Address), t.By, text, explained.Of())
	}
	return words.FaultingAddress.Of(words.Address(t.Address), t.By, text, explained.Of())
}

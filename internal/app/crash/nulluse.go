package crash

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// mostUses is the maximum number of reference uses in a statement for which its null reference is named.
const mostUses = 3

// nullUse names the null reference by the reference uses of the failed statement.
func (d *describer) nullUse(root *Fault, x *answer.Exception) {
	if root.Type != nullReference || root.Unusual || d.rt == nil || len(x.Frames) == 0 {
		return
	}
	strength := answer.StrengthLikely
	switch t := d.out.Touched; {
	case t == nil:
	case reportedZero(t):
		strength = answer.StrengthPossible // the reference may be damaged
	case t.Address >= nullRange:
		return // no null reference
	}
	f := &x.Frames[0]
	if throws, err := dac.CodeOf(d.rt).Throws(f.IP); throws || err != nil {
		return // a throw of null, or code without a map or IL
	}
	uses, err := disasm.NewLister(d.rt, objects.New(d.rt)).NullUses(f.IP)
	if err != nil {
		return
	}
	evidence := []answer.Statement{words.StatementIL.Of(words.Method(f.Function.S))}
	if t := d.out.Touched; t != nil && !reportedZero(t) {
		if fits := touching(uses, int64(t.Address)); len(fits) < len(uses) {
			uses = fits
			evidence = append(evidence, words.OtherUses.Of(words.Address(t.Address)))
		}
	}
	if left := slices.DeleteFunc(slices.Clone(uses), d.hasObject); len(left) > 0 && len(left) < len(uses) {
		uses = left
		evidence = append(evidence, words.SetFields.Of())
	}
	var names []string
	for _, u := range uses {
		if !slices.Contains(names, u.What) {
			names = append(names, u.What)
		}
	}
	if n := len(names); n == 0 || n > mostUses {
		return
	}
	d.conclusion(words.NullUses.Of(words.Text(strings.Join(names, ", or "))), strength, evidence...)
}

// hasObject reports whether the reference of a use was read from fields that refer to an object in the dump: it was not null, unless another thread has set
// the field since.
func (d *describer) hasObject(u disasm.NullUse) bool {
	r := objects.New(d.rt)
	var o objects.Object
	for i, fd := range u.From {
		t, err := r.Type(fd.MethodTable)
		if err != nil {
			return false
		}
		fields, err := t.OwnFields()
		if err != nil {
			return false
		}
		at := slices.IndexFunc(fields, func(f *objects.Field) bool { return f.Addr == fd.Addr })
		if at < 0 {
			return false
		}
		v := fields[at].StaticValue().Value
		if i > 0 {
			v = fields[at].At(target.Addr(objects.InstanceOf(o)))
		}
		if o, err = v.Object(); err != nil || o.Addr == 0 {
			return false
		}
	}
	return len(u.From) > 0
}

// touching returns the uses that touch memory at offset at, else the calls and the uses with an unknown offset, else
// all.
func touching(uses []disasm.NullUse, at int64) []disasm.NullUse {
	var exact, unknown []disasm.NullUse
	for _, u := range uses {
		if u.At == at {
			exact = append(exact, u)
		} else if u.At < 0 || u.Calls {
			unknown = append(unknown, u)
		}
	}
	switch {
	case len(exact) > 0:
		return exact
	case len(unknown) > 0:
		return unknown
	}
	return uses // for example a field of a value in a field
}

package objects

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// fsharpObjectForm returns the short form of a class of FSharp.Core, as in F# Interactive, or nil.
func fsharpObjectForm(name string) func(Object, int) answer.Line {
	class, ok := strings.CutPrefix(name, "Microsoft.FSharp.")
	if !ok {
		return nil
	}
	switch class {
	case "Core.FSharpOption`1":
		return func(o Object, limit int) answer.Line { return caseOf("Some", o.Field("value"), limit) }
	case "Core.FSharpRef`1":
		return func(o Object, limit int) answer.Line {
			return appendWords(append(appendWords(nil, "{contents = "), o.Field("contents@").leaf(limit)...), "}")
		}
	case "Control.FSharpMailboxProcessor`1":
		return Object.mailboxState
	}
	if _, choice, ok := strings.Cut(class, "+"); ok && strings.HasPrefix(class, "Core.FSharpChoice`") {
		return func(o Object, limit int) answer.Line { return caseOf(choice, o.Field("item"), limit) }
	}
	return nil
}

// fsharpStructForm returns the short form of a value type of FSharp.Core, or nil.
func fsharpStructForm(name string) func(Struct, int, int) (answer.Line, bool) {
	switch name {
	case "Microsoft.FSharp.Core.FSharpResult`2":
		return func(s Struct, limit, _ int) (answer.Line, bool) {
			switch tag, ok := s.number("_tag"); {
			case ok && tag == 0:
				return caseOf("Ok", s.Field("resultValue"), limit), true
			case ok && tag == 1:
				return caseOf("Error", s.Field("errorValue"), limit), true
			}
			return nil, false
		}
	case "Microsoft.FSharp.Core.FSharpValueOption`1":
		return func(s Struct, limit, _ int) (answer.Line, bool) {
			switch tag, ok := s.number("_tag"); {
			case ok && tag == 0:
				return appendWords(nil, "ValueNone"), true
			case ok && tag == 1:
				return caseOf("ValueSome", s.Field("item"), limit), true
			}
			return nil, false
		}
	}
	return nil
}

// caseOf formats a case of a union with its value. It is empty if the class does not have the field.
func caseOf(name string, v Value, limit int) answer.Line {
	if v.err != nil {
		return formless(v.err)
	}
	return append(appendWords(nil, name+" "), v.leaf(limit)...)
}

// leaf formats a value on one line. For an object or a struct, which may contain each other, it is only the text or
// type.
func (v Value) leaf(limit int) answer.Line {
	var t *Type
	switch v.Kind() {
	case KindReference:
		if v.bits == 0 {
			return appendWords(nil, "null")
		}
		o, err := v.Object()
		if err != nil {
			return appendMissing(nil, err)
		}
		if o.IsString() {
			return o.appendQuoted(nil, limit)
		}
		t = o.Type
	case KindStruct:
		s, err := v.Struct()
		if err != nil {
			return appendMissing(nil, err)
		}
		if form, err := s.Type.lineForm(); err == nil && form.text != nil {
			if text, ok := form.text(s); ok {
				return appendWords(nil, text)
			}
		}
		t = s.Type
	default:
		return v.appendPlain(nil, limit, 0)
	}
	name, err := t.ManagedName()
	return appendMissing(appendWords(nil, name), err)
}

// mailboxState reports whether the body of a MailboxProcessor waits for a message.
func (o Object) mailboxState(int) answer.Line {
	mailbox, err := o.Field("mailbox").Object()
	if err != nil {
		return formless(err)
	}
	waits := mailbox.Field("savedCont")
	switch started, err := o.Field("started").Bool(); {
	case err != nil || waits.err != nil || waits.Kind() != KindReference:
		return formless(err)
	case !started:
		return appendWords(nil, "is not started")
	case waits.bits != 0:
		return appendWords(nil, "waits for a message")
	}
	return appendWords(nil, "does not wait for a message")
}

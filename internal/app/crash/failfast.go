package crash

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// The class and the method that end a process with a message. Related methods have names with this prefix.
const (
	environmentClass = "System.Environment"
	failFastMethod   = "FailFast"
)

// isFailFast reports whether a frame is Environment.FailFast, or a method that it calls.
func isFailFast(f *stackwalk.Frame) bool {
	md, err := f.Method()
	if err != nil || md == nil {
		return false
	}
	name, err := md.Name()
	if err != nil || len(name) < len(failFastMethod) || name[:len(failFastMethod)] != failFastMethod && name != "_FailFast" {
		return false
	}
	class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
	return err == nil && class == environmentClass
}

// ofHandling reports whether a frame belongs to the runtime's exception handling, which is managed since .NET 9.
func ofHandling(f *stackwalk.Frame) bool {
	md, err := f.Method()
	if err != nil || md == nil {
		return false
	}
	class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
	return err == nil && class == "System.Runtime.EH"
}

// failFast describes the call of Environment.FailFast at the top of the stack. The call's frames refer to the message.
func (d *describer) failFast(w *stackwalk.Walker) {
	if d.fatal == nil {
		return
	}
	d.out.FailFast = foundMessage(answer.Text{Err: target.ErrNotInDump}, answer.StrengthUnknown, words.InNoFrame)
	found, err := d.messageOfFrames(w)
	if found == nil && err == nil {
		found = cmp.Or(d.messageOfStack(), d.messageOfReport())
	}
	if found != nil {
		d.out.FailFast = found
	}
	d.out.Note(err)
	d.ended(words.ReasonFailFast.Of())
}

// foundMessage describes a message and where it was found.
func foundMessage(message answer.Text, strength answer.Strength, found *words.Sentence) *answer.FailFast {
	f := &answer.FailFast{Message: message, Strength: strength, Found: found.Of()}
	f.Source = f.Found.Text
	return f
}

// messageOfFrames finds the message among the GC references in the frames of the call: a string, or a pinned pointer to
// its characters. The first one is the message, the call's first argument. An exception there is the call's other argument.
func (d *describer) messageOfFrames(w *stackwalk.Walker) (found *answer.FailFast, err error) {
	t := d.died.Thread
	reader := objects.New(d.rt)
	for r, err := range w.Roots(d.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			return found, fmt.Errorf("arguments of FailFast: %w", err)
		}
		if r.FrameSP > d.fatal.SP {
			break
		}
		if e, err := d.rt.Exception(r.Object); err == nil && !r.Interior && d.argued == 0 {
			d.argued = e.Addr
		}
		if text, ok := stringAt(d.rt, reader, r.Object, r.Interior); ok && found == nil {
			found = foundMessage(text, answer.StrengthProved, words.InAFrame)
		}
	}
	return found, nil
}

// messageOfStack finds the message in the stack words above FailFast's caller, where the runtime's native code keeps
// it. It returns nil if they refer to several strings.
func (d *describer) messageOfStack() *answer.FailFast {
	sp, ok := d.died.Thread.OS.Registers.SP()
	if !ok || d.fatal.SP <= sp || d.fatal.SP-sp > failFastStack {
		return nil
	}
	var found *answer.FailFast
	var at target.Addr
	reader := objects.New(d.rt)
	for a := sp &^ 7; a < d.fatal.SP; a += 8 {
		word, err := target.Pointer(d.p.Memory(), a)
		if err != nil || word == at {
			continue
		}
		text, ok := stringAt(d.rt, reader, word, false)
		if !ok || text.Err != nil || text.S == "" {
			continue
		}
		if found != nil {
			return nil
		}
		at = word
		found = foundMessage(text, answer.StrengthLikely, words.OnlyString)
	}
	return found
}

// messageOfReport finds the message in the text that the runtime composed on the stack for the Windows event log
// (eventreporter.cpp): a line "Message: …", before the line "Stack:".
func (d *describer) messageOfReport() *answer.FailFast {
	sp, ok := d.died.Thread.OS.Registers.SP()
	if !ok || d.fatal.SP <= sp || d.fatal.SP-sp > failFastStack {
		return nil
	}
	stack := make([]byte, d.fatal.SP-sp)
	n, _ := d.p.Memory().ReadMemory(stack, sp)
	_, rest, ok := bytes.Cut(stack[:n], utf16Bytes("\nMessage: "))
	if !ok {
		return nil
	}
	rest, _, _ = bytes.Cut(rest, utf16Bytes("\nStack:"))
	return foundMessage(answer.Text{S: strings.TrimRight(textBeforeNUL(rest, maxMessage), "\r\n")}, answer.StrengthLikely, words.InTheReport)
}

func utf16Bytes(s string) []byte {
	var b []byte
	for _, c := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}

// failFastStack bounds the search of FailFast's native frames, in bytes.
const failFastStack = 256 << 10

// stringAt returns the text of the string at a. If interior is set, a is the address of the string's first character.
func stringAt(rt *dac.Runtime, r *objects.Reader, a target.Addr, interior bool) (answer.Text, bool) {
	if a < nullRange || a%2 != 0 {
		return answer.Text{}, false
	}
	if interior {
		a = rt.StringOfChars(a)
	}
	if a%8 != 0 {
		return answer.Text{}, false
	}
	o, err := r.TrustedObject(a)
	if err != nil || !o.IsString() {
		return answer.Text{}, false
	}
	s, err := o.Start(maxMessage)
	return answer.Text{S: s, Err: err}, true
}

// maxMessage is the maximum number of UTF-16 code units of a message in the answer.
const maxMessage = 64 << 10

// concludeFailFast concludes that the program ended itself.
func (d *describer) concludeFailFast() {
	f := d.out.FailFast
	path, _, unthrown := d.path()
	says, message := words.FailFast, answer.Statement{}
	asserts := d.died.fatal() && len(path) == 1 && path[0].Type == assertion
	switch {
	case asserts:
		says = words.AssertionFailed
		if text := clipped(path[0].Message); text != "" {
			message = words.ColonMessage.Of(words.Text(text))
		}
	case f.Message.Err == nil && strings.TrimSpace(f.Message.S) == "":
		message = words.EmptyMessage.Of()
	case f.Message.Err == nil && f.Strength != answer.StrengthProved:
		message = words.LikelyMessage.Of(words.Text(clipped(f.Message.S)))
	case f.Message.Err == nil:
		message = words.ColonMessage.Of(words.Text(clipped(f.Message.S)))
	case errors.Is(f.Message.Err, target.ErrNotInDump):
		message = words.NoMessage.Of()
	}
	var place, exception answer.Statement
	if p := Culprit(d.callers()); p != nil {
		place = inFunction(p)
	}
	evidence := []answer.Statement{words.FailFastFrames.Of()}
	if len(path) > 0 {
		switch x := d.died.blamed(); {
		case asserts:
			evidence = append(evidence, words.ExceptionIs.Of(words.Type(assertion)))
		case d.died.fatal():
			exception = words.ItsExceptionIs.Of(itsException(path)).Plus(unthrown)
			evidence = append(evidence, words.InnerOfFatal.Of())
		case d.argued != 0:
			exception = words.ItsExceptionIs.Of(itsException(path)).Plus(unthrown)
			evidence = append(evidence, words.PassedException.Of())
		case x != nil && x.in != nil:
			evidence = append(evidence, words.LedToCall.Of(itsException(path)).Plus(unthrown))
		}
	}
	if f.Message.Err == nil {
		evidence = append(evidence, words.MessageFrom.Of(f.Found, words.Text(string(f.Strength))))
	}
	d.blame(says.Of(message, place, exception), answer.StrengthProved, evidence...)
}

// assertion is the exception that Debug.Assert and Debug.Fail pass to Environment.FailFast.
const assertion = "System.Diagnostics.DebugProvider+DebugAssertException"

// callers returns the frames of the stack as places.
func (d *describer) callers() []Place {
	var out []Place
	for i := range d.out.Stack {
		f := &d.out.Stack[i]
		out = append(out, Place{Function: f.Method.String(), File: f.File, Line: f.Line})
	}
	return out
}

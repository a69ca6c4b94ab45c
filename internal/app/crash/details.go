package crash

import (
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// detailFields maps the fields from which framework exceptions compose their Message to descriptions.
var detailFields = sync.OnceValue(func() map[string]*words.Sentence {
	return map[string]*words.Sentence{
		"_paramName":  words.ItsParameter, // ArgumentException
		"_objectName": words.ItsObject,    // ObjectDisposedException
		"_fileName":   words.ItsFile,      // FileNotFoundException, FileLoadException, BadImageFormatException
	}
})

// wrappedField is the field of RuntimeWrappedException with the thrown object.
const wrappedField = "_wrappedException"

// details describes what the fields of the exception at a hold beyond its text. It returns the zero Statement for nothing
// or unreadable fields.
func (d *describer) details(a target.Addr, text string) answer.Statement {
	if d.rt == nil || a == 0 {
		return answer.Statement{}
	}
	o, err := objects.New(d.rt).Object(a)
	if err != nil {
		return answer.Statement{}
	}
	var parts []answer.Statement
	for f, v := range o.Fields() {
		says := detailFields()[f.Name]
		if says == nil && f.Name != wrappedField || f.Static || v.IsNull() || !declaredByFramework(f) {
			continue
		}
		value, err := v.Object()
		if err != nil {
			continue
		}
		switch s, err := value.Start(maxDetail); {
		case says == nil:
			parts = append(parts, words.ThrownObject.Of(words.Text(value.Inline(maxDetail))))
		case err == nil && s != "" && !strings.Contains(text, "'"+s+"'"):
			parts = append(parts, says.Of(words.Text(s)))
		}
	}
	return words.Join(", ", parts...)
}

// maxDetail is how many characters of a detail are shown.
const maxDetail = 200

func declaredByFramework(f *objects.Field) bool {
	name, err := f.Declaring.Name()
	return err == nil && ofFramework(name)
}

// composed returns the evidence that the exception's own type composes its Message, so that logs show a different text,
// or the zero Statement.
func (d *describer) composed(x *answer.Exception) answer.Statement {
	if d.rt == nil || d.rt.Check(dac.FeatureMethods) != nil {
		return answer.Statement{}
	}
	o, err := objects.New(d.rt).Object(x.Address)
	if err != nil {
		return answer.Statement{}
	}
	t := o.Type
	for range limits.ParentChain {
		name, err := t.Name()
		if err != nil || ofFramework(name) {
			return answer.Statement{}
		}
		for md, err := range t.Methods() {
			if err != nil {
				break
			}
			if method, err := md.Name(); err == nil && method == "get_Message" {
				return words.ComposesMessage.Of(words.Type(name))
			}
		}
		if t, err = t.Base(); err != nil || t == nil {
			return answer.Statement{}
		}
	}
	return answer.Statement{}
}

// readAsText returns the text of an address made of characters, such as a reference that text has overwritten, or the zero
// Statement.
func readAsText(a target.Addr) answer.Statement {
	const fewest16, fewest8 = 3, 6 // enough characters to exclude chance
	var text string
	for word := a; word != 0 && word&0xffff >= ' ' && word&0xffff < 0x7f; word >>= 16 {
		text += string(rune(word & 0xffff))
	}
	kind := "UTF-16"
	if len(text) < fewest16 || uint64(a)>>(16*len(text)) != 0 {
		text, kind = "", "ASCII"
		for word := a; word != 0 && word&0xff >= ' ' && word&0xff < 0x7f; word >>= 8 {
			text += string(rune(word & 0xff))
		}
		if len(text) < fewest8 || len(text) < 8 && uint64(a)>>(8*len(text)) != 0 {
			return answer.Statement{}
		}
	}
	return words.WhichIsText.Of(words.Text(kind), words.Value(answer.Arg{Type: answer.ArgText, Value: text}, strconv.Quote(text)))
}

package crash

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// detailFields are the fields from which the framework's exceptions compose their Message, and their words.
var detailFields = map[string]string{
	"_paramName":  "parameter",   // ArgumentException
	"_objectName": "object name", // ObjectDisposedException
	"_fileName":   "file name",   // FileNotFoundException, FileLoadException, BadImageFormatException
}

// wrappedField is the field of a RuntimeWrappedException with the object that was thrown.
const wrappedField = "_wrappedException"

// details describes what the exception at a keeps beside its text, as far as the text does not contain it. It is empty if there is nothing or it
// can't be read.
func (d *describer) details(a target.Addr, text string) string {
	if d.rt == nil || a == 0 {
		return ""
	}
	o, err := objects.New(d.rt).Object(a)
	if err != nil {
		return ""
	}
	var parts []string
	for f, v := range o.Fields() {
		words := detailFields[f.Name]
		if words == "" && f.Name != wrappedField || f.Static || v.IsNull() || !declaredByFramework(f) {
			continue
		}
		value, err := v.Object()
		if err != nil {
			continue
		}
		switch s, err := value.Text(maxDetail); {
		case words == "":
			parts = append(parts, "thrown: "+value.Inline(maxDetail))
		case err == nil && s != "" && !strings.Contains(text, "'"+s+"'"):
			parts = append(parts, fmt.Sprintf("%s '%s'", words, s))
		}
	}
	return strings.Join(parts, ", ")
}

// maxDetail is how many characters of a detail are shown.
const maxDetail = 200

func declaredByFramework(f *objects.Field) bool {
	name, err := f.Declaring.Name()
	return err == nil && ofFramework(name)
}

// composed is the evidence that an exception's own type composes its Message, so that logs show another text. It is empty otherwise.
func (d *describer) composed(x *answer.Exception) string {
	if d.rt == nil || d.rt.Check(dac.FeatureMethods) != nil {
		return ""
	}
	o, err := objects.New(d.rt).Object(x.Address)
	if err != nil {
		return ""
	}
	t := o.Type
	for range limits.ParentChain {
		name, err := t.Name()
		if err != nil || ofFramework(name) {
			return ""
		}
		for md, err := range t.Methods() {
			if err != nil {
				break
			}
			if method, err := md.Name(); err == nil && method == "get_Message" {
				return fmt.Sprintf("%s composes the Message that logs show; the text here is the one that System.Exception keeps", name)
			}
		}
		if t, err = t.Base(); err != nil || t == nil {
			return ""
		}
	}
	return ""
}

// readAsText describes an address whose bytes are the characters of a text, as of a reference that a text overwrote. It is empty for any other.
func readAsText(a target.Addr) string {
	const fewest16, fewest8 = 3, 6 // characters that are no chance
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
			return ""
		}
	}
	return fmt.Sprintf(", which is the %s text %q", kind, text)
}

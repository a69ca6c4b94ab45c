package agreement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A fieldFact is a field of an object. Offset is relative to the first field, after the MethodTable.
type fieldFact struct {
	Name        string
	Offset      int64
	ElementType string
	Value       json.RawMessage
}

var (
	fieldLine = regexp.MustCompile(`(?i)^\s*([0-9a-f]{8,16})\s+([0-9a-f]{7,8})\s+([0-9a-f]+)\s+(.*?)\s+(Yes|No|0|1)\s+` +
		`(instance|static|shared|TLstatic|CLstatic)\s+(\S*)\s+(\S+)\s*$`)
	methodTable = regexp.MustCompile(`(?im)^MethodTable:\s*0*([0-9a-f]+)\s*$`)
)

func values(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Address, MT hex
		Type        string
		Fields      json.RawMessage
	}](rows)
	if err != nil {
		return err
	}
	var rowsOf []int
	var ask []string
	var fields [][]fieldFact
	for i, r := range facts {
		var list []fieldFact
		if bytes.HasPrefix(bytes.TrimSpace(r.Fields), []byte("[")) {
			if err := json.Unmarshal(r.Fields, &list); err != nil {
				return fmt.Errorf("fact %d: %w", i+1, err)
			}
			rowsOf, ask, fields = append(rowsOf, i), append(ask, "dumpobj "+r.Address.String()), append(fields, list)
		}
	}
	for k, text := range p.each(ask) {
		i := rowsOf[k]
		r := facts[i]
		type place struct {
			offset hex
			name   string
		}
		got := map[place]string{}
		for _, m := range matches(fieldLine, text) {
			at := place{num(m[3]), m[8]}
			if _, known := got[at]; !known && strings.EqualFold(m[6], "instance") {
				got[at] = m[7]
			}
		}
		mt, ok := group(methodTable, text)
		s.want(i, ok && num(mt) == r.MT, "%v %s: MethodTable %v", r.Address, r.Type, r.MT)
		for _, f := range fields[k] {
			at := hex(f.Offset + 8)
			name := fmt.Sprintf("%v %s.%s at %v", r.Address, r.Type, f.Name, at)
			shown, ok := got[place{at, f.Name}]
			if !ok {
				s.want(i, false, "%s is missing", name)
				continue
			}
			if right, comparable := f.shows(shown, r.Address+at); comparable {
				s.want(i, right, "%s = %.80s: got %s", name, f.Value, shown)
			}
		}
	}
	return nil
}

// shows reports whether the text in the value column is the fact's value. For a value type the text
// is its address at. comparable is false for texts such as NaN.
func (f *fieldFact) shows(shown string, at hex) (right, comparable bool) {
	switch raw := string(f.Value); {
	// An unloaded type has no fields; a null reference is shown as 0.
	case raw == "null", raw == "[]" && isHex(shown, 0):
		return isHex(shown, 0), true
	case strings.HasPrefix(raw, "["):
		return isHex(shown, at), true
	case strings.HasPrefix(raw, "{"):
		var object struct{ Object hex }
		return json.Unmarshal(f.Value, &object) == nil && isHex(shown, object.Object), true
	case strings.HasPrefix(raw, `"`):
		var want hex
		if !strings.HasPrefix(raw, `"0x`) {
			return false, false
		}
		return want.UnmarshalJSON(f.Value) == nil && isHex(shown, want), true
	case raw == "true":
		return shown == "1", true
	case raw == "false":
		return shown == "0", true
	case f.ElementType == "Char":
		want, err := strconv.ParseUint(raw, 10, 16)
		return err == nil && isHex(shown, hex(want)), true
	case strings.ContainsAny(raw, ".eE") || f.ElementType == "Float" || f.ElementType == "Double":
		want, err := strconv.ParseFloat(raw, 64)
		got, gotErr := strconv.ParseFloat(shown, 64)
		return err == nil && (shown == fmt.Sprintf("%f", want) || gotErr == nil && math.Abs(got-want) <= 1e-6*math.Abs(want)), true
	default:
		return shown == raw, true
	}
}

func isHex(shown string, want hex) bool {
	got, err := parseHex(shown)
	return err == nil && got == want
}

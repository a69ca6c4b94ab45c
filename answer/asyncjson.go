package answer

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// jsonPiece is how many bytes StreamValue collects before it passes them on.
const jsonPiece = 64 << 10

// StreamValue calls emit with the stack as JSON, piece by piece: one thing that a million methods wait for makes a
// stack of a million frames. The pieces have whole characters, and are valid during the call.
func (s *AsyncStack) StreamValue(emit func(piece []byte) error) error {
	b := []byte{'{'}
	if s.Part {
		b = append(appendJSONName(b, `"part":`), "true"...)
	}
	if s.Awaiter != nil {
		b = appendReflected(appendJSONName(b, `"awaiter":`), s.Awaiter)
	}
	var err error
	if len(s.Waits) > 0 {
		if b, err = streamFrames(appendJSONName(b, `"waits":`), s.Waits, emit); err != nil {
			return err
		}
	}
	if !s.Reason.IsZero() {
		b = s.Reason.appendJSON(appendJSONName(b, `"reason":`))
	}
	if b, err = streamFrames(appendJSONName(b, `"frames":`), s.Frames, emit); err != nil {
		return err
	}
	if s.Roots != nil {
		b = appendReflected(appendJSONName(b, `"roots":`), s.Roots)
	}
	if s.More {
		b = append(appendJSONName(b, `"more":`), "true"...)
	}
	return emit(append(b, '}'))
}

// streamFrames appends a list of frames and emits what is there when it is much; it returns what was not.
func streamFrames(b []byte, frames []AsyncFrame, emit func([]byte) error) ([]byte, error) {
	if frames == nil {
		return append(b, "null"...), nil
	}
	b = append(b, '[')
	for i := range frames {
		if i > 0 {
			b = append(b, ',')
		}
		if b = frames[i].AppendJSON(b); len(b) < jsonPiece {
			continue
		}
		if err := emit(b); err != nil {
			return nil, err
		}
		b = b[:0]
	}
	return append(b, ']'), nil
}

// AppendJSON appends the frame as JSON: what encoding/json makes of it by its tags, without its cost.
func (f *AsyncFrame) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"depth":`...), int64(f.Depth), 10)
	b = appendJSONAddr(append(b, `,"object":`...), f.Object)
	b = appendJSONAddr(append(b, `,"methodTable":`...), f.MethodTable)
	b = appendJSONString(append(b, `,"kind":`...), f.Kind)
	if f.AsyncName != nil {
		b = f.Type.appendJSON(append(b, `,"type":`...))
		b = f.Name.appendJSON(append(b, `,"name":`...))
	}
	if f.State != nil {
		b = strconv.AppendInt(append(b, `,"state":`...), int64(*f.State), 10)
	}
	if f.Flags != 0 {
		b = append(strconv.AppendUint(append(b, `,"flags":"0x`...), uint64(f.Flags), 16), '"')
	}
	b = appendJSONWords(b, `,"status":`, f.Status)
	b = appendJSONWords(b, `,"meaning":`, f.Meaning)
	if f.AsyncPlace != nil {
		b = f.AsyncPlace.appendFields(b)
	}
	if len(f.Variables) > 0 {
		b = appendReflected(append(b, `,"variables":`...), f.Variables)
	}
	if len(f.Fields) > 0 {
		b = appendReflected(append(b, `,"fields":`...), f.Fields)
	}
	if len(f.Suspended) > 0 {
		b = appendReflected(append(b, `,"suspended":`...), f.Suspended)
	}
	if f.Again {
		b = append(b, `,"again":true`...)
	}
	return append(b, '}')
}

// appendFields appends the members of a JSON object, behind others.
func (p *AsyncPlace) appendFields(b []byte) []byte {
	if !p.Method.IsZero() {
		b = p.Method.appendJSON(append(b, `,"method":`...))
	}
	if !p.Await.IsZero() {
		b = p.Await.appendJSON(append(b, `,"await":`...))
	}
	b = appendJSONWords(b, `,"file":`, p.File)
	if p.Line != 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(p.Line), 10)
	}
	if p.Missing.Err != nil {
		b = appendJSONString(append(b, `,"placeMissing":`...), p.Missing.Err.Error())
	}
	return b
}

// appendJSON appends what MarshalJSON writes, or the same string.
func (t *Text) appendJSON(b []byte) []byte {
	if t.Err != nil {
		return append(b, "null"...)
	}
	return appendJSONString(b, t.S)
}

// appendJSONWords appends a member of an object that is left out where it is empty.
func appendJSONWords(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendJSONString(append(b, name...), s)
}

// appendReflected appends what encoding/json makes of v.
func appendReflected(b []byte, v any) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // nothing in an answer fails
		return append(b, "null"...)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

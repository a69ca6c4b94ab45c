package scrub

import (
	"bytes"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// native replaces texts in the image of a NativeAOT program: messages in the record of a crash, and literals
// that become strings at its start. Other texts of the image are names.
func (s *imageScrubber) native(r *runtimeOf) {
	if r.rt.Check(dac.FeatureModules) == nil || r.heap == nil {
		return
	}
	literals := &patterns{heads: map[uint32][]pattern{}}
	for _, segment := range r.heap.Segments() {
		if segment.Objects.Start-r.module.Base < target.Addr(r.module.Size) {
			s.frozen(r, &segment, literals)
		}
	}
	literals.sort()
	for region := range s.target.Regions() {
		if region.Start-r.module.Base >= target.Addr(r.module.Size) {
			continue
		}
		for at := uint64(0); at < region.Stored; at += chunkSize {
			n := min(region.Stored-at, chunkSize)
			b, err := target.Bytes(s.target, region.Start+target.Addr(at), int(n))
			if err != nil {
				break
			}
			fresh := bytes.Clone(b)
			if region.Prot&target.ProtWrite != 0 {
				s.counts.Literals.Add(s.messages(fresh))
			} else if region.Prot&target.ProtExec == 0 {
				s.counts.Literals.Add(literals.overwrite(fresh))
			}
			s.changes(region.Start+target.Addr(at), b, fresh)
		}
	}
}

// changes writes the bytes of fresh that differ from old to the memory at a. Other parts of it may be objects.
func (s *imageScrubber) changes(a target.Addr, old, fresh []byte) {
	for at := 0; at < len(old); {
		if old[at] == fresh[at] {
			at++
			continue
		}
		end := at
		for end < len(old) && old[end] != fresh[end] {
			end++
		}
		s.put(a+target.Addr(at), fresh[at:end])
		at = end
	}
}

// frozen adds the texts of a segment of the image.
func (s *imageScrubber) frozen(r *runtimeOf, segment *heap.Segment, into *patterns) {
	for o, err := range r.heap.ObjectsIn(segment, segment.Objects) {
		if err != nil || o.Type.Addr != r.rt.WellKnown().String {
			continue
		}
		chars, n, err := r.rt.StringChars(o.Addr)
		if err != nil || 2*n > mostPattern {
			continue
		}
		if text, err := target.Bytes(r.heap.Memory(), chars, int(2*n)); err == nil && len(text) >= leastPattern && !blank(text) {
			into.value(text, true, s.disguise)
		}
	}
}

// messageKey precedes the message of an exception in the record of a crash, which is JSON.
const messageKey = `"message":"`

// messages replaces the messages in b, and returns the number of bytes.
func (s *imageScrubber) messages(b []byte) (n uint64) {
	for {
		i := bytes.Index(b, []byte(messageKey))
		if i < 0 {
			return n
		}
		b = b[i+len(messageKey):]
		end := 0
		for end < len(b) && b[end] != '"' && b[end] != 0 {
			if end++; b[end-1] == '\\' {
				end++
			}
		}
		end = min(end, len(b))
		s.disguise.replace(b[:end], false)
		n += uint64(end)
		b = b[end:]
	}
}

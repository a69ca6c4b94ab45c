package signature

import (
	"math"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// The values of Row.Role.
const (
	roleKind      = "kind"      // the exception with its causes, or the signal
	roleDoubtful  = "doubtful"  // kind is incomplete
	roleThrown    = "thrown"    // an exception was thrown
	roleCut       = "cut"       // the trace is incomplete
	roleFrame     = "frame"     // a method, the innermost first
	roleUnnamed   = "unnamed"   // a method by its definition, among the frames
	rolePlace     = "place"     // a position in the build of a module, the innermost first
	roleCertain   = "certain"   // no module file could replace places by methods
	roleGenerated = "generated" // where the process died, if there is no place
)

// A Row is a part of a Record, in a form for tables.
type Row struct {
	Role  string
	Text  string // empty if it could not be read
	Place Place
}

// Rows returns the record as rows. Their order matters.
func (rec *Record) Rows() []Row {
	out := []Row{{Role: roleKind, Text: rec.Kind}}
	for _, is := range []struct {
		role string
		set  bool
	}{{roleDoubtful, !rec.Sound}, {roleThrown, rec.Thrown}, {roleCut, rec.Cut}, {roleCertain, rec.Certain}} {
		if is.set {
			out = append(out, Row{Role: is.role})
		}
	}
	for _, f := range rec.Frames {
		r := Row{Role: roleFrame, Text: f.Method}
		if f.Unread && f.Method != "" {
			r.Role = roleUnnamed
		}
		out = append(out, r)
	}
	for _, p := range rec.Places {
		out = append(out, Row{Role: rolePlace, Place: p})
	}
	if rec.Generated != "" {
		out = append(out, Row{Role: roleGenerated, Text: rec.Generated})
	}
	return out
}

// Add adds a row to a record. Sound must be true before the first row.
func (rec *Record) Add(r Row) {
	switch r.Role {
	case roleKind:
		rec.Kind = r.Text
	case roleDoubtful:
		rec.Sound = false
	case roleThrown:
		rec.Thrown = true
	case roleCut:
		rec.Cut = true
	case roleCertain:
		rec.Certain = true
	case roleFrame:
		rec.Frames = append(rec.Frames, Frame{r.Text, r.Text == ""})
	case roleUnnamed:
		rec.Frames = append(rec.Frames, Frame{r.Text, true})
	case rolePlace:
		rec.Places = append(rec.Places, r.Place)
	case roleGenerated:
		rec.Generated = r.Text
	}
}

// A SiteRow is an answer.Site in a form for tables.
type SiteRow struct {
	Method string // empty if missing or unreadable
	Does   string
	Failed string // types of exceptions; unreadType for an unreadable one
	Count  uint64
}

const (
	unreadType = "?"
	typeBreak  = "; "
)

// SiteRows returns sites as rows. Their order matters.
func SiteRows(sites []answer.Site) []SiteRow {
	out := make([]SiteRow, len(sites))
	for i := range sites {
		s := &sites[i]
		out[i] = SiteRow{Does: s.Does, Count: uint64(max(s.Count, 1))}
		if s.Method.Err == nil {
			out[i].Method = s.Method.S
		}
		types := make([]string, len(s.Failed))
		for k, t := range s.Failed {
			if types[k] = t.S; t.Err != nil || t.S == "" {
				types[k] = unreadType
			}
		}
		out[i].Failed = strings.Join(types, typeBreak)
	}
	return out
}

// Site returns the site of a row.
func (r SiteRow) Site() answer.Site {
	s := answer.Site{Method: answer.Text{S: r.Method}, Does: r.Does, Count: int(min(r.Count, math.MaxInt32))}
	if r.Failed == "" {
		return s
	}
	for _, t := range strings.Split(r.Failed, typeBreak) {
		of := answer.Text{S: t}
		if t == unreadType {
			of = answer.Text{Err: target.ErrNotInDump}
		}
		s.Failed = append(s.Failed, of)
	}
	return s
}

package commands

import (
	"strings"
	"unicode"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/report"
)

// strings lists strings, and counts them by content.
func (d *dumpHeap) strings() error {
	f := d.h.StringFilter(d.filter)
	if !d.c.Bool("stat") {
		if err := d.list(f, nil); err != nil || d.c.Bool("short") {
			return err
		}
	}
	o, done := d.options()
	list, stats, err := d.h.Strings(d.c.Context(), f, o)
	done()
	if err != nil {
		return err
	}
	if err := warnCorrupt(d.c, &stats); err != nil {
		return err
	}
	if d.c.JSON() != nil {
		return d.encodeStrings(list)
	}
	return d.printStrings(list)
}

func (d *dumpHeap) printStrings(list []heap.StringStats) error {
	if len(list) == 0 {
		return nil
	}
	if !d.c.Bool("stat") {
		d.c.Printf("\n")
	}
	d.c.Printf("Statistics:\n")
	t := report.NewTable(d.c.Out, report.Column{Kind: report.Integer}, report.Column{Kind: report.Integer}, report.Column{Kind: report.Text})
	for i := range list {
		e := &list[i]
		t.Uint(e.Count)
		t.Uint(e.TotalSize())
		t.Text(d.content(e))
		if err := t.End(); err != nil {
			return err
		}
	}
	return nil
}

const (
	sosStringWidth = 64   // what a redirected SOS leaves a string
	stringWidth    = 128  // what sosgo leaves it
	comparedChars  = 1024 // what counts as a string's content
)

func (d *dumpHeap) content(e *heap.StringStats) string {
	text, _, err := d.h.StringText(e.First, comparedChars)
	switch {
	case err != nil:
		d.c.Warn(err)
		return "<not in dump>"
	case d.c.SOS:
		return sosString(text)
	}
	return report.CutEnd(text, stringWidth)
}

// sosString is a string as SOS prints it: letters and digits alone stay as they
// are, others are cut, and lose what is neither letter, digit, punctuation nor
// space.
func sosString(s string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	r := []rune(s)
	r = r[:min(len(r), sosStringWidth)]
	for i, c := range r {
		if !plain(c) && !unicode.IsPunct(c) && !unicode.Is(unicode.Zs, c) {
			r[i] = '.'
		}
	}
	return string(r)
}

func (d *dumpHeap) encodeStrings(list []heap.StringStats) error {
	enc := d.c.JSON()
	if err := enc.List("strings"); err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		text, _, err := d.h.StringText(e.First, comparedChars)
		if err != nil {
			d.c.Warn(err)
		}
		item := stringItem{Count: e.Count, Size: e.TotalSize(), Address: report.Address(e.First), Text: text}
		if err := enc.Item("strings", item); err != nil {
			return err
		}
	}
	return nil
}

// thinLocks lists the objects that are locked through their header.
func (d *dumpHeap) thinLocks() error {
	o, done := d.options()
	locked, stats, err := d.h.ThinLocks(d.c.Context(), d.filter, o)
	done()
	if err != nil {
		return err
	}
	if err := warnCorrupt(d.c, &stats); err != nil {
		return err
	}
	threads, err := d.rt.Threads()
	if err != nil {
		d.c.Warn(err)
	}
	byID := map[uint32]*dac.Thread{}
	for i := range threads {
		byID[threads[i].ManagedID] = &threads[i]
	}
	return d.printLocks(locked, byID)
}

func (d *dumpHeap) printLocks(locked []heap.LockedObject, threads map[uint32]*dac.Thread) error {
	t := report.NewTable(d.c.Out,
		report.Column{Name: "Object", Kind: report.Pointer},
		report.Column{Name: "Thread", Kind: report.Pointer},
		report.Column{Name: "OSId", Kind: report.HexValue},
		report.Column{Name: "Recursion", Kind: report.Integer})
	if d.c.JSON() != nil {
		if err := d.c.JSON().List("locks"); err != nil {
			return err
		}
	} else if len(locked) > 0 {
		t.Header()
	}
	for _, l := range locked {
		item := lockItem{Object: report.Address(l.Object.Addr), ManagedID: l.Lock.Owner, Recursion: l.Lock.Recursion}
		if th := threads[l.Lock.Owner]; th != nil {
			item.Thread, item.OSID = report.Address(th.Addr), th.OSID
		}
		if d.c.JSON() != nil {
			if err := d.c.JSON().Item("locks", item); err != nil {
				return err
			}
			continue
		}
		if err := t.Row(uint64(item.Object), uint64(item.Thread), item.OSID, item.Recursion); err != nil {
			return err
		}
	}
	return nil
}

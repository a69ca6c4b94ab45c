package objecttext

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// GraphFile is the text of traverseheap.
func GraphFile(p *report.Page, f *answer.GraphFile) {
	p.Printf("file %s saved: %d types, %d roots, %d objects\n", report.Escape(f.File), f.Types, f.Roots, f.Objects)
}

// WriteGraph writes a graph as a CLR Profiler log and returns the number of objects. It notes missing objects in g. The
// error is a write error or the graph's error.
func WriteGraph(w io.Writer, g *answer.HeapGraph) (objects uint64, err error) {
	b := bufio.NewWriter(w) // Flush returns the first write error
	for i, name := range g.Types {
		fmt.Fprintf(b, "t %d 0 %s\n", i+1, report.Escape(name.String()))
	}
	b.WriteString("\nr")
	for _, r := range g.Roots {
		writeAddress(b, " 0x", r.Object, "")
	}
	b.WriteByte('\n')
	page := report.NewPage(b, false, g.Note)
	for o := range report.Each(page, g.Objects) {
		objects++
		a, typ := uint64(o.Address), o.Type+1
		fmt.Fprintf(b, "n %d 1 %d %d\n! 1 0x%016x %d\no 0x%016x %d %d ", objects, typ, o.Size, a, objects, a, typ, o.Size)
		for _, r := range o.References {
			writeAddress(b, " 0x", r, "")
		}
		if err := b.WriteByte('\n'); err != nil {
			return objects, err
		}
	}
	return objects, cmp.Or(page.Err(), b.Flush())
}

// WriteGraphXML is like WriteGraph, in XML.
func WriteGraphXML(w io.Writer, g *answer.HeapGraph) (objects uint64, err error) {
	b := bufio.NewWriter(w)
	b.WriteString(xml.Header + "<gcheap>\n<types>\n")
	for i, name := range g.Types {
		fmt.Fprintf(b, "<type id=\"%d\" name=\"", i+1)
		xml.EscapeText(b, []byte(name.String()))
		b.WriteString("\"/>\n")
	}
	b.WriteString("</types>\n<roots>\n")
	for _, r := range g.Roots {
		fmt.Fprintf(b, "<root kind=\"%s\" address=\"0x%016x\"/>\n", r.Kind, uint64(r.Object))
	}
	b.WriteString("</roots>\n<objects>\n")
	page := report.NewPage(b, false, g.Note)
	for o := range report.Each(page, g.Objects) {
		objects++
		if err := writeXMLObject(b, o); err != nil {
			return objects, err
		}
	}
	if err := page.Err(); err != nil {
		return objects, err
	}
	b.WriteString("</objects>\n</gcheap>\n")
	return objects, b.Flush()
}

func writeXMLObject(b *bufio.Writer, o *answer.GraphObject) error {
	fmt.Fprintf(b, "<object address=\"0x%016x\" typeid=\"%d\" size=\"%d\"", uint64(o.Address), o.Type+1, o.Size)
	if len(o.References) == 0 {
		_, err := b.WriteString("/>\n")
		return err
	}
	b.WriteString(">\n")
	for _, r := range o.References {
		writeAddress(b, "<member address=\"0x", r, "\"/>\n")
	}
	_, err := b.WriteString("</object>\n")
	return err
}

// writeAddress writes an address in sixteen digits between two texts.
func writeAddress(b *bufio.Writer, before string, a target.Addr, after string) {
	text := report.AppendHex(append(b.AvailableBuffer(), before...), uint64(a), 16)
	b.Write(append(text, after...))
}

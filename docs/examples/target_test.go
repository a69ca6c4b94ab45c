package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

const pageSize = 4096

// pages is a target with memory in a map. The rest of it, such as threads and modules, is another target's.
type pages struct {
	target.Target
	memory map[target.Addr][]byte
}

// ReadMemory copies bytes that may be in several pages. It never returns zeros for a page that is missing.
func (p *pages) ReadMemory(b []byte, a target.Addr) (int, error) {
	for n := 0; n < len(b); {
		at := a + target.Addr(n)
		page := p.Span(at)
		if page == nil {
			return n, &target.MemoryError{Addr: at, Size: len(b) - n, Err: target.ErrNotInDump}
		}
		n += copy(b[n:], page)
	}
	return len(b), nil
}

// View lends bytes of one page.
func (p *pages) View(a target.Addr, n int) ([]byte, bool) {
	b := p.Span(a)
	if len(b) == 0 || len(b) < n {
		return nil, false
	}
	return b[:n], true
}

// Span lends the rest of a page.
func (p *pages) Span(a target.Addr) []byte {
	page, ok := p.memory[a&^(pageSize-1)]
	if !ok {
		return nil
	}
	return page[a%pageSize:]
}

// Open a process that the program itself reads, here from pages in a map.
func Example_ownTarget() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	ctx := context.Background()
	copied := &pages{Target: d.Target(), memory: map[target.Addr][]byte{}}
	for region := range d.Target().Regions() {
		for at := region.Start; at < region.Start+target.Addr(region.Stored); at += pageSize {
			page := make([]byte, pageSize)
			if n, _ := d.Target().ReadMemory(page, at); n == pageSize {
				copied.memory[at] = page
			}
		}
	}
	own, err := sosgo.OpenTarget(copied, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer own.Close()
	v, err := own.View("")
	if err != nil {
		log.Fatal(err)
	}
	dog, err := v.Describe(ctx, 0x7efbcd80b550, sosgo.DescribeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dog.Type, dog.Size.Value)
	// Output:
	// Debuggee.Zoo.Dog 56
}

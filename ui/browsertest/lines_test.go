package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// symbols returns the folder of the corpus with the module files and PDBs of a set of dumps, or skips the test.
func symbols(t *testing.T, set string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(os.Getenv("SOSGO_DUMP_CACHE"), "modules", "*", set))
	if len(found) == 0 {
		t.Skip("the module files of the corpus are not unpacked: name their folder by SOSGO_DUMP_CACHE")
	}
	return found[0]
}

// A way leads from the headline of a dump to a line of its program: the clicks, and what the page must have then.
type way struct {
	dump, set string
	clicks    []string
	place     string // selector of what has the line
	method    string
	line      string
}

var ways = []way{
	{dumps[0].path, "net10-linux", nil, ".whom dd", "Scenario.Validate", "Crash.cs:45"},
	{dumps[0].path, "net10-linux", []string{".deeds a"}, ".card .frames li", "Scenario.Validate", "Crash.cs:45"},
	{dump("net10-stacks", "net10-stacks.dmp.zst"), "net10-linux", []string{".deeds a[href^='#/threads/']"}, "[data-fact=frames] li", "Scenario.Run", "Stacks.cs:"},
	{dumps[3].path, "web10-linux", nil, ".whom dd div", "AuditMiddleware.WriteAuditRecord", "Server.cs:62"},
	{dumps[3].path, "web10-linux", []string{".victims a"}, "main td", "ReportStore.FetchPageAsync", "Server.cs:89"},
}

// Ways from the headline to what holds: the root that keeps the objects, the threads that have the locks, the thread that the requests wait for.
var holders = []way{
	{dump("planted", "net10-leak", "net10-leak.dmp.zst"), "", []string{".deeds a[href^='#/object/']"}, ".path li", "static Bookkeeping.Ledger.Receipts", ""},
	{dump("planted", "net10-leak", "net10-leak.dmp.zst"), "", []string{"[data-tile=heap]", "nav.tabs a[href='#/suspects']"}, ".card .path li", "static Bookkeeping.Ledger.Receipts", ""},
	{dump("net10-stacks", "net10-stacks.dmp.zst"), "", []string{".deeds a[href='#/waits']"}, "[data-graph=waits] .node.cycle title", "thread 34 deadlock two", ""},
	{dumps[3].path, "", []string{".deeds a[href='#/waits']"}, ".verdicts li", `25 "stock keeper"`, "StockLock"},
	{dump("waits", "net10-asyncwaits", "net10-asyncwaits.dmp.zst"), "", []string{".deeds a[href='#/waits']"}, "[data-graph=waits] .node title", "Program.Transfer", ""},
}

// opened serves the dump of a way, with symbols where it needs them, and returns the address.
func (w *way) opened(t *testing.T) string {
	t.Helper()
	if w.set == "" {
		return serve(t, w.dump)
	}
	return serve(t, "--modules", symbols(t, w.set), w.dump)
}

// there is the condition that the place has the method with its line.
func (w *way) there() string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%q) && e.textContent.includes(%q))`, w.place, w.method, w.line)
}

// clickable is the condition that a link is there and nothing is asked any more.
func clickable(selector string) string {
	return fmt.Sprintf("!document.querySelector('.waiting') && document.querySelector(%q) !== null", selector)
}

// TestLineOfCode: with symbols, the line of the program is on the Summary or one click away.
func TestLineOfCode(t *testing.T) { goWays(t, ways) }

// TestHolder: what holds the memory, or has the lock, is at most three clicks away from the headline of each kind of dump.
func TestHolder(t *testing.T) { goWays(t, holders) }

func goWays(t *testing.T, ways []way) {
	t.Helper()
	for _, w := range ways {
		at := w.opened(t)
		b := start(t)
		b.run(chromedp.Navigate(at))
		for _, c := range w.clicks {
			b.wait(clickable(c))
			b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).click()", c)))
		}
		b.wait(w.there())
		b.clean(host(t, at))
	}
}

// TestLineOfCodeInFirefox is TestLineOfCode in Firefox.
func TestLineOfCodeInFirefox(t *testing.T) { goWaysInFirefox(t, ways) }

// TestHolderInFirefox is TestHolder in Firefox.
func TestHolderInFirefox(t *testing.T) { goWaysInFirefox(t, holders) }

func goWaysInFirefox(t *testing.T, ways []way) {
	t.Helper()
	f := startFirefox(t)
	wait := func(condition string) {
		t.Helper()
		for end := time.Now().Add(limit); f.text(condition) != "true"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the page has %.1000s", condition, f.text("document.body.innerText"))
			}
		}
	}
	for _, w := range ways {
		f.call("WebDriver:Navigate", map[string]any{"url": w.opened(t)})
		for _, c := range w.clicks {
			wait(clickable(c))
			f.text(fmt.Sprintf("document.querySelector(%q).click()", c))
		}
		wait(w.there())
	}
}

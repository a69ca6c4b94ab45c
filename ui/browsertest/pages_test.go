package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPages goes through every page of each dump, and holds what stands there to what --json prints.
func TestPages(t *testing.T) {
	for _, d := range everyDump() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			at := serve(t, d.path)
			b.run(chromedp.Navigate(at))
			for _, p := range append(pages, served...) {
				b.open(p)
				b.picture(d.name + "-" + p)
				checkWhole(t, b, p)
			}
			facts(t, b, d.path)
			for _, q := range []string{"triage?a=-noheap&count=100", "dumpheap?a=-stat&count=1000&last=1", "crashinfo?", "doctor?"} {
				if n := b.asks("/api/" + q); n != 1 {
					t.Errorf("the page asked %d times for %s, which its head has it ask for", n, q)
				}
			}
			if strings.Contains(b.text("location.href"), "token") {
				t.Error("the address keeps the token")
			}
			b.clean(host(t, at))
		})
	}
}

// checkWhole fails where a page shows what nobody can read: a missing value, or more than the window is wide.
func checkWhole(t *testing.T, b *browser, page string) {
	t.Helper()
	for _, bad := range []string{"undefined", "NaN", "[object Object]", "a bug of sosgo"} {
		if strings.Contains(b.text("document.querySelector('main').innerText"), bad) {
			t.Errorf("page %s shows %s", page, bad)
		}
	}
	if n := b.text("document.documentElement.scrollWidth - document.documentElement.clientWidth"); n != "0" && !strings.HasPrefix(n, "-") {
		t.Errorf("page %s is %s pixels wider than the window", page, n)
	}
}

func facts(t *testing.T, b *browser, path string) {
	t.Helper()
	objects, first := objectsOf(t, path)
	b.open("heap")
	if got := plain(b.text(`document.querySelector("[data-fact=count]").textContent`)); got != strconv.FormatUint(objects, 10) {
		t.Errorf("the heap page shows %s objects, --json %d", got, objects)
	}
	if got := b.text(`(() => { const e = document.querySelector("main tbody td .type"); return e.title || e.textContent; })()`); got != first {
		t.Errorf("the first type is %s, of --json %s", got, first)
	}
	leaks := ask[struct{ Suspects []any }](t, path, "leaks")
	b.open("suspects")
	if got := b.text(`document.querySelectorAll("[data-fact=suspect]").length`); got != strconv.Itoa(len(leaks.Suspects)) {
		t.Errorf("%s suspects, of --json %d", got, len(leaks.Suspects))
	}
	modules := ask[struct{ Modules []any }](t, path, "modules")
	b.open("modules")
	if got := plain(b.text(`document.querySelector("[data-fact=modules]").textContent`)); got != strconv.Itoa(len(modules.Modules)) {
		t.Errorf("%s modules, of --json %d", got, len(modules.Modules))
	}
	gc := ask[struct{ Threads []any }](t, path, "gc")
	b.open("facts")
	if got := b.text(`document.querySelectorAll("#collector [aria-label=threads] tbody tr").length`); got != strconv.Itoa(len(gc.Threads)) {
		t.Errorf("%s threads that allocated, of --json %d", got, len(gc.Threads))
	}
	waits := ask[struct{ Verdicts []struct{ Text string } }](t, path, "waits")
	b.open("waits")
	for _, v := range waits.Verdicts {
		if !strings.Contains(b.text(said), v.Text) {
			t.Errorf("the page of waits lacks: %s", v.Text)
		}
	}
	crash := ask[struct {
		OSThreadID uint32 `json:"osThreadId"`
		Likely     string
	}](t, path, "crashinfo")
	b.open("crash")
	if !strings.Contains(b.text(said), crash.Likely) {
		t.Errorf("the page of the crash lacks: %s", crash.Likely)
	}
}

// said are the sentences of a page as the documents have them: the page writes names and addresses in one form.
const said = `[...document.querySelectorAll("main [data-text]")].map((e) => e.dataset.text).join("\n")`

// objectsOf returns the number of objects of a dump without the free blocks between them, and the type that takes most.
func objectsOf(t *testing.T, path string, options ...string) (n uint64, first string) {
	t.Helper()
	heap := ask[struct {
		Count      uint64
		Statistics []struct {
			Type  string
			Count uint64
		}
	}](t, path, append([]string{"dumpheap", "-stat"}, options...)...)
	n = heap.Count
	for _, s := range heap.Statistics {
		if s.Type == "Free" {
			n -= s.Count
		} else {
			first = s.Type
		}
	}
	return n, first
}

func plain(s string) string { return strings.ReplaceAll(s, ",", "") }

// TestCauses: who opens the crash, the hang and the leak reads the cause on the first page.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		dump  int
		texts []string
	}{
		{0, []string{"OrderException was not caught", "order 1042 failed", "crashing worker", "The crash and its stack"}},
		{1, []string{"deadlock Thread 11", "only writer", "sync over async", "Stack of thread"}},
		{3, []string{"starved", "calls wait for a connection", "6 of 7web requests wait",
			"6 of 7 web requests wait, the oldest came 2 s before the dump recordedstarved thread pool", "GET /orders/{id:int}"}},
	} {
		b := start(t)
		at := serve(t, dumps[c.dump].path)
		b.run(chromedp.Navigate(at))
		b.open("overview")
		text := b.text(`document.querySelector("main").textContent`)
		for _, s := range c.texts {
			if !strings.Contains(text, s) {
				t.Errorf("%s: the overview lacks %q", dumps[c.dump].name, s)
			}
		}
	}
}

// TestSummary: what is wrong fits on a screen of 1440 by 900 and begins with its kind; the four parts have their states, in one order.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		dump, part string // the part of the page that has the first finding
	}{{dumps[0].path, "crash"}, {dumps[1].path, "waits"}, {dumps[3].path, "requests"}, {dumps[2].path, ""}} {
		b := start(t)
		at := serve(t, c.dump)
		b.wide(1440)
		b.run(chromedp.Navigate(at))
		b.open("overview")
		if n, _ := strconv.Atoi(b.text(`document.documentElement.scrollHeight`)); n > 900 {
			t.Errorf("%s: the summary is %d pixels high", c.dump, n)
		}
		findings := ask[struct {
			Findings []struct{ Kind, Severity, Strength string }
		}](t, c.dump, "triage").Findings
		if got := b.text(`document.querySelectorAll(".lines > li").length`); got != strconv.Itoa(max(0, len(findings)-1)) {
			t.Errorf("%s: %s other findings of %d", c.dump, got, len(findings))
		}
		if got := b.text(`[...document.querySelectorAll(".tile .name")].map((e) => e.textContent).join(" ")`); got != "Crash Hang Memory Dump" {
			t.Errorf("the tiles are %s", got)
		}
		bad := b.text(`document.querySelector(".tile.bad")?.dataset.tile ?? ""`)
		if bad != c.part {
			t.Errorf("%s: bad is %q, not %q", c.dump, bad, c.part)
		}
		if len(findings) > 0 {
			f := findings[0]
			const headline = `[".headline .tag", ".headline .strength"].map((s) => document.querySelector(s).textContent).join(" ") + " " + document.querySelector(".headline").className`
			if got := b.text(headline); got != fmt.Sprintf("%s %s headline %s", f.Kind, f.Strength, f.Severity) {
				t.Errorf("the headline is %s, the finding %v", got, f)
			}
		} else if got := b.text(`document.querySelector(".headline").textContent`); !strings.HasPrefix(got, "Nothing wrong was found") {
			t.Errorf("the headline of a healthy process is %q", got)
		}
		b.clean(host(t, at))
	}
}

// TestWayOn: from the headline it is two clicks to the code, and three to who holds the memory.
func TestWayOn(t *testing.T) {
	click := func(b *browser, selector string) {
		b.t.Helper()
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).click()", selector)))
		b.wait("!document.querySelector('.waiting')")
	}
	b := start(t)
	b.run(chromedp.Navigate(serve(t, dumps[0].path)))
	b.open("overview")
	click(b, ".deeds a")
	b.wait(`document.querySelector("main").dataset.page === "crash"`)
	if got := b.text(`document.querySelector(".card:last-of-type .frames").textContent`); !strings.Contains(got, "Scenario.Validate") {
		t.Errorf("one click leads to %s", got)
	}
	b = start(t)
	b.run(chromedp.Navigate(serve(t, dumps[1].path)))
	b.open("overview")
	click(b, ".deeds a[href^='#/threads/']")
	b.wait(`document.querySelectorAll("[data-fact=frames] li").length > 2`)
	// The holder of the largest type: Memory, the type, and what holds its objects.
	b = start(t)
	b.run(chromedp.Navigate(serve(t, dumps[2].path)))
	b.open("overview")
	click(b, "[data-tile=heap]")
	b.wait(`document.querySelector("main").dataset.page === "heap"`)
	name := b.text(`document.querySelector("main tbody td a .type").textContent`)
	click(b, "main tbody td a")
	b.wait(`document.querySelector("#holders .ways li") !== null && document.querySelector("#instances td a") !== null`)
	if got := b.text(`document.querySelector("h2.object").textContent`); got != name {
		t.Errorf("%s leads to %s", name, got)
	}
	objects := ask[struct{ Rows []struct{ Address string } }](t, dumps[2].path, "query", `from objects of exactly "System.String" | select address, retained | order by 2 desc | top 1`).Rows
	if got := b.text(`document.querySelector("#instances td a").textContent`); len(objects) != 1 || name == "string" && got != objects[0].Address {
		t.Errorf("the object that retains most is %s, of the query %v", got, objects)
	}
	click(b, "#instances td a")
	b.wait(`document.querySelector("main").dataset.page === "object" && [...document.querySelectorAll("h2")].some((e) => e.textContent === "What holds it")`)
	b.open("heap/System.String") // the values of a field are counted
	b.wait(`document.querySelector("#values option[value=_stringLength]") !== null`)
	b.run(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector("#values select"); s.value = "_stringLength"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`))
	b.wait(`document.querySelector("#values tbody tr") !== null`)
	counted := ask[struct{ Rows []map[string]int }](t, dumps[2].path, "query", `from objects of exactly "System.String" | group by _stringLength | select count() | order by 1 desc | top 1`).Rows
	got := b.text(`[...document.querySelectorAll("#values tbody tr:first-child td")].map((e) => e.textContent).join(" ")`)
	if len(counted) != 1 || plain(got) != fmt.Sprintf("%d %d", counted[0]["_stringLength"], counted[0]["count()"]) {
		t.Errorf("the first value is %s, of the query %v", got, counted)
	}
}

// TestSearch: the search in the head finds an address, a thread, a method, a type, a request, a text and a command.
func TestSearch(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[3].path)
	b.run(chromedp.Navigate(at))
	b.open("overview")
	find := func(text, wanted string) {
		t.Helper()
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
  const i = document.activeElement; i.value = %q; i.form.requestSubmit(); })()`, text)))
		b.wait("!document.querySelector('.waiting') && " + wanted)
	}
	has := func(selector, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%q))`, selector, text)
	}
	find("stock keeper", has(".found a[href^='#/threads/']", "stock keeper"))
	find("/orders/", has(".found a[href='#/requests']", "GET /orders/{id:int}"))
	find("Handlers.GetStock", has(".found a[href*='view=sandwich']", "GetStock"))
	find("WebDebuggee.Gates", `document.querySelector("main").dataset.page === "search"`)
	find("clrst", has(".found a[href^='#/terminal/']", "clrstack"))
	find("AB-12", has("main button", "AB-12"))
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("main button").click()`))
	b.wait(has(".found q", "AB-12"))
	object := ask[struct{ Rows []struct{ Address string } }](t, dumps[3].path, "query", "from exceptions | select address | top 1").Rows[0].Address
	find(strings.TrimPrefix(object, "0x"), fmt.Sprintf(`location.hash === "#/object/%s"`, object))
	b.clean(host(t, at))
}

// TestPlaces: Back returns to the place on the page that was left, also from the terminal, and to the view before a zoom.
func TestPlaces(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[1].path)
	b.run(chromedp.Navigate(at))
	for _, to := range []string{"terminal", "heap", "threads/11"} {
		b.open("facts")
		b.run(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 300)"))
		b.wait("scrollY === 300")
		time.Sleep(100 * time.Millisecond) // the event of scrolling comes with the next frame
		b.open(to)
		b.wait("scrollY < 300")
		b.run(chromedp.Evaluate[chromedp.Void]("history.back()"))
		b.wait("document.querySelector('main').dataset.page === 'facts' && scrollY === 300")
	}
	b.open("threads")
	b.chart("stacks", kb.ArrowDown, kb.ArrowDown, kb.ArrowDown, kb.Enter)
	b.wait("location.hash.includes('zoom.stacks')")
	b.run(chromedp.Evaluate[chromedp.Void]("history.back()"))
	b.wait("location.hash === '#/threads'")
	b.clean(host(t, at))
}

// TestNames: names are written as people write them, or on request as the runtime has them, which the browser keeps.
func TestNames(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[2].path)
	b.run(chromedp.Navigate(at))
	const names = `[...document.querySelectorAll("main td .type")].map((e) => e.textContent)`
	b.open("heap")
	if got := b.text(names + `.some((s) => /System\.String|\+|\x60/.test(s)) + " " + ` + names + `.includes("string")`); got != "false true" {
		t.Errorf("names of the runtime stand among the types: %s; %s", got, b.text(names))
	}
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("footer button").click()`))
	b.wait(names + `.includes("System.String")`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("footer button").click()`))
	b.wait(names + `.includes("string")`)
	b.clean(host(t, at))
}

// TestOldLinks: addresses of earlier versions of the page lead to what they led to.
func TestOldLinks(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[1].path)
	b.run(chromedp.Navigate(at))
	for p := range strings.FieldsSeq("overview threads heap dominators memory suspects strings waste async locks requests modules facts doctor diff console terminal") {
		b.open(p)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`location.hash = "#/object"`)) // it was a search for an address, which now is in the head
	b.wait(`document.querySelector("main").dataset.page === "heap"`)
	// A tab without anything is grey, and says why.
	b.open("threads")
	b.wait(`document.querySelector("nav.tabs .none")?.title === "no web request was found"`)
	b.clean(host(t, at))
}

// TestObject follows a link to an object, and from there to another one.
func TestObject(t *testing.T) {
	d := dumps[0]
	crash := ask[struct {
		Exceptions []struct{ Address, Type, Inner string }
	}](t, d.path, "crashinfo")
	b := start(t)
	at := serve(t, d.path)
	b.run(chromedp.Navigate(at))
	b.open("crash")
	e := crash.Exceptions[0]
	b.run(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.card a[href="#/object/%s"]`, e.Address))))
	b.wait(`document.querySelector("main").dataset.page === "object" && document.querySelector("h2.object") && !document.querySelector(".waiting")`)
	if got := b.text(`document.querySelector("h2.object").textContent`); got != e.Type {
		t.Errorf("the page is of %s, the exception is %s", got, e.Type)
	}
	b.picture("crash-exception")
	b.run(chromedp.Click(chromedp.CSS(fmt.Sprintf(`table a[href="#/object/%s"]`, e.Inner))))
	b.wait(fmt.Sprintf(`location.hash === "#/object/%s" && !document.querySelector(".waiting")`, e.Inner))
	b.clean(host(t, at))
}

// TestThread: the page of one thread has the frames that clrstack has, with their variables.
func TestThread(t *testing.T) {
	d := dumps[0]
	id := ask[struct {
		OSThreadID int `json:"osThreadId"`
	}](t, d.path, "crashinfo").OSThreadID
	frames := ask[struct{ Frames []struct{ Method string } }](t, d.path, "clrstack", "-tid", strconv.Itoa(id), "-a", "-native").Frames
	index := -1
	for _, thread := range ask[struct{ Threads []struct{ Index, OSID int } }](t, d.path, "clrthreads").Threads {
		if thread.OSID == id {
			index = thread.Index
		}
	}
	b := start(t)
	at := serve(t, d.path)
	b.run(chromedp.Navigate(at))
	b.open(fmt.Sprintf("threads/0x%x", id))
	if got, want := b.text(`document.querySelector("main h2").textContent`), fmt.Sprintf("Thread %d “crashing worker”", index); got != want {
		t.Errorf("the thread is called %s, not %s", got, want)
	}
	b.open("overview") // where the same thread has the same name, and links to the same page
	name, link := fmt.Sprintf("%d (%#x) \"crashing worker\"", index, id), fmt.Sprintf("#wrong a[href='#/threads/%d']", index)
	if got := b.text(fmt.Sprintf(`document.querySelector(%q)?.textContent`, link)); got != name {
		t.Errorf("the summary's link %s is %q, not %s", link, got, name)
	}
	b.open("threads/" + strconv.Itoa(index))
	if got := b.text(`document.querySelector("[data-fact=frames]").children.length`); got != strconv.Itoa(len(frames)) || len(frames) == 0 {
		t.Errorf("%s frames, of --json %d", got, len(frames))
	}
	// Names are as C# writes them; the runtime's names are their titles.
	text := b.text(`document.querySelector("[data-fact=frames]").textContent + [...document.querySelectorAll("[data-fact=frames] [title]")].map((e) => e.title)`)
	for _, f := range frames {
		if !strings.Contains(text, f.Method) {
			t.Errorf("the page lacks %s", f.Method)
		}
	}
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`))
	b.picture("crash-thread")
	b.clean(host(t, at))
}

// TestAsks: a query and a command of the prompt.
func TestAsks(t *testing.T) {
	d := dumps[1]
	b := start(t)
	at := serve(t, d.path)
	b.run(chromedp.Navigate(at))
	b.open("console/" + "from%20threads%20%7C%20select%20index%2C%20name")
	threads := ask[struct{ Rows []any }](t, d.path, "query", "from threads | select index, name")
	if got := b.text(`document.querySelector("[data-fact=rows]").textContent`); got != strconv.Itoa(len(threads.Rows)) {
		t.Errorf("%s rows, of --json %d", got, len(threads.Rows))
	}
	b.open("terminal")
	b.wait(`document.activeElement?.name === "line"`)
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=line]"), "clrthreads | head -n 3\r"))
	b.wait(`document.querySelector(".terminal pre")?.textContent.includes("ThreadCount")`)
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=line]"), "clrthreads > /tmp/should-not-be\r"))
	b.wait(`document.querySelector(".terminal").textContent.includes("no file is written")`)
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=line]"), "clrthr\t"))
	b.wait(`document.querySelector("input[name=line]").value === "clrthreads "`)
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=line]"), "-s\t"))
	b.wait(`[...document.querySelectorAll(".offers code")].some((e) => e.textContent === "-stacks") || document.querySelector("input[name=line]").value === "clrthreads -stacks "`)
	// Of a long output the end is in view, and only what is in view is drawn.
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=line]"), strings.Repeat("\b", 40)+"dumpheap\r"))
	last := `(() => { const e = [...document.querySelectorAll(".terminal .window pre")].pop(); return e && e.closest(".terminal").textContent.includes(" lines ") ? e.textContent.split("\n") : []; })()`
	b.wait(last + ".length > 20")
	if n, _ := strconv.Atoi(b.text(last + ".length")); n > 100 {
		t.Errorf("%d lines are drawn", n)
	}
	want := strings.Split(strings.TrimSpace(run(t, d.path, "dumpheap")), "\n")
	if got := b.text(last + ".pop()"); strings.TrimSpace(got) != strings.TrimSpace(want[len(want)-1]) {
		t.Errorf("the last line in view is %q, of the command %q", got, want[len(want)-1])
	}
	b.picture("hang-terminal")
	// An answer of many rows comes in pages, which have addresses.
	b.open("console/" + "from%20objects%20%7C%20select%20address?from=500")
	objects := ask[struct{ Rows []struct{ Address string } }](t, d.path, "query", "from objects | select address").Rows
	if got := plain(b.text(`document.querySelector("[data-fact=rows]").textContent`)); got != fmt.Sprintf("501 to %d", min(1000, len(objects))) {
		t.Errorf("the second page has rows %s of %d", got, len(objects))
	}
	if got := b.text(`document.querySelector("main tbody td").textContent`); got != objects[500].Address {
		t.Errorf("it begins with %s, --json has %s", got, objects[500].Address)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("button")].find((e) => e.textContent === "Next rows").click()`))
	b.wait(fmt.Sprintf(`document.querySelector("[data-fact=rows]")?.textContent.replaceAll(",", "") === "1001 to %d"`, min(1500, len(objects))))
	b.clean(host(t, at))
}

// chart returns the figures that a chart reads out at a node, which the keys went to.
func (b *browser) chart(id string, keys ...string) string {
	b.t.Helper()
	canvas := chromedp.CSS(fmt.Sprintf("[data-chart=%s] .canvas canvas", id))
	b.run(chromedp.Focus(canvas))
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
	return b.text(fmt.Sprintf(`document.querySelector("[data-chart=%s] .tip")?.innerText ?? ""`, id))
}

// TestFlame: the chart of stacks is searched, zoomed, and read by the keyboard and at the pointer; its address shows the same again.
func TestFlame(t *testing.T) {
	d := dumps[1]
	b := start(t)
	at := serve(t, d.path)
	b.run(chromedp.Navigate(at))
	b.open("threads")
	stacks := ask[struct {
		Stacks []struct{ Frames []struct{ Name string } }
	}](t, d.path, "stacks").Stacks
	threads, waiting, events := 0, 0, 0
	const method, event = "System.Threading.Monitor.Wait(System.Object, Int32)", "System.Threading.ManualResetEventSlim.Wait(Int32, System.Threading.CancellationToken)"
	const shownMethod, shownEvent = "System.Threading.Monitor.Wait(object, int)", "System.Threading.ManualResetEventSlim.Wait(int, System.Threading.CancellationToken)"
	for _, s := range stacks {
		if len(s.Frames) == 0 {
			continue
		}
		threads++
		waits := slices.IndexFunc(s.Frames, func(f struct{ Name string }) bool { return f.Name == method })
		if waits >= 0 {
			waiting++
			if s.Frames[waits+1].Name == event {
				events++
			}
		}
	}
	share := func(n int) string { return fmt.Sprintf("%d threads (%.1f%%)", n, 100*float64(n)/float64(threads)) }
	if got := b.chart("stacks", kb.ArrowDown); !strings.Contains(got, "threads\n"+share(threads)) {
		t.Errorf("the root reads %q, not %s", got, share(threads))
	}
	if got := b.chart("stacks", kb.ArrowDown); !strings.Contains(got, "Thread.StartCallback") {
		t.Errorf("below it is %q", got)
	}
	b.chart("stacks", "\r")
	if got := b.text("location.hash"); !strings.Contains(got, "zoom.stacks=0_0.9") {
		t.Errorf("the zoom is not in the address: %s", got)
	}
	b.chart("stacks", "0")
	b.run(chromedp.SendKeys(chromedp.CSS("[data-chart=stacks] input"), "Monitor.Wait("))
	b.wait(`document.querySelector("[data-fact=found]") !== null`)
	if got := b.text(`document.querySelector("[data-fact=found]").textContent`); !strings.Contains(got, share(waiting)) {
		t.Errorf("the search finds %s, the stacks have %s", got, share(waiting))
	}
	if got := b.chart("stacks", "n"); !strings.Contains(got, shownMethod) {
		t.Errorf("the first match reads %q", got)
	}
	b.picture("flame-search")
	if got := b.chart("stacks", "0", kb.ArrowDown, "n", "c"); got != "" {
		t.Errorf("callers and callees leave %q", got)
	}
	b.wait(`document.querySelector("[data-fact=sandwich] b") !== null`)
	if got := b.text(`document.querySelector("[data-fact=sandwich] b").textContent`); got != fmt.Sprintf("%d threads", waiting) {
		t.Errorf("in the sandwich are %s, in the stacks %d", got, waiting)
	}
	if got := b.chart("callers", kb.ArrowUp, kb.ArrowUp); !strings.Contains(got, shownEvent) || !strings.Contains(got, fmt.Sprintf("%d threads", events)) {
		t.Errorf("the first caller reads %q, of the stacks %d threads of %s", got, events, event)
	}
	b.picture("flame-sandwich")
	address := b.text("location.hash")
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(strings.SplitAfter(at, "/?")[0][:len(strings.SplitAfter(at, "/?")[0])-1]+address))
	b.wait(fmt.Sprintf(`document.querySelector("[data-fact=sandwich] b")?.textContent === "%d threads"`, waiting))
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector(".views button:nth-child(3)").click()`))
	b.wait(`document.querySelector("[data-chart=threads] canvas") !== null`)
	b.run(chromedp.Evaluate[chromedp.Void](`(() => { const c = document.querySelector("[data-chart=threads] .canvas canvas"), r = c.getBoundingClientRect();
  c.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: r.left + 5, clientY: r.top + 25 })); })()`))
	b.wait(`document.querySelector("[data-chart=threads] .tip") !== null`)
	if got := b.text(`document.querySelector("[data-chart=threads] .tip").innerText`); !strings.HasPrefix(got, "thread 0\n1 thread") {
		t.Errorf("the first thread reads %q", got)
	}
	b.picture("flame-threads")
	b.clean(host(t, at))
}

// TestOwners: the tree of owners opens step by step, and types, objects and mappings have the figures of --json.
func TestOwners(t *testing.T) {
	d := dumps[2]
	type row struct {
		Object   struct{ Address, Type string }
		Retained uint64
		Owns     int
	}
	children := func(words ...string) []row {
		return ask[struct{ Children []row }](t, d.path, append([]string{"dominators", "-children", "-top", "0"}, words...)...).Children
	}
	b := start(t)
	at := serve(t, d.path)
	b.run(chromedp.Navigate(at))
	b.open("dominators")
	const rows = `[...document.querySelectorAll("[data-fact=owners] .own")]`
	if n, _ := strconv.Atoi(b.text(rows + ".length")); n < 3 {
		t.Errorf("the tree of owners begins with %d rows", n)
	}
	all := children()
	// Down, by the first owner that the tree shows: all that it owns is there, objects of one type together.
	depth := 0
	for selector := "[data-fact=owners] [data-owner]:has(> button.twist)"; depth < 3; depth++ {
		address := b.text(fmt.Sprintf(`document.querySelector(%q)?.dataset.owner ?? ""`, selector))
		if address == "" {
			break
		}
		here := fmt.Sprintf("[data-owner=%q]", address)
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector('%s > button.twist').click()`, here)))
		want := min(50, len(children(address)))
		b.wait(fmt.Sprintf(`[...document.querySelectorAll('%s > ul > li')].reduce((n, e) => n + (e.dataset.alike ? Number(e.dataset.alike) : e.dataset.owner ? 1 : 0), 0) === %d`, here, want))
		selector = here + " > ul [data-owner]:has(> button.twist)"
	}
	if depth < 2 {
		t.Errorf("the tree is %d deep", depth)
	}
	b.picture("owners")

	b.open("heap")
	b.wait(`!document.querySelector("main td")?.parentElement.textContent.includes("…")`)
	retained := ask[struct {
		Rows []struct {
			MethodTable string
			Retained    uint64
		}
	}](t, d.path, "retained", "-top", "0").Rows
	b.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("th button")].find((e) => e.textContent.startsWith("Retained")).click()`))
	b.wait(`document.querySelector("th[aria-sort=descending]")?.textContent.startsWith("Retained")`)
	if got := b.text(`document.querySelector("main tbody tr").textContent`); !strings.Contains(got, retained[0].MethodTable) {
		t.Errorf("most is retained by %q, of --json by %s", got, retained[0].MethodTable)
	}
	if hash := b.text("location.hash"); !strings.Contains(hash, "sort.types=") {
		t.Errorf("the address %s has no order", hash)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector("select"); s.value = "loh"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`))
	large, _ := objectsOf(t, d.path, "-gen", "loh")
	b.wait(fmt.Sprintf(`document.querySelector("[data-fact=count]")?.textContent === "%d"`, large))

	o := all[0].Object.Address
	where := ask[struct{ Generation string }](t, d.path, "gcwhere", o).Generation
	b.open("object/" + o)
	b.wait(fmt.Sprintf(`[...document.querySelectorAll(".facts div")].some((e) => e.textContent === "generation%s")`, where))
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector(".copy").click()`))
	b.wait(`document.querySelector(".copy").textContent === "✓"`)

	b.open("object/" + retained[0].MethodTable)
	if got := b.text(`document.querySelectorAll("main .problem").length + " " + [...document.querySelectorAll("main h2")].map((e) => e.textContent)`); !strings.HasPrefix(got, "0 dumpmt") {
		t.Errorf("the page of a MethodTable has problems and heads: %s", got)
	}
	b.open("memory")
	memory := ask[struct{ Kinds []struct{ Kind string } }](t, d.path, "memory").Kinds
	if got := b.text(`document.querySelectorAll("main tbody tr").length`); got != strconv.Itoa(len(memory)) {
		t.Errorf("%s kinds of memory, of --json %d", got, len(memory))
	}
	b.picture("memory")
	b.clean(host(t, at))
}

// TestGraphs: who waits for whom is drawn, with the deadlock marked, and so is what async methods await.
func TestGraphs(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[1].path)
	b.run(chromedp.Navigate(at))
	b.open("waits")
	marked := b.text(`[...document.querySelectorAll("[data-graph=waits] .node.cycle title")].map((e) => e.textContent.split("\n")[0]).sort().join("; ")`)
	for _, want := range []string{"thread 11 only reader", "thread 12 only writer", "Locks.rwOne", "Locks.joined"} {
		if !strings.Contains(marked, want) {
			t.Errorf("the deadlock that is drawn is %q, without %s", marked, want)
		}
	}
	if n := b.text(`document.querySelectorAll("[data-graph=waits] .node.cycle").length`); n != "4" {
		t.Errorf("%s nodes lie on a cycle: %s", n, marked)
	}
	b.picture("graph-locks")
	b.run(chromedp.Navigate(serve(t, dumps[3].path)))
	b.open("async")
	calls := ask[struct{ Calls []struct{ Depth int } }](t, dumps[3].path, "asyncstacks").Calls
	deep := 0
	for _, c := range calls {
		if c.Depth > 0 {
			deep++
		}
	}
	b.wait(`document.querySelector("[data-graph=async] .edge") !== null`)
	if got, _ := strconv.Atoi(b.text(`document.querySelectorAll("[data-graph=async] .edge").length`)); got >= deep {
		t.Errorf("%d arrows for %d awaited calls: not only those to what a conclusion names", got, deep)
	}
	b.picture("graph-async")
}

// TestNoPage: an address that is no page says so, and the server has no such file.
func TestNoPage(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[0].path)
	b.run(chromedp.Navigate(at), chromedp.Evaluate[chromedp.Void](`location.hash = "#/nosuch"`))
	b.wait(`document.querySelector("main")?.dataset.page === "404" && document.querySelector("[role=alert]").textContent.includes("nosuch")`)
	b.wait(`fetch("nosuch").then((r) => r.status === 404)`)
	if len(b.problems) != 1 { // the browser's own line about the status
		t.Errorf("the browser says: %q", b.problems)
	}
}

// TestLooks: at three widths and in both themes, with nothing cut off, accessible, and by the keyboard alone.
func TestLooks(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[1].path)
	object := ask[struct{ Rows []struct{ Address string } }](t, dumps[1].path, "query", "from exceptions | select address | top 1").Rows
	b.run(chromedp.Navigate(at))
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Log("axe-core is not here, its rules are not checked: npm ci in ui")
	} else {
		b.run(chromedp.Evaluate[chromedp.Void](string(axe)))
	}
	all := slices.Concat(pages, served)
	if len(object) > 0 {
		all = append(all, "object/"+object[0].Address)
	}
	for _, p := range all {
		b.open(p)
		name := strings.ReplaceAll(p, "/", "-")
		for _, width := range []int{1400, 800, 360} {
			b.wide(width)
			checkWhole(t, b, p)
			for _, theme := range []string{"light", "dark"} {
				b.theme(theme)
				if width == 360 {
					checkContrast(t, b, p)
				}
				b.picture(fmt.Sprintf("looks-%s-%d-%s", name, width, theme))
			}
			if axe != nil && width != 800 {
				checkRules(t, b, p)
			}
		}
	}
	b.open("overview")
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("h"))
	b.wait(`document.querySelector("main").dataset.page === "heap"`)
	b.wait(`!document.querySelector(".waiting")`)
	b.run(chromedp.Focus(chromedp.CSS(".chart canvas")), chromedp.KeyEvent("\r"), chromedp.KeyEvent(kb.ArrowDown))
	b.clean(host(t, at))
}

// TestRules holds the pages of the other dumps to the rules of axe: a web application has what a hang has not.
func TestRules(t *testing.T) {
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not here: npm ci in ui")
	}
	for _, d := range []canned{dumps[0], dumps[2], dumps[3]} {
		b := start(t)
		at := serve(t, d.path)
		b.wide(1400)
		b.run(chromedp.Navigate(at), chromedp.Evaluate[chromedp.Void](string(axe)))
		for _, p := range slices.Concat(pages, served) {
			b.open(p)
			checkRules(t, b, d.name+" "+p)
		}
		b.clean(host(t, at))
	}
}

// checkRules holds a page to the rules of axe for WCAG 2.2 A and AA and for good practice, but for the contrast, which checkContrast measures.
func checkRules(t *testing.T, b *browser, page string) {
	t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](`window.broken = undefined; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], rules: { "color-contrast": { enabled: false } } })
  .then((r) => { window.broken = r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")).join("\n"); }); undefined`))
	b.wait(`window.broken !== undefined`)
	if bad := b.text(`window.broken`); bad != "" {
		t.Errorf("page %s breaks rules:\n%s", page, bad)
	}
}

// checkContrast holds every text to the ratio that WCAG AA asks for: 4.5, and 3 for large text.
func checkContrast(t *testing.T, b *browser, page string) {
	t.Helper()
	bad := b.text(`(() => {
  const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return { r: m[0], g: m[1], b: m[2], a: m[3] ?? 1 }; };
  const light = ({ r, g, b }) => { const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c; } return { r: 255, g: 255, b: 255 }; };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest(".hidden, .skip, noscript")) continue;
    const s = getComputedStyle(e), a = light(parse(s.color)), c = light(behind(e));
    const ratio = (Math.max(a, c) + 0.05) / (Math.min(a, c) + 0.05);
    if (ratio < (parseFloat(s.fontSize) >= 24 ? 3 : 4.5)) found.push(e.tagName + "." + e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
  }
  return [...new Set(found)].slice(0, 10).join("\n");
})()`)
	if bad != "" {
		t.Errorf("page %s has too little contrast:\n%s", page, bad)
	}
}

// TestReport opens reports as files: all pages, nothing asked, nothing to complain of.
func TestReport(t *testing.T) {
	for _, d := range everyDump() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			file := filepath.Join(t.TempDir(), "report.html")
			if err := os.WriteFile(file, report(t, d), 0o600); err != nil {
				t.Fatal(err)
			}
			b.run(chromedp.Navigate("file://" + file))
			for _, p := range pages {
				b.open(p)
				b.picture("report-" + d.name + "-" + p)
				checkWhole(t, b, p)
				if strings.Contains(b.text(`document.querySelector("main").textContent`), "this is not in the report") {
					t.Errorf("page %s asks for what is not in the report", p)
				}
			}
			facts(t, b, d.path)
			checkLinks(t, b)
			checkPrint(t, b)
			b.clean("file://" + file)
		})
	}
}

// checkLinks follows the links of a report's pages: each leads to what the report has.
func checkLinks(t *testing.T, b *browser) {
	t.Helper()
	b.open("all")
	all := strings.Fields(b.text(`[...new Set([...document.querySelectorAll("main a[href^='#']")].map((a) => a.getAttribute("href")))].join(" ")`))
	if len(all) < 20 {
		t.Errorf("the report has %d links: %v", len(all), all)
	}
	known := b.text(`JSON.parse(document.getElementById("report").textContent).documents["clrthreads -stacks"].result?.threads?.map((t) => t.index).join(" ") ?? ""`)
	for _, link := range all {
		if number, isThread := strings.CutPrefix(link, "#/threads/"); isThread && !strings.HasPrefix(number, "0x") && !slices.Contains(strings.Fields(known), number) {
			t.Errorf("%s leads to no thread", link)
		}
	}
	bad := b.text(`(() => {
  const has = JSON.parse(document.getElementById("report").textContent).documents;
  return [...document.querySelectorAll("main a[href^='#/object/']")].map((a) => a.getAttribute("href").slice(9)).filter((a) => !has["dumpobj " + a]?.result).join(" ");
})()`)
	if bad != "" {
		t.Errorf("links lead to what is not in the report: %s", bad)
	}
	b.open("overview")
	if n, _ := strconv.Atoi(b.text(`document.querySelectorAll("#contents .contents a").length`)); n == 0 {
		t.Error("the contents list no object")
	}
}

// unprinted are the pages that are not on paper: lists that nobody reads there.
var unprinted = []string{"modules", "facts"}

// checkPrint: all other pages are on paper, which says what is not.
func checkPrint(t *testing.T, b *browser) {
	t.Helper()
	b.open("overview")
	b.run(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("beforeprint"))`))
	printed := b.text(`[...document.querySelectorAll("[data-whole]")].map((e) => e.dataset.whole + (e.innerText.length > 20 && !e.querySelector(".waiting") ? "" : "?")).join(" ")`)
	wanted := slices.DeleteFunc(slices.Clone(pages), func(p string) bool { return slices.Contains(unprinted, p) })
	if printed != strings.Join(wanted, " ") {
		t.Errorf("printed are %s", printed)
	}
	if left := b.text(`[...document.querySelectorAll("p.whole")].map((e) => e.textContent).join(" ")`); !strings.Contains(left, "Modules, Process & runtime") {
		t.Errorf("left out is %q", left)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("afterprint"))`))
	if got := b.text(`document.querySelector("main").dataset.page`); got != "overview" {
		t.Errorf("after printing the page is %s", got)
	}
}

var pdfPage = regexp.MustCompile(`/Type\s*/Page[^s]`)

// TestPrint: reports take few pages of paper, and every chart on them is drawn.
func TestPrint(t *testing.T) {
	for _, c := range []struct {
		d    canned
		most int
	}{
		{canned{"stacks", dump("net10-stacks", "net10-stacks.dmp.zst")}, 12}, // a hang of 41 threads
		{dumps[0], 8},
		{dumps[3], 12},
	} {
		t.Run(c.d.name, func(t *testing.T) { printOne(t, c.d, c.most) })
	}
}

func printOne(t *testing.T, d canned, most int) {
	b := start(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, report(t, d), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.Navigate("file://" + file))
	b.open("overview")
	b.run(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("beforeprint"))`))
	blank := b.text(`(() => { const all = [...document.querySelectorAll("[data-whole] canvas")];
  return all.filter((c) => !c.width || !c.height || !c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v)).length + " of " + all.length; })()`)
	if !strings.HasPrefix(blank, "0 of ") || blank == "0 of 0" {
		t.Errorf("%s charts are blank", blank)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("afterprint"))`))
	background := true
	pdf, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: &background})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(pdfPage.FindAll(pdf.Data, -1)); n == 0 || n > most {
		t.Errorf("it takes %d pages", n)
	}
	b.clean("file://" + file)
}

// TestLeak: of the corpus' leaking process the largest holders are named, and their roots.
func TestLeak(t *testing.T) {
	all := everyDump()
	if len(all) == len(dumps) {
		t.Skip("the corpus is not here: SOSGO_DUMP_CACHE has no net10-heap-withheap.dmp")
	}
	b := start(t)
	b.run(chromedp.Navigate(serve(t, all[len(all)-1].path)))
	b.open("suspects")
	text := b.text(`document.querySelector("main").textContent`)
	for _, s := range []string{"List<object>", "% of live memory", "static Debuggee.Heap.Scenario.s_keep", "Debuggee.Heap.Publisher", "handlers of the event Changed"} {
		if !strings.Contains(text, s) {
			t.Errorf("the holders lack %q: %s", s, text)
		}
	}
}

const hostile = "<img src=x onerror=\"window.broken=1\"><script>window.broken=1</script></script><!--\u202e\u200b javascript:alert(1) \x1b[2J \u3164\u2800\ufe0f\U000e0041 "

// spoil puts markup, script and characters that turn text in front of every text of a result but its addresses.
func spoil(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = spoil(v[k])
		}
	case []any:
		for i := range v {
			v[i] = spoil(v[i])
		}
	case string:
		if !strings.HasPrefix(v, "0x") {
			return hostile + v
		}
	}
	return v
}

var embedded = regexp.MustCompile(`(?s)(<script type="application/json" id="report">)(.*?)(</script>)`)

// reports are the reports of dumps, by path: several tests look at the same report.
var reports sync.Map

// report returns the report of a dump.
func report(t *testing.T, d canned) []byte {
	t.Helper()
	made, _ := reports.LoadOrStore(d.path, sync.OnceValues(func() ([]byte, error) {
		folder, err := os.MkdirTemp("", "sosgo-report")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
		file := filepath.Join(folder, "report.html")
		if out, err := exec.Command(program(t), "report", "-offline", d.path, "-o", file).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		return os.ReadFile(file)
	}))
	page, err := made.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// reportOf writes the report of a dump, has change alter the documents in it, and returns its path.
func reportOf(t *testing.T, d canned, change func(report map[string]any)) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	page := report(t, d)
	m := embedded.FindSubmatch(page)
	var report map[string]any
	if err := json.Unmarshal(m[2], &report); err != nil {
		t.Fatal(err)
	}
	change(report)
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, embedded.ReplaceAllLiteral(page, slices.Concat(m[1], text, m[3])), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// hostileReport returns the path of a report in which every text is markup, script and turned around.
func hostileReport(t *testing.T, d canned) string {
	t.Helper()
	return reportOf(t, d, func(report map[string]any) {
		report["subject"] = spoil(report["subject"])
		for _, doc := range report["documents"].(map[string]any) {
			doc.(map[string]any)["result"] = spoil(doc.(map[string]any)["result"])
			doc.(map[string]any)["warnings"] = []any{map[string]any{"text": hostile, "kind": "other"}}
		}
	})
}

// checkHostile checks that a page of a hostile report has its texts as text. text evaluates an expression on the page.
func checkHostile(t *testing.T, page string, text func(expression string) string) {
	t.Helper()
	if got := text(`window.broken`); got != "undefined" {
		t.Errorf("page %s runs a name", page)
	}
	if n := text(`document.querySelectorAll("#app img, #app script, #app iframe, #app [onerror], #app a[href^=javascript]").length`); n != "0" {
		t.Errorf("page %s has %s elements made of names", page, n)
	}
	if got := text(`/[\u202a-\u202e\u200b\u001b\u3164\u2800\ufe0f\u{e0041}]/u.test(document.documentElement.innerText + document.title)`); got != "false" {
		t.Errorf("page %s shows characters that turn or hide text", page)
	}
}

// TestHostile: a report in which every text is markup, script and turned around shows it as text, on every page.
func TestHostile(t *testing.T) {
	for _, d := range []canned{dumps[0], dumps[1], dumps[3]} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			file := hostileReport(t, d)
			b.run(chromedp.Navigate("file://" + file))
			for _, p := range pages {
				b.open(p)
				b.picture("hostile-" + d.name + "-" + p)
				checkHostile(t, p, b.text)
			}
			b.clean("file://" + file)
		})
	}
}

// many repeats the rows of each longer list of a document until there are n of them.
func many(v any, n int) {
	fields, ok := v.(map[string]any)
	if !ok {
		return
	}
	for k, field := range fields {
		if list, ok := field.([]any); ok && len(list) > 3 {
			for i := 0; len(list) < n; i++ {
				list = append(list, list[i])
			}
			fields[k] = list
		}
	}
}

// windows returns how many rows the page asks for, by the words of the question.
func windows(t *testing.T) map[string]int {
	t.Helper()
	var questions map[string]struct {
		Words []string
		Count int
	}
	text, err := os.ReadFile("../src/questions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &questions); err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, q := range questions {
		out[strings.Join(q.Words, " ")] = q.Count
	}
	return out
}

// TestMany: with as many rows in every list as the page asks for, 5,000 threads and their stacks among them, each page
// is there soon.
func TestMany(t *testing.T) {
	windows := windows(t)
	b := start(t)
	file := reportOf(t, dumps[1], func(report map[string]any) {
		for words, doc := range report["documents"].(map[string]any) {
			many(doc.(map[string]any)["result"], windows[words])
		}
	})
	b.run(chromedp.Navigate("file://" + file))
	for _, p := range pages {
		began := time.Now()
		b.open(p)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("page %s took %v", p, took)
		}
		checkWhole(t, b, p)
	}
	b.open("threads")
	if got := b.text(`[...document.querySelectorAll("[aria-label=threads] td:first-child")].reduce((n, e) => n + Number(e.textContent.replaceAll(",", "")), 0)`); got != "5000" {
		t.Errorf("the groups have %s threads", got)
	}
	b.clean("file://" + file)
}

// TestDiff: the page of a comparison has the figures that diff prints.
func TestDiff(t *testing.T) {
	from, to := dumps[2].path, dump("net10-zoo-noregions", "net10-zoo-noregions.dmp.zst")
	diff := ask[struct {
		Types []struct{ Name string }
		Dumps []struct{ Objects int }
	}](t, from, "diff", "-paths", to)
	b := start(t)
	at := serve(t, from, "-with", to)
	b.run(chromedp.Navigate(at))
	b.open("diff")
	b.picture("diff")
	text := plain(b.text(`document.querySelector("main").textContent`))
	if len(diff.Types) == 0 || len(diff.Dumps) != 2 {
		t.Fatalf("there is nothing to compare: %+v", diff)
	}
	for _, d := range diff.Dumps {
		if !strings.Contains(text, fmt.Sprintf("%d objects", d.Objects)) {
			t.Errorf("the page lacks the %d objects of a dump", d.Objects)
		}
	}
	names := b.text(`[...document.querySelectorAll("main .type")].map((e) => e.title || e.textContent).join("\n")`)
	if !strings.Contains(names, diff.Types[0].Name) {
		t.Errorf("the page lacks %s", diff.Types[0].Name)
	}
	if got := b.text(`document.querySelector("[data-chart=growth] canvas") !== null`); got != "true" {
		t.Error("the growth is not drawn")
	}
	checkWhole(t, b, "diff")
	b.clean(host(t, at))
}

// TestPoor: dumps that lack most of a process, are cut off or have no CLR show what they have, and say what they lack.
func TestPoor(t *testing.T) {
	whole, err := os.ReadFile(dumps[0].path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.dmp.zst")
	if err := os.WriteFile(cut, whole[:len(whole)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []canned{
		{"triage", dump("net10-crash-null-triage", "net10-crash-null-triage.dmp.zst")},
		{"nativeaot", dump("nativeaot-crash", "nativeaot-crash.dmp.zst")},
		{"windows", dump("win-net10-zoo-triage", "win-net10-zoo-triage.dmp.zst")},
		{"cut", cut},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(program(t), "doctor", "-offline", d.path).CombinedOutput(); err != nil && strings.Contains(string(out), "sosgo: doctor:") {
				t.Skipf("it can't be opened at all: %s", out)
			}
			b := start(t)
			at := serve(t, d.path)
			b.run(chromedp.Navigate(at))
			for _, p := range append(pages, served...) {
				b.open(p)
				b.picture("poor-" + d.name + "-" + p)
				checkWhole(t, b, p)
			}
			b.clean(host(t, at))
		})
	}
}

// TestSaidOnce: what was not found, and why something is not known, stands once on a page. No empty text stands for one that can't be read.
func TestSaidOnce(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[0].path)
	b.run(chromedp.Navigate(at))
	b.open("pools")
	if got := b.text("[...document.querySelectorAll('main h2')].map((h) => h.textContent).join()"); got != "Thread pool,Connections" {
		t.Errorf("of a program without connections the headings are %s", got)
	}
	for _, name := range []string{"pools of HTTP connections", "hubs of SignalR"} {
		if n := b.text(fmt.Sprintf("document.querySelector('main').innerText.split(%q).length", name)); n != "2" {
			t.Errorf("%q stands %s times less one on the page", name, n)
		}
	}
	b.clean(host(t, at))

	b = start(t)
	at = serve(t, dump("win-net10-zoo-triage", "win-net10-zoo-triage.dmp.zst"))
	b.run(chromedp.Navigate(at))
	for _, p := range []string{"heap", "async", "locks", "dominators"} {
		b.open(p)
		if n := b.text("document.querySelectorAll('main .problem').length"); n != "1" {
			t.Errorf("page %s gives the reason %s times: %s", p, n, b.text("document.querySelector('main').innerText"))
		}
	}
	b.open("crash")
	if n := b.text("[...document.querySelectorAll('main q, main .frames li')].filter((q) => !q.innerText.trim()).length"); n != "0" {
		t.Errorf("%s empty texts or frames stand on the page of the crash", n)
	}
	b.clean(host(t, at))
}

// TestFirstPaint: the headline of a large dump is there within a second, before its objects are looked at. It is for machines with nothing
// else to do.
func TestFirstPaint(t *testing.T) {
	path := os.Getenv("SOSGO_BENCH_DUMP")
	if path == "" {
		t.Skip("SOSGO_BENCH_DUMP names no large dump")
	}
	var best time.Duration
	for i := range 5 {
		t.Run(strconv.Itoa(i), func(t *testing.T) { // which ends its browser and its process
			b := start(t)
			at := serve(t, path)
			began := time.Now()
			b.run(chromedp.Navigate(at))
			b.wait("document.querySelector('#wrong .headline') !== null")
			took := time.Since(began)
			t.Logf("%v; the page's own: %s", took, b.text(`performance.getEntriesByType("resource").filter(e => e.name.includes("triage")).map(e => Math.round(e.startTime) + " to " + Math.round(e.responseEnd) + " ms")`))
			if best == 0 || took < best {
				best = took
			}
		})
	}
	if best > time.Second {
		t.Errorf("the headline takes %v", best)
	}
}

// TestWholeOverview: all of the overview of a large dump is there within six seconds, and the server takes 30 bytes an object at most beside the
// dump that it maps. It is for machines with nothing else to do.
func TestWholeOverview(t *testing.T) {
	path := os.Getenv("SOSGO_BENCH_DUMP")
	if path == "" {
		t.Skip("SOSGO_BENCH_DUMP names no large dump")
	}
	b := start(t)
	at, pid := serveProcess(t, path)
	began := time.Now()
	b.run(chromedp.Navigate(at))
	b.wait(`document.querySelector("#wrong .headline") !== null && document.querySelector("[data-tile=heap] .label") !== null && !document.querySelector(".waiting")`)
	took := time.Since(began)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err)
	}
	var anonymous, objects int
	if m := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(status); m != nil {
		anonymous, _ = strconv.Atoi(string(m[1]))
	}
	if m := regexp.MustCompile(`in ([\d,]+) objects`).FindStringSubmatch(b.text(`document.querySelector("[data-tile=heap]").textContent`)); m != nil {
		objects, _ = strconv.Atoi(plain(m[1]))
	}
	each := float64(anonymous) * 1024 / float64(max(1, objects))
	t.Logf("%v; %d objects, %.1f bytes of the server each", took, objects, each)
	if took > 6*time.Second || each > 30 {
		t.Errorf("the overview takes %v, and the server %.1f bytes an object", took, each)
	}
}

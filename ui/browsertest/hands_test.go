package browsertest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mouse moves the mouse over an element, to parts of its width and height, and does there what event says.
func (b *browser) mouse(selector string, x, y float64, event input.DispatchMouseEventParams) {
	b.t.Helper()
	var left, top float64
	at := b.text(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: "nearest" }); const r = e.getBoundingClientRect(); return [r.left + r.width * %g, r.top + r.height * %g].join(" "); })()`, selector, x, y))
	if _, err := fmt.Sscan(at, &left, &top); err != nil {
		b.t.Fatalf("%s: %s: %v", selector, at, err)
	}
	event.X, event.Y = left, top
	if event.Type != input.DispatchMouseEventTypeMouseWheel {
		call(b, input.DispatchMouseEvent, event)
		return
	}
	// A wheel has both its deltas, also those that are 0.
	call(b, cdp.Command[map[string]any, cdp.Empty]{Method: input.CommandDispatchMouseEvent}, map[string]any{
		"type": event.Type, "x": event.X, "y": event.Y, "modifiers": event.Modifiers, "deltaX": event.DeltaX, "deltaY": event.DeltaY})
}

// click clicks there.
func (b *browser) click(selector string, x, y float64) {
	b.t.Helper()
	b.mouse(selector, x, y, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
	b.mouse(selector, x, y, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1})
}

// zoomed returns the part of a chart that is seen, as the address has it.
func (b *browser) zoomed(id string) (from, to float64) {
	b.t.Helper()
	from, to = 0, 1
	if z := b.text(fmt.Sprintf(`new URLSearchParams(location.hash.split("?")[1] ?? "").get("zoom.%s") ?? ""`, id)); z != "" {
		if _, err := fmt.Sscanf(strings.ReplaceAll(z, "_", " "), "%g %g", &from, &to); err != nil {
			b.t.Fatalf("the zoom is %q: %v", z, err)
		}
	}
	return from, to
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.01 }

// TestMouse: the wheel with Ctrl zooms around the pointer, the wheel alone scrolls the page, dragging moves what is seen, and the map goes where
// it is clicked.
func TestMouse(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[1].path)
	b.run(chromedp.Navigate(at))
	b.open("threads")
	const chart, small = "[data-chart=stacks] .canvas canvas", "[data-chart=stacks] .minimap"
	wheel := func(modifiers int64, x, dy float64) {
		b.mouse(chart, x, 0.5, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, Modifiers: modifiers, DeltaY: dy})
	}
	wheel(2, 0.25, -300*math.Ln2)
	b.wait(`location.hash.includes("zoom.stacks=")`)
	if from, to := b.zoomed("stacks"); !near(from, 0.125) || !near(to, 0.625) {
		t.Errorf("the wheel at a quarter shows %g to %g", from, to)
	}
	drag := func(selector string, from, to float64) {
		b.mouse(selector, from, 0.5, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
		for i := range 5 {
			b.mouse(selector, from+(to-from)*float64(i+1)/5, 0.5, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: input.MouseButtonLeft, Buttons: 1})
		}
		b.mouse(selector, to, 0.5, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1})
	}
	drag(chart, 0.8, 0.4) // 0.4 of what is seen, which is half of all
	if from, to := b.zoomed("stacks"); !near(from, 0.325) || !near(to, 0.825) {
		t.Errorf("dragging shows %g to %g", from, to)
	}
	drag(chart, 0.2, 0.9)
	if from, to := b.zoomed("stacks"); !near(from, 0) || !near(to, 0.5) {
		t.Errorf("dragging beyond the end shows %g to %g", from, to)
	}
	b.click(small, 0.75, 0.5)
	if from, to := b.zoomed("stacks"); !near(from, 0.5) || !near(to, 1) {
		t.Errorf("the map at three quarters shows %g to %g", from, to)
	}
	drag(small, 0.75, 0.4)
	if from, to := b.zoomed("stacks"); !near(from, 0.15) || !near(to, 0.65) {
		t.Errorf("dragging on the map shows %g to %g", from, to)
	}
	wheel(2, 0.5, 600)
	b.wait(`!location.hash.includes("zoom.stacks=")`)
	b.click(small, 0.5, 0.15) // the second row: the one thread start that nearly all have
	b.wait(`location.hash.includes("zoom.stacks=")`)
	if from, to := b.zoomed("stacks"); from != 0 || to > 0.999 || to < 0.9 {
		t.Errorf("a click on the second row of the map shows %g to %g", from, to)
	}
	before := b.text("location.hash")
	wheel(0, 0.5, 120)
	if got := b.text("location.hash"); got != before {
		t.Errorf("the wheel alone leads to %s", got)
	}
	b.clean(host(t, at))
}

// TestStop: a question that runs shows how far it is, can be stopped, and can be asked again.
func TestStop(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[2].path)
	b.run(chromedp.Navigate(at))
	b.open("doctor")
	// The server is too fast to be seen at work: its answer is held back, and its progress made up.
	b.run(chromedp.Evaluate[chromedp.Void](`window.real = fetch; window.aborted = 0;
window.fetch = (u, o) => String(u).startsWith("api/dominators") ? new Promise((_, no) => o.signal.addEventListener("abort", () => { window.aborted++; no(new DOMException("stopped", "AbortError")); }))
  : String(u).startsWith("progress?") ? Promise.resolve(new Response('{"work":"reading objects","done":25,"total":100}')) : real(u, o); location.hash = "#/dominators"`))
	const waiting = `document.querySelector("main progress")?.closest(".waiting")`
	b.wait(waiting + `?.querySelector("button") && document.querySelector("main progress").value === 25 && ` + waiting + `.textContent.includes("reading objects, 25 %")`)
	b.picture("progress")
	b.run(chromedp.Evaluate[chromedp.Void](waiting + `.querySelector("button").click()`))
	b.wait(`[...document.querySelectorAll(".notes [role=note]")].some((e) => e.textContent.includes("dominators: stopped"))`)
	if n := b.text("aborted"); n != "1" {
		t.Errorf("%s requests were aborted", n)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`window.fetch = real; [...document.querySelectorAll(".notes button")].find((e) => e.textContent === "Ask again").click()`))
	b.wait(`document.querySelector("[data-chart=owners] canvas") !== null`)
	b.clean(host(t, at))
}

// TestGenerationsOfTypes: the column of the page Heap has the parts of a type in each generation, as dumpheap counts them.
func TestGenerationsOfTypes(t *testing.T) {
	d := dumps[2]
	b := start(t)
	at := serve(t, d.path)
	b.run(chromedp.Navigate(at))
	b.open("heap")
	b.wait(`![...document.querySelectorAll("td[data-head=Generations]")].some((e) => e.textContent === "…")`)
	all, parts := map[string]float64{}, map[string]map[string]float64{}
	for option, gen := range map[string]string{"gen0": "gen 0", "gen1": "gen 1", "gen2": "gen 2", "loh": "large", "poh": "pinned", "foh": "frozen"} {
		for _, r := range ask[struct {
			Statistics []struct {
				MethodTable string
				Size        float64
			}
		}](t, d.path, "dumpheap", "-stat", "-gen", option).Statistics {
			all[r.MethodTable] += r.Size
			if parts[r.MethodTable] == nil {
				parts[r.MethodTable] = map[string]float64{}
			}
			parts[r.MethodTable][gen] = r.Size
		}
	}
	compared, mixed := 0, 0
	for line := range strings.Lines(b.text(`[...document.querySelectorAll("main tbody tr")].map((r) => [r.querySelector("td[data-head=MethodTable]")?.textContent, r.querySelector("td[data-head=Generations]")?.textContent].join("|")).join("\n")`)) {
		mt, text, _ := strings.Cut(strings.TrimSpace(line), "|")
		if all[mt] == 0 || text == "" {
			continue
		}
		compared++
		list := strings.Split(text, ", ")
		if len(list) != len(parts[mt]) {
			t.Errorf("%s has %q, dumpheap %v", mt, text, parts[mt])
			continue
		}
		for _, p := range list {
			gen, share, some := p, "", strings.HasSuffix(p, "%")
			if at := strings.LastIndexByte(p, ' '); some && at > 0 {
				gen, share = p[:at], p[at+1:]
			}
			want := 100 * parts[mt][gen] / all[mt]
			if !some && want != 100 {
				t.Errorf("%s: %q, dumpheap has %g %%", mt, p, want)
			}
			if some {
				mixed++
				var got float64
				if _, err := fmt.Sscanf(strings.TrimPrefix(share, "<"), "%g%%", &got); err != nil || math.Abs(got-want) > 0.51 {
					t.Errorf("%s: %q, dumpheap has %g %%", mt, p, want)
				}
			}
		}
	}
	if compared < 20 || mixed == 0 {
		t.Errorf("%d types were compared, %d parts", compared, mixed)
	}
}

// TestKeyboard: from the first page to a thread's variables, an owner's children and a command's answer without a mouse: with Tab, Enter and the
// page's keys.
func TestKeyboard(t *testing.T) {
	b := start(t)
	at := serve(t, dumps[1].path)
	b.run(chromedp.Navigate(at))
	b.open("overview")
	// tab goes on until what has the focus fulfils a condition.
	tab := func(condition string) {
		t.Helper()
		for range 200 {
			b.run(chromedp.KeyEvent(kb.Tab))
			if b.text("(() => { const e = document.activeElement; return "+condition+"; })()") == "true" {
				return
			}
		}
		t.Fatalf("Tab does not lead to %s", condition)
	}
	page := func(name string) {
		t.Helper()
		b.wait(fmt.Sprintf("document.querySelector('main')?.dataset.page === %q && !document.querySelector('.waiting')", name))
	}
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("t"))
	page("threads")
	tab(`e.tagName === "BUTTON" && e.textContent.startsWith("Thread")`) // the head of the table
	b.run(chromedp.KeyEvent("\r"))
	b.wait(`document.querySelector("th[aria-sort]")?.textContent.startsWith("Thread")`)
	tab(`e.textContent.startsWith("thread 11")`)
	b.run(chromedp.KeyEvent("\r"))
	page("threads")
	b.wait(`document.querySelector("main h2").textContent.startsWith("Thread 11")`)
	tab(`e.tagName === "SUMMARY"`)
	b.run(chromedp.KeyEvent("\r"))
	b.wait(`document.activeElement.parentElement.open`)
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("t"))
	page("threads")
	b.wait(`document.querySelector("[data-chart=stacks] canvas") !== null`)
	tab(`e.closest("[data-chart=stacks]") !== null && e.tagName === "CANVAS"`)
	if got := b.text(`getComputedStyle(document.activeElement).outlineStyle`); got == "none" {
		t.Error("who has the focus is not shown")
	}
	b.run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("\r"), chromedp.KeyEvent(kb.Escape))
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("d"))
	page("dominators")
	tab(`e.classList.contains("twist")`)
	b.run(chromedp.KeyEvent("\r"))
	b.wait(`document.activeElement.getAttribute("aria-expanded") === "false" && document.activeElement.closest("li").querySelector("ul") === null`)
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("m"))
	page("modules")
	b.run(chromedp.KeyEvent("/"), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent("c"), chromedp.KeyEvent("l"), chromedp.KeyEvent("r"))
	b.wait(`location.hash.includes("filter.modules=clr")`)
	if n := b.text(`document.querySelectorAll("main tbody tr").length`); n == "0" || n == b.text(`document.querySelector("[data-fact=modules]").textContent`) {
		t.Errorf("the filter leaves %s rows", n)
	}
	b.clean(host(t, at))
}

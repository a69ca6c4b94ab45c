package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// site is the folder of the page without a server: SOSGO_SITE, or built once.
var site = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("SOSGO_SITE"); p != "" {
		_, err := os.Stat(p)
		return p, err
	}
	if _, err := os.Stat(filepath.Join(root, "ui", "node_modules")); err != nil {
		return "", fmt.Errorf("the page can't be built: npm ci in ui (%w)", err)
	}
	p, err := os.MkdirTemp("", "sosgo-site-")
	if err != nil {
		return "", err
	}
	c := exec.Command("node", "site.mjs", p)
	c.Dir = filepath.Join(root, "ui")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("node site.mjs: %w: %s", err, out)
	}
	return p, nil
})

// serveSite serves the site as a static host does, and returns its address.
func serveSite(t *testing.T) string {
	t.Helper()
	folder, err := site()
	if err != nil {
		t.Skip(err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// answered is true once a dump is open and nothing is asked any more.
const answered = "document.querySelector('main')?.dataset.page && !document.querySelector('.waiting')"

// facts are what the first page of each example must show.
var examples = []struct{ button, fact string }{
	{"A crash", "OrderException was not caught"},
	{"A hang", "deadlock"},
	{"Memory", "673"},
}

// TestSite opens the examples of the page without a server, and asks a question of each page. The page has no other server to ask.
func TestSite(t *testing.T) {
	at := serveSite(t)
	for _, x := range examples {
		t.Run(x.button, func(t *testing.T) {
			b := start(t)
			b.run(chromedp.Navigate(at))
			b.wait("document.querySelector('.examples button')")
			b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("[...document.querySelectorAll('.examples button')].find((x) => x.textContent === %q).click()", x.button)))
			b.wait(answered)
			if x.button != "Memory" {
				b.wait(fmt.Sprintf("document.querySelector('main').innerText.includes(%q)", x.fact))
			} else {
				b.open("dominators")
				b.wait(fmt.Sprintf("document.querySelector('main').innerText.includes(%q)", x.fact))
			}
			b.picture("site-" + strings.ReplaceAll(strings.ToLower(x.button), " ", "-"))
			b.open("terminal/clrthreads")
			b.wait("document.querySelector('.terminal pre')?.innerText.includes('ThreadCount')")
			b.clean(at)
		})
	}
}

// TestSiteDumps opens dumps from this machine: the documents are the same as on the command line, the first page is there soon, and a large file is
// not read as a whole.
func TestSiteDumps(t *testing.T) {
	at := serveSite(t)
	open := func(t *testing.T, b *browser, path string) time.Duration {
		t.Helper()
		b.run(chromedp.Navigate(at))
		b.wait("document.querySelector('input[type=file]')")
		from := time.Now()
		b.run(chromedp.SetUploadFiles("input[type=file]", []string{path}))
		b.wait("document.querySelector('main')?.dataset.page === 'overview' && document.querySelector('#wrong .headline')")
		return time.Since(from)
	}
	for _, d := range everyDump() {
		t.Run(d.name, func(t *testing.T) {
			b := start(t)
			took := open(t, b, d.path)
			b.wait(answered)
			t.Logf("first page after %v", took)
			want, _ := objectsOf(t, d.path)
			b.open("heap")
			got := strings.ReplaceAll(b.text("document.querySelector('main').innerText"), ",", "")
			if want == 0 || !strings.Contains(got, strconv.FormatUint(want, 10)) {
				t.Errorf("the page of the heap does not count %d objects: %.500s", want, got)
			}
			b.clean(at)
		})
	}
	t.Run("no dump", func(t *testing.T) {
		b := start(t)
		file := filepath.Join(t.TempDir(), "notes.txt")
		if err := os.WriteFile(file, []byte("these are notes\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.run(chromedp.Navigate(at))
		b.wait("document.querySelector('input[type=file]')")
		b.run(chromedp.SetUploadFiles("input[type=file]", []string{file}))
		b.wait("document.querySelector('.problem')?.innerText.includes('not a dump')")
	})
}

// TestSiteInFirefox opens an example in Firefox: the first page has the text that it has in the other browser.
func TestSiteInFirefox(t *testing.T) {
	at := serveSite(t)
	f := startFirefox(t)
	f.call("WebDriver:Navigate", map[string]any{"url": at})
	waitFirefox := func(condition string) {
		t.Helper()
		for end := time.Now().Add(limit); f.text(condition) != "true"; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the page has %.1000s; Firefox says %s", condition, f.text("document.body.innerText"), f.said.String())
			}
		}
	}
	waitFirefox("!!document.querySelector('.examples button')")
	f.text("document.querySelector('.examples button').click()")
	waitFirefox("!!(" + answered + ")")
	b := start(t)
	b.run(chromedp.Navigate(at))
	b.wait("document.querySelector('.examples button')")
	b.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.examples button').click()"))
	b.wait(answered)
	const content = "document.querySelector('main').textContent"
	if got, want := f.text(content), b.text(content); got != want {
		t.Errorf("in Firefox the page has\n%s\nand in the other browser\n%s", got, want)
	}
}

// TestSiteDrops: of two dumps that are dropped one right after the other the first is opened, and one that is dropped on its pages takes its place.
func TestSiteDrops(t *testing.T) {
	at := serveSite(t)
	b := start(t)
	b.run(chromedp.Navigate(at))
	b.wait("document.querySelector('input[type=file]')")
	drop := func(names ...string) {
		t.Helper()
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`window.dropped = undefined; void Promise.all(%q.split(" ").map(async (n) => new File([await (await fetch("examples/" + n)).blob()], n))).then((files) => {
  for (const f of files) { const d = new DataTransfer(); d.items.add(f); document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: d })); }
  window.dropped = true; })`, strings.Join(names, " "))))
		b.wait("window.dropped && (" + answered + ")")
	}
	drop("crash.dmp.zst", "hang.dmp.zst")
	b.wait("document.querySelector('header .file').textContent === 'crash.dmp.zst' && document.querySelector('main').innerText.includes('OrderException')")
	b.open("heap")
	drop("hang.dmp.zst")
	b.wait("document.querySelector('header .file').textContent === 'hang.dmp.zst' && document.querySelector('main').dataset.page === 'overview' && (" + answered + ")")
	b.wait("document.querySelector('main').innerText.includes('deadlock')")
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("t"))
	b.wait("document.querySelector('main').dataset.page === 'threads' && (" + answered + ")")
	b.clean(at)
}

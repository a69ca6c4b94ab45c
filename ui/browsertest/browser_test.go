// Package browsertest opens the web page and the report in a browser. It is a module of its own, so that who imports
// sosgo gets no browser driver.
package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browsers are the programs that are tried, in this order.
var browsers = []string{"chromium-headless-shell", "headless-shell", "chromium", "chromium-browser", "google-chrome"}

var root = func() string { d, _ := filepath.Abs("../.."); return d }()

// sosgo builds the program once.
var sosgo = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("SOSGO_BINARY"); p != "" {
		return p, nil
	}
	p := filepath.Join(os.TempDir(), fmt.Sprintf("sosgo-browsertest-%d", os.Getpid()))
	c := exec.Command("go", "build", "-o", p, "./cmd/sosgo")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return p, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := sosgo(); err == nil && os.Getenv("SOSGO_BINARY") == "" {
		_ = os.Remove(p)
	}
	os.Exit(code)
}

func program(t *testing.T) string {
	t.Helper()
	p, err := sosgo()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A canned dump is one that the pages are held to.
type canned struct{ name, path string }

// everyDump returns the canned dumps, and the leak of the corpus where it is unpacked.
func everyDump() []canned {
	leak := filepath.Join(os.Getenv("SOSGO_DUMP_CACHE"), "net10-heap-withheap.dmp")
	if _, err := os.Stat(leak); err != nil {
		return dumps
	}
	return append(dumps[:len(dumps):len(dumps)], canned{"heap", leak})
}

// dump returns a canned dump.
func dump(name ...string) string {
	return filepath.Join(append([]string{root, "testdata", "dumps"}, name...)...)
}

var dumps = []canned{
	{"crash", dump("net10-crash-nested", "net10-crash-nested.dmp.zst")},
	{"hang", dump("locks", "net10-locks", "net10-locks.dmp.zst")},
	{"zoo", dump("net10-zoo", "net10-zoo.dmp.zst")},
	{"web", dump("web", "web-net10", "web-net10.dmp.zst")},
}

var pages = strings.Fields("overview crash exceptions waits requests threads async locks pools heap suspects dominators memory generations strings waste doctor modules facts")
var served = []string{"diff", "console", "terminal", "search/Wait"}

// A browser is one that was started for a test.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu        sync.Mutex
	problems  []string // of its console, exceptions, and refused by the policy
	requested []string // addresses that it asked for
}

// start starts a browser, or skips the test if no browser is installed.
func start(t *testing.T) *browser {
	t.Helper()
	path := os.Getenv("SOSGO_BROWSER")
	for _, b := range browsers {
		if p, err := exec.LookPath(b); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		t.Skip("there is no browser: install chromium-headless-shell, or name one with SOSGO_BROWSER")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("allow-file-access-from-files", false))
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	b.run() // it starts, and ends with ctx
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	return b
}

// call gives the browser a command of its protocol.
func call[P, R any](b *browser, c cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.t.Fatal(err)
	}
}

// limit is how long one step may take.
const limit = 90 * time.Second

func (b *browser) heard(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		b.requested = append(b.requested, ev.Request.URL)
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, ev.Entry.Text+" "+ev.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprintf("console.%s %s", ev.Type, ev.Args[0].Value))
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, ev.ExceptionDetails.Text)
		if e := ev.ExceptionDetails.Exception; e != nil {
			b.problems = append(b.problems, e.Description)
		}
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx := b.ctx
	if len(actions) > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(b.ctx, limit)
		defer cancel()
	}
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open shows a page of the application and waits until nothing is asked any more.
func (b *browser) open(page string) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", "#/"+page)))
	name, _, _ := strings.Cut(page, "/")
	b.wait(fmt.Sprintf("document.querySelector('main')?.dataset.page === %q && !document.querySelector('.waiting')", name))
}

// wait waits until a condition holds. The browser forgets a condition that it was given while it went to another page, so it is asked again.
func (b *browser) wait(condition string) {
	b.t.Helper()
	for until := time.Now().Add(60 * time.Second); ; {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(60*time.Second), chromedp.WithPollingInterval(50*time.Millisecond)))
		if err == nil {
			return
		}
		if (strings.Contains(err.Error(), "Cannot find context with specified id") || strings.Contains(err.Error(), "target navigated")) && time.Now().Before(until) {
			continue
		}
		b.t.Fatalf("%s: %v; the browser says %q; the page has: %.2000s", condition, err, b.problems, b.text("document.body.innerText"))
	}
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// picture keeps a picture of the whole page in the folder SOSGO_SCREENSHOTS, if there is one.
func (b *browser) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("SOSGO_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// clean fails if the browser had something to complain of, or asked another than the page's own origin.
func (b *browser) clean(origin string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("the browser says: %s", p)
	}
	for _, u := range b.requested {
		if !strings.HasPrefix(strings.TrimPrefix(u, "blob:"), origin) && u != "about:blank" && u != "data:," {
			b.t.Errorf("the page asked for %s", u)
		}
	}
}

// asks returns how often the browser asked for addresses with this in them.
func (b *browser) asks(part string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.requested {
		if strings.Contains(u, part) {
			n++
		}
	}
	return n
}

var address = regexp.MustCompile(`http://\S+/\?token=\S+`)

// serve runs sosgo web over a dump and returns its address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	at, _ := serveProcess(t, args...)
	return at
}

// serveProcess is serve, and returns the id of the process, too.
func serveProcess(t *testing.T, args ...string) (at string, pid int) {
	t.Helper()
	c := exec.Command(program(t), append([]string{"web", "-offline"}, args...)...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if u := address.FindString(lines.Text()); u != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			return u, c.Process.Pid
		}
	}
	t.Fatal("sosgo web says no address")
	return "", 0
}

// run returns what a command prints.
func run(t *testing.T, dump string, words ...string) string {
	t.Helper()
	out, _ := exec.Command(program(t), append([]string{"-offline", "-d", dump}, words...)...).Output()
	return string(out)
}

// ask returns the document of a command.
func ask[T any](t *testing.T, dump string, words ...string) T {
	t.Helper()
	out, _ := exec.Command(program(t), append([]string{"-offline", "-d", dump, "--json"}, words...)...).Output()
	var doc struct{ Result T }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v: %v: %.300s", words, err, out)
	}
	return doc.Result
}

func host(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + u.Host + "/"
}

// wide gives the browser a width; a narrow one looks like a telephone.
func (b *browser) wide(width int) {
	b.t.Helper()
	if width < 500 {
		b.run(chromedp.EmulateViewport(int64(width), 740, chromedp.EmulateMobile))
	} else {
		b.run(chromedp.EmulateViewport(int64(width), 900))
	}
}

func (b *browser) theme(name string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

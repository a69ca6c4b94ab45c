package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A firefox is one that was started for a test. It is spoken to in its own protocol, Marionette: messages in JSON, each
// with its length in front, [0, number, command, parameters] there and [1, number, error, result] back.
type firefox struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	n    int
	said lockedBuffer // by Firefox, on its output
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startFirefox starts Firefox, or skips the test if it is not installed or does not start.
func startFirefox(t *testing.T) *firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		if path, err = exec.LookPath("firefox"); err != nil {
			t.Skip("there is no Firefox: install firefox-esr")
		}
	}
	port := freePort(t)
	profile := t.TempDir()
	prefs := fmt.Sprintf("user_pref(%q, %d);\nuser_pref(%q, true);\nuser_pref(%q, true);\nuser_pref(%q, false);\n",
		"marionette.port", port, "devtools.console.stdout.content", "browser.dom.window.dump.enabled", "app.normandy.enabled")
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &firefox{t: t}
	c := exec.Command(path, "--headless", "--marionette", "--no-remote", "--profile", profile)
	c.Env = append(os.Environ(), "HOME="+profile, "MOZ_DISABLE_CONTENT_SANDBOX=1")
	c.Stdout, c.Stderr = &f.said, &f.said
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for end := time.Now().Add(limit); f.conn == nil; time.Sleep(50 * time.Millisecond) {
		if f.conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil && time.Now().After(end) {
			t.Skipf("Firefox does not start here: %v; it says: %s", err, f.said.String())
		}
	}
	t.Cleanup(func() { _ = f.conn.Close() })
	f.in = bufio.NewReader(f.conn)
	f.read() // its greeting
	f.call("WebDriver:NewSession", map[string]any{"capabilities": map[string]any{}})
	return f
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// read reads a message.
func (f *firefox) read() []byte {
	f.t.Helper()
	_ = f.conn.SetReadDeadline(time.Now().Add(limit))
	var size int
	if _, err := fmt.Fscanf(f.in, "%d:", &size); err != nil || size < 0 || size > 64<<20 {
		f.t.Fatalf("%d bytes: %v; Firefox says: %s", size, err, f.said.String())
	}
	message := make([]byte, size)
	if _, err := io.ReadFull(f.in, message); err != nil {
		f.t.Fatal(err)
	}
	return message
}

// call gives Firefox a command and returns the value of its result.
func (f *firefox) call(command string, params map[string]any) json.RawMessage {
	f.t.Helper()
	f.n++
	m, err := json.Marshal([]any{0, f.n, command, params})
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(m), m); err != nil {
		f.t.Fatal(err)
	}
	var kind, number int
	var failure *struct{ Message string }
	var result struct{ Value json.RawMessage }
	if err := json.Unmarshal(f.read(), &[]any{&kind, &number, &failure, &result}); err != nil || kind != 1 || number != f.n {
		f.t.Fatalf("an answer to %d of kind %d: %v", number, kind, err)
	}
	if failure != nil {
		f.t.Fatalf("%s: %s", command, failure.Message)
	}
	return result.Value
}

// text returns what an expression is in the page.
func (f *firefox) text(expression string) string {
	f.t.Helper()
	var s string
	v := f.call("WebDriver:ExecuteScript", map[string]any{"script": "return String(" + expression + ")", "args": []any{}})
	if err := json.Unmarshal(v, &s); err != nil {
		f.t.Fatalf("%s: %v", expression, err)
	}
	return s
}

// open shows a page of the application and waits until it is there.
func (f *firefox) open(page string) {
	f.t.Helper()
	f.text(fmt.Sprintf("location.hash = %q", "#/"+page))
	there := fmt.Sprintf("document.querySelector('main')?.dataset.page === %q && !document.querySelector('.waiting')", page)
	for end := time.Now().Add(limit); f.text(there) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("page %s does not come: %.2000s", page, f.text("document.body.innerText"))
		}
	}
}

// TestReportInFirefox opens reports as files in Firefox: every page has the text that it has in the other browser, and
// there is nothing to complain of.
func TestReportInFirefox(t *testing.T) {
	for _, d := range []canned{dumps[0], dumps[3]} {
		t.Run(d.name, func(t *testing.T) {
			f := startFirefox(t)
			file := reportOf(t, d, func(map[string]any) {})
			f.call("WebDriver:Navigate", map[string]any{"url": "file://" + file})
			b := start(t)
			b.run(chromedp.Navigate("file://" + file))
			const content = "document.querySelector('main').textContent"
			for _, p := range pages {
				f.open(p)
				b.open(p)
				if got, want := f.text(content), b.text(content); got != want {
					t.Errorf("page %s has in Firefox\n%s\nand in the other browser\n%s", p, got, want)
				}
				if n := f.text("document.documentElement.scrollWidth - document.documentElement.clientWidth"); n != "0" && !strings.HasPrefix(n, "-") {
					t.Errorf("page %s is %s pixels wider than the window", p, n)
				}
			}
			for line := range strings.Lines(f.said.String()) {
				if strings.Contains(line, "JavaScript error: file://") {
					t.Errorf("Firefox says: %s", line)
				}
			}
		})
	}
}

// TestHostileInFirefox is TestHostile in Firefox.
func TestHostileInFirefox(t *testing.T) {
	for _, d := range []canned{dumps[0], dumps[3]} {
		t.Run(d.name, func(t *testing.T) {
			f := startFirefox(t)
			f.call("WebDriver:Navigate", map[string]any{"url": "file://" + hostileReport(t, d)})
			for _, p := range pages {
				f.open(p)
				checkHostile(t, p, f.text)
			}
		})
	}
}

// TestWayOnInFirefox goes the ways of TestWayOn in Firefox: two clicks to the code, three to what holds the memory.
func TestWayOnInFirefox(t *testing.T) {
	f := startFirefox(t)
	wait := func(condition string) {
		t.Helper()
		for end := time.Now().Add(limit); f.text(condition) != "true"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the page has %.1000s", condition, f.text("document.body.innerText"))
			}
		}
	}
	click := func(selector string) {
		t.Helper()
		wait(fmt.Sprintf("!document.querySelector('.waiting') && !!document.querySelector(%q)", selector))
		f.text(fmt.Sprintf("document.querySelector(%q).click()", selector))
	}
	f.call("WebDriver:Navigate", map[string]any{"url": serve(t, dumps[0].path)})
	click(".deeds a")
	wait(`document.querySelector("main").dataset.page === "crash" && [...document.querySelectorAll(".card .frames")].some((e) => e.textContent.includes("Scenario.Validate"))`)
	f.call("WebDriver:Navigate", map[string]any{"url": serve(t, dumps[2].path)})
	click("[data-tile=heap]")
	click("main tbody td a")
	wait(`!!document.querySelector("#holders .ways li")`)
	click("#instances td a")
	wait(`document.querySelector("main").dataset.page === "object" && [...document.querySelectorAll("h2")].some((e) => e.textContent === "What holds it")`)
}

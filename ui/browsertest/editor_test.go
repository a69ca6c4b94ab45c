package browsertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// tabOf prints the page of the extension for VS Code. The module of the editor is missing here, and is not used for that.
const tabOf = `const Module = require("module"), load = Module._load, fs = require("fs");
Module._load = (name, ...rest) => (name === "vscode" ? {} : load(name, ...rest));
process.stdout.write(require(process.argv[1]).page(...["app.js", "app.css"].map((f) => fs.readFileSync(process.argv[2] + "/" + f, "utf8"))));`

// editorsSide is what an editor adds to a page: a way to itself.
const editorsSide = `<script>globalThis.acquireVsCodeApi = () => ({ postMessage: (m) => parent.postMessage(m, "*") })</script>`

// editorWindow has the page in a frame, and passes its requests on.
const editorWindow = `<!doctype html><title>editor</title><link rel="icon" href="data:,"><iframe src="tab" style="width:1200px;height:800px"></iframe><script>
addEventListener("message", async ({ data: m, source }) => {
  if (m.get === undefined) return;
  const r = await fetch("ask/" + m.get);
  source.postMessage({ id: m.id, status: r.status, text: await r.text() }, "*");
});</script>`

// TestEditorTab shows the page of the extension for VS Code in a frame, which may ask nobody: what it asks goes through the window around it, as in
// the editor. Its links, the terminal and the search work.
func TestEditorTab(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	tab, err := exec.Command(node, "-e", tabOf, filepath.Join(root, "editors", "vscode", "extension.js"), filepath.Join(root, "internal", "front", "webui", "bundle")).Output()
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(serve(t, dumps[0].path))
	if err != nil {
		t.Fatal(err)
	}
	pass := func(w http.ResponseWriter, r *http.Request) {
		below := *at
		below.Path, below.RawQuery = at.Path+strings.TrimPrefix(r.URL.Path, "/ask/"), r.URL.RawQuery
		q, err := http.NewRequestWithContext(r.Context(), http.MethodGet, below.String(), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		q.Header.Set("Authorization", "Bearer "+at.Query().Get("token"))
		reply, err := http.DefaultClient.Do(q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer reply.Body.Close()
		w.WriteHeader(reply.StatusCode)
		_, _ = io.Copy(w, reply.Body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ask/", pass)
	for path, text := range map[string]string{"/tab": strings.Replace(string(tab), "<head>", "<head>"+editorsSide, 1), "/{$}": editorWindow} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, text)
		})
	}
	s := httptest.NewServer(mux)
	defer s.Close()
	b := start(t)
	b.run(chromedp.Navigate(s.URL + "/"))
	const inTab = `document.querySelector("iframe").contentDocument.`
	b.wait(inTab + `querySelector("#wrong .headline")?.textContent.includes("OrderException was not caught")`)
	b.run(chromedp.Evaluate[chromedp.Void](inTab + `querySelector(".deeds a").click()`))
	b.wait(`[...` + inTab + `querySelectorAll(".card .frames")].some((e) => e.textContent.includes("Scenario.Validate"))`)
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("iframe").contentWindow.location.hash = %q`, "#/terminal/clrthreads")))
	b.wait(inTab + `querySelector(".terminal pre")?.textContent.includes("ThreadCount")`)
	b.clean(s.URL + "/")
}

package fleet

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

var blocks = regexp.MustCompile("(?s)```sql\n(.*?)```")

// TestQuestions: the SQL of docs/fleet.md runs on the tables of the canned dumps, and counts what summarize tells of them.
func TestQuestions(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sosgo := os.Getenv("SOSGO") // a binary that is there already
	if sosgo == "" {
		sosgo = filepath.Join(dir, "sosgo")
		run(t, root, "go", "build", "-o", sosgo, "./cmd/sosgo")
	}
	fleet := filepath.Join(dir, "fleet")
	crashes := map[string]int{}
	dumps, err := filepath.Glob(filepath.Join(root, "testdata", "dumps", "*", "*.dmp.zst"))
	if err != nil || len(dumps) == 0 {
		t.Fatal("there are no canned dumps", err)
	}
	for _, d := range dumps {
		if strings.Contains(d, "nativeaot") {
			continue // which has no CLR
		}
		run(t, root, sosgo, "-d", d, "export", "parquet", "-summary", fleet)
		var s struct {
			Crashed   bool
			Signature string
		}
		if err := json.Unmarshal(run(t, root, sosgo, "-d", d, "summarize"), &s); err != nil {
			t.Fatal(d, err)
		}
		if s.Crashed {
			crashes[s.Signature]++
		}
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	questions := blocks.FindAllSubmatch(doc, -1)
	if len(questions) != 4 {
		t.Fatalf("%d questions", len(questions))
	}
	for i, q := range questions {
		text := strings.ReplaceAll(string(q[1]), "'fleet/", "'"+filepath.ToSlash(fleet)+"/")
		rows := ask(t, db, text)
		if i != 1 && len(rows) == 0 { // which types grew is none of so different processes
			t.Errorf("no answer to\n%s", text)
		}
		if i > 0 {
			continue
		}
		got := 0
		for _, r := range rows {
			n := int(r["dumps"].(int64))
			if got += n; crashes[r["signature"].(string)] != n {
				t.Errorf("%v: summarize tells of %d", r, crashes[r["signature"].(string)])
			}
		}
		if got == 0 {
			t.Error("no crash")
		}
	}
}

func ask(t *testing.T, db *sql.DB, text string) (out []map[string]any) {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			at[i] = &values[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = values[i]
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func run(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	if filepath.Base(name) == "go" {
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, errs.Bytes())
	}
	return out.Bytes()
}

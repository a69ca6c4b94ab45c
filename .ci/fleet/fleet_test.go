package fleet

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

var blocks = regexp.MustCompile("(?s)```sql\n(.*?)```")

// TestQuestions: the SQL of docs/fleet.md runs on the tables of the canned dumps, and counts what summarize tells of
// them.
func TestQuestions(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sosgo := program(t, root)
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
		if i != 1 && len(rows) == 0 { // which types grew none of so different processes tells: TestGrowth
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

// TestGrowth: of three dumps of a process the types that grew from each to the next are named, and no others. The
// tables are those of a canned dump, with other sizes.
func TestGrowth(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	fleet, one := t.TempDir(), t.TempDir()
	run(t, root, program(t, root), "-d", filepath.Join(root, "testdata", "dumps", "net10-zoo", "net10-zoo.dmp.zst"), "export", "parquet", "-summary", one)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := 1; n <= 3; n++ {
		dir := filepath.Join(fleet, fmt.Sprintf("dump_id=%d", n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		// Dogs grow, strings grow once and shrink again, all others stay.
		size := fmt.Sprintf("CASE name WHEN 'Debuggee.Zoo.Dog' THEN 100 * %d WHEN 'System.String' THEN 5000 - 100 * (%d - 2) * (%d - 2) ELSE live_size END", n, n, n)
		for file, replaced := range map[string]string{"types": size + " AS live_size", "dump": fmt.Sprintf("TIMESTAMP '2026-11-20 12:00:00' + INTERVAL %d HOUR AS time", n)} {
			query := fmt.Sprintf("COPY (SELECT * REPLACE (%s) FROM read_parquet('%s/*/%s.parquet', hive_partitioning = false)) TO '%s/%s.parquet'", replaced, one, file, dir, file)
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%v in\n%s", err, query)
			}
		}
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := ask(t, db, strings.ReplaceAll(string(blocks.FindAllSubmatch(doc, -1)[1][1]), "'fleet/", "'"+filepath.ToSlash(fleet)+"/"))
	if len(rows) != 1 || rows[0]["name"] != "Debuggee.Zoo.Dog" || fmt.Sprint(rows[0]["dumps"], rows[0]["first"], rows[0]["last"]) != "3 100 300" {
		t.Errorf("what grew: %v", rows)
	}
}

// program is sosgo: the binary that SOSGO names, or one that is built.
func program(t *testing.T, root string) string {
	t.Helper()
	if p := os.Getenv("SOSGO"); p != "" {
		return p
	}
	p := filepath.Join(t.TempDir(), "sosgo")
	run(t, root, "go", "build", "-o", p, "./cmd/sosgo")
	return p
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

//go:build cgo

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

// TestQuestions: the SQL of docs/fleet.md runs on the tables of the canned dumps, and counts what summarize reports of
// them; after a compaction the answers are the same.
func TestQuestions(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sosgo := program(t, root)
	fleet, folder := filepath.Join(dir, "fleet"), filepath.Join(dir, "dumps")
	crashes := map[string]int{}
	dumps, err := filepath.Glob(filepath.Join(root, "testdata", "dumps", "*", "*.dmp.zst"))
	if err != nil || len(dumps) == 0 {
		t.Fatal("there are no canned dumps", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, d := range dumps {
		if err := os.Link(d, filepath.Join(folder, filepath.Base(d))); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(filepath.Join(folder, "cut.dmp"), []byte("MDMP, and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, root, sosgo, "fleet", "add", fleet, folder, "--label", "service=shop")
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	questions := questionsOf(t, root)
	if len(questions) != 7 {
		t.Fatalf("%d questions", len(questions))
	}
	var before []string
	for round := range 2 {
		for i, q := range questions {
			text := strings.ReplaceAll(q, "'fleet/", "'"+filepath.ToSlash(fleet)+"/")
			rows := ask(t, db, text)
			// Which types grew, and which crashes, no single dump of a process shows: TestGrowth.
			if i != 1 && i != 5 && len(rows) == 0 {
				t.Errorf("no answer to\n%s", text)
			}
			if round == 0 {
				before = append(before, fmt.Sprint(rows))
			} else if i != 2 && before[i] != fmt.Sprint(rows) { // any_value is any
				t.Errorf("after the compaction\n%v, before\n%s", rows, before[i])
			}
			if i == 6 && (len(rows) != 1 || !strings.HasSuffix(fmt.Sprint(rows[0]["file"]), "cut.dmp")) {
				t.Errorf("what failed: %v", rows)
			}
			if i > 0 {
				continue
			}
			got := 0
			for _, r := range rows {
				n := int(r["dumps"].(int64))
				if got += n; crashes[r["signature"].(string)] != n {
					t.Errorf("%v: summarize has %d", r, crashes[r["signature"].(string)])
				}
			}
			if got == 0 {
				t.Error("no crash")
			}
		}
		run(t, root, sosgo, "fleet", "compact", fleet)
	}
	if rows := ask(t, db, "SELECT count(*) AS n FROM read_parquet('"+fleet+"/*/*/dump.parquet') WHERE labels->>'service' = 'shop' AND tool <> ''"); fmt.Sprint(rows[0]["n"]) != fmt.Sprint(len(dumps)) {
		t.Errorf("%v of %d dumps have the label", rows, len(dumps))
	}
}

// questionsOf returns the SQL of the document.
func questionsOf(t *testing.T, root string) (out []string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range blocks.FindAllSubmatch(doc, -1) {
		out = append(out, string(q[1]))
	}
	return out
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
		dir := filepath.Join(fleet, fmt.Sprintf("date=2026-11-2%d", n), fmt.Sprintf("part=%d", n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		// Dogs grow, strings grow once and shrink again, all others stay. The crash of two days is there nine times on the third.
		size := fmt.Sprintf("CASE name WHEN 'Debuggee.Zoo.Dog' THEN 100 * %d WHEN 'System.String' THEN 5000 - 100 * (%d - 2) * (%d - 2) ELSE live_size END", n, n, n)
		id := fmt.Sprintf("'%d' AS dump_id", n)
		at := fmt.Sprintf("TIMESTAMP '2026-11-20 12:00:00' + INTERVAL %d HOUR AS time, true AS crashed, 'abc' AS signature", n)
		for file, replaced := range map[string]string{"types": size + " AS live_size, " + id, "dump": at + ", " + id} {
			query := fmt.Sprintf("COPY (SELECT * REPLACE (%s) FROM read_parquet('%s/*/*/%s.parquet', hive_partitioning = false)) TO '%s/%s.parquet'", replaced, one, file, dir, file)
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%v in\n%s", err, query)
			}
		}
	}
	question := func(i int) []map[string]any {
		return ask(t, db, strings.ReplaceAll(questionsOf(t, root)[i], "'fleet/", "'"+filepath.ToSlash(fleet)+"/"))
	}
	rows := question(1)
	if len(rows) != 1 || rows[0]["name"] != "Debuggee.Zoo.Dog" || fmt.Sprint(rows[0]["dumps"], rows[0]["first"], rows[0]["last"]) != "3 100 300" {
		t.Errorf("what grew: %v", rows)
	}
	if rows := question(5); len(rows) != 0 {
		t.Errorf("a crash a day grows: %v", rows)
	}
	last := filepath.Join(fleet, "date=2026-11-23", "part=3", "dump.parquet")
	many := last + ".many"
	if _, err := db.Exec(fmt.Sprintf("COPY (SELECT * FROM read_parquet('%s', hive_partitioning = false), range(9)) TO '%s' (FORMAT parquet)", last, many)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(many, last); err != nil {
		t.Fatal(err)
	}
	if rows := question(5); len(rows) != 1 || fmt.Sprintf("%s %v", rows[0]["date"], rows[0]["dumps"]) != "2026-11-23 9" {
		t.Errorf("which crash grew: %v", rows)
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

// Command oraclediff compares the answers of sosgo with facts that the runtime's data-access
// library recorded about the dumps of a corpus.
//
//	oraclediff [-only SECTIONS] [-verbose N] [-jobs N] [-floor PERCENT] [-json FILE] CASE...
//
// A case is a folder with manifest.json, the dump and oracle/*.jsonl. Each fact is one or more
// questions; the text that sosgo prints must contain the answer. The section facts has what the
// dumped program printed about its own objects. With -floor it fails if a section agrees less than
// PERCENT percent.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/test/agreement"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

type options struct {
	only    string
	verbose int
	jobs    int
	floor   float64
	timeout time.Duration
	json    string
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "`sections`, separated by commas; default: all that the case has")
	flag.IntVar(&o.verbose, "verbose", 5, "wrong answers to print for each section")
	flag.IntVar(&o.jobs, "jobs", 2, "commands at once")
	flag.Float64Var(&o.floor, "floor", 0, "fail if a section agrees in less than this `percentage`")
	flag.DurationVar(&o.timeout, "timeout", 2*time.Minute, "time for one command")
	flag.StringVar(&o.json, "json", "", "write the results to this `file`, too")
	flag.Parse()
	low, err := run(flag.Args(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "oraclediff:", err)
		os.Exit(2)
	}
	if low {
		os.Exit(1)
	}
}

// A result is the score of one section of a case. The command floors reads it.
type result struct {
	Case    string `json:"case"`
	Section string `json:"section"`
	Asked   int    `json:"asked"`
	Right   int    `json:"right"`
}

func run(dirs []string, o options) (low bool, err error) {
	var results []result
	asked, right := 0, 0
	for _, dir := range dirs {
		scores, err := compare(dir, o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", dir, err)
		}
		var line []string
		for _, s := range scores {
			results = append(results, result{filepath.Base(dir), s.Section, s.Asked, s.Right})
			asked, right = asked+s.Asked, right+s.Right
			share := percent(s.Right, s.Asked)
			low = low || share < o.floor
			text := fmt.Sprintf("%s %d/%d", s.Section, s.Right, s.Asked)
			if s.Right < s.Asked {
				text += fmt.Sprintf(" (%.1f%%)", share)
			}
			line = append(line, text)
			for _, wrong := range s.Wrong {
				fmt.Printf("    %s: %s\n", s.Section, wrong)
			}
		}
		fmt.Printf("%s: %s\n", filepath.Base(dir), strings.Join(line, ", "))
	}
	fmt.Printf("all: %d/%d (%.2f%%)\n", right, asked, percent(right, asked))
	if o.json == "" {
		return low, nil
	}
	raw, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return low, err
	}
	return low, os.WriteFile(o.json, raw, 0o644)
}

func compare(dir string, o options) (scores []*agreement.Score, err error) {
	c, err := testcase.Load(dir)
	if err == nil {
		err = c.Unpack()
	}
	if err != nil {
		return nil, err
	}
	p := agreement.Open(c, o.jobs, o.timeout)
	defer func() { err = errors.Join(err, p.Close()) }()
	var only []string
	if o.only != "" {
		only = strings.Split(o.only, ",")
	}
	return agreement.CompareFacts(p, c, agreement.Folder(dir), only, o.verbose)
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(1, all)) }
